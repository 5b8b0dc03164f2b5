/* SPDX-License-Identifier: MIT */
/*
 * transpose.c - what transpose means.
 */
#include "kernels/kernel.h"

takt_transpose_kernel takt__k_transpose_f32_scalar;
takt_transpose_kernel takt__k_transpose_f64_scalar;

void takt__k_transpose_f32_scalar(size_t rows, size_t cols, const void *in,
                                  size_t ld_in, void *out, size_t ld_out)
{
    const float *from = in;
    float *to = out;

    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            to[j * ld_out + i] = from[i * ld_in + j];
}

void takt__k_transpose_f64_scalar(size_t rows, size_t cols, const void *in,
                                  size_t ld_in, void *out, size_t ld_out)
{
    const double *from = in;
    double *to = out;

    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            to[j * ld_out + i] = from[i * ld_in + j];
}
