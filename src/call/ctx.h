/* SPDX-License-Identifier: MIT */
/* ctx.h - what a context holds. */
#ifndef TAKT_CALL_CTX_H
#define TAKT_CALL_CTX_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/lock.h"
#include "call/user_experts.h"
#include "decide/decide.h"
#include "expert/expert.h"
#include "learn/learner.h"
#include "op/user_ops.h"
#include "takt/context.h"
#include "telemetry/dispatcher.h"

struct takt_gpu_watch;

/* A straight call on fewer elements is not timed. */
enum { TAKT_LEAST_TIMED = 64 };

struct takt_ctx {
    takt_machine *machine; /* owned, constant */
    struct takt_fleet fleet;
    struct takt_decider decider;

    /* Calls so small that nothing but one thread of the best instruction set
     * can be first go straight to its kernels. */
    _Atomic bool is_straight;
    _Atomic bool is_all_told; /* telemetry wants every call: none is straight */
    _Atomic(struct takt_tap *) tap; /* telemetry; NULL: none */
    _Atomic size_t uncounted;       /* straight calls below it are not */
    const struct takt_slots *straight;
    _Atomic size_t straight_most[TAKT_DTYPES][TAKT_OP_COUNT]; /* elements */

    struct takt_learner *learner;
    struct takt_dispatcher *dispatcher;
    bool is_followed;   /* `takt trace` may follow it */
    uint64_t looked_ns; /* when it was last looked for; by the learner ... */
    ino_t follower_ino; /* ... as are these: whom it found last */
    struct timespec follower_time;
    takt_diag export_problem; /* why there is no exporter; with its lock */
    pthread_mutex_t export_lock;
    bool is_learning;                    /* calls leave samples */
    bool is_exploring;                   /* and may be run to learn */
    _Atomic int64_t steady_ns, aside_ns; /* what steady calls took, and what was
                                          * tried beside them: aside.c */
    struct takt_user_ops user_ops;
    struct takt_user_experts user_experts;
    struct takt_gpu_watch *gpu_watch; /* by device; NULL: there is none */
    char gpu_fingerprint[TAKT_MAX_GPUS][TAKT_SHA256_HEX];
    _Atomic bool may_open_libraries; /* libraries.h */
    bool is_recorded; /* answers for another machine, and runs nothing */
    char library[TAKT_BLAS_MAX][704];
};

/* The default context, NULL until the first call that needs it: for those to
 * whom a call of takt_ctx_default() is too much. */
extern _Atomic(takt_ctx *) takt__default_ctx;

/* What telemetry wants of calls; NULL: nothing. */
static inline struct takt_tap *takt__ctx_tap(const takt_ctx *ctx)
{
    return atomic_load_explicit(&ctx->tap, memory_order_acquire);
}

/* Gives a context the means to tell of its calls, before its learner is made;
 * and opens what the environment asks for, once everything else is there. */
takt_status takt__ctx_prepare_telemetry(takt_ctx *ctx);
void takt__ctx_open_telemetry(takt_ctx *ctx, const takt_ctx_options *options);

/* For the learner (learner.h). */
void takt__ctx_learned(void *self, const struct takt_sample *sample,
                       const struct takt_model_counters *counters);

/* The name and the backend of an arm. */
const char *takt__ctx_arm_name(const takt_ctx *ctx, unsigned arm);
takt_backend takt__ctx_arm_backend(const takt_ctx *ctx, unsigned arm);

/* The user's expert that is an arm; NULL: it is one of the fleet. */
const struct takt_user_expert *takt__ctx_user_expert(const takt_ctx *ctx,
                                                     unsigned arm);

/* The GPU that an expert is; NULL: it is none. */
static inline const struct takt_device *takt__ctx_gpu_of(const takt_ctx *ctx,
                                                         unsigned arm)
{
    return arm < ctx->fleet.count ? ctx->fleet.expert[arm].device : NULL;
}

/* The context that a public function was given: NULL means the default one.
 * NULL if that could not be made. Who gives a constant one only reads it. */
static inline takt_ctx *takt__ctx_meant(const takt_ctx *ctx)
{
    return ctx != NULL ? (takt_ctx *)(uintptr_t)ctx : takt_ctx_default();
}

/* Adds an expert to a user's op, with the learner's lock; as
 * takt_ctx_add_expert(). */
takt_status takt__ctx_enlist_expert(takt_ctx *ctx, struct takt_model *model,
                                    const takt_op *op, const char *name,
                                    const takt_expert_spec *spec);

/* A small call must look where its operands are from now on, also one of the
 * default context. */
void takt__ctx_end_straight(takt_ctx *ctx);

/* The same for a default context that was made at that very moment. */
void takt__ctx_look_around(takt_ctx *ctx);

/* Whether every call has to take the common path, to be told of. */
void takt__ctx_tell_all(takt_ctx *ctx, bool is_all);

/* Makes the model and the learner of a context; see teach.c. */
takt_status takt__ctx_teach(takt_ctx *ctx, const takt_ctx_options *options);

/* Reads a pin file into the table. */
takt_status takt__ctx_read_pin(takt_ctx *ctx, const char *path);

#endif
