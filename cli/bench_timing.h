/* SPDX-License-Identifier: MIT */
/*
 * bench_timing.h - several ways to run one call, timed in turns.
 */
#ifndef TAKT_CLI_BENCH_TIMING_H
#define TAKT_CLI_BENCH_TIMING_H

#include <stdbool.h>
#include <stddef.h>

#include <takt/call.h>

enum { most_samples = 256 };

struct contender {
    char name[TAKT_EXPERT_NAME_MAX]; /* "adaptive", or an expert */
    bool is_adaptive;
    size_t expert; /* its number, else */

    /* Of the latest contest. */
    bool is_out;                    /* it cannot run the call */
    char ran[TAKT_EXPERT_NAME_MAX]; /* the expert that ran it last */
    size_t calls;                   /* per sample, so that a clock can see it */
    size_t samples;                 /* taken altogether */
    double best_s;                  /* of one call */
    double median_s;                /* of the latest samples */
    double used_s;                  /* of the budget */
    double latest[most_samples];
};

/* Times the call with each contender, in turns and in a new order every round,
 * for about `budget_s` altogether. What is slow is called once at least.
 * On failure says which of them failed. */
takt_status run_contest(takt_ctx *ctx, const takt_call *call, double budget_s,
                        struct contender *contenders, size_t count,
                        size_t *failed);

#endif
