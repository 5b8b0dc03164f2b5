/* SPDX-License-Identifier: MIT */
/*
 * curve.h - what one expert was seen to cost along one series.
 *
 * Per bucket of work, statistics of the residual: ln(seconds) less ln of what
 * the rates say. Between the buckets and beyond them, an Ornstein-Uhlenbeck
 * process over the logarithm of work: near a measured size the posterior is
 * what was measured, far away it returns to the prior.
 *
 * Threads: none of its own; the model locks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/tail.h"
#include "op/key.h"

enum { TAKT_DRIFT_BUCKETS = 4, TAKT_DRIFT_RECENT = 5 };

/* A running mean. */
struct takt_sums {
    double n;    /* samples; at most 64 count for the mean */
    double mean; /* of the residual */
    double m2;   /* squared distances from the mean, summed */
};

/* One bucket. */
struct takt_stat {
    struct takt_sums all;  /* samples of this machine */
    struct takt_sums own;  /* the part of this writer */
    double calls;          /* of this writer, timed or not */
    double seconds;        /* which they took */
    float seen_s;          /* time of the bucket when it was last timed */
    float first_s;         /* of the first run in a process; 0: none yet */
    float before;          /* with before_n: the mean of all before the speed
                            * changed; without: the residual of the first run,
                            * if it was kept apart; 0: neither */
    float published;       /* the mean that verdicts are based on */
    float middle;          /* about the median: a burst that moves the mean does
                            * not move it */
    float origin;          /* from which tails are counted: near the middle */
    struct takt_tail tail; /* samples of this machine ... */
    struct takt_tail own_tail; /* ... and of this writer */
    struct takt_tail_watch watch;
    uint16_t before_n; /* samples of `before`, some at most */
    uint8_t settled;   /* samples since the middle was set, up to 255 */
    uint8_t bucket : 7;
    uint8_t is_changed : 1; /* since it was last stored */
};

/* Watches a few neighbouring buckets for a change of speed. */
struct takt_drift {
    float up, down; /* cumulative sums */
    float recent[TAKT_DRIFT_RECENT];
    uint8_t recent_count;
    uint8_t agreeing;           /* samples in a row as before the change */
    uint8_t doublings;          /* of the time between samples that count */
    uint32_t changed;           /* when the speed last did; 0: never */
    float shift;                /* by which the last alarm moved the means */
    uint64_t seen_ns, alarm_ns; /* 0: never */
};

struct takt_curve {
    struct takt_stat *stat; /* in the order of their buckets */
    unsigned count, capacity;
    struct takt_drift drift[TAKT_BUCKETS / TAKT_DRIFT_BUCKETS];
};

/* The distribution of the residual at every bucket: prior or posterior. */
struct takt_residuals {
    float mean[TAKT_BUCKETS];
    float variance[TAKT_BUCKETS];
};

void takt__curve_destroy(struct takt_curve *curve); /* NULL is allowed */

/* The statistics of a bucket; NULL: there are none. */
struct takt_stat *takt__curve_find(const struct takt_curve *curve,
                                   unsigned bucket);

/* The same of *curve, which may be NULL; both are made if need be. NULL: no
 * memory. */
struct takt_stat *takt__stat_at(struct takt_curve **curve, unsigned bucket);

/* The standard deviation of single samples, never below 5%. */
double takt__sums_sigma(const struct takt_sums *sums);

/* Sums whose mean has that variance. */
struct takt_sums takt__sums_worth(double mean, double variance);

/* Adds one set of samples to another. */
void takt__sums_pool(struct takt_sums *into, const struct takt_sums *from);

/* Moves the mean and gives it the weight of `n` samples. */
void takt__sums_move(struct takt_sums *sums, double mean, double n);

/* Whether a residual is more than three sigma from the mean. */
bool takt__sums_is_outlier(const struct takt_sums *sums, double residual);

/* Adds a residual. Outliers widen the spread and leave the mean. */
void takt__stat_add(struct takt_stat *stat, double residual);

/* The same for a measurement of `takt tune`: none is an outlier. It was
 * repeated where it was disturbed, and its conditions vary on purpose. */
void takt__stat_add_tuned(struct takt_stat *stat, double residual);

/* Turns the prior of every bucket into its posterior. `curve` may be NULL. */
void takt__curve_smooth(const struct takt_curve *curve,
                        struct takt_residuals *residuals);
