/* SPDX-License-Identifier: MIT */
/*
 * transpose_f64.c - transpose of matrices of double.
 */
#define REAL double
#define VREAL vf64
#define LANES VF64_LANES
#define V(word) vf64_##word
#define TRANSPOSE transpose_f64

#include "kernels/vector/transpose_body.h"
