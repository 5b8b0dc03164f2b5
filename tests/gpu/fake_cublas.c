/* SPDX-License-Identifier: MIT */
/*
 * fake_cublas.c - a cuBLAS on top of the fake driver (TAKT_CUBLAS names its
 * file): the products as BLAS defines them, by columns, in the order of a
 * stream.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "gpu/fake_cuda.h"

enum { NOT_INITIALISED = 1, ALLOC_FAILED = 3, BAD_VALUE = 7 };

struct cublas {
    void *stream;
    int math;
};

static atomic_ulong calls, tf32_calls;

FAKE_API unsigned long fake_cublas_calls(void);
FAKE_API unsigned long fake_cublas_tf32_calls(void);

unsigned long fake_cublas_calls(void)
{
    return calls;
}

unsigned long fake_cublas_tf32_calls(void)
{
    return tf32_calls;
}

/* ---- the library --------------------------------------------------------- */

FAKE_API int cublasCreate_v2(void **handle);
FAKE_API int cublasDestroy_v2(void *handle);
FAKE_API int cublasGetVersion_v2(void *handle, int *version);
FAKE_API int cublasSetStream_v2(void *handle, void *stream);
FAKE_API int cublasSetMathMode(void *handle, int mode);
FAKE_API int cublasSetWorkspace_v2(void *handle, void *at, size_t bytes);

int cublasCreate_v2(void **handle)
{
    if (getenv("FAKE_CUBLAS_TOO_NEW") != NULL)
        return NOT_INITIALISED;
    *handle = calloc(1, sizeof(struct cublas));
    return *handle != NULL ? 0 : ALLOC_FAILED;
}

int cublasDestroy_v2(void *handle)
{
    free(handle);
    return 0;
}

int cublasGetVersion_v2(void *handle, int *version)
{
    (void)handle;
    *version = 130000;
    return 0;
}

int cublasSetStream_v2(void *handle, void *stream)
{
    ((struct cublas *)handle)->stream = stream;
    return 0;
}

int cublasSetMathMode(void *handle, int mode)
{
    ((struct cublas *)handle)->math = mode;
    return 0;
}

int cublasSetWorkspace_v2(void *handle, void *at, size_t bytes)
{
    (void)handle;
    (void)bytes;
    return (uintptr_t)at % 256 == 0 ? 0 : BAD_VALUE;
}

/* ---- products ------------------------------------------------------------ */

/* All that any of the functions is given. */
struct product {
    bool is_double;
    int trans_a, trans_b;
    long long m, n, k, lda, ldb, ldc, a_step, b_step, c_step, count;
    const void *a, *b;
    void *c;
    double alpha, beta;
};

static double get(const void *array, bool is_double, long long i)
{
    return is_double ? ((const double *)array)[i]
                     : (double)((const float *)array)[i];
}

static void put(void *array, bool is_double, long long i, double number)
{
    if (is_double)
        ((double *)array)[i] = number;
    else
        ((float *)array)[i] = (float)number;
}

static double element(const struct product *p, long long batch, long long i,
                      long long j)
{
    const long long a = batch * p->a_step, b = batch * p->b_step;
    double sum = 0;

    for (long long l = 0; l < p->k; l++)
        sum += get(p->a, p->is_double,
                   a + (p->trans_a ? l + i * p->lda : i + l * p->lda)) *
               get(p->b, p->is_double,
                   b + (p->trans_b ? j + l * p->ldb : l + j * p->ldb));
    return p->alpha * sum;
}

static void multiply(void *self)
{
    const struct product *p = self;

    for (long long batch = 0; batch < p->count; batch++)
        for (long long j = 0; j < p->n; j++)
            for (long long i = 0; i < p->m; i++) {
                const long long at = batch * p->c_step + i + j * p->ldc;
                double value = element(p, batch, i, j);
                if (p->beta != 0)
                    value += p->beta * get(p->c, p->is_double, at);
                put(p->c, p->is_double, at, value);
            }
}

static void *real(const void *address)
{
    return fake_cuda_at((uint64_t)(uintptr_t)address);
}

static bool is_sane(const struct product *p)
{
    return p->lda >= (p->trans_a ? p->k : p->m) &&
           p->ldb >= (p->trans_b ? p->n : p->k) && p->ldc >= p->m;
}

static int submit(const struct cublas *cublas, struct product product)
{
    struct product *self = malloc(sizeof *self);

    if (self == NULL || !is_sane(&product)) {
        free(self);
        return self == NULL ? ALLOC_FAILED : BAD_VALUE;
    }
    calls++;
    tf32_calls += cublas->math == 3;
    product.a = real(product.a);
    product.b = real(product.b);
    product.c = real(product.c);
    *self = product;
    return fake_cuda_submit(cublas->stream, multiply, self) == 0 ? 0
                                                                 : ALLOC_FAILED;
}

