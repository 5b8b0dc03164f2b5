/* SPDX-License-Identifier: MIT */
/*
 * regression.h - recursive least squares with decay.
 *
 * The sums of all observations are kept, older ones weighing less, and solved
 * when they are read. A weak prior (nothing is known, within some kilowatts)
 * stands in where the observations say nothing: terms that cannot be told apart
 * get errors of that size instead of a solution that is wrong.
 */
#pragma once

#include <stdbool.h>

enum { TAKT_REGRESSION_TERMS = 34 };

struct takt_regression {
    double count; /* of observations, by their weights */
    double y, yy;
    double x[TAKT_REGRESSION_TERMS]; /* sums of x, ... */
    double xy[TAKT_REGRESSION_TERMS];
    double xx[TAKT_REGRESSION_TERMS][TAKT_REGRESSION_TERMS];
};

struct takt_coefficients {
    double noise; /* standard deviation of an observation */
    double value[TAKT_REGRESSION_TERMS];
    double covariance[TAKT_REGRESSION_TERMS][TAKT_REGRESSION_TERMS];
};

/* Those before weigh `decay` times what they did, this one `weight`. */
void takt__regression_add(struct takt_regression *sums,
                          const double x[TAKT_REGRESSION_TERMS], double y,
                          double weight, double decay);

/* False: there are too few observations for that many terms. */
bool takt__regression_solve(const struct takt_regression *sums,
                            struct takt_coefficients *out);

/* Whether the observations that still count have next to nothing of a term. */
bool takt__regression_is_faded(const struct takt_regression *sums,
                               unsigned term);

/* Takes a term out, for another to have its place: nothing is known of it. */
void takt__regression_forget(struct takt_regression *sums,
                             struct takt_coefficients *solution, unsigned term);
