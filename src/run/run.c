/* SPDX-License-Identifier: MIT */
/* run.c - hands a call to the code of its kind. */
#include "run/run.h"

#include "expert/products.h"

struct takt_stretch takt__stretch(size_t total, size_t grain, unsigned part,
                                  unsigned parts)
{
    if (parts == 1)
        return (struct takt_stretch){.first = 0, .count = total};

    const size_t grains = (total + grain - 1) / grain;
    const size_t each = (grains + parts - 1) / parts * grain;
    const size_t first = part * each;

    if (first >= total)
        return (struct takt_stretch){.first = total};
    return (struct takt_stretch){
        .first = first, .count = total - first < each ? total - first : each};
}

static takt_status run_blas(const struct takt_expert *expert,
                            const takt_call *call)
{
    struct takt_blas *blas = expert->blas;
    const size_t size = takt_dtype_size(call->dtype);
    const unsigned most = blas->max_vector_threads;
    const unsigned vector_threads =
        expert->threads < most ? expert->threads : most;
    bool done;

    if (takt__op_id(call->op) == TAKT_OP_matmul) {
        const struct takt_gemm gemm = takt__gemm_of(call);
        done = takt__blas_gemm(blas, size, expert->threads, &gemm);
    } else if (takt__op_id(call->op) == TAKT_OP_gemv) {
        const struct takt_gemv gemv = takt__gemv_of(call);
        done = takt__blas_gemv(blas, size, vector_threads, &gemv);
    } else {
        const struct takt_axpy axpy = takt__axpy_of(call);
        done = takt__blas_axpy(blas, size, vector_threads, &axpy);
    }
    return done ? TAKT_OK : TAKT_ENODEV;
}

static takt_status run_cpu(struct takt_fleet *fleet,
                           const struct takt_expert *expert,
                           const takt_call *call)
{
    switch (takt__op_entry(call->op)->form) {
    case TAKT_FORM_map:
        return takt__run_map(fleet, expert, call);
    case TAKT_FORM_reduce:
        return takt__run_reduce(fleet, expert, call);
    case TAKT_FORM_rows:
        return takt__run_rows(fleet, expert, call);
    case TAKT_FORM_matrix:
        return takt__run_transpose(fleet, expert, call);
    case TAKT_FORM_gemv:
        return takt__run_gemv(fleet, expert, call);
    case TAKT_FORM_matmul:
        return takt__run_gemm(fleet, expert, call);
    case TAKT_FORM_batched:
        return takt__run_batched(fleet, expert, call);
    case TAKT_FORM_conv2d:
    case TAKT_FORM_pool2d:
    case TAKT_FORM_attention:
        return takt__run_layer(fleet, expert, call);
    case TAKT_FORM_view:
    case TAKT_FORM_user:
        break;
    }
    return TAKT_ENOTSUP;
}

takt_status takt__run(struct takt_fleet *fleet, unsigned expert,
                      const takt_call *call)
{
    const struct takt_expert *who = &fleet->expert[expert];

    switch (who->kind) {
    case TAKT_EXPERT_CPU:
        break;
    case TAKT_EXPERT_BLAS:
        return run_blas(who, call);
    case TAKT_EXPERT_GPU:
        return takt__run_gpu(fleet, who->device, call, NULL, 0, NULL, NULL);
    }
    return run_cpu(fleet, who, call);
}
