/* SPDX-License-Identifier: MIT */
/*
 * trig.h - sine and cosine on vectors of either dtype.
 *
 * The argument is reduced to |r| <= pi / 4. With fma that takes three parts of
 * pi / 2, each as long as a number: the first difference is exact, so close to
 * a zero of the function r keeps its precision. Without fma, and where an
 * argument is far away, libm computes each lane.
 */
#pragma once

#include <math.h>

#include "kernels/vector/isa.h"

/* clang-format off */
#include "kernels/vector/f32.h"
#include "kernels/vector/trig_real.h"
#include "kernels/vector/f64.h"
#include "kernels/vector/trig_real.h"
#include "kernels/vector/no_dtype.h"
/* clang-format on */
