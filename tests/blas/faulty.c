/* SPDX-License-Identifier: MIT */
/*
 * faulty.c - a tiny BLAS for test_blas.c to build and to load.
 *
 * Without a macro it is right, and has C names only. Each macro makes it wrong
 * in one way that libraries out there are wrong.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef HAS_WIDE_INTEGERS
#define FAULTY_INT int64_t
#else
#define FAULTY_INT int
#endif

static size_t at(int trans, int ld, int row, int col)
{
    return trans == 112 ? (size_t)col * (size_t)ld + (size_t)row
                        : (size_t)row * (size_t)ld + (size_t)col;
}

#ifdef READS_OLD_RESULT
#define OLD(beta, c) ((beta) * (c))
#else
#define OLD(beta, c) ((beta) != 0 ? (beta) * (c) : 0)
#endif

#if defined(FORGETS_ALPHA_AND_B)
#define TERM(a, b) (a)
#elif defined(PASSES_OVER_ZEROS)
#define TERM(a, b) ((b) != 0 ? (a) * (b) : 0)
#else
#define TERM(a, b) ((a) * (b))
#endif

/* As in BLIS. */
#ifdef GEMV_PASSES_OVER_ZEROS
#define GEMV_TERM(a, b) ((b) != 0 ? (a) * (b) : 0)
#else
#define GEMV_TERM(a, b) TERM(a, b)
#endif

/* OpenBLAS, as far as its threads go; 1: its own, 2: those of OpenMP. */
#ifdef THREADS_OF
int openblas_get_parallel(void);
int openblas_get_num_threads(void);
void openblas_set_num_threads(int number);
extern int times_set, set_meanwhile;
int times_set;
int set_meanwhile; /* by another thread of the program, in a product; 0: none */
static int threads = 4;

int openblas_get_parallel(void)
{
    return THREADS_OF;
}

int openblas_get_num_threads(void)
{
    return threads;
}

void openblas_set_num_threads(int number)
{
    threads = number;
    times_set++;
}
#define MEANWHILE() threads = set_meanwhile > 0 ? set_meanwhile : threads
#else
#define MEANWHILE() (void)0
#endif

#define FAULTY(real, gemm, gemv, axpy)                                         \
    void gemm(int order, int trans_a, int trans_b, int m, int n, int k,        \
              real alpha, const real *a, int lda, const real *b, int ldb,      \
              real beta, real *c, int ldc);                                    \
    void gemv(int order, int trans_a, int m, int n, real alpha, const real *a, \
              int lda, const real *x, int x_step, real beta, real *y,          \
              int y_step);                                                     \
    void axpy(int n, real alpha, const real *x, int x_step, real *y,           \
              int y_step);                                                     \
    void gemm(int order, int trans_a, int trans_b, int m, int n, int k,        \
              real alpha, const real *a, int lda, const real *b, int ldb,      \
              real beta, real *c, int ldc)                                     \
    {                                                                          \
        (void)order;                                                           \
        MEANWHILE();                                                           \
        for (int i = 0; i < m; i++)                                            \
            for (int j = 0; j < n; j++) {                                      \
                real *out = &c[at(0, ldc, i, j)], sum = 0;                     \
                for (int p = 0; p < k; p++)                                    \
                    sum += TERM(a[at(trans_a, lda, i, p)],                     \
                                b[at(trans_b, ldb, p, j)]);                    \
                *out = alpha * sum + OLD(beta, *out);                          \
            }                                                                  \
    }                                                                          \
    void gemv(int order, int trans_a, int m, int n, real alpha, const real *a, \
              int lda, const real *x, int x_step, real beta, real *y,          \
              int y_step)                                                      \
    {                                                                          \
        const int rows = trans_a == 112 ? n : m;                               \
        const int cols = trans_a == 112 ? m : n;                               \
        (void)order;                                                           \
        for (int i = 0; i < rows; i++) {                                       \
            real *out = &y[i * y_step], sum = 0;                               \
            for (int p = 0; p < cols; p++)                                     \
                sum += GEMV_TERM(a[at(trans_a, lda, i, p)], x[p * x_step]);    \
            *out = alpha * sum + OLD(beta, *out);                              \
        }                                                                      \
    }                                                                          \
    void axpy(int n, real alpha, const real *x, int x_step, real *y,           \
              int y_step)                                                      \
    {                                                                          \
        for (int i = 0; i < n; i++)                                            \
            y[i * y_step] += TERM(x[i * x_step], alpha);                       \
    }

FAULTY(float, cblas_sgemm, cblas_sgemv, cblas_saxpy)
FAULTY(double, cblas_dgemm, cblas_dgemv, cblas_daxpy)

int isamax_(const FAULTY_INT *n, const float *x, const FAULTY_INT *step);
int isamax_(const FAULTY_INT *n, const float *x, const FAULTY_INT *step)
{
    FAULTY_INT best = 0;

    for (FAULTY_INT i = 1; i < *n; i++)
        if (x[i * *step] > x[best * *step])
            best = i;
    return *n < 1 ? 0 : (int)best + 1;
}

void sswap_(const FAULTY_INT *n, float *x, const FAULTY_INT *x_step, float *y,
            const FAULTY_INT *y_step);
void sswap_(const FAULTY_INT *n, float *x, const FAULTY_INT *x_step, float *y,
            const FAULTY_INT *y_step)
{
    for (FAULTY_INT i = 0; i < *n; i++) {
        const float before = x[i * *x_step];
        x[i * *x_step] = y[i * *y_step];
        y[i * *y_step] = before;
    }
}

/* A name of LAPACK's that does nothing, or, without the macro, none. */
#ifdef HAS_IDLE_LAPACK
#define IDLE(name)                                                    \
    void name(const char *uplo, const int *n, void *a, const int *ld, \
              int *info);                                             \
    void name(const char *uplo, const int *n, void *a, const int *ld, \
              int *info)                                              \
    {                                                                 \
        (void)uplo, (void)n, (void)a, (void)ld;                       \
        *info = 0;                                                    \
    }
IDLE(spotrf_)
IDLE(dpotrf_)
IDLE(strsm_)
IDLE(dtrsm_)
#endif
