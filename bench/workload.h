/* SPDX-License-Identifier: MIT */
/*
 * workload.h - a program that calls everything: any op, log-uniform sizes, f32
 * and f64, in random order, and what it takes on each expert.
 */
#pragma once

#include <takt/takt.h>

enum { max_experts = 64 };

/* Who decides where a run of the sequence does, instead of one expert. */
enum { by_context = max_experts, by_oracle };

/* One kind of call of the workload. */
struct cell {
    takt_call call;
    int calls;                    /* in a row: more than one for the shortest */
    double expert_s[max_experts]; /* median; 0: not run, or far too slow */
    double mean_s[max_experts];
    double best_s, best_mean_s; /* the shortest of these */
    size_t best;                /* by the median */
};

struct workload {
    struct cell *cell;
    size_t count;
    size_t *order; /* calls, as numbers of cells */
    size_t length;
    uint64_t random;
};

/* `count` cells, each called `calls` times in random order. Ends the program
 * when there is no memory. */
struct workload workload_make(size_t count, size_t calls, uint64_t seed);
void workload_free(struct workload *workload);

/* What each call of a sequence took, all rounds together. */
struct workload_times {
    double *seconds; /* by cell, calls of a cell one after another */
    size_t *count;   /* by cell */
    size_t room;     /* calls of a cell that fit */
};
struct workload_times workload_times_make(const struct workload *workload,
                                          int rounds);
void workload_times_free(struct workload_times *times);

/* A first look at every expert: which are worth measuring. */
void workload_look(struct workload *workload, takt_ctx *ctx);

/* Runs the sequence once: on one expert where it is worth it, as the context
 * decides (by_context), or each call on the expert that workload_find_best()
 * found (by_oracle). */
void workload_run(const struct workload *workload, takt_ctx *ctx, size_t expert,
                  struct workload_times *times);

/* Takes the times of an expert over into the cells; after the last one,
 * finds the best. */
void workload_take(struct workload *workload, size_t expert,
                   struct workload_times *times);
void workload_find_best(struct workload *workload);

/* A run against the best expert of each call: totals by medians and by means,
 * and the geometric mean over cells of the medians. */
struct workload_ratio {
    double total, mean_total, geometric;
    double spent_s; /* one call of each cell, by means */
};
struct workload_ratio workload_compare(const struct workload *workload,
                                       struct workload_times *times,
                                       double *cell_ratio);

/* A number in [0, 1). */
double workload_random(uint64_t *state);
