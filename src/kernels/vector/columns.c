/* SPDX-License-Identifier: MIT */
/*
 * columns.c - the sum, mean and maximum of every column of a matrix.
 *
 * Rows are taken 4 or 8 at a time, columns in blocks whose results so far stay
 * in the nearest cache; a few vectors of columns go down all rows in registers
 * (columns_walk.h). Sums of these rows are trees, and the trees are added up in
 * double, those of doubles with what each addition lost: the error does not
 * grow with the rows. A tree may overflow where the sum does not; then each
 * column is added up by itself.
 */
#include "kernels/kernel.h"

#include <math.h>

#include "kernels/partial.h"
#include "kernels/vector/isa.h"

enum {
    STRIP = 4,           /* vectors whose results stay in registers */
    KNOWN_BYTES = 8192,  /* results that stay in the nearest cache */
    FAR_BYTES = 12 << 20 /* above, asking ahead pays; measured, 32 MiB of L3 */
};

/* clang-format off */
#include "kernels/vector/f32.h"
#include "kernels/vector/columns_real.h"
#include "kernels/vector/f64.h"
#include "kernels/vector/columns_real.h"
#include "kernels/vector/no_dtype.h"
/* clang-format on */
