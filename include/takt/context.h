/* SPDX-License-Identifier: MIT */
/*
 * takt/context.h - contexts: a machine, a policy, ops and what was learned.
 *
 * Create a context, or pass NULL for the default one (takt/takt.h). A context
 * answers for its machine: where a rule says GPU and the machine has none, the
 * answer is the best CPU expert.
 *
 *     const takt_ctx_options options = {.size = sizeof options, .threads = 2};
 *     takt_ctx *ctx;
 *
 *     if (takt_ctx_create(&options, &ctx) != TAKT_OK)
 *         return 1;
 *     const takt_request request = {.size = sizeof request,
 *                                   .op = takt_ctx_find_op(ctx, "sum"),
 *                                   .shape = {.rank = 1, .dim = {50000}}};
 *     takt_decision decision = {.size = sizeof decision};
 *
 *     if (takt_select(ctx, &request, &decision) == TAKT_OK)
 *         printf("%s (%s)\n", decision.expert,
 *                takt_reason_name(decision.reason));
 *     takt_ctx_destroy(ctx);
 *
 * Threads: every function but create and destroy may be called on one context
 *   from any number of threads at once. A thread that is cancelled inside of a
 *   function ends when the function returns, or in the user's own code that it
 *   runs. Asynchronous cancellation is not supported.
 * Stack: a function takes up to 64 KiB of its thread's, takt_tune() 128 KiB.
 *   Where a library takes more than there is, other code runs the call.
 * Signal handlers: as with malloc(), no function may be called in a handler
 *   that may have interrupted one: it could wait for itself.
 * exit(): other threads may be inside of any function. What was learned is
 *   stored and telemetry is sent, for some seconds at most. After exit() in a
 *   signal handler that interrupted a function of Takt, little of it is.
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

/* A context. Opaque. */
typedef struct takt_ctx takt_ctx;

/* How a context decides. */
typedef enum takt_policy {
    TAKT_POLICY_ADAPTIVE = 0, /* the expert expected to finish first */
    TAKT_POLICY_MOE = 1,
    TAKT_POLICY_COST = 2,
    TAKT_POLICY_HEURISTIC = 3,
    TAKT_POLICY_FIXED = 4, /* one expert, always */
    TAKT_POLICY_PINNED = 5 /* as a pin file says: the same bits every run */
} takt_policy;

/* The name of a policy: "adaptive", "moe", "cost", "heuristic", "fixed" or
 * "pinned". */
TAKT_API const char *takt_policy_name(takt_policy policy);

/* Why an expert was chosen. */
typedef enum takt_reason {
    TAKT_REASON_STATIC = 0,   /* an exact rule says so */
    TAKT_REASON_FALLBACK = 1, /* the first choice cannot run it here */
    TAKT_REASON_PRIOR = 2,    /* expected to be fastest, not measured */
    TAKT_REASON_FORCED = 3,   /* the policy is fixed */
    TAKT_REASON_ONLY = 4,     /* there is no other expert */
    TAKT_REASON_MODEL = 5,    /* expected to be fastest, by measurements */
    TAKT_REASON_EXPLORE = 6,  /* a trial: to learn how long it takes */
    TAKT_REASON_PINNED = 7    /* the pin file says so */
} takt_reason;

/* The name of a reason: "static", "fallback", "prior", "forced", "only",
 * "model", "explore" or "pinned". */
TAKT_API const char *takt_reason_name(takt_reason reason);

/* How a context is made. NULL or zero members mean the defaults. */
typedef struct takt_ctx_options {
    size_t size; /* sizeof(takt_ctx_options): see takt/takt.h */
    /* A recording of a machine (takt/machine.h). The context then answers for
     * that machine and runs nothing; a store that is named is read, and never
     * written. NULL: this machine. */
    const char *recording;
    const takt_cost_model *cost; /* copied; NULL: the default model */
    takt_policy policy;          /* of calls that are run; 0: adaptive */
    const char *expert;          /* of policy fixed: "simd.avx2x2" */
    unsigned threads;            /* at most; 0: all the process may use */
    /* "": no BLAS library; a path: that library too; NULL: TAKT_BLAS, or the
     * libraries that are found. */
    const char *blas;
    /* The file with what was learned, read and written. "": memory only; NULL:
     * TAKT_DB, or the file of this machine (takt_store_path()). */
    const char *store;
    const char *pin; /* the file of policy pinned */
    /* The share of an op's time that may be spent on trials of other experts.
     * 0: the default, 0.02; negative: none, for programs that need low latency.
     */
    double exploration;
    /* "": no GPU; "all": every GPU that the drivers report, software devices
     * included, opened now, which takes a while; NULL: TAKT_GPU, or the GPUs on
     * the PCI bus, each opened when calls are long enough to gain from it. */
    const char *gpu;
    /* "": events go only to sinks that the program adds; NULL: also to those
     * that the environment names (TAKT_TRACE, OTEL_...), and to `takt trace`.
     */
    const char *telemetry;
    /* Not 0: `store` is not trusted. It is read once, as strictly as by
     * takt_store_merge(), and never written; what is learned stays in memory.
     */
    int store_is_foreign;

    /* Since 0.2: what the best expert is the best at, such as "p99" or "time,
     * p99 < 2 ms" (takt/objective.h). NULL: TAKT_OBJECTIVE, or the mean time.
     */
    const char *objective;
} takt_ctx_options;

/* Makes a context. On success the caller owns *out; on failure *out is NULL.
 * TAKT_EINVAL: the cost model, the policy or the exploration is not valid.
 * TAKT_EINVAL: the objective is none (takt_objective_check() says why).
 * TAKT_ENOTSUP: an objective of energy, which cannot be measured here.
 * TAKT_ENODEV: this machine has no expert of that name, or of one in the pin
 *   file.
 * TAKT_ENOENT, TAKT_ECORRUPT: there is no such pin file or recording, or it is
 *   not one.
 * TAKT_ENOMEM: no memory. */
