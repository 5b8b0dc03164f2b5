/* SPDX-License-Identifier: MIT */
/*
 * map_f64.c - the cheap element-wise kernels on double.
 *
 * axpy and fma are fused. Where there is no such instruction (sse2) the
 * product is rounded before the sum: an error of at most one unit in the last
 * place of |a*b| + |c|, and an overflow where the product alone overflows.
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
