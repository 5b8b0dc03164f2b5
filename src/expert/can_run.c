/* SPDX-License-Identifier: MIT */
/* can_run.c - which calls an expert is able to run. */
#include "expert/expert.h"

#include "expert/products.h"

/* Of what other people's libraries can do, only products are asked of them:
 * their sums lose digits with n. */
static bool blas_can_run(const struct takt_expert *expert,
                         const takt_call *call)
{
    const size_t size = takt_dtype_size(call->dtype);
    struct takt_gemm gemm;
    struct takt_gemv gemv;
    struct takt_axpy axpy;

    if (expert->blas == NULL)
        return false; /* a place that nobody has */
    switch (takt__op_id(call->op)) {
    case TAKT_OP_matmul:
        gemm = takt__gemm_of(call);
        return takt__blas_can_gemm(expert->blas, size, &gemm);
    case TAKT_OP_gemv:
        gemv = takt__gemv_of(call);
        return takt__blas_can_gemv(expert->blas, size, &gemv);
    case TAKT_OP_axpy:
        axpy = takt__axpy_of(call);
        return takt__blas_can_axpy(expert->blas, size, &axpy);
    default:
        return false;
    }
}

bool takt__expert_can_run(const struct takt_expert *expert,
                          const takt_call *call)
{
    if (expert->kind == TAKT_EXPERT_BLAS)
        return blas_can_run(expert, call);
    if (expert->kind == TAKT_EXPERT_GPU)
        return takt__device_can_run(expert->device, call);
    return true; /* every instruction set has every kernel */
}
