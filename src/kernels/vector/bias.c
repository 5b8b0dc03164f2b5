/* SPDX-License-Identifier: MIT */
/*
 * bias.c - a vector added to, or multiplied with, every row of a matrix.
 *
 * The result of a row depends on that row alone.
 */
#include "kernels/kernel.h"

#include "kernels/vector/isa.h"

/* clang-format off */
#include "kernels/vector/f32.h"
#include "kernels/vector/bias_real.h"
#include "kernels/vector/f64.h"
#include "kernels/vector/bias_real.h"
#include "kernels/vector/no_dtype.h"
/* clang-format on */
