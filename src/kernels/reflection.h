/* SPDX-License-Identifier: MIT */
/* reflection.h - one reflection, from the elements of its column. */
#pragma once

#include <math.h>
#include <stddef.h>

/* I - tau v v' maps (alpha, x) to (beta, 0), where v is (1, x * scale). */
struct takt_reflection {
    double beta, tau, scale;
};

/* `tail` is the norm of x. What is 0 already is not reflected. */
static inline struct takt_reflection takt__reflection(double alpha, double tail)
{
    const double beta = -copysign(hypot(alpha, tail), alpha);

    if (tail == 0)
        return (struct takt_reflection){alpha, 0, 0};
    return (struct takt_reflection){beta, (beta - alpha) / beta,
                                    1 / (alpha - beta)};
}

/* The sum of squares of numbers up to `most`, which are multiplied by this
 * first, neither overflows nor vanishes. */
static inline double takt__safe_factor(double most)
{
    return most != 0 && (most < 0x1p-400 || most > 0x1p400)
               ? ldexp(1, -ilogb(most))
               : 1;
}
