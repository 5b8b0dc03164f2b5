/* SPDX-License-Identifier: MIT */
/*
 * lapack.c - Cholesky factors, systems of equations and least squares by
 * LAPACK.
 *
 * LAPACK's matrices are transposes of ours. A lower triangle that lies row by
 * row is an upper one to it, and its factor U = L' lies where L should. A
 * system is solved from the right: with A = P L U, X = U^-1 L^-1 P' B is
 * X' = B' P L'^-1 U'^-1, and X' is what lies there row by row.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "base/stack.h"
#include "blas/library.h"

typedef void fortran_potrf(const char *uplo, const int *n, void *a,
                           const int *lda, int *info, size_t);
typedef void fortran_getrf(const int *m, const int *n, void *a, const int *lda,
                           int *pivot, int *info);
typedef void fortran_trsm(const char *side, const char *uplo, const char *trans,
                          const char *diag, const int *m, const int *n,
                          const void *alpha, const void *a, const int *lda,
                          void *b, const int *ldb, size_t, size_t, size_t,
                          size_t);

typedef void fortran_gels(const char *trans, const int *m, const int *n,
                          const int *nrhs, void *a, const int *lda, void *b,
                          const int *ldb, void *work, const int *lwork,
                          int *info, size_t);

typedef void fortran_geqrf(const int *m, const int *n, void *a, const int *lda,
                           void *tau, void *work, const int *lwork, int *info);
typedef void fortran_orgqr(const int *m, const int *n, const int *k, void *a,
                           const int *lda, const void *tau, void *work,
                           const int *lwork, int *info);

static size_t size_of(enum takt_blas_dtype dtype)
{
    return dtype == TAKT_BLAS_F32 ? sizeof(float) : sizeof(double);
}

/* Element i of the diagonal. */
static double pivot_of(enum takt_blas_dtype dtype, const void *a, size_t ld,
                       size_t i)
{
    return dtype == TAKT_BLAS_F32 ? (double)((const float *)a)[i * (ld + 1)]
                                  : ((const double *)a)[i * (ld + 1)];
}

/* ---- Cholesky ------------------------------------------------------------ */

static void copy_lower(const struct takt_lapack_cholesky *of, size_t size)
{
    for (size_t i = 0; i < of->n; i++) {
        char *to = (char *)of->l + i * of->ld_l * size;
        memcpy(to, (const char *)of->a + i * of->ld_a * size, (i + 1) * size);
        memset(to + (i + 1) * size, 0, (of->n - i - 1) * size);
    }
}

/* Libraries differ about NaN and infinities, which end up on the diagonal. */
bool takt__fortran_potrf(struct takt_blas_library *library, const void *self)
{
    const struct takt_blas_cholesky *call = self;
    const struct takt_lapack_cholesky *of = call->of;
    fortran_potrf *const run =
        (fortran_potrf *)library->symbol[TAKT_BLAS_POTRF][call->dtype];
    int info = 0;

    copy_lower(of, size_of(call->dtype));
    run("U", &call->n, of->l, &call->ld_l, &info, 1);
    *of->is_definite = info == 0;
    for (size_t i = 0; i < of->n && *of->is_definite; i++) {
        const double pivot = pivot_of(call->dtype, of->l, of->ld_l, i);
        *of->is_definite = pivot > 0 && isfinite(pivot);
    }
    return true;
}

/* ---- systems of equations ------------------------------------------------ */

static void swap_bytes(char *a, char *b, size_t bytes)
{
    char kept[256];

    while (bytes > 0) {
        const size_t now = bytes < sizeof kept ? bytes : sizeof kept;
        memcpy(kept, a, now);
        memcpy(a, b, now);
        memcpy(b, kept, now);
        a += now;
        b += now;
        bytes -= now;
    }
}

/* X = P' B */
static void copy_permuted(const struct takt_lapack_solve *of, size_t size)
{
    const size_t bytes = of->nrhs * size, apart = of->ld_x * size;
    char *x = of->x;

    for (size_t i = 0; i < of->n; i++)
        memcpy(x + i * apart, (const char *)of->b + i * of->ld_b * size, bytes);
    for (size_t i = 0; i < of->n; i++) {
        const size_t other = (size_t)of->pivot[i] - 1;
        if (other != i)
            swap_bytes(x + i * apart, x + other * apart, bytes);
    }
}

