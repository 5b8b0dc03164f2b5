/* SPDX-License-Identifier: MIT */
/*
 * bench_timing.c - turns, warm-up and samples.
 *
 * No machine is idle all the time, and an expert that is timed while another
 * process is busy looks slow. So contenders take short turns, and a slow spell
 * hits all of them. The shortest sample is what the call costs; the median says
 * what a spell adds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_limit.h"
#include "bench_plan.h"

enum { rounds = 7 };

/* Wide vector units need that long to reach full speed, and threads that the
 * previous expert left spinning need about as long to fall asleep. */
static const double warm_up_s = 0.0004;
static const double sample_s = 0.00002; /* the clock is a thousandth of it */

static takt_status run_once(takt_ctx *ctx, const struct contender *c,
                            const takt_call *call, takt_decision *decision)
{
    return c->is_adaptive ? takt_run(ctx, call, decision)
                          : takt_run_on(ctx, call, c->expert);
}

/* Seconds of a call. An expert that fails is out from then on. */
static double time_calls(takt_ctx *ctx, struct contender *c,
                         const takt_call *call)
{
    const double start = now_s();

    for (size_t i = 0; i < c->calls; i++)
        if (run_once(ctx, c, call, NULL) != TAKT_OK) {
            c->is_out = true;
            return INFINITY;
        }
    return (now_s() - start) / (double)c->calls;
}

static void add_sample(struct contender *c, double seconds)
{
    c->latest[c->samples++ % most_samples] = seconds;
    if (c->samples == 1 || seconds < c->best_s)
        c->best_s = seconds;
}

/* Runs the call once, which shows whether the expert can run it, starts threads
 * and compiles kernels; then for as long as it takes to know how often it fits
 * a sample. What is longer than the whole budget is not run again. */
static takt_status enter(takt_ctx *ctx, struct contender *c,
                         const takt_call *call, double budget_s)
{
    takt_decision decision = {.size = sizeof decision};
    const double start = now_s();
    const takt_status status = run_once(ctx, c, call, &decision);
    double seconds = now_s() - start;

    c->is_out = !c->is_adaptive && status != TAKT_OK;
    if (status != TAKT_OK)
        return c->is_out ? TAKT_OK : status;
    memcpy(c->ran, c->is_adaptive ? decision.expert : c->name, sizeof c->ran);
    c->samples = 0;
    c->used_s = 0;
    c->calls = 1;
    if (seconds < budget_s)
        seconds = time_calls(ctx, c, call);
    while (seconds * (double)c->calls < sample_s) {
        c->calls *= 2;
        seconds = time_calls(ctx, c, call);
    }
    add_sample(c, seconds);
    return TAKT_OK;
}

/* At the end another expert may be chosen than at first: threads are awake. */
static void take_turn(takt_ctx *ctx, struct contender *c, const takt_call *call,
                      double turn_s)
{
    const double start = now_s();
    takt_decision decision = {.size = sizeof decision};
    double used;

    do
        time_calls(ctx, c, call);
    while (now_s() - start < warm_up_s);
    do {
        add_sample(c, time_calls(ctx, c, call));
        used = now_s() - start;
    } while (used < turn_s);
    c->used_s += used;
    if (c->is_adaptive && takt_run(ctx, call, &decision) == TAKT_OK)
        memcpy(c->ran, decision.expert, sizeof c->ran);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void find_median(struct contender *c)
{
    const size_t count = c->samples < most_samples ? c->samples : most_samples;

    qsort(c->latest, count, sizeof c->latest[0], compare);
    c->median_s = c->latest[count / 2];
}

takt_status run_contest(takt_ctx *ctx, const takt_call *call, double budget_s,
                        struct contender *contenders, size_t count,
                        size_t *failed)
{
    size_t in = 0;

    for (size_t i = 0; i < count; i++) {
        const takt_status status = enter(ctx, &contenders[i], call, budget_s);
        *failed = i;
        if (status != TAKT_OK)
            return status;
        in += !contenders[i].is_out;
    }
    const double share_s = budget_s / (double)(in > 0 ? in : 1);
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            struct contender *c = &contenders[(i + round) % count];
            /* A turn has two samples at least; those for which even that is
             * too long were timed when they entered. */
            const double least = 2 * c->best_s * (double)c->calls;
            if (!c->is_out && c->used_s + least < share_s)
                take_turn(ctx, c, call, share_s / rounds);
        }
    for (size_t i = 0; i < count; i++)
        if (!contenders[i].is_out)
            find_median(&contenders[i]);
    return TAKT_OK;
}
