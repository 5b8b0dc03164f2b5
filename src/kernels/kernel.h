/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - what a CPU kernel is, and the list of all of them.
 *
 * A kernel computes one stretch of one op on the calling thread. It knows
 * nothing of contexts, threads, policies or telemetry, it allocates nothing
 * and it cannot fail: the caller has validated the operands. That is
 * what makes it safe to compile kernels with flags of their own.
 *
 * Operands are `const void *` so that one type serves every dtype; the name
 * of a kernel says which: takt__k_<op>_<dtype>_<isa>.
 *
 * Promise of every kernel: it reads and writes no byte outside the n elements
 * it was given, at any alignment.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* out[i] = f(a[i], b[i], c[i]; p, q). Operands the op does not have are NULL.
 * `out` may be the same pointer as any input, never a shifted overlap. */
typedef void takt_map_kernel(size_t n, const void *a, const void *b,
                             const void *c, void *out, double p, double q);

/* What a reduction has found in one stretch. Stretches are merged in order of
 * their position by takt__partial_merge(), so threads change no meaning. */
struct takt_partial {
    double value; /* sum, extremum, norm: what the op reduces to */
    double rest;  /* low part of a compensated sum; second moment */
    size_t index; /* position of the extremum inside the stretch */
    size_t count; /* elements covered; 0: nothing yet */
};

/* Reduces a stretch of n >= 1 elements. `b` is NULL but for dot. */
typedef void takt_reduce_kernel(size_t n, const void *a, const void *b,
                                struct takt_partial *out);

/* Defines such a kernel; `run_` says what it does with n, a, b and out. */
#define TAKT_REDUCE(kernel_, run_)                       \
    takt_reduce_kernel kernel_;                          \
    void kernel_(size_t n, const void *a, const void *b, \
                 struct takt_partial *out)               \
    {                                                    \
        (void)b;                                         \
        run_;                                            \
    }

/* Normalises each of `rows` contiguous rows of `cols` elements. `gain` and
 * `bias` have cols elements or are NULL; `out` may equal `in`. */
typedef void takt_rows_kernel(size_t rows, size_t cols, const void *in,
                              const void *gain, const void *bias, void *out,
                              double epsilon);

/* out = in with `bias` added to, or multiplied with, each of `rows` contiguous
 * rows of `cols` elements; `out` may equal `in`. */
typedef void takt_bias_kernel(size_t rows, size_t cols, const void *in,
                              const void *bias, void *out);

/* Reduces each of `cols` columns of rows >= 1 elements to one in `out`; rows
 * are `ld` elements apart. */
typedef void takt_columns_kernel(size_t rows, size_t cols, const void *in,
                                 size_t ld, void *out);

/* out[j * ld_out + i] = in[i * ld_in + j], i < rows, j < cols. No overlap. */
typedef void takt_transpose_kernel(size_t rows, size_t cols, const void *in,
                                   size_t ld_in, void *out, size_t ld_out);