/* X' = X' T'^-1, where T is the lower or the upper triangle. */
static void divide(const struct takt_blas_library *library,
                   const struct takt_blas_solve *call, bool is_lower)
{
    fortran_trsm *const run = (fortran_trsm *)library->trsm[call->dtype];
    union takt_blas_real one = {.f64 = 1};

    if (call->dtype == TAKT_BLAS_F32)
        one.f32 = 1;
    run("R", is_lower ? "L" : "U", "T", is_lower ? "U" : "N", &call->nrhs,
        &call->n, &one, call->of->a, &call->n, call->of->x, &call->ld_x, 1, 1,
        1, 1);
}

/* Some libraries call a matrix singular that has a denormal pivot. */
static bool has_denormal_pivot(const struct takt_blas_solve *call)
{
    bool has = false;

    for (size_t i = 0; i < call->of->n && !has; i++) {
        const double pivot = pivot_of(call->dtype, call->of->a, call->of->n, i);
        has = call->dtype == TAKT_BLAS_F32
                  ? fpclassify((float)pivot) == FP_SUBNORMAL
                  : fpclassify(pivot) == FP_SUBNORMAL;
    }
    return has;
}

bool takt__fortran_getrf(struct takt_blas_library *library, const void *self)
{
    const struct takt_blas_solve *call = self;
    const struct takt_lapack_solve *of = call->of;
    fortran_getrf *const run =
        (fortran_getrf *)library->symbol[TAKT_BLAS_GETRF][call->dtype];
    int info = 0;

    run(&call->n, &call->n, of->a, &call->n, of->pivot, &info);
    *of->is_regular = info == 0;
    for (size_t i = 0; i < of->n && *of->is_regular; i++)
        *of->is_regular = isfinite(pivot_of(call->dtype, of->a, of->n, i));
    if (!*of->is_regular)
        return !has_denormal_pivot(call); /* else another expert decides */
    copy_permuted(of, size_of(call->dtype));
    divide(library, call, true);
    divide(library, call, false);
    return true;
}

/* ---- least squares --------------------------------------------------------
 */

/* Blocks of LAPACK are 64 columns at most. */
enum { widest_block = 64 };

size_t takt__lapack_lstsq_room(size_t n, size_t nrhs)
{
    const size_t most = takt__size_max(n, nrhs);

    return takt__size_add(n, takt__size_mul(most, widest_block));
}

/* It takes a matrix of zeros for one that has an answer. */
bool takt__fortran_gels(struct takt_blas_library *library, const void *self)
{
    const struct takt_blas_lstsq *call = self;
    const struct takt_lapack_lstsq *of = call->of;
    fortran_gels *const run =
        (fortran_gels *)library->symbol[TAKT_BLAS_GELS][call->dtype];
    const size_t room = takt__lapack_lstsq_room(of->n, of->nrhs);
    const int most = room < INT_MAX ? (int)room : INT_MAX;
    int info = 0;

    run("N", &call->m, &call->n, &call->nrhs, of->a, &call->m, of->b, &call->m,
        of->work, &most, &info, 1);
    *of->is_regular = info == 0;
    for (size_t i = 0; i < of->n && *of->is_regular; i++) {
        const double pivot = pivot_of(call->dtype, of->a, of->m, i);
        *of->is_regular = pivot != 0 && isfinite(pivot);
    }
    return true;
}

/* ---- Q and R --------------------------------------------------------------
 */

/* The upper triangle of a matrix by columns, row by row. */
static void copy_r(const struct takt_lapack_qr *of, size_t size)
{
    const char *a = of->a;

    for (size_t i = 0; i < of->n; i++) {
        char *row = (char *)of->r + i * of->ld_r * size;
        memset(row, 0, i * size);
        for (size_t j = i; j < of->n; j++)
            memcpy(row + j * size, a + (j * of->m + i) * size, size);
    }
}

bool takt__fortran_geqrf(struct takt_blas_library *library, const void *self)
{
    const struct takt_blas_qr *call = self;
    const struct takt_lapack_qr *of = call->of;
    fortran_geqrf *const factor =
        (fortran_geqrf *)library->symbol[TAKT_BLAS_GEQRF][call->dtype];
    fortran_orgqr *const unfold = (fortran_orgqr *)library->orgqr[call->dtype];
    const size_t size = size_of(call->dtype);
    const int most =
        call->n < INT_MAX / widest_block ? call->n * widest_block : INT_MAX;
    char *work = (char *)of->work + of->n * size;
    int info = 0;

    factor(&call->m, &call->n, of->a, &call->m, of->work, work, &most, &info);
    copy_r(of, size);
    unfold(&call->m, &call->n, &call->n, of->a, &call->m, of->work, work, &most,
           &info);
    return true;
}

/* ---- calls --------------------------------------------------------------- */

static bool fits(size_t size)
{
    return size > 0 && size <= INT_MAX;
}

