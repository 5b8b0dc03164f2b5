/* SPDX-License-Identifier: MIT */
/*
 * select.c - answers where a call would run, without running it.
 *
 * Two steps that never mix: a pure rule names a backend, then the machine
 * says which expert that is here.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "call/ctx.h"
#include "takt/policy.h"

const char *takt_policy_name(takt_policy policy)
{
    switch (policy) {
    case TAKT_POLICY_MOE:
        return "moe";
    case TAKT_POLICY_COST:
        return "cost";
    case TAKT_POLICY_HEURISTIC:
        return "heuristic";
    }
    return "?";
}

const char *takt_reason_name(takt_reason reason)
{
    switch (reason) {
    case TAKT_REASON_STATIC:
        return "static";
    case TAKT_REASON_FALLBACK:
        return "fallback";
    }
    return "?";
}

static takt_complexity complexity_of(const takt_request *request)
{
    return request->op != NULL ? request->op->complexity : request->complexity;
}

/* The number of elements when nobody described the op: all sizes, multiplied
 * as those of a user's op are. */
static size_t elements_of(const takt_request *request)
{
    size_t all = 1;

    if (request->op != NULL)
        return takt_op_elements(request->op, &request->shape);
    for (unsigned i = 0; i < request->shape.rank; i++)
        if (request->shape.dim[i] == 0)
            return 0;
    for (unsigned i = 0; i < request->shape.rank; i++)
        if (__builtin_mul_overflow(all, request->shape.dim[i], &all))
            return SIZE_MAX;
    return request->shape.rank == 0 ? 0 : all;
}

static takt_status check(const takt_request *request)
{
    if ((unsigned)request->policy > TAKT_POLICY_HEURISTIC ||
        (unsigned)request->dtype > TAKT_F64 ||
        request->shape.rank > TAKT_SHAPE_MAX_RANK)
        return TAKT_EINVAL;
    if (request->op == NULL)
        return (unsigned)request->complexity > TAKT_COMPLEXITY_HIGH
                   ? TAKT_EINVAL
                   : TAKT_OK;
    if ((request->op->dtypes >> request->dtype & 1) == 0)
        return TAKT_EINVAL;
    if (request->work != NULL && request->shape.rank == 0)
        return TAKT_OK;
    return takt_op_check_shape(request->op, &request->shape);
}

/* Low ops are element-wise, Medium ones vectors, and High ones pay for what
 * their shape says; a user's op pays for what the user says. */
static takt_status select_by_cost(const takt_ctx *ctx,
                                  const takt_request *request,
                                  takt_decision *out)
{
    const takt_op *op = request->op;

    if (request->work != NULL) {
        out->backend = takt_cost_select(&ctx->cost, *request->work);
        return TAKT_OK;
    }
    if (op == NULL)
        return TAKT_EINVAL;
    if (!op->is_user && op->complexity == TAKT_COMPLEXITY_LOW) {
        out->backend = takt_cost_select_elementwise(out->elements);
        return TAKT_OK;
    }
    if (out->work.bytes < 0)
        return TAKT_ESHAPE;
    if (op->is_user || op->complexity == TAKT_COMPLEXITY_HIGH) {
        out->backend = takt_cost_select(&ctx->cost, out->work);
        return TAKT_OK;
    }
    const double n = (double)out->elements;
    out->backend = takt_cost_select_vector(&ctx->cost, out->elements,
                                           n > 0 ? out->work.flops / n : 0);
    return TAKT_OK;
}

static takt_status select_backend(const takt_ctx *ctx,
                                  const takt_request *request,
                                  takt_decision *out)
{
    const char *name = request->name;

    switch (request->policy) {
    case TAKT_POLICY_MOE:
        out->backend = takt_moe_select(complexity_of(request), out->elements);
        return TAKT_OK;
    case TAKT_POLICY_COST:
        return select_by_cost(ctx, request, out);
    case TAKT_POLICY_HEURISTIC:
        if (name == NULL && request->op != NULL)
            name = request->op->name;
        out->backend = takt_heuristic_select(name, out->elements);
        return TAKT_OK;
    }
    return TAKT_EINVAL;
}

/* The expert that stands for the backend on this machine. No GPU expert
 * exists in this version, so GPU falls back to the best of the processor. */
static void name_expert(const takt_machine *machine, takt_decision *out)
{
    const takt_isa isa = takt_machine_best_isa(machine);
    const bool simd = out->backend != TAKT_BACKEND_SCALAR;
    const bool has_simd = isa != TAKT_ISA_SCALAR;

    if (simd && has_simd)
        snprintf(out->expert, sizeof out->expert, "simd.%s",
                 takt_isa_name(isa));
    else
        snprintf(out->expert, sizeof out->expert, "scalar");
    out->reason = out->backend == TAKT_BACKEND_GPU || (simd && !has_simd)
                      ? TAKT_REASON_FALLBACK
                      : TAKT_REASON_STATIC;
}

takt_status takt_select(takt_ctx *ctx, const takt_request *request,
                        takt_decision *out)
{
    *out = (takt_decision){.predicted_s = -1,
                           .confidence = -1,
                           .work = {.bytes = -1, .flops = -1}};
    takt_status status = check(request);
    if (status != TAKT_OK)
        return status;

    out->elements = elements_of(request);
    if (request->work != NULL)
        out->work = *request->work;
    else if (request->op == NULL ||
             takt_op_work(request->op, request->dtype, &request->shape,
                          &out->work) != TAKT_OK)
        out->work = (takt_work){.bytes = -1, .flops = -1};

    status = select_backend(ctx, request, out);
    if (status == TAKT_OK)
        name_expert(ctx->machine, out);
    return status;
}
