/* SPDX-License-Identifier: MIT */
/* regression.c - sums of observations, and their solution. */
#include "energy/regression.h"

#include <math.h>
#include <string.h>

enum { terms = TAKT_REGRESSION_TERMS };

/* Of a prior with a standard deviation of 10,000 times the noise. */
static const double prior = 1e-8;

static const double faded = 1e-4;   /* sum of squares of shares */
static const double least_free = 6; /* observations beyond the terms */
static const double least_noise = 0.3, least_noise_share = 0.003;

void takt__regression_add(struct takt_regression *sums, const double x[terms],
                          double y, double weight, double decay)
{
    sums->count = decay * sums->count + weight;
    sums->y = decay * sums->y + weight * y;
    sums->yy = decay * sums->yy + weight * y * y;
    for (unsigned i = 0; i < terms; i++) {
        sums->x[i] = decay * sums->x[i] + weight * x[i];
        sums->xy[i] = decay * sums->xy[i] + weight * x[i] * y;
        for (unsigned j = 0; j < terms; j++)
            sums->xx[i][j] = decay * sums->xx[i][j] + weight * x[i] * x[j];
    }
}

bool takt__regression_is_faded(const struct takt_regression *sums,
                               unsigned term)
{
    return sums->xx[term][term] < faded;
}

void takt__regression_forget(struct takt_regression *sums,
                             struct takt_coefficients *solution, unsigned term)
{
    sums->x[term] = sums->xy[term] = solution->value[term] = 0;
    for (unsigned i = 0; i < terms; i++) {
        sums->xx[term][i] = sums->xx[i][term] = 0;
        solution->covariance[term][i] = solution->covariance[i][term] = 0;
    }
    solution->covariance[term][term] =
        solution->noise * solution->noise / prior;
}

/* A = L L'; false: it is not positive definite, by rounding. */
static bool factor(double a[terms][terms])
{
    for (unsigned j = 0; j < terms; j++) {
        for (unsigned k = 0; k < j; k++)
            a[j][j] -= a[j][k] * a[j][k];
        if (!(a[j][j] > 0))
            return false;
        a[j][j] = sqrt(a[j][j]);
        for (unsigned i = j + 1; i < terms; i++) {
            for (unsigned k = 0; k < j; k++)
                a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
    }
    return true;
}

/* Solves L L' x = b in place. */
static void substitute(double l[terms][terms], double b[terms])
{
    for (unsigned i = 0; i < terms; i++) {
        for (unsigned k = 0; k < i; k++)
            b[i] -= l[i][k] * b[k];
        b[i] /= l[i][i];
    }
    for (unsigned i = terms; i-- > 0;) {
        for (unsigned k = i + 1; k < terms; k++)
            b[i] -= l[k][i] * b[k];
        b[i] /= l[i][i];
    }
}

/* What the solution leaves unexplained, as a sum of squares. */
static double unexplained(const struct takt_regression *sums,
                          const double value[terms])
{
    double left = sums->yy;

    for (unsigned i = 0; i < terms; i++) {
        left -= 2 * value[i] * sums->xy[i];
        for (unsigned j = 0; j < terms; j++)
            left += value[i] * value[j] * sums->xx[i][j];
    }
    return left;
}

/* The counters themselves are no better than that. */
static double noise_of(const struct takt_regression *sums,
                       const double value[terms], double free_count)
{
    const double floor =
        hypot(least_noise, least_noise_share * sums->y / sums->count);
    const double noise = sqrt(fmax(0, unexplained(sums, value)) / free_count);

    return fmax(noise, floor);
}

static unsigned count_terms(const struct takt_regression *sums)
{
    unsigned count = 0;

    for (unsigned i = 0; i < terms; i++)
        count += !takt__regression_is_faded(sums, i);
    return count;
}

bool takt__regression_solve(const struct takt_regression *sums,
                            struct takt_coefficients *out)
{
    const double free_count = sums->count - count_terms(sums);
    double l[terms][terms];

    if (free_count < least_free)
        return false;
    memcpy(l, sums->xx, sizeof l);
    for (unsigned i = 0; i < terms; i++)
        l[i][i] += prior;
    if (!factor(l))
        return false;
    memcpy(out->value, sums->xy, sizeof out->value);
    substitute(l, out->value);
    out->noise = noise_of(sums, out->value, free_count);
    for (unsigned i = 0; i < terms; i++) {
        double *row = out->covariance[i]; /* it is symmetric */
        memset(row, 0, sizeof out->covariance[i]);
        row[i] = out->noise * out->noise;
        substitute(l, row);
    }
    return true;
}
