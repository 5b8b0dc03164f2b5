/* SPDX-License-Identifier: MIT */
/*
 * takt/context.h - a router with its machine, its policy and its ops.
 *
 * A context knows the machine, so its answers are about what would run here:
 * a GPU answer on a machine without one becomes the best CPU expert.
 *
 * Threads: every function but create and destroy may be called on one context
 *   from any number of threads at once.
 * Since: 0.1.
 */
#ifndef TAKT_CONTEXT_H
#define TAKT_CONTEXT_H

#include <stddef.h>

#include <takt/backend.h>
#include <takt/export.h>
#include <takt/machine.h>
#include <takt/op.h>
#include <takt/policy.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_ctx takt_ctx;

typedef enum takt_policy {
    TAKT_POLICY_MOE = 0,
    TAKT_POLICY_COST = 1,
    TAKT_POLICY_HEURISTIC = 2
} takt_policy;

/* "moe", "cost" or "heuristic". */
TAKT_API const char *takt_policy_name(takt_policy policy);

/* Why an expert was chosen. */
typedef enum takt_reason {
    TAKT_REASON_STATIC = 0,  /* an exact rule says so */
    TAKT_REASON_FALLBACK = 1 /* the rule's choice is not to be had here */
} takt_reason;

/* "static" or "fallback". */
TAKT_API const char *takt_reason_name(takt_reason reason);

/* What a context is made of; NULL or zero members mean the usual. */
typedef struct takt_ctx_options {
    const char *recording;       /* a recorded machine; NULL: this one */
    const takt_cost_model *cost; /* copied; NULL: the default model */
} takt_ctx_options;

/* On success the caller owns *out; on failure *out is NULL.
 * TAKT_EINVAL: the cost model is not valid.
 * TAKT_ENOENT, TAKT_ECORRUPT: as takt_machine_create() for the recording. */
TAKT_API takt_status takt_ctx_create(const takt_ctx_options *options,
                                     takt_ctx **out);
TAKT_API void takt_ctx_destroy(takt_ctx *ctx); /* NULL is allowed */

/* Borrowed until the context is destroyed. */
TAKT_API const takt_machine *takt_ctx_machine(const takt_ctx *ctx);

/* Defines an op of the user's own; *out is borrowed until the context is
 * destroyed.
 * TAKT_EINVAL: no name, or a character or length that names cannot have.
 * TAKT_EEXIST: the catalogue or this context has an op of that name. */
TAKT_API takt_status takt_ctx_define_op(takt_ctx *ctx, const takt_op_spec *spec,
                                        const takt_op **out);

/* The op of that name or alias: the catalogue's or the user's. NULL: none. */
TAKT_API const takt_op *takt_ctx_find_op(takt_ctx *ctx, const char *name);

/* What is to be routed. */
typedef struct takt_request {
    takt_policy policy;
    const takt_op *op; /* NULL: an op nobody described */
    const char *name;  /* the name it was asked by, which the heuristic rule
                        * reads; NULL: the op's own */
    takt_complexity complexity; /* read when op is NULL */
    takt_dtype dtype;
    takt_shape shape;
    const takt_work *work; /* NULL: what the op and the shape imply */
} takt_request;

#define TAKT_EXPERT_NAME_MAX 32

typedef struct takt_decision {
    takt_backend backend; /* what the rule says */
    takt_reason reason;
    char expert[TAKT_EXPERT_NAME_MAX];    /* what would run on this machine */
    char runner_up[TAKT_EXPERT_NAME_MAX]; /* empty: not known */
    double predicted_s;                   /* negative: not known */
    double confidence;                    /* 0..1; negative: not known */
    size_t elements;
    takt_work work; /* bytes negative: not known */
} takt_decision;

/* Answers without running anything.
 * TAKT_ESHAPE: the shape does not fit the op, or the cost rule needs the full
 *   shape of this op (or `work`) and got only its elements.
 * TAKT_EINVAL: the cost rule was asked for neither an op nor its work; the
 *   policy or the dtype is not one of ours, or the op has not that dtype. */
TAKT_API takt_status takt_select(takt_ctx *ctx, const takt_request *request,
                                 takt_decision *out);

#ifdef __cplusplus
}
#endif

#endif
