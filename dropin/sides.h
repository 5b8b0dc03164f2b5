/* SPDX-License-Identifier: MIT */
/*
 * sides.h - the comparison of both sides, by what calls of all kinds took.
 *
 * Threads: by the owner of the statistics, switchback.c.
 */
#pragma once

#include "kind.h"

/* What was found out; 0 probes: nothing. */
struct takt_switchback_result {
    unsigned probes; /* slices that were compared */
    bool is_routed;  /* the side that is preferred */
    bool is_clear;   /* one side is faster with confidence */
    bool is_even;    /* not clear, but routing gains less than a tenth */
    bool is_gpu;     /* most of the routed time was a GPU's */
    double ratio;    /* time routed against time in the library, per work */
    double error;    /* standard error of that */
    double pace;     /* ns per unit of work, of routed calls; 0: not known */
};

/* Whether there are enough calls on both sides to compare them. */
bool takt__sides_are_measured(const struct takt_moments of[TAKT_SIDES]);

/* What the routed side changes in the mean, and the variance of that. */
double takt__sides_change(const struct takt_moments of[TAKT_SIDES]);
double takt__sides_variance(const struct takt_moments of[TAKT_SIDES]);

/* Compares, and says which side is to be preferred. */
void takt__sides_compare(struct takt_switchback_result *result);

/* Kinds that are clearly slower routed stay in the baseline library; or none
 * does. */
void takt__sides_keep(bool is_slow_kept);

/* Sets what the baseline library takes, of one kind or of all. */
void takt__kind_set_control(struct takt_kind *kind);
void takt__sides_set_controls(void);

/* What was measured on a side so far counts for less. */
void takt__sides_age(enum takt_side side);
