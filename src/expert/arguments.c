/* SPDX-License-Identifier: MIT */
/* arguments.c - transposes become strides. */
#include "expert/arguments.h"

#include "op/dims.h"
#include "takt/ops.h"

struct takt_gemm takt__gemm_of(const takt_call *call)
{
    const bool trans_a = (call->flags & TAKT_TRANS_A) != 0;
    const bool trans_b = (call->flags & TAKT_TRANS_B) != 0;

    return (struct takt_gemm){
        .m = call->shape.dim[TAKT_MATMUL_M],
        .n = call->shape.dim[TAKT_MATMUL_N],
        .k = call->shape.dim[TAKT_MATMUL_K],
        .a = call->in[0],
        .a_row = trans_a ? 1 : call->ld[0],
        .a_col = trans_a ? call->ld[0] : 1,
        .b = call->in[1],
        .b_row = trans_b ? 1 : call->ld[1],
        .b_col = trans_b ? call->ld[1] : 1,
        .c = call->out,
        .ldc = call->ld[2],
        .alpha = call->alpha,
        .beta = call->beta,
    };
}

struct takt_gemm takt__gemm_of_batch(const takt_call *call, size_t index)
{
    const size_t m = call->shape.dim[TAKT_BATCHED_M];
    const size_t n = call->shape.dim[TAKT_BATCHED_N];
    const size_t k = call->shape.dim[TAKT_BATCHED_K];
    const size_t size = takt_dtype_size(call->dtype);

    return (struct takt_gemm){
        .m = m,
        .n = n,
        .k = k,
        .a = (const char *)call->in[0] + index * m * k * size,
        .a_row = k,
        .a_col = 1,
        .b = (const char *)call->in[1] + index * k * n * size,
        .b_row = n,
        .b_col = 1,
        .c = (char *)call->out + index * m * n * size,
        .ldc = n,
        .alpha = call->alpha,
        .beta = call->beta,
    };
}

struct takt_gemv takt__gemv_of(const takt_call *call)
{
    const bool trans = (call->flags & TAKT_TRANS_A) != 0;
    const size_t m = call->shape.dim[0], n = call->shape.dim[1];

    return (struct takt_gemv){
        .m = trans ? n : m,
        .n = trans ? m : n,
        .a = call->in[0],
        .a_row = trans ? 1 : call->ld[0],
        .a_col = trans ? call->ld[0] : 1,
        .x = call->in[1],
        .x_step = 1,
        .y = call->out,
        .y_step = 1,
        .alpha = call->alpha,
        .beta = call->beta,
    };
}

struct takt_axpy takt__axpy_of(const takt_call *call)
{
    return (struct takt_axpy){
        .n = call->shape.dim[0],
        .alpha = call->alpha,
        .x = call->in[0],
        .x_step = 1,
        .y = call->out,
        .y_step = 1,
    };
}
