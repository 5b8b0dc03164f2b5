/* SPDX-License-Identifier: MIT */
/* baseline_experts.c - the baseline library, as an expert of catalogue ops. */
#include <stdio.h>

#include "router.h"

typedef const int64_t *number;

typedef void gemv_function(const char *, number, number, const void *,
                           const void *, number, const void *, number,
                           const void *, void *, number, size_t);
typedef void axpy_function(number, const void *, const void *, number, void *,
                           number);
typedef void scal_function(number, const void *, void *, number);
typedef float sdot_function(number, const void *, number, const void *, number);
typedef double ddot_function(number, const void *, number, const void *,
                             number);
typedef float snrm2_function(number, const void *, number);
typedef double dnrm2_function(number, const void *, number);

static const int64_t one = 1;

static takt_status run_matmul(const takt_call *call, void *self)
{
    takt__baseline_product(
        self, &(struct takt_product){
                  .is_double = call->dtype == TAKT_F64,
                  .m = call->shape.dim[0],
                  .n = call->shape.dim[1],
                  .k = call->shape.dim[2],
                  .is_a_transposed = (call->flags & TAKT_TRANS_A) != 0,
                  .is_b_transposed = (call->flags & TAKT_TRANS_B) != 0,
                  .alpha = call->alpha,
                  .beta = call->beta,
                  .a = call->in[0],
                  .b = call->in[1],
                  .c = call->out,
                  .lda = call->ld[0],
                  .ldb = call->ld[1],
                  .ldc = call->ld[2]});
    takt__baseline_wrote = call->out;
    return TAKT_OK;
}

static takt_status run_gemv(const takt_call *call, void *self)
{
    const struct takt_baseline *baseline = self;
    const bool is_double = call->dtype == TAKT_F64;
    gemv_function *gemv =
        (gemv_function *)baseline->function[TAKT_GEMV][is_double];
    const int64_t rows = (int64_t)call->shape.dim[0];
    const int64_t columns = (int64_t)call->shape.dim[1];
    const int64_t ld = (int64_t)call->ld[0];
    const float alpha = (float)call->alpha, beta = (float)call->beta;

    gemv((call->flags & TAKT_TRANS_A) != 0 ? "N" : "T", &columns, &rows,
         is_double ? (const void *)&call->alpha : &alpha, call->in[0], &ld,
         call->in[1], &one, is_double ? (const void *)&call->beta : &beta,
         call->out, &one, 1);
    takt__baseline_wrote = call->out;
    return TAKT_OK;
}

static takt_status run_axpy(const takt_call *call, void *self)
{
    const struct takt_baseline *baseline = self;
    const bool is_double = call->dtype == TAKT_F64;
    const int64_t n = (int64_t)call->shape.dim[0];
    const float alpha = (float)call->alpha;

    ((axpy_function *)baseline->function[TAKT_AXPY][is_double])(
        &n, is_double ? (const void *)&call->alpha : &alpha, call->in[0], &one,
        call->out, &one);
    takt__baseline_wrote = call->out;
    return TAKT_OK;
}

static takt_status run_scale(const takt_call *call, void *self)
{
    const struct takt_baseline *baseline = self;
    const bool is_double = call->dtype == TAKT_F64;
    const int64_t n = (int64_t)call->shape.dim[0];
    const float alpha = (float)call->alpha;

    if (call->in[0] != call->out)
        return TAKT_ENOTSUP;
    ((scal_function *)baseline->function[TAKT_SCAL][is_double])(
        &n, is_double ? (const void *)&call->alpha : &alpha, call->out, &one);
    takt__baseline_wrote = call->out;
    return TAKT_OK;
}

static takt_status run_dot(const takt_call *call, void *self)
{
    const struct takt_baseline *baseline = self;
    takt_symbol *dot = baseline->function[TAKT_DOT][call->dtype == TAKT_F64];
    const int64_t n = (int64_t)call->shape.dim[0];

    if (call->dtype == TAKT_F64)
        *(double *)call->out =
            ((ddot_function *)dot)(&n, call->in[0], &one, call->in[1], &one);
    else
        *(float *)call->out =
            ((sdot_function *)dot)(&n, call->in[0], &one, call->in[1], &one);
    takt__baseline_wrote = call->out;
    return TAKT_OK;
}

static takt_status run_norm(const takt_call *call, takt_symbol *norm)
{
    const int64_t n = (int64_t)call->shape.dim[0];

    if (call->dtype == TAKT_F64)
        *(double *)call->out = ((dnrm2_function *)norm)(&n, call->in[0], &one);
    else
        *(float *)call->out = ((snrm2_function *)norm)(&n, call->in[0], &one);
    takt__baseline_wrote = call->out;
    return TAKT_OK;
}

static takt_status run_norm2(const takt_call *call, void *self)
{
    const struct takt_baseline *baseline = self;

    return run_norm(call,
                    baseline->function[TAKT_NRM2][call->dtype == TAKT_F64]);
}

static takt_status run_norm1(const takt_call *call, void *self)
{
    const struct takt_baseline *baseline = self;

    return run_norm(call,
                    baseline->function[TAKT_ASUM][call->dtype == TAKT_F64]);
}

void takt__add_baseline_experts(struct takt_route *route)
{
    static const struct {
        enum takt_routine routine;
        const char *op;
        takt_status (*run)(const takt_call *call, void *self);
    } offer[] = {
        {TAKT_GEMM, "matmul", run_matmul}, {TAKT_GEMV, "gemv", run_gemv},
        {TAKT_AXPY, "axpy", run_axpy},     {TAKT_DOT, "dot", run_dot},
        {TAKT_SCAL, "scale", run_scale},   {TAKT_NRM2, "norm2", run_norm2},
        {TAKT_ASUM, "norm1", run_norm1},
    };
    const struct takt_baseline *baseline = route->baseline;
    char name[32];

    snprintf(name, sizeof name, route->threads > 0 ? "%.21sx%u" : "%.21s",
             baseline->name, route->threads);
    snprintf(route->expert, sizeof route->expert, "user.%.26s", name);
    for (size_t i = 0; i < sizeof offer / sizeof *offer; i++) {
        const takt_op *op = route->takt->find_op(offer[i].op);
        const takt_expert_spec spec = {
            .name = name,
            .backend = TAKT_BACKEND_SIMD,
            .threads = route->threads,
            .run = offer[i].run,
            .self = (void *)(uintptr_t)baseline, /* is only read */
            .is_usual = 1};
        if (op != NULL && baseline->function[offer[i].routine][0] != NULL &&
            baseline->function[offer[i].routine][1] != NULL &&
            route->takt->add_expert(route->ctx, op, &spec) == TAKT_OK)
            route->op[offer[i].routine] = op;
    }
}
