/* SPDX-License-Identifier: MIT */
/* transpose.c - what transpose means. */
#include "kernels/kernel.h"

#define TRANSPOSE(dtype_, real_)                                           \
    takt_transpose_kernel takt__k_transpose_##dtype_##_scalar;             \
    void takt__k_transpose_##dtype_##_scalar(size_t rows, size_t cols,     \
                                             const void *in, size_t ld_in, \
                                             void *out, size_t ld_out)     \
    {                                                                      \
        const real_ *from = in;                                            \
        real_ *to = out;                                                   \
                                                                           \
        for (size_t i = 0; i < rows; i++)                                  \
            for (size_t j = 0; j < cols; j++)                              \
                to[j * ld_out + i] = from[i * ld_in + j];                  \
    }

TRANSPOSE(f32, float)
TRANSPOSE(f64, double)
