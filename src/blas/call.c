/* SPDX-License-Identifier: MIT */
/* call.c - puts calls into the words of BLAS, and runs them. */
#include <limits.h>

#include "base/stack.h"
#include "blas/library.h"

/* What products of OpenBLAS take on several threads, with room to spare. */
static const size_t library_stack = 64 << 10;

static bool fits_int(size_t number)
{
    return number <= INT_MAX;
}

static bool find_dtype(size_t size, enum takt_blas_dtype *dtype)
{
    *dtype = size == sizeof(float) ? TAKT_BLAS_F32 : TAKT_BLAS_F64;
    return size == sizeof(float) || size == sizeof(double);
}

static union takt_blas_real real(enum takt_blas_dtype dtype, double number)
{
    union takt_blas_real real = {.f64 = number};
    if (dtype == TAKT_BLAS_F32)
        real.f32 = (float)number;
    return real;
}

static bool is_zero(enum takt_blas_dtype dtype, union takt_blas_real number)
{
    return dtype == TAKT_BLAS_F32 ? number.f32 == 0 : number.f64 == 0;
}

/* The leading dimension of `rows` x `cols` elements whose rows lie side by
 * side, `row` apart; 0: they overlap. A step that is never taken is free. */
static size_t leading(size_t rows, size_t cols, size_t row)
{
    if (rows == 1)
        return cols;
    return row >= cols ? row : 0;
}

static bool find_matrix(size_t rows, size_t cols, size_t row, size_t col,
                        struct takt_blas_matrix *matrix)
{
    size_t ld = 0;

    matrix->is_transposed = false;
    if (col == 1 || cols == 1)
        ld = leading(rows, cols, row);
    if (ld == 0 && (row == 1 || rows == 1)) {
        matrix->is_transposed = true;
        ld = leading(cols, rows, col);
    }
    matrix->ld = (int)ld;
    return ld != 0 && fits_int(ld);
}

/* Some libraries count the elements that a vector spans in an int. */
static bool is_vector(size_t n, size_t step)
{
    return step != 0 && fits_int(step) && (n - 1) <= INT_MAX / step;
}

static bool put_gemm(size_t size, const struct takt_gemm *in,
                     struct takt_blas_gemm *out)
{
    const bool has_sizes = in->m != 0 && in->n != 0 && in->k != 0 &&
                           fits_int(in->m) && fits_int(in->n) &&
                           fits_int(in->k);
    if (!has_sizes || !find_dtype(size, &out->dtype) ||
        !find_matrix(in->m, in->k, in->a_row, in->a_col, &out->a) ||
        !find_matrix(in->k, in->n, in->b_row, in->b_col, &out->b))
        return false;

    const size_t ldc = leading(in->m, in->n, in->ldc);
    out->m = (int)in->m;
    out->n = (int)in->n;
    out->k = (int)in->k;
    out->a.at = in->a;
    out->b.at = in->b;
    out->c = in->c;
    out->ldc = (int)ldc;
    out->alpha = real(out->dtype, in->alpha);
    out->beta = real(out->dtype, in->beta);
    return ldc != 0 && fits_int(ldc) && !is_zero(out->dtype, out->alpha);
}

static bool put_gemv(size_t size, const struct takt_gemv *in,
                     struct takt_blas_gemv *out)
{
    if (in->m == 0 || in->n == 0 || !fits_int(in->m) || !fits_int(in->n) ||
        !is_vector(in->n, in->x_step) || !is_vector(in->m, in->y_step) ||
        !find_dtype(size, &out->dtype) ||
        !find_matrix(in->m, in->n, in->a_row, in->a_col, &out->a))
        return false;

    out->m = (int)in->m;
    out->n = (int)in->n;
    out->a.at = in->a;
    out->x = in->x;
    out->x_step = (int)in->x_step;
    out->y = in->y;
    out->y_step = (int)in->y_step;
    out->alpha = real(out->dtype, in->alpha);
    out->beta = real(out->dtype, in->beta);
    return !is_zero(out->dtype, out->alpha);
}

static bool put_axpy(size_t size, const struct takt_axpy *in,
                     struct takt_blas_axpy *out)
{
    if (in->n == 0 || !fits_int(in->n) || !is_vector(in->n, in->x_step) ||
        !is_vector(in->n, in->y_step) || !find_dtype(size, &out->dtype))
        return false;

