/* SPDX-License-Identifier: MIT */
/* map_math_f32.c - the transcendental element-wise kernels, on float. */
#include "kernels/vector/gelu.h"
#include "kernels/vector/math.h"
#include "kernels/vector/trig.h"

#include "kernels/vector/f32.h"
#include "kernels/vector/map_loop.h"

#include "kernels/vector/map_math.def"
