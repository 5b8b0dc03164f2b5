/* SPDX-License-Identifier: MIT */
/*
 * map_math.c - the transcendental element-wise kernels, on float.
 *
 * They are bound by arithmetic, not by memory: a simple loop, no streaming.
 */
#include "kernels/vector/math.h"

#include "kernels/vector/f32.h"
#include "kernels/vector/map_loop.h"

#define MAP_DEEP(op, result) \
    MAP_OP(op, result)       \
    MAP_KERNEL(TAKT_K(F(op)), op, 1, map_run_deep)
MAP_DEEP(exp, vf32_exp(a))
MAP_DEEP(log, vf32_log(a))
MAP_DEEP(sigmoid, vf32_sigmoid(a))
MAP_DEEP(tanh, vf32_tanh(a))
MAP_DEEP(gelu, vf32_gelu(a))
