/* SPDX-License-Identifier: MIT */
/*
 * libraries.h - when a context opens other people's BLAS libraries.
 *
 * Loading them takes a good part of a tenth of a second, starts threads and
 * takes memory, and some of them end the program where there is none. So they
 * are opened when there is a use for them: by the first product that is large
 * enough for them to matter, by name, and by questions about products and about
 * the experts of the context.
 */
#pragma once

#include "call/ctx.h"

/* Opens them unless they are open. Any thread; two may do it at once. */
void takt__ctx_open_libraries(takt_ctx *ctx);

/* The same before a question about an op; NULL: about all. */
void takt__ctx_open_libraries_for(takt_ctx *ctx, const takt_op *op);

/* The same before the name of an expert is looked up. */
void takt__ctx_open_named(takt_ctx *ctx, const char *expert);

/* For every call that is decided by the table: one load, mostly. A shorter
 * call than a microsecond or so is not worth handing on. */
static inline void
takt__ctx_open_for_product(takt_ctx *ctx, const struct takt_question *question,
                           unsigned flags)
{
    static const double least_flops = 1 << 14;

    if (question->work.flops < least_flops ||
        !atomic_load_explicit(&ctx->may_open_libraries, memory_order_relaxed))
        return;
    if (takt__library_runs(question->op) && (flags & TAKT_CALL_URGENT) == 0 &&
        ctx->decider.policy == TAKT_POLICY_ADAPTIVE)
        takt__ctx_open_libraries(ctx);
}
