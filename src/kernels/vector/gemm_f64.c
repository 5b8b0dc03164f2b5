/* SPDX-License-Identifier: MIT */
/* gemm_f64.c - matrix products of doubles. */
#include "kernels/vector/isa.h"

#include "kernels/vector/f64.h"
#include "kernels/vector/gemm_body.h"
