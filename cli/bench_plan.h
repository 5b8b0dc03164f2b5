/* SPDX-License-Identifier: MIT */
/*
 * bench_plan.h - what `takt bench` was asked, how it is timed, and the answer
 * per op and size.
 */
#ifndef TAKT_CLI_BENCH_PLAN_H
#define TAKT_CLI_BENCH_PLAN_H

#include <takt/takt.h>

#include "base/clock.h"
#include "command.h"
#include "json.h"

enum { most_contenders = 65, most_cells = 512, most_samples = 256 };

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
struct cell {
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
    struct cell cell[most_cells];
    size_t cell_count;
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

/* ---- bench_limit.c: what the machine could do at best, measured ---- */

/* How a call passes through memory. */
struct traffic {
    double bytes;     /* of all arrays together */
    unsigned streams; /* arrays read, 1 to 3 */
    bool is_written;  /* and one written */
};

/* Multiply-adds of floats on one core, in operations per second. Half of it is
 * what doubles can reach. */
double measure_flops(const takt_machine *machine);

/* Bytes per second on so many threads at once, each with its own part of the
 * arrays; 0 when there is no memory or no thread to be had. */
double measure_bandwidth(const takt_machine *machine,
                         const struct traffic *traffic, unsigned threads);

static inline double now_s(void)
{
    return (double)takt__now_ns() * 1e-9;
}

#endif
