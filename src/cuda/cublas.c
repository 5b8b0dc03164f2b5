/* SPDX-License-Identifier: MIT */
/*
 * cublas.c - matrix products by NVIDIA's library, found when a device starts.
 *
 * It reads matrices by columns. What lies in rows is for it the transpose, so
 * C' = B' A' is what it is asked for, and no element has to move.
 *
 * Sizes are taken by its functions that count in int: a matrix with a longer
 * side than that is left to our kernels.
 */
#include "cuda/cublas.h"

#include <limits.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/library.h"
#include "base/log.h"
#include "cuda/device_parts.h"
#include "gpu/at_exit.h"
#include "takt/ops.h"

/* cublasStatus_t, those that matter; cublasMath_t; cublasOperation_t */
enum { SUCCESS = 0, ALLOC_FAILED = 3, INVALID_VALUE = 7, ARCH_MISMATCH = 8 };
enum { NOT_SUPPORTED = 15 };
enum { DEFAULT_MATH = 0, TF32_MATH = 3 };
enum { AS_IT_LIES = 0, TRANSPOSED = 1 };

/* What NVIDIA advises for Hopper; less elsewhere, where more does no harm. */
static const size_t workspace_bytes = 32 << 20;

typedef int gemm_function(void *handle, int trans_a, int trans_b, int m, int n,
                          int k, const void *alpha, const void *a, int lda,
                          const void *b, int ldb, const void *beta, void *c,
                          int ldc);
typedef int batched_function(void *handle, int trans_a, int trans_b, int m,
                             int n, int k, const void *alpha, const void *a,
                             int lda, long long a_step, const void *b, int ldb,
                             long long b_step, const void *beta, void *c,
                             int ldc, long long c_step, int count);
typedef int gemv_function(void *handle, int trans, int m, int n,
                          const void *alpha, const void *a, int lda,
                          const void *x, int x_step, const void *beta, void *y,
                          int y_step);
typedef int geam_function(void *handle, int trans_a, int trans_b, int m, int n,
                          const void *alpha, const void *a, int lda,
                          const void *beta, const void *b, int ldb, void *c,
                          int ldc);

/* The second of each pair is for f64. */
struct takt_cublas {
    void *handle; /* cublasHandle_t */
    int version;
    int math; /* what it is set to */
    uint64_t workspace;
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*get_version)(void *handle, int *version);
    int (*set_stream)(void *handle, void *stream);
    int (*set_math)(void *handle, int mode);
    int (*set_workspace)(void *handle, void *at, size_t bytes); /* optional */
    gemm_function *gemm[2];
    batched_function *batched[2];
    gemv_function *gemv[2];
    geam_function *geam[2]; /* optional */
};

/* ---- opening ------------------------------------------------------------- */

static bool find_functions(void *library, struct takt_cublas *cublas)
{
    takt__library_find(library, "cublasSetWorkspace_v2",
                       &cublas->set_workspace);
    takt__library_find(library, "cublasSgeam", &cublas->geam[TAKT_F32]);
    takt__library_find(library, "cublasDgeam", &cublas->geam[TAKT_F64]);
    return takt__library_find(library, "cublasCreate_v2", &cublas->create) &&
           takt__library_find(library, "cublasDestroy_v2", &cublas->destroy) &&
           takt__library_find(library, "cublasGetVersion_v2",
                              &cublas->get_version) &&
           takt__library_find(library, "cublasSetStream_v2",
                              &cublas->set_stream) &&
           takt__library_find(library, "cublasSetMathMode",
                              &cublas->set_math) &&
           takt__library_find(library, "cublasSgemm_v2",
                              &cublas->gemm[TAKT_F32]) &&
           takt__library_find(library, "cublasDgemm_v2",
                              &cublas->gemm[TAKT_F64]) &&
           takt__library_find(library, "cublasSgemmStridedBatched",
                              &cublas->batched[TAKT_F32]) &&
           takt__library_find(library, "cublasDgemmStridedBatched",
                              &cublas->batched[TAKT_F64]) &&
           takt__library_find(library, "cublasSgemv_v2",
                              &cublas->gemv[TAKT_F32]) &&
           takt__library_find(library, "cublasDgemv_v2",
                              &cublas->gemv[TAKT_F64]);
}

/* Memory of its own to work in: what it takes otherwise depends on what else
 * the library is used for, and so could the order of additions. */
