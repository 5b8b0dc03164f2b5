/* SPDX-License-Identifier: MIT */
/*
 * map_math.c - the transcendental element-wise kernels, on float.
 *
 * They are bound by arithmetic, not by memory: a simple loop, no streaming.
 */
#define REAL float
#define VREAL vf32
#define LANES VF32_LANES
#define V(word) vf32_##word

#include "kernels/vector/map_loop.h"
#include "kernels/vector/math.h"

#define MAP(op, result) \
    MAP_OP(op, result)  \
    MAP_KERNEL(TAKT_K(op##_f32), op, 1, map_run_deep)
MAP(exp, vf32_exp(a))
MAP(log, vf32_log(a))
MAP(sigmoid, vf32_sigmoid(a))
MAP(tanh, vf32_tanh(a))
MAP(gelu, vf32_gelu(a))
