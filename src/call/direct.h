/* SPDX-License-Identifier: MIT */
/*
 * direct.h - calls too small for a decision.
 *
 * A call on a few elements goes directly to the best kernel of this machine:
 * deciding would cost more than any decision could gain. Up to which size is
 * learned, by op, for one-line calls; in takt_run() the prior says it. Now and
 * then such a call takes the path of the others, to be timed: it then stands
 * for those that did not.
 */
#pragma once

#include "call/exec.h"

/* A direct call on fewer elements takes less than reading the clock. */
enum { TAKT_LEAST_TIMED = 64 };

/* Whether a call of that size goes directly, this time. */
static inline __attribute__((always_inline)) bool
takt__direct_take(const takt_ctx *ctx, takt_dtype dtype, enum takt_op_id op,
                  size_t n)
{
    const struct takt_direct *direct = &ctx->direct;

    /* n = 0 wraps round, and is not direct. */
    if (n - 1 >=
        atomic_load_explicit(&direct->most[dtype][op], memory_order_relaxed))
        return false;
    return n < atomic_load_explicit(&direct->uncounted, memory_order_relaxed) ||
           --takt__thread.left != 0;
}

/* Runs an admitted call if it is to go directly; false: it is not, or could not
 * be run so. */
bool takt__direct_run(struct takt_exec *exec);

/* Once in some 256 direct calls of its thread: has this call timed, with the
 * weight of those. */
void takt__direct_represent(struct takt_exec *exec, bool is_learned);

/* Finds the sizes that go directly: of all ops, for a new context; of one, when
 * something was learned about it. */
void takt__direct_start(takt_ctx *ctx);
void takt__direct_update(takt_ctx *ctx, enum takt_op_id op, takt_dtype dtype);

/* Telemetry takes every call (or no longer): then none goes directly. */
void takt__direct_emit_all(takt_ctx *ctx, bool is_all);

/* A context has buffers that move: from now on its calls and those of the
 * default context must look where their operands are. */
void takt__direct_stop(takt_ctx *ctx);

/* Publishes the default context. */
void takt__direct_set_default(takt_ctx *ctx);