static bool lend_workspace(const struct takt_cuda *cuda,
                           struct takt_cublas *cublas)
{
    if (cublas->set_workspace == NULL)
        return true;
    return cuda->api->cuMemAlloc(&cublas->workspace, workspace_bytes) ==
               TAKT_CUDA_SUCCESS &&
           cublas->set_workspace(cublas->handle,
                                 (void *)(uintptr_t)cublas->workspace,
                                 workspace_bytes) == SUCCESS;
}

static void stop(const struct takt_cuda *cuda, struct takt_cublas *cublas)
{
    if (cublas->handle != NULL)
        cublas->destroy(cublas->handle);
    if (cublas->workspace != 0)
        cuda->api->cuMemFree(cublas->workspace);
    free(cublas);
}

/* The stream comes first: to set it takes the workspace away. A library that is
 * newer than the driver refuses in create(). */
static bool start(const struct takt_cuda *cuda, void *library,
                  struct takt_cublas *cublas)
{
    return find_functions(library, cublas) &&
           cublas->create(&cublas->handle) == SUCCESS &&
           cublas->get_version(cublas->handle, &cublas->version) == SUCCESS &&
           cublas->set_stream(cublas->handle,
                              cuda->stream[TAKT_QUEUE_COMPUTE]) == SUCCESS &&
           cublas->set_math(cublas->handle, DEFAULT_MATH) == SUCCESS &&
           lend_workspace(cuda, cublas);
}

/* A library that was loaded stays so: it leaves things behind. */
static bool open_file(struct takt_cuda *cuda, const char *file)
{
    void *library = takt__gpu_library_open(file);
    struct takt_cublas *cublas;

    if (library == NULL || (cublas = calloc(1, sizeof *cublas)) == NULL)
        return false;
    if (!start(cuda, library, cublas)) {
        stop(cuda, cublas);
        return false;
    }
    cuda->cublas = cublas;
    takt__gpu_watch_exit();
    return true;
}

void takt__cublas_open(struct takt_cuda *cuda)
{
    /* The toolkit of NVIDIA is in no folder that the loader searches. */
    static const char *const files[] = {
        "libcublas.so.13",
        "/usr/local/cuda/lib64/libcublas.so.13",
        "/usr/local/cuda/targets/x86_64-linux/lib/libcublas.so.13",
        "libcublas.so.12",
        "/usr/local/cuda/lib64/libcublas.so.12",
        "/usr/local/cuda/targets/x86_64-linux/lib/libcublas.so.12",
        "libcublas.so.11",
        "/usr/local/cuda/lib64/libcublas.so.11",
        "/usr/local/cuda/targets/x86_64-linux/lib/libcublas.so.11",
        "libcublas.so"};
    const char *asked = takt__config()->cublas;

    cuda->cublas = NULL;
    if (asked != NULL) {
        if (asked[0] != '\0' && !open_file(cuda, asked))
            takt__log(TAKT_LOG_ERROR,
                      "TAKT_CUBLAS=%.200s cannot be used; products run on our "
                      "own kernels",
                      asked);
        return;
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (open_file(cuda, files[i]))
            return;
}

void takt__cublas_close(struct takt_cuda *cuda)
{
    if (cuda->cublas != NULL)
        stop(cuda, cuda->cublas);
    cuda->cublas = NULL;
}

/* ---- calls --------------------------------------------------------------- */

union real {
    float f32;
    double f64;
};

static union real real(takt_dtype dtype, double number)
{
    union real real = {.f64 = number};
    if (dtype == TAKT_F32)
        real.f32 = (float)number;
    return real;
}

static bool is_zero(takt_dtype dtype, union real number)
{
    return dtype == TAKT_F32 ? number.f32 == 0 : number.f64 == 0;
}

static bool fit_int(const size_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == 0 || numbers[i] > INT_MAX)
            return false;
    return true;
}

static int trans(const takt_call *call, unsigned flag)
{
    return (call->flags & flag) != 0 ? TRANSPOSED : AS_IT_LIES;
}

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* Full precision, unless the call says that it can do with less. */
static bool set_math(struct takt_cublas *cublas, const takt_call *call)
{
    const int math =
        (call->flags & TAKT_CALL_TF32) != 0 ? TF32_MATH : DEFAULT_MATH;

    if (math != cublas->math &&
        cublas->set_math(cublas->handle, math) != SUCCESS)
        return false;
    cublas->math = math;
    return true;
}

