/* SPDX-License-Identifier: MIT */
/*
 * library.c - experts that are other people's BLAS libraries.
 *
 * Of what they can do, only products and axpy are asked of them: their sums
 * lose digits with n.
 */
#include "expert/arguments.h"
#include "expert/expert.h"

static bool may(const struct takt_expert *expert, const takt_op *op,
                takt_dtype dtype)
{
    const enum takt_op_id id = takt__op_id(op);

    (void)expert;
    (void)dtype;
    return id == TAKT_OP_matmul || id == TAKT_OP_gemv || id == TAKT_OP_axpy;
}

static bool can(const struct takt_expert *expert, const takt_call *call)
{
    const size_t size = takt_dtype_size(call->dtype);
    const enum takt_op_id op = takt__op_id(call->op);

    if (expert->blas == NULL)
        return false; /* a reserved slot */
    if (op == TAKT_OP_matmul) {
        const struct takt_gemm gemm = takt__gemm_of(call);
        return takt__blas_can_gemm(expert->blas, size, &gemm);
    }
    if (op == TAKT_OP_gemv) {
        const struct takt_gemv gemv = takt__gemv_of(call);
        return takt__blas_can_gemv(expert->blas, size, &gemv);
    }
    const struct takt_axpy axpy = takt__axpy_of(call);
    return op == TAKT_OP_axpy && takt__blas_can_axpy(expert->blas, size, &axpy);
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

    (void)experts;
    if (takt__op_id(call->op) == TAKT_OP_matmul) {
        const struct takt_gemm gemm = takt__gemm_of(call);
        is_done = takt__blas_gemm(blas, size, expert->threads, &gemm);
    } else if (takt__op_id(call->op) == TAKT_OP_gemv) {
        const struct takt_gemv gemv = takt__gemv_of(call);
        is_done = takt__blas_gemv(blas, size, vector_threads, &gemv);
    } else {
        const struct takt_axpy axpy = takt__axpy_of(call);
        is_done = takt__blas_axpy(blas, size, vector_threads, &axpy);
    }
    return is_done ? TAKT_OK : TAKT_ENODEV;
}

const struct takt_expert_class takt__library_class = {may, can, run};
