/* SPDX-License-Identifier: MIT */
/* factor_f64.c - Cholesky and LU factors of doubles. */
#include "kernels/vector/isa.h"

#include "kernels/vector/f64.h"
#include "kernels/vector/factor_body.h"