static enum takt_blas_dtype dtype_of(size_t size)
{
    return size == sizeof(float) ? TAKT_BLAS_F32 : TAKT_BLAS_F64;
}

bool takt__blas_has_lapack(const struct takt_blas *blas, size_t size)
{
    return blas->library->run[TAKT_BLAS_POTRF][dtype_of(size)] != NULL &&
           blas->library->run[TAKT_BLAS_GETRF][dtype_of(size)] != NULL &&
           blas->library->run[TAKT_BLAS_GELS][dtype_of(size)] != NULL &&
           blas->library->run[TAKT_BLAS_GEQRF][dtype_of(size)] != NULL;
}

static bool put_cholesky(size_t size, const struct takt_lapack_cholesky *in,
                         struct takt_blas_cholesky *out)
{
    *out = (struct takt_blas_cholesky){dtype_of(size), (int)in->n,
                                       (int)in->ld_l, in};
    return fits(in->n) && fits(in->ld_l);
}

static bool put_solve(size_t size, const struct takt_lapack_solve *in,
                      struct takt_blas_solve *out)
{
    *out = (struct takt_blas_solve){dtype_of(size), (int)in->n, (int)in->nrhs,
                                    (int)in->ld_x, in};
    return fits(in->n) && fits(in->nrhs) && fits(in->ld_x);
}

/* OpenBLAS factors by halves on several threads, down to a few columns, and
 * takes half a megabyte of its caller's stack for each: 4.2 MiB of floats. */
static bool has_stack(const struct takt_blas *blas,
                      enum takt_blas_function function, unsigned threads)
{
    static const size_t lu_stack = 6 << 20;

    return function != TAKT_BLAS_GETRF ||
           (threads == 1 && blas->can_set_threads) || takt__stack_has(lu_stack);
}

static bool run(struct takt_blas *blas, enum takt_blas_function function,
                enum takt_blas_dtype dtype, unsigned threads, const void *call)
{
    return threads > 0 && threads <= blas->max_threads &&
           has_stack(blas, function, threads) &&
           takt__blas_run(blas->library, blas->library->run[function][dtype],
                          threads, call);
}

static bool put_lstsq(size_t size, const struct takt_lapack_lstsq *in,
                      struct takt_blas_lstsq *out)
{
    *out = (struct takt_blas_lstsq){dtype_of(size), (int)in->m, (int)in->n,
                                    (int)in->nrhs, in};
    return fits(in->m) && fits(in->n) && fits(in->nrhs);
}

static bool put_qr(size_t size, const struct takt_lapack_qr *in,
                   struct takt_blas_qr *out)
{
    *out = (struct takt_blas_qr){dtype_of(size), (int)in->m, (int)in->n, in};
    return fits(in->m) && fits(in->n);
}

/* Whether a library can run a call, and the run. */
#define CALLS(name_, function_)                                            \
    bool takt__blas_can_##name_(const struct takt_blas *blas, size_t size, \
                                const struct takt_lapack_##name_ *call)    \
    {                                                                      \
        struct takt_blas_##name_ put;                                      \
                                                                           \
        return put_##name_(size, call, &put) &&                            \
               blas->library->run[function_][put.dtype] != NULL;           \
    }                                                                      \
                                                                           \
    bool takt__blas_##name_(struct takt_blas *blas, size_t size,           \
                            unsigned threads,                              \
                            const struct takt_lapack_##name_ *call)        \
    {                                                                      \
        struct takt_blas_##name_ put;                                      \
                                                                           \
        return put_##name_(size, call, &put) &&                            \
               run(blas, function_, put.dtype, threads, &put);             \
    }

/* clang-format off */
CALLS(cholesky, TAKT_BLAS_POTRF)
CALLS(solve, TAKT_BLAS_GETRF)
CALLS(lstsq, TAKT_BLAS_GELS)
/* clang-format on */

bool takt__blas_can_qr(const struct takt_blas *blas, size_t size,
                       const struct takt_lapack_qr *call)
{
    struct takt_blas_qr put;

    return put_qr(size, call, &put) &&
           blas->library->run[TAKT_BLAS_GEQRF][put.dtype] != NULL &&
           blas->library->orgqr[put.dtype] != NULL;
}

bool takt__blas_qr(struct takt_blas *blas, size_t size, unsigned threads,
                   const struct takt_lapack_qr *call)
{
    struct takt_blas_qr put;

    return takt__blas_can_qr(blas, size, call) && put_qr(size, call, &put) &&
           run(blas, TAKT_BLAS_GEQRF, put.dtype, threads, &put);
}