    out->n = (int)in->n;
    out->x = in->x;
    out->x_step = (int)in->x_step;
    out->y = in->y;
    out->y_step = (int)in->y_step;
    out->alpha = real(out->dtype, in->alpha);
    return !is_zero(out->dtype, out->alpha);
}

static bool is_too_small(const struct takt_blas_library *library,
                         const struct takt_blas_gemm *call)
{
    const int least = library->least_f32;

    return call->dtype == TAKT_BLAS_F32 &&
           (call->m < least || call->n < least || call->k < least);
}

/* A product of or with a vector is mostly a gemv inside of a library, and has
 * the faults of that. libxsmm has no gemv. */
static bool is_faulty_gemv(const struct takt_blas_library *library,
                           const struct takt_blas_gemm *call)
{
    return (call->m == 1 || call->n == 1 || call->k == 1) &&
           library->xsmm == NULL &&
           library->run[TAKT_BLAS_GEMV][call->dtype] == NULL;
}

static bool can_gemm(const struct takt_blas_library *library,
                     const struct takt_blas_gemm *call)
{
    return library->run[TAKT_BLAS_GEMM][call->dtype] != NULL &&
           !is_too_small(library, call) && !is_faulty_gemv(library, call) &&
           (library->xsmm == NULL || takt__xsmm_can(call));
}

bool takt__blas_can_gemm(const struct takt_blas *blas, size_t size,
                         const struct takt_gemm *call)
{
    struct takt_blas_gemm gemm;
    return put_gemm(size, call, &gemm) && can_gemm(blas->library, &gemm);
}

bool takt__blas_can_gemv(const struct takt_blas *blas, size_t size,
                         const struct takt_gemv *call)
{
    struct takt_blas_gemv gemv;
    return put_gemv(size, call, &gemv) &&
           blas->library->run[TAKT_BLAS_GEMV][gemv.dtype] != NULL;
}

bool takt__blas_can_axpy(const struct takt_blas *blas, size_t size,
                         const struct takt_axpy *call)
{
    struct takt_blas_axpy axpy;
    return put_axpy(size, call, &axpy) &&
           blas->library->run[TAKT_BLAS_AXPY][axpy.dtype] != NULL;
}

bool takt__blas_run(struct takt_blas_library *library, takt_blas_run *function,
                    unsigned threads, const void *call)
{
    if (function == NULL || !takt__stack_has(library_stack) ||
        !takt__callers_enter(library, threads))
        return false;
    const bool has_run = function(library, call);
    takt__callers_leave(library);
    return has_run;
}

bool takt__blas_gemm(struct takt_blas *blas, size_t size, unsigned threads,
                     const struct takt_gemm *call)
{
    struct takt_blas_library *library = blas->library;
    struct takt_blas_gemm gemm;

    if (threads == 0 || threads > blas->max_threads ||
        !put_gemm(size, call, &gemm) || !can_gemm(library, &gemm))
        return false;
    takt_blas_run *function = library->run[TAKT_BLAS_GEMM][gemm.dtype];
    /* Kernels of libxsmm's are plain code; it takes its turn to compile. */
    return library->xsmm != NULL
               ? function(library, &gemm)
               : takt__blas_run(library, function, threads, &gemm);
}

static bool may_use(const struct takt_blas *blas, unsigned threads)
{
    return threads > 0 && threads <= blas->max_vector_threads;
}

bool takt__blas_gemv(struct takt_blas *blas, size_t size, unsigned threads,
                     const struct takt_gemv *call)
{
    struct takt_blas_library *library = blas->library;
    struct takt_blas_gemv gemv;

    return may_use(blas, threads) && put_gemv(size, call, &gemv) &&
           takt__blas_run(library, library->run[TAKT_BLAS_GEMV][gemv.dtype],
                          threads, &gemv);
}

bool takt__blas_axpy(struct takt_blas *blas, size_t size, unsigned threads,
                     const struct takt_axpy *call)
{
    struct takt_blas_library *library = blas->library;
    struct takt_blas_axpy axpy;

    return may_use(blas, threads) && put_axpy(size, call, &axpy) &&
           takt__blas_run(library, library->run[TAKT_BLAS_AXPY][axpy.dtype],
                          threads, &axpy);
}
