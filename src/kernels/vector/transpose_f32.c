/* SPDX-License-Identifier: MIT */
/*
 * transpose_f32.c - transpose of matrices of float.
 */
#define REAL float
#define VREAL vf32
#define LANES VF32_LANES
#define V(word) vf32_##word
#define TRANSPOSE transpose_f32

#include "kernels/vector/transpose_body.h"
