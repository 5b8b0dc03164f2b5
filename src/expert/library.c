/* SPDX-License-Identifier: MIT */
/*
 * library.c - experts that are other people's BLAS libraries.
 *
 * Of what they can do, only products, axpy and factors are asked of them: their
 * sums lose digits with n.
 */
#include "expert/arguments.h"
#include "expert/solve.h"

static bool may(const struct takt_expert *expert, const takt_op *op,
                takt_dtype dtype)
{
    const enum takt_op_id id = takt__op_id(op);

    if (takt__library_solves(id))
        return expert == NULL || expert->blas == NULL ||
               takt__blas_has_lapack(expert->blas, takt_dtype_size(dtype));
    return id == TAKT_OP_matmul || id == TAKT_OP_gemv || id == TAKT_OP_axpy;
}

static bool can(const struct takt_expert *expert, const takt_call *call)
{
    const size_t size = takt_dtype_size(call->dtype);

    if (expert->blas == NULL)
        return false; /* a reserved entry */
    switch (takt__op_id(call->op)) {
    case TAKT_OP_matmul: {
        const struct takt_gemm gemm = takt__gemm_of(call);
        return takt__blas_can_gemm(expert->blas, size, &gemm);
    }
    case TAKT_OP_gemv: {
        const struct takt_gemv gemv = takt__gemv_of(call);
        return takt__blas_can_gemv(expert->blas, size, &gemv);
    }
    case TAKT_OP_axpy: {
        const struct takt_axpy axpy = takt__axpy_of(call);
        return takt__blas_can_axpy(expert->blas, size, &axpy);
    }
    default:
        return takt__library_solves(takt__op_id(call->op)) &&
               takt__library_can_solve(expert, call);
    }
}

static takt_status run(struct takt_experts *experts,
                       const struct takt_expert *expert, const takt_call *call)
{
    struct takt_blas *blas = expert->blas;
    const size_t size = takt_dtype_size(call->dtype);
    const unsigned most = blas->max_vector_threads;
    const unsigned vector_threads =
        expert->threads < most ? expert->threads : most;
    bool is_done;

    if (takt__op_id(call->op) == TAKT_OP_matmul) {
        const struct takt_gemm gemm = takt__gemm_of(call);
        is_done = takt__blas_gemm(blas, size, expert->threads, &gemm);
    } else if (takt__op_id(call->op) == TAKT_OP_gemv) {
        const struct takt_gemv gemv = takt__gemv_of(call);
        is_done = takt__blas_gemv(blas, size, vector_threads, &gemv);
    } else if (takt__op_id(call->op) == TAKT_OP_axpy) {
        const struct takt_axpy axpy = takt__axpy_of(call);
        is_done = takt__blas_axpy(blas, size, vector_threads, &axpy);
    } else {
        return takt__library_solve(experts, expert, call);
    }
    return is_done ? TAKT_OK : TAKT_ENODEV;
}

const struct takt_expert_class takt__library_class = {may, can, run};
