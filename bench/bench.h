/* SPDX-License-Identifier: MIT */
/*
 * bench.h - timing on a machine that is never quiet.
 *
 * The shortest of many rounds is what the code costs; everything above it is
 * somebody else's. Candidates are timed in turns, so that a slow spell of the
 * machine hits all of them.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <takt/context.h>

static inline double bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* For programs without options: what begins with - is no file, no number and
 * no folder. Ends the program with a line of usage, which `operands` completes.
 */
static inline void bench_refuse_options(int argc, char **argv,
                                        const char *operands)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;

    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-') {
            const int is_help = strcmp(argv[i], "--help") == 0;
            fprintf(is_help ? stdout : stderr, "usage: %s%s%s\n",
                    slash != NULL ? slash + 1 : argv[0],
                    operands[0] != '\0' ? " " : "", operands);
            exit(is_help ? 0 : 2);
        }
}

/* Keeps the compiler from dropping a value or moving it out of a loop. */
#define BENCH_USE(value) __asm__ volatile("" : : "g"(value) : "memory")
#define BENCH_HIDE(value) __asm__ volatile("" : "+r"(value))

/* One way to do what is timed. */
struct bench_way {
    const char *name;
    void (*run)(void *self, size_t calls); /* does it so many times */
    void (*prepare)(void *self);           /* before each turn; NULL: nothing */
    void *self;
    double rest_ns; /* pause after a turn, for threads left spinning */
    double best_ns; /* of one call; set by bench_contest() */
    size_t calls;   /* per sample */
};

/* Times all ways in turns, in a new order every round, for about `budget_ns`
 * each. A way that takes longer is run twice. */
void bench_contest(struct bench_way *ways, size_t count, double budget_ns);

/* The same once more, for everyone: shorter times replace longer ones. */
void bench_again(struct bench_way *ways, size_t count, double budget_ns);

/* A context with nothing but the best instruction set on so many threads; NULL:
 * there are not so many. */
takt_ctx *bench_open_expert(const takt_machine *machine, unsigned threads);

/* Memory at a multiple of 64 bytes, filled with values in [0.5, 1.5), every
 * other one negative. Ends the program when there is none. */
void *bench_floats(size_t count);
void *bench_doubles(size_t count);

/* Bigger is better: how the ratios of a table are summed up. */
struct bench_mean {
    double log_sum;
    size_t count;
};

void bench_mean_add(struct bench_mean *mean, double ratio);
double bench_mean_of(const struct bench_mean *mean); /* 0: nothing was added */

/* One line: how busy the machine is with other things. */
void bench_print_load(void);

/* "64K", "16M", "100": powers of 1024. */
const char *bench_size(size_t n, char out[24]);
