/* SPDX-License-Identifier: MIT */
/*
 * aside.c - trials beside the calls of a program that must not notice them.
 *
 * Experts differ in the last bits. A program that computes the same thing twice
 * may compare; so what is tried is not what it gets. The trial works on a copy
 * of the output and is wholly extra, so it has a budget of its own: a share of
 * what steady calls took, without any advance but for short calls.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fpenv.h"
#include "call/inside.h"
#include "op/operands.h"

static const double share = 0.02, advance_s = 2e-3;

static bool is_steady(const takt_call *call)
{
    return (call->flags & TAKT_CALL_STEADY) != 0;
}

double takt__call_patience(const takt_ctx *ctx, const takt_call *call)
{
    if ((call->flags & TAKT_CALL_URGENT) != 0)
        return 0;
    if (!is_steady(call))
        return HUGE_VAL;
    const double steady_s = 1e-9 * (double)atomic_load_explicit(
                                       &ctx->steady_ns, memory_order_relaxed);
    const double aside_s = 1e-9 * (double)atomic_load_explicit(
                                      &ctx->aside_ns, memory_order_relaxed);
    const double left_s = share * steady_s + advance_s - aside_s;
    return left_s > 0 ? left_s : 0;
}

int takt__call_put_aside(const takt_call *call, struct takt_choice *choice)
{
    const int tried = choice->arm;

    if (!is_steady(call) || choice->reason != TAKT_REASON_EXPLORE)
        return -1;
    choice->arm = (uint8_t)choice->word;
    choice->reason = (choice->word >> TAKT_CELL_MEASURED & 1) != 0
                         ? TAKT_REASON_MODEL
                         : TAKT_REASON_PRIOR;
    return tried == choice->arm ? -1 : tried;
}

/* The same call with `out` elsewhere; what was read and written in one place
 * still is. */
static takt_call moved(const takt_call *call, void *out)
{
    takt_call copy = *call;

    for (unsigned i = 0; i < sizeof copy.in / sizeof *copy.in; i++)
        if (copy.in[i] == call->out)
            copy.in[i] = out;
    copy.out = out;
    return copy;
}

/* A short call is run twice: the first time only brings its operands to whoever
 * runs it. */
static takt_status run_timed(takt_ctx *ctx, const takt_call *call, unsigned arm,
                             struct takt_watch *watch)
{
    static const double short_s = 1e-3;
    takt_status status = TAKT_OK;

    for (int runs = 0; runs < 2 && status == TAKT_OK; runs++) {
        watch->start = takt__ticks();
        status = takt__call_run_arm(ctx, call, arm);
        watch->end = takt__ticks();
        if ((double)(watch->end - watch->start) * takt__seconds_per_tick() >
            short_s)
            break;
    }
    return status;
}

static void try_arm(takt_ctx *ctx, const takt_call *call,
                    const struct takt_sizes *sizes, const struct takt_watch *of,
                    unsigned arm)
{
    struct takt_extents extents;
    struct takt_watch watch = *of;
    const struct takt_choice choice = {.arm = (uint8_t)arm,
                                       .reason = TAKT_REASON_EXPLORE};

    takt__extents_of(call, &extents);
    void *out = malloc(extents.bytes[TAKT_OUT]);
    if (out == NULL)
        return;
    memcpy(out, call->out, extents.bytes[TAKT_OUT]);
    const takt_call copy = moved(call, out);
    watch.chosen = choice.arm;
    watch.is_aside = true;
    watch.status = run_timed(ctx, &copy, arm, &watch);
    takt__call_leave_sample(ctx, sizes, &choice, &watch);
    free(out);
}

void takt__call_try_aside(takt_ctx *ctx, const takt_call *call,
                          const struct takt_sizes *sizes,
                          const struct takt_watch *watch, int arm)
{
    const double seconds_per_tick = takt__seconds_per_tick();

    if (watch->is_sampled)
        atomic_fetch_add_explicit(
            &ctx->steady_ns,
            (int64_t)((double)(watch->end - watch->start) * seconds_per_tick *
                      1e9 * watch->calls),
            memory_order_relaxed);
    if (arm < 0 || watch->status != TAKT_OK || call->op->is_user ||
        takt__exit_has_begun())
        return;
    const uint64_t start = takt__ticks();
    const struct takt_fpenv fpenv = takt__fpenv_get();
    takt__fpenv_adopt(takt__fpenv_quiet(fpenv));
    try_arm(ctx, call, sizes, watch, (unsigned)arm);
    takt__fpenv_adopt(fpenv); /* nobody asked for what it raised */
    atomic_fetch_add_explicit(
        &ctx->aside_ns,
        (int64_t)((double)(takt__ticks() - start) * seconds_per_tick * 1e9),
        memory_order_relaxed);
}
