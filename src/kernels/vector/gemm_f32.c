/* SPDX-License-Identifier: MIT */
/* gemm_f32.c - matrix products of floats. */
#include "kernels/vector/isa.h"

#include "kernels/vector/f32.h"
#include "kernels/vector/gemm_body.h"
