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

/* A column whose largest number is `most` is multiplied by this power of two
 * first, and beta divided by it: then no square overflows or vanishes, and
 * neither does the inverse of a denormal number. */
static inline double takt__safe_factor(double most)
{
    enum { largest = 1000 };

    if (most == 0 || (most >= 0x1p-400 && most <= 0x1p400))
        return 1;
    const int exponent = -ilogb(most);
    return ldexp(1, exponent < largest ? exponent : largest);
}