/* Whether it can take the call. With an alpha of 0 the inputs must not be
 * looked at, which is not promised; without products there is nothing for it to
 * do. */
static bool prepare(const struct takt_cuda *cuda, const takt_call *call,
                    const size_t *sizes, size_t count, union real *alpha,
                    union real *beta)
{
    *alpha = real(call->dtype, call->alpha);
    *beta = real(call->dtype, call->beta);
    return cuda->cublas != NULL && fit_int(sizes, count) &&
           !is_zero(call->dtype, *alpha) && set_math(cuda->cublas, call);
}

/* Of these errors it is known that nothing was begun. */
static bool was_taken(int result, takt_status *status)
{
    if (result == ALLOC_FAILED || result == INVALID_VALUE ||
        result == ARCH_MISMATCH || result == NOT_SUPPORTED)
        return false;
    *status = result == SUCCESS ? TAKT_OK : TAKT_ELOST;
    return true;
}

bool takt__cublas_gemm(struct takt_cuda *cuda, const takt_call *call,
                       uint64_t a, uint64_t b, uint64_t c, takt_status *status)
{
    const size_t *dim = call->shape.dim, *ld = call->ld;
    const size_t sizes[] = {dim[0], dim[1], dim[2], ld[0], ld[1], ld[2]};
    union real alpha, beta;

    if (!prepare(cuda, call, sizes, 6, &alpha, &beta))
        return false;
    const int result = cuda->cublas->gemm[call->dtype](
        cuda->cublas->handle, trans(call, TAKT_TRANS_B),
        trans(call, TAKT_TRANS_A), (int)dim[1], (int)dim[0], (int)dim[2],
        &alpha, at(b), (int)ld[1], at(a), (int)ld[0], &beta, at(c), (int)ld[2]);
    return was_taken(result, status);
}

bool takt__cublas_batched(struct takt_cuda *cuda, const takt_call *call,
                          uint64_t a, uint64_t b, uint64_t c,
                          takt_status *status)
{
    const size_t *dim = call->shape.dim;
    const long long m = (long long)dim[1], n = (long long)dim[2];
    const long long k = (long long)dim[3];
    union real alpha, beta;

    if (!prepare(cuda, call, dim, 4, &alpha, &beta))
        return false;
    const int result = cuda->cublas->batched[call->dtype](
        cuda->cublas->handle, AS_IT_LIES, AS_IT_LIES, (int)n, (int)m, (int)k,
        &alpha, at(b), (int)n, k * n, at(a), (int)k, m * k, &beta, at(c),
        (int)n, m * n, (int)dim[0]);
    return was_taken(result, status);
}

bool takt__cublas_gemv(struct takt_cuda *cuda, const takt_call *call,
                       uint64_t a, uint64_t x, uint64_t y, takt_status *status)
{
    const size_t *dim = call->shape.dim;
    const size_t sizes[] = {dim[0], dim[1], call->ld[0]};
    union real alpha, beta;

    if (!prepare(cuda, call, sizes, 3, &alpha, &beta))
        return false;
    /* By columns it is A' that lies there. */
    const int other =
        (call->flags & TAKT_TRANS_A) != 0 ? AS_IT_LIES : TRANSPOSED;
    const int result = cuda->cublas->gemv[call->dtype](
        cuda->cublas->handle, other, (int)dim[1], (int)dim[0], &alpha, at(a),
        (int)call->ld[0], at(x), 1, &beta, at(y), 1);
    return was_taken(result, status);
}

/* C = A' + 0 C, where C is not read. */
bool takt__cublas_transpose(struct takt_cuda *cuda, takt_dtype dtype,
                            size_t rows, size_t cols, uint64_t from,
                            uint64_t to)
{
    const struct takt_cublas *cublas = cuda->cublas;
    const union real one = real(dtype, 1), zero = real(dtype, 0);

    return cublas != NULL && cublas->geam[dtype] != NULL &&
           cublas->geam[dtype](cublas->handle, TRANSPOSED, AS_IT_LIES,
                               (int)cols, (int)rows, &one, at(from), (int)rows,
                               &zero, at(to), (int)cols, at(to),
                               (int)cols) == SUCCESS;
}
