/* SPDX-License-Identifier: MIT */
/* cpu.c - experts that are Takt's own kernels on so many threads. */
#include "expert/forms.h"

/* Every instruction set has every kernel. */
static bool may(const struct takt_expert *expert, const takt_op *op,
                takt_dtype dtype)
{
    (void)expert;
    (void)dtype;
    return !op->is_user && takt__op_id(op) != TAKT_OP_reshape;
}

static bool can(const struct takt_expert *expert, const takt_call *call)
{
    (void)expert;
    return !call->op->is_user;
}

static takt_cpu_run *const by_form[] = {
    [TAKT_FORM_map] = takt__cpu_map,
    [TAKT_FORM_reduce] = takt__cpu_reduce,
    [TAKT_FORM_rows] = takt__cpu_rows,
    [TAKT_FORM_bias] = takt__cpu_bias,
    [TAKT_FORM_by_rows] = takt__cpu_by_rows,
    [TAKT_FORM_by_cols] = takt__cpu_by_cols,
    [TAKT_FORM_matrix] = takt__cpu_transpose,
    [TAKT_FORM_gemv] = takt__cpu_gemv,
    [TAKT_FORM_matmul] = takt__cpu_gemm,
    [TAKT_FORM_batched] = takt__cpu_batched,
    [TAKT_FORM_conv2d] = takt__cpu_conv2d,
    [TAKT_FORM_pool2d] = takt__cpu_pooling,
    [TAKT_FORM_attention] = takt__cpu_attention,
    [TAKT_FORM_cholesky] = takt__cpu_cholesky,
    [TAKT_FORM_solve] = takt__cpu_solve,
    [TAKT_FORM_lstsq] = takt__cpu_lstsq,
    [TAKT_FORM_qr] = takt__cpu_qr,
};

/* Factors are made by one thread, with products on all of them in between.
 * (Measured on 16 virtual cores: workers that fell asleep in between took
 * longer to wake than their share of a product.) */
static takt_status run(struct takt_experts *experts,
                       const struct takt_expert *expert, const takt_call *call)
{
    const unsigned form = takt__op_entry(call->op)->form;

    if (expert->threads == 1 || takt__forms[form].serial <= 0)
        return by_form[form](experts, expert, call);
    takt__pool_keep_awake(experts->pool);
    const takt_status status = by_form[form](experts, expert, call);
    takt__pool_let_sleep(experts->pool);
    return status;
}

const struct takt_expert_class takt__cpu_class = {may, can, run};
