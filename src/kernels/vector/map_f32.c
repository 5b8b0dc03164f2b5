/* SPDX-License-Identifier: MIT */
/*
 * map_f32.c - the cheap element-wise kernels on float.
 *
 * fma has one rounding everywhere; axpy has where the instruction set can (not
 * on sse2, where the product is rounded first).
 */
#include "kernels/vector/isa.h"

#include "kernels/vector/f32.h"
#include "kernels/vector/map_loop.h"

#include "kernels/vector/map.def"
