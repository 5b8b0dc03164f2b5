/* SPDX-License-Identifier: MIT */
/*
 * shadow.c - shadow runs: trials of which the program must not notice anything.
 *
 * Experts differ in the last bits. A program that computes the same thing twice
 * may compare; so what is tried is not what it gets. A shadow run works on a
 * copy of the output and is wholly extra, so it has a budget of its own: a
 * share of what steady calls took, plus 2 ms in advance, which are enough for
 * short calls only.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fpenv.h"
#include "call/exec.h"
#include "op/operands.h"

static const double share = 0.02, advance_s = 2e-3;

double takt__shadow_budget_s(const takt_ctx *ctx)
{
    const double steady_s = 1e-9 * (double)atomic_load_explicit(
                                       &ctx->steady_ns, memory_order_relaxed);
    const double shadow_s = 1e-9 * (double)atomic_load_explicit(
                                       &ctx->shadow_ns, memory_order_relaxed);
    return fmax(0, share * steady_s + advance_s - shadow_s);
}

void takt__shadow_plan(struct takt_exec *exec)
{
    struct takt_choice *choice = &exec->choice;
    const int tried = choice->expert;

    if (choice->reason != TAKT_REASON_EXPLORE)
        return;
    choice->expert = (uint8_t)choice->word;
    choice->reason = (choice->word >> TAKT_CELL_MEASURED & 1) != 0
                         ? TAKT_REASON_MODEL
                         : TAKT_REASON_PRIOR;
    if (tried != choice->expert)
        exec->shadow = tried;
}

/* The same call with `out` elsewhere; an input that was the output still is. */
static takt_call moved(const takt_call *call, void *out)
{
    takt_call copy = *call;

    for (unsigned i = 0; i < sizeof copy.in / sizeof *copy.in; i++)
        if (copy.in[i] == call->out)
            copy.in[i] = out;
    copy.out = out;
    return copy;
}

/* A short call is run twice: the first run only brings the operands into the
 * caches of the expert. */
static void run_timed(struct takt_exec *exec)
{
    static const double short_s = 1e-3;

    exec->status = TAKT_OK;
    for (int runs = 0; runs < 2 && exec->status == TAKT_OK; runs++) {
        exec->start = takt__ticks();
        exec->status = takt__expert_run(&exec->ctx->experts,
                                        exec->choice.expert, exec->call);
        exec->end = takt__ticks();
        if ((double)(exec->end - exec->start) * takt__seconds_per_tick() >
            short_s)
            break;
    }
}

static void try_expert(const struct takt_exec *of)
{
    struct takt_exec exec = *of;
    struct takt_extents extents;

    takt__extents_of(of->call, &extents);
    void *out = malloc(extents.bytes[TAKT_OUT]);
    if (out == NULL)
        return;
    memcpy(out, of->call->out, extents.bytes[TAKT_OUT]);
    takt_call copy = moved(of->call, out);
    exec.call = &copy;
    exec.choice = (struct takt_choice){.expert = (uint8_t)of->shadow,
                                       .reason = TAKT_REASON_EXPLORE};
    exec.chosen = exec.choice.expert;
    exec.is_shadow = exec.is_sampled = true;
    run_timed(&exec);
    if (!takt__is_numeric_status(copy.op, exec.status))
        takt__sample(&exec);
    free(out);
}

void takt__shadow_run(struct takt_exec *exec)
{
    takt_ctx *ctx = exec->ctx;
    const double ns_per_tick = 1e9 * takt__seconds_per_tick();

    if (exec->is_sampled)
        atomic_fetch_add_explicit(&ctx->steady_ns,
                                  (int64_t)((double)(exec->end - exec->start) *
                                            ns_per_tick * exec->calls),
                                  memory_order_relaxed);
    if (exec->shadow < 0 || exec->status != TAKT_OK ||
        exec->numeric_status != TAKT_OK || exec->call->op->is_user ||
        takt__exit_has_begun())
        return;
    const uint64_t start = takt__ticks();
    const struct takt_fpenv fpenv = takt__fpenv_get();
    takt__fpenv_adopt(takt__fpenv_quiet(fpenv));
    try_expert(exec);
    takt__fpenv_adopt(fpenv); /* the flags that it raised are dropped */
    atomic_fetch_add_explicit(
        &ctx->shadow_ns,
        (int64_t)((double)(takt__ticks() - start) * ns_per_tick),
        memory_order_relaxed);
}