TAKT_API takt_status takt_ctx_create(const takt_ctx_options *options,
                                     takt_ctx **out);
TAKT_API void takt_ctx_destroy(takt_ctx *ctx); /* NULL is allowed */

/* Fills in the options that the environment sets. The default context is made
 * from them. The environment is read once, when Takt is first used. The strings
 * are valid for the life of the process.
 * TAKT_EINVAL: the size of the struct is wrong. */
TAKT_API takt_status takt_ctx_environment(takt_ctx_options *out);

/* The context of the one-line calls. The first call that needs it makes it from
 * the environment: TAKT_POLICY, TAKT_EXPERT, TAKT_THREADS, TAKT_BLAS, TAKT_DB,
 * TAKT_PIN, TAKT_EXPLORE, TAKT_GPU, TAKT_OBJECTIVE (see docs/environment.md).
 * It lives as long as the process. NULL: it could not be made; the status of
 * one-line calls is TAKT_ENOMEM then. */
TAKT_API takt_ctx *takt_ctx_default(void);

/* The machine of a context. Borrowed until the context is destroyed. */
TAKT_API const takt_machine *takt_ctx_machine(const takt_ctx *ctx);

/* The name of an expert of a context, in a fixed order: a name, borrowed as
 * above, and the backend it runs on (may be NULL). NULL beyond the last. Opens
 * the BLAS libraries of the context if they are not open; their experts come
 * last. */
TAKT_API const char *takt_ctx_expert(const takt_ctx *ctx, size_t index,
                                     takt_backend *backend);

/* The BLAS libraries of the context, each as a line of text: name, version and
 * file. Opens them, as above. NULL beyond the last. */
TAKT_API const char *takt_ctx_library(const takt_ctx *ctx, size_t index);

/* Why there are no libraries, as a line of text: none is wanted, none was
 * found, there is no memory for their threads, or the program is linked
 * statically and can load none. NULL: there are some. */
TAKT_API const char *takt_ctx_library_problem(const takt_ctx *ctx);

/* Defines an op of the user's own, up to 256 of them; *out is borrowed until
 * the context is destroyed. takt/expert.h adds the experts that run it.
 * TAKT_EFULL: there are 256.
 * TAKT_EINVAL: no name, or a character or length that names cannot have.
 * TAKT_EEXIST: the catalogue or this context has an op of that name. */
TAKT_API takt_status takt_ctx_define_op(takt_ctx *ctx, const takt_op_spec *spec,
                                        const takt_op **out);

/* Finds an op by its name or alias: the catalogue's or the user's; else NULL.
 * */
TAKT_API const takt_op *takt_ctx_find_op(takt_ctx *ctx, const char *name);

/* A question: where would this call run? */
typedef struct takt_request {
    size_t size; /* sizeof(takt_request): see takt/takt.h */
    takt_policy policy;
    const takt_op *op; /* NULL: an op without a description */
    const char *name;  /* the name that the heuristic rule reads; NULL: the
                        * name of the op */
    takt_complexity complexity; /* read when op is NULL */
    takt_dtype dtype;
    takt_shape shape;
    const takt_work *work; /* NULL: what the op and the shape imply */
    unsigned flags;        /* as in takt_call: transposes and the like */
    unsigned situation;    /* TAKT_SITUATION_... */

    /* Since 0.2: of policy adaptive, the objective (takt/objective.h); NULL:
     * the context's. */
    const char *objective;
    /* Under throughput, how many threads call at the same time; 0: as many as
     * do in this context. */
    double callers;
} takt_request;

/* Situations change the time of the same call. */
/* The operands are in the caches: the previous call used them. */
#define TAKT_SITUATION_REPEAT 1u
/* After a pause: the threads sleep and have to be woken. */
#define TAKT_SITUATION_ASLEEP 2u
/* The operands are on the first GPU that is ready. Without a GPU they are on
 * the host. */
#define TAKT_SITUATION_ON_GPU 4u

/* The length of an expert's name, with its NUL. */
#define TAKT_EXPERT_NAME_MAX 32

/* The answer: an expert, the reason, and what is expected. */
typedef struct takt_decision {
    size_t size;          /* sizeof(takt_decision): see takt/takt.h */
    takt_backend backend; /* the answer of the rule */
    takt_reason reason;
    char expert[TAKT_EXPERT_NAME_MAX];    /* that runs it on this machine */
    char runner_up[TAKT_EXPERT_NAME_MAX]; /* empty: not known */
    double predicted_s;                   /* negative: not known */
    double confidence;                    /* 0..1; negative: not known */
    size_t elements;
    takt_work work;  /* bytes negative: not known */
    double actual_s; /* of the run; negative: nothing was run */
    /* Of calls on a GPU: moving operands, with what was computed meanwhile;
     * waiting for other calls, and, before the run, until it was open. */
    double transfer_s, wait_s;
} takt_decision;

/* Decides where a call would run, and runs nothing.
 * TAKT_ESHAPE: the shape does not fit the op, or the cost rule needs the full
 *   shape of this op (or `work`) and got only its elements.
 * TAKT_EINVAL: the cost rule was asked for neither an op nor its work; policy
 *   fixed in a context that has no fixed expert; the policy or the dtype does
 *   not exist, or the op does not have that dtype, or was defined in another
 *   context; the objective is none, or fewer than one caller.
 * TAKT_ENOTSUP: an objective of energy, of which nothing is known here. */
TAKT_API takt_status takt_select(takt_ctx *ctx, const takt_request *request,
                                 takt_decision *out);

#ifdef __cplusplus
}
#endif

#endif
