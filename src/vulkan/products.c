/* SPDX-License-Identifier: MIT */
/* products.c - matrix products as dispatches of gemm.comp and gemv.comp. */

#include "op/op_id.h"
#include "takt/ops.h"
#include "vulkan/device_parts.h"
#include "vulkan/shaders/variants.h"

takt_status takt__vulkan_gemm(struct takt_vulkan *vulkan, unsigned variant,
                              const struct takt_location at[4],
                              const struct takt_vulkan_gemm *gemm)
{
    const struct takt_vulkan_dispatch dispatch = {
        .shader = TAKT_SHADER_GEMM,
        .variant = variant,
        .at = {at[0], at[1], at[2], at[3]},
        TAKT_PUSH(*gemm),
        .groups = takt__vulkan_groups(gemm->m, GEMM_TILE) *
                  takt__vulkan_groups(gemm->n, GEMM_TILE) * gemm->batch,
    };

    return takt__vulkan_dispatch(vulkan, &dispatch);
}

/* y = alpha * A x + beta * y, with steps between everything. */
struct gemv {
    uint32_t m, n;
    uint32_t a_row, a_col, x_step, y_step;
    float alpha, beta;
};

static takt_status gemv(struct takt_vulkan *vulkan, struct takt_location a,
                        struct takt_location x, struct takt_location y,
                        const struct gemv *gemv)
{
    const bool is_along = gemv->a_col == 1;
    const uint32_t at_once = is_along ? 8 : 32; /* rows for a group */
    const struct takt_vulkan_dispatch dispatch = {
        .shader = TAKT_SHADER_GEMV,
        .variant = is_along ? GEMV_ALONG : GEMV_ACROSS,
        .at = {a, x, [3] = y},
        TAKT_PUSH(*gemv),
        .groups = takt__vulkan_groups(gemv->m, at_once),
    };

    return takt__vulkan_dispatch(vulkan, &dispatch);
}

takt_status takt__vulkan_run_gemv(struct takt_vulkan *vulkan,
                                  const struct takt_device_call *call)
{
    const takt_call *of = call->call;
    const uint32_t rows = (uint32_t)of->shape.dim[TAKT_GEMV_M];
    const uint32_t cols = (uint32_t)of->shape.dim[TAKT_GEMV_N];
    const uint32_t ld = (uint32_t)of->ld[0];
    const bool trans = (of->flags & TAKT_TRANS_A) != 0;
    const struct gemv one = {
        .m = trans ? cols : rows,
        .n = (float)of->alpha == 0 ? 0 /* A and x are not read */
             : trans               ? rows
                                   : cols,
        .a_row = trans ? 1 : ld,
        .a_col = trans ? ld : 1,
        .x_step = 1,
        .y_step = 1,
        .alpha = (float)of->alpha,
        .beta = (float)of->beta,
    };

    return gemv(vulkan, call->in[0], call->in[1], call->out, &one);
}

static struct takt_vulkan_gemm gemm_of(const takt_call *of)
{
    const bool is_batch = takt__op_id(of->op) == TAKT_OP_batched_matmul;
    const size_t *d = of->shape.dim + is_batch;
    const uint32_t m = (uint32_t)d[TAKT_MATMUL_M];
    const uint32_t n = (uint32_t)d[TAKT_MATMUL_N];
    const uint32_t k = (uint32_t)d[TAKT_MATMUL_K];
    const bool trans_a = !is_batch && (of->flags & TAKT_TRANS_A) != 0;
    const bool trans_b = !is_batch && (of->flags & TAKT_TRANS_B) != 0;
    const uint32_t lda = is_batch ? k : (uint32_t)of->ld[0];
    const uint32_t ldb = is_batch ? n : (uint32_t)of->ld[1];
    const uint32_t batch = is_batch ? (uint32_t)of->shape.dim[0] : 1;

    return (struct takt_vulkan_gemm){
        .m = m,
        .n = n,
        .k = (float)of->alpha == 0 ? 0 : k, /* A and B are not read */
        .batch = batch,
        .a_row = trans_a ? 1 : lda,
        .a_col = trans_a ? lda : 1,
        .b_row = trans_b ? 1 : ldb,
        .b_col = trans_b ? ldb : 1,
        .ldc = is_batch ? n : (uint32_t)of->ld[2],
        .a_step = m * k,
        .b_step = k * n,
        .c_step = m * n,
        .alpha = (float)of->alpha,
        .beta = (float)of->beta,
        .groups = batch,
    };
}

/* A product of one column or one row would leave most of each tile empty. */
takt_status takt__vulkan_run_matmul(struct takt_vulkan *vulkan,
                                    const struct takt_device_call *call)
{
    const struct takt_vulkan_gemm is = gemm_of(call->call);
    const struct gemv column = {is.m,     is.k,   is.a_row, is.a_col,
                                is.b_row, is.ldc, is.alpha, is.beta};
    const struct gemv row = {is.n,     is.k, is.b_col, is.b_row,
                             is.a_col, 1,    is.alpha, is.beta};
    if (is.batch == 1 && is.n == 1)
        return gemv(vulkan, call->in[0], call->in[1], call->out, &column);
    if (is.batch == 1 && is.m == 1)
        return gemv(vulkan, call->in[1], call->in[0], call->out, &row);
    const struct takt_location at[4] = {call->in[0],
                                        call->in[1], [3] = call->out};
    return takt__vulkan_gemm(vulkan, GEMM_PLAIN, at, &is);
}
