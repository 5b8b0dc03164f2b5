/* SPDX-License-Identifier: MIT */
/*
 * map_f32.c - the cheap element-wise kernels on float.
 *
 * fma has one rounding everywhere; axpy has where the instruction set can (not
 * on sse2, where the product is rounded first).
 */
#define REAL float
#define VREAL vf32
#define LANES VF32_LANES
#define V(word) vf32_##word

#include "kernels/vector/map_loop.h"

#define MAP(op, operands, result)                       \
    MAP_OP(op, result)                                  \
    MAP_KERNEL(TAKT_K(op##_f32), op, operands, map_run) \
    MAP_KERNEL(TAKT_K_NT(op##_f32), op, operands, map_run_nt)
#include "kernels/vector/map.def"
MAP(relu, 1, V(max)(V(zero)(), a))
