/* SPDX-License-Identifier: MIT */
/* gelu.h - x times the normal distribution up to x. */
#pragma once

#include <math.h>

/* What erfc is given must be exact to more digits than it returns: its relative
 * error grows with the square of x. */
static inline double takt__gelu(double x)
{
    const long double wide = x, root_half = 0.70710678118654752440084436L;

    return (double)(wide * 0.5L * erfcl(-wide * root_half));
}
