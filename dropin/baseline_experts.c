/* SPDX-License-Identifier: MIT */
/* baseline_experts.c - runs catalogue ops by Fortran's names. */
#include "baseline_call.h"

#include <stdio.h>

typedef const int64_t *number;
typedef const void *pointer;

typedef void gemv_function(const char *, number, number, pointer, pointer,
                           number, pointer, number, pointer, void *, number,
                           size_t);
typedef void axpy_function(number, pointer, pointer, number, void *, number);
typedef void scal_function(number, pointer, void *, number);
typedef float sdot_function(number, pointer, number, pointer, number);
typedef double ddot_function(number, pointer, number, pointer, number);
typedef float snrm2_function(number, pointer, number);
typedef double dnrm2_function(number, pointer, number);

_Thread_local const void *takt__baseline_wrote;

static const int64_t one = 1;

static takt_status done(const takt_call *call)
{
    takt__baseline_wrote = call->out;
    return TAKT_OK;
}

static bool is_double(const takt_call *call)
{
    return call->dtype == TAKT_F64;
}

static takt_symbol *function_of(const takt_call *call, const void *self,
                                enum takt_routine routine)
{
    const struct takt_baseline *baseline = self;

    return baseline->function[routine][is_double(call)];
}

static takt_status run_matmul(const takt_call *call, void *self)
{
    takt__baseline_product(
        self, &(struct takt_product){
                  .is_double = is_double(call),
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
    return done(call);
}

static takt_status run_gemv(const takt_call *call, void *self)
{
    gemv_function *gemv = (gemv_function *)function_of(call, self, TAKT_GEMV);
    const int64_t rows = (int64_t)call->shape.dim[0];
    const int64_t columns = (int64_t)call->shape.dim[1];
    const int64_t ld = (int64_t)call->ld[0];
    const union takt_factor alpha =
        takt__factor_of(is_double(call), call->alpha);
    const union takt_factor beta = takt__factor_of(is_double(call), call->beta);

    gemv((call->flags & TAKT_TRANS_A) != 0 ? "N" : "T", &columns, &rows, &alpha,
         call->in[0], &ld, call->in[1], &one, &beta, call->out, &one, 1);
    return done(call);
}

static takt_status run_axpy(const takt_call *call, void *self)
{
    axpy_function *axpy = (axpy_function *)function_of(call, self, TAKT_AXPY);
    const int64_t n = (int64_t)call->shape.dim[0];
    const union takt_factor alpha =
        takt__factor_of(is_double(call), call->alpha);

    axpy(&n, &alpha, call->in[0], &one, call->out, &one);
    return done(call);
}

static takt_status run_scale(const takt_call *call, void *self)
{
    scal_function *scal = (scal_function *)function_of(call, self, TAKT_SCAL);
    const int64_t n = (int64_t)call->shape.dim[0];
    const union takt_factor alpha =
        takt__factor_of(is_double(call), call->alpha);

    if (call->in[0] != call->out)
        return TAKT_ENOTSUP;
    scal(&n, &alpha, call->out, &one);
    return done(call);
}

static takt_status run_dot(const takt_call *call, void *self)
{
    takt_symbol *dot = function_of(call, self, TAKT_DOT);
    const int64_t n = (int64_t)call->shape.dim[0];

    if (is_double(call))
        *(double *)call->out =
            ((ddot_function *)dot)(&n, call->in[0], &one, call->in[1], &one);
    else
        *(float *)call->out =
            ((sdot_function *)dot)(&n, call->in[0], &one, call->in[1], &one);
    return done(call);
}

static takt_status run_norm(const takt_call *call, takt_symbol *norm)
{
    const int64_t n = (int64_t)call->shape.dim[0];

    if (is_double(call))
        *(double *)call->out = ((dnrm2_function *)norm)(&n, call->in[0], &one);
    else
        *(float *)call->out = ((snrm2_function *)norm)(&n, call->in[0], &one);
    return done(call);
}

static takt_status run_norm2(const takt_call *call, void *self)
{
    return run_norm(call, function_of(call, self, TAKT_NRM2));
}

static takt_status run_norm1(const takt_call *call, void *self)
{
    return run_norm(call, function_of(call, self, TAKT_ASUM));
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
            .is_usual = takt__mode_has(TAKT_MODE_STEADY),
            .is_observed = !takt__mode_has(TAKT_MODE_STEADY) &&
                           !takt__mode_has(TAKT_MODE_EAGER)};
        if (op != NULL && baseline->function[offer[i].routine][0] != NULL &&
            baseline->function[offer[i].routine][1] != NULL &&
            route->takt->add_expert(route->ctx, op, &spec) == TAKT_OK)
            route->op[offer[i].routine] = op;
    }
}
