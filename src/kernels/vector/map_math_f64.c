/* SPDX-License-Identifier: MIT */
/* map_math_f64.c - the transcendental element-wise kernels, on double. */
#include "kernels/vector/gelu.h"
#include "kernels/vector/math.h"
#include "kernels/vector/trig.h"

#include "kernels/vector/f64.h"
#include "kernels/vector/map_loop.h"

#include "kernels/vector/map_math.def"
