/* SPDX-License-Identifier: MIT */
/*
 * columns.c - the sum, mean and maximum of every column of a matrix.
 *
 * A few vectors of columns go down all rows in registers. Sums of eight rows
 * are added up in trees, and these in double, doubles with what each addition
 * lost: the error does not grow with the rows. A tree may overflow where the
 * sum does not; then each column is added up by itself.
 */
#include "kernels/kernel.h"

#include <math.h>

#include "kernels/vector/isa.h"

enum { TREE = 8 };

/* clang-format off */
#include "kernels/vector/f32.h"
#include "kernels/vector/columns_real.h"
#include "kernels/vector/f64.h"
#include "kernels/vector/columns_real.h"
#include "kernels/vector/no_dtype.h"
/* clang-format on */
