/* SPDX-License-Identifier: MIT */
/*
 * map_f64.c - the cheap element-wise kernels on double; see map_f32.c.
 */
#define REAL double
#define VREAL vf64
#define LANES VF64_LANES
#define V(word) vf64_##word

#include "kernels/vector/map_loop.h"

#define MAP(op, operands, result)                       \
    MAP_OP(op, result)                                  \
    MAP_KERNEL(TAKT_K(op##_f64), op, operands, map_run) \
    MAP_KERNEL(TAKT_K_NT(op##_f64), op, operands, map_run_nt)
#include "kernels/vector/map.def"
