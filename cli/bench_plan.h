/* SPDX-License-Identifier: MIT */
/*
 * bench_plan.h - what `takt bench` was asked, how it is timed, and the answer
 * per op and size.
 */
#pragma once

#include <takt/takt.h>

#include "command.h"
#include "json.h"

enum { most_contenders = 65, most_contests = 512, most_samples = 256 };

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

/* One op at one size: a table of the output. */
struct contest {
    const takt_op *op;
    takt_shape shape;
};

struct bench {
    const struct command *command;
    takt_machine *machine; /* owned, as is the context */
    takt_ctx *ctx;
    takt_dtype dtype;
    double budget_s;
    double flops; /* the limit of one core, for dtype */
    struct contest contest[most_contests];
    size_t contest_count;
    struct contender contender[most_contenders];
    size_t contender_count;
    bool shows_progress;
    bool is_json;
    struct json json;
};

/* What a call could cost at best. */
struct limit {
    takt_work work;
    double one_bandwidth, all_bandwidth; /* bytes per second */
    double flops;                        /* on all threads */
    double seconds;
    bool is_memory; /* that, and not arithmetic, is the limit */
};

/* Reads the options, the ops with their sizes, and the experts into `bench`,
 * whose machine is known, and makes its context. On failure says what is wrong
 * in one line. */
bool read_question(const struct invocation *invocation, struct bench *bench);
