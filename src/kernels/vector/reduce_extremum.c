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

enum goal { LARGEST, SMALLEST };

#include "kernels/vector/f32.h"
#include "kernels/vector/reduce_extremum.h"

#include "kernels/vector/f64.h"
#include "kernels/vector/reduce_extremum.h"