/* The same for each dtype, as a macro because their names and types are all
 * that differs. */
#define PRODUCTS(letter, type, is_64)                                          \
    FAKE_API int cublas##letter##gemm_v2(                                      \
        void *handle, int trans_a, int trans_b, int m, int n, int k,           \
        const type *alpha, const type *a, int lda, const type *b, int ldb,     \
        const type *beta, type *c, int ldc);                                   \
    int cublas##letter##gemm_v2(void *handle, int trans_a, int trans_b, int m, \
                                int n, int k, const type *alpha,               \
                                const type *a, int lda, const type *b,         \
                                int ldb, const type *beta, type *c, int ldc)   \
    {                                                                          \
        return submit(handle,                                                  \
                      (struct product){is_64, trans_a, trans_b, m, n, k, lda,  \
                                       ldb, ldc, 0, 0, 0, 1, a, b, c,          \
                                       (double)*alpha, (double)*beta});        \
    }                                                                          \
    FAKE_API int cublas##letter##gemmStridedBatched(                           \
        void *handle, int trans_a, int trans_b, int m, int n, int k,           \
        const type *alpha, const type *a, int lda, long long a_step,           \
        const type *b, int ldb, long long b_step, const type *beta, type *c,   \
        int ldc, long long c_step, int count);                                 \
    int cublas##letter##gemmStridedBatched(                                    \
        void *handle, int trans_a, int trans_b, int m, int n, int k,           \
        const type *alpha, const type *a, int lda, long long a_step,           \
        const type *b, int ldb, long long b_step, const type *beta, type *c,   \
        int ldc, long long c_step, int count)                                  \
    {                                                                          \
        return submit(                                                         \
            handle, (struct product){is_64, trans_a, trans_b, m, n, k, lda,    \
                                     ldb, ldc, a_step, b_step, c_step, count,  \
                                     a, b, c, (double)*alpha, (double)*beta}); \
    }                                                                          \
    FAKE_API int cublas##letter##gemv_v2(                                      \
        void *handle, int trans, int m, int n, const type *alpha,              \
        const type *a, int lda, const type *x, int x_step, const type *beta,   \
        type *y, int y_step);                                                  \
    int cublas##letter##gemv_v2(void *handle, int trans, int m, int n,         \
                                const type *alpha, const type *a, int lda,     \
                                const type *x, int x_step, const type *beta,   \
                                type *y, int y_step)                           \
    {                                                                          \
        const int rows = trans ? n : m, depth = trans ? m : n;                 \
        if (x_step != 1 || y_step != 1)                                        \
            return BAD_VALUE;                                                  \
        return submit(handle,                                                  \
                      (struct product){is_64, trans, 0, rows, 1, depth, lda,   \
                                       depth, rows, 0, 0, 0, 1, a, x, y,       \
                                       (double)*alpha, (double)*beta});        \
    }

PRODUCTS(S, float, false)
PRODUCTS(D, double, true)

/* ---- transposes ---------------------------------------------------------- */

struct turning {
    bool is_double;
    int m, n, lda, ldc;
    const void *a;
    void *c;
};

static void turn(void *self)
{
    const struct turning *t = self;

    for (long long j = 0; j < t->n; j++)
        for (long long i = 0; i < t->m; i++)
            put(t->c, t->is_double, i + j * t->ldc,
                get(t->a, t->is_double, j + i * t->lda));
}

static int submit_turning(const struct cublas *cublas, struct turning turning)
{
    struct turning *self = malloc(sizeof *self);

    if (self == NULL || turning.lda < turning.n || turning.ldc < turning.m) {
        free(self);
        return self == NULL ? ALLOC_FAILED : BAD_VALUE;
    }
    turning.a = real(turning.a);
    turning.c = real(turning.c);
    *self = turning;
    return fake_cuda_submit(cublas->stream, turn, self) == 0 ? 0 : ALLOC_FAILED;
}

/* A' alone. */
#define GEAM(letter, type, is_64)                                              \
    FAKE_API int cublas##letter##geam(                                         \
        void *handle, int trans_a, int trans_b, int m, int n,                  \
        const type *alpha, const type *a, int lda, const type *beta,           \
        const type *b, int ldb, type *c, int ldc);                             \
    int cublas##letter##geam(void *handle, int trans_a, int trans_b, int m,    \
                             int n, const type *alpha, const type *a, int lda, \
                             const type *beta, const type *b, int ldb,         \
                             type *c, int ldc)                                 \
    {                                                                          \
        if (trans_a != 1 || trans_b != 0 || *alpha != 1 || *beta != 0 ||       \
            b != c || ldb != ldc)                                              \
            return BAD_VALUE;                                                  \
        return submit_turning(handle,                                          \
                              (struct turning){is_64, m, n, lda, ldc, a, c});  \
    }

/* clang-format off */
GEAM(S, float, false)
GEAM(D, double, true)
/* clang-format on */
