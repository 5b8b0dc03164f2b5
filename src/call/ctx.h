/* SPDX-License-Identifier: MIT */
/* ctx.h - what a context holds. */
#pragma once

#include <sys/types.h>
#include <time.h>

#include "base/lock.h"
#include "call/sync_fleet.h"
#include "decide/decide.h"
#include "expert/expert.h"
#include "learn/learner.h"
#include "op/user_ops.h"
#include "takt/context.h"
#include "telemetry/dispatcher.h"

struct takt_gpu_watch;

/* Calls so small that only one thread of the best instruction set can be first
 * go directly to its kernels: direct.h. */
struct takt_direct {
    _Atomic bool is_on;
    _Atomic bool
        is_all_emitted; /* telemetry wants every call: no call is direct */
    _Atomic size_t uncounted; /* direct calls below it are not counted */
    const struct takt_kernel_set *kernel_set; /* those kernels */
    /* The largest size that goes directly: elements, or m * n * k of a matmul;
     * 0: none. Learned, for one-line calls. */
    _Atomic size_t most[TAKT_DTYPES][TAKT_OP_COUNT];
    size_t most_short[TAKT_DTYPES]
                     [TAKT_OP_COUNT]; /* in takt_run(), by the prior */
};

struct takt_ctx {
    takt_machine *machine; /* owned, constant */
    struct takt_experts experts;
    struct takt_decider decider;
    struct takt_direct direct;
    _Atomic(struct takt_tap *) tap; /* telemetry; NULL: none */

    struct takt_learner *learner;
    struct takt_fleet_sync sync;
    struct takt_dispatcher *dispatcher;
    bool is_followed;              /* `takt trace` may follow it */
    uint64_t followers_checked_ns; /* by the learner ... */
    /* ... as are these: the readers of this process and of all, as it found
     * them last */
    struct takt_follower {
        ino_t ino;
        struct timespec time;
    } follower[2];
    takt_diag export_problem; /* why there is no exporter; with its lock */
    pthread_mutex_t export_lock;
    bool is_learning;  /* calls leave samples */
    bool is_exploring; /* and may be run to learn */
    bool is_energy_wanted;
    /* Objectives: what is printed of them is constant below their number. */
    _Atomic unsigned objective_count;
    char objective[TAKT_OBJECTIVES][64]; /* as takt/objective.h writes them */
    _Atomic unsigned counts_callers;     /* bit 1 << number: throughput */
    /* Callers inside of calls under such an objective. Every one of them writes
     * it, so nothing that others read is near. */
    char before_callers[64];
    _Atomic unsigned callers;
    char after_callers[64];
    /* What steady calls and their shadow runs took: shadow.c. */
    _Atomic int64_t steady_ns, shadow_ns;
    struct takt_user_ops user_ops;
    struct takt_gpu_watch *gpu_watch; /* by device; NULL: there is none */
    char gpu_fingerprint[TAKT_MAX_GPUS][TAKT_SHA256_HEX];
    _Atomic bool may_open_libraries; /* libraries.h */
    bool is_recorded; /* answers for another machine, and runs nothing */
    char library[TAKT_BLAS_MAX][704];
};

/* The default context, NULL until the first call that needs it: for code to
 * which a call of takt_ctx_default() is too much. In direct.c. */
extern _Atomic(takt_ctx *) takt__default_ctx;

/* What telemetry takes of calls; NULL: nothing. */
static inline struct takt_tap *takt__ctx_tap(const takt_ctx *ctx)
{
    return atomic_load_explicit(&ctx->tap, memory_order_acquire);
}

/* Whether what experts draw is to be measured. */
static inline bool takt__energy_wanted(const takt_ctx *ctx)
{
    return ctx->is_energy_wanted;
}

static inline const struct takt_expert *takt__ctx_expert(const takt_ctx *ctx,
                                                         unsigned number)
{
    return &ctx->experts.expert[number];
}

/* The op, the dtype and the layout of a series. NULL: a link, or an op that is
 * not defined (yet). */
static inline const takt_op *takt__ctx_op(const takt_ctx *ctx, unsigned series,
                                          takt_dtype *dtype,
                                          char layout[TAKT_LAYOUT_NAME])
{
    enum takt_op_id op;
    unsigned user_op;

    takt__series_name(series, &op, &user_op, dtype, layout);
    return op == TAKT_OP_COUNT ? takt__user_ops_at(&ctx->user_ops, user_op)
                               : takt_op_at(op);
}

/* The context for an argument of a public function: NULL means the default one.
 * NULL if that could not be made. */
static inline takt_ctx *takt__ctx_or_default(const takt_ctx *ctx)
{
    return ctx != NULL ? (takt_ctx *)(uintptr_t)ctx : takt_ctx_default();
}

/* The same, of one that runs calls. TAKT_ENOMEM: there is none. TAKT_ENODEV: it
 * is of a recorded machine. */
static inline takt_status takt__ctx_to_run(takt_ctx **ctx)
{
    *ctx = takt__ctx_or_default(*ctx);
    return *ctx == NULL          ? TAKT_ENOMEM
           : (*ctx)->is_recorded ? TAKT_ENODEV
                                 : TAKT_OK;
}
