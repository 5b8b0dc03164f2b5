/* SPDX-License-Identifier: MIT */
/* factor_f32.c - Cholesky and LU factors of floats. */
#include "kernels/vector/isa.h"

#include "kernels/vector/f32.h"
#include "kernels/vector/factor_body.h"
