/* SPDX-License-Identifier: MIT */
/*
 * reduce_extremum.c - max, min, argmax and argmin of floats and of doubles.
 *
 * The code is in reduce_extremum.h, once for both types.
 */
#include "kernels/kernel.h"

#include <math.h>
#include <stdbool.h>

#include "kernels/partial.h"
#include "kernels/vector/isa.h"

takt_reduce_kernel TAKT_K(max_f32), TAKT_K(min_f32);
takt_reduce_kernel TAKT_K(argmax_f32), TAKT_K(argmin_f32);
takt_reduce_kernel TAKT_K(max_f64), TAKT_K(min_f64);
takt_reduce_kernel TAKT_K(argmax_f64), TAKT_K(argmin_f64);

enum goal { LARGEST, SMALLEST };

static const double ramp_f64[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const float ramp_f32[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                 8, 9, 10, 11, 12, 13, 14, 15};

#include "kernels/vector/f32.h"
#include "kernels/vector/reduce_extremum.h"

#include "kernels/vector/f64.h"
#include "kernels/vector/reduce_extremum.h"
