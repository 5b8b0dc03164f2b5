/* SPDX-License-Identifier: MIT */
/*
 * select.c - answers where a call would run, without running it.
 */
#include <stdint.h>

#include "call/call.h"

const char *takt_policy_name(takt_policy policy)
{
    switch (policy) {
    case TAKT_POLICY_ADAPTIVE:
        return "adaptive";
    case TAKT_POLICY_MOE:
        return "moe";
    case TAKT_POLICY_COST:
        return "cost";
    case TAKT_POLICY_HEURISTIC:
        return "heuristic";
    case TAKT_POLICY_FIXED:
        return "fixed";
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
    case TAKT_REASON_PRIOR:
        return "prior";
    case TAKT_REASON_FORCED:
        return "forced";
    case TAKT_REASON_ONLY:
        return "only";
    }
    return "?";
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
    if ((unsigned)request->policy > TAKT_POLICY_FIXED ||
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

static struct takt_sizes sizes_of(const takt_request *request)
{
    struct takt_sizes sizes = {
        .op = request->op,
        .name = request->name,
        .complexity =
            request->op != NULL ? request->op->complexity : request->complexity,
        .elements = elements_of(request),
        .work_is_given = request->work != NULL,
    };

    if (request->work != NULL)
        sizes.work = *request->work;
    else if (request->op == NULL ||
             takt_op_work(request->op, request->dtype, &request->shape,
                          &sizes.work) != TAKT_OK)
        sizes.work = (takt_work){.bytes = -1, .flops = -1};
    return sizes;
}

takt_status takt_select(takt_ctx *ctx, const takt_request *request,
                        takt_decision *out)
{
    struct takt_choice choice;

    *out = (takt_decision){.predicted_s = -1, .confidence = -1, .actual_s = -1};
    takt_status status = check(request);
    if (status != TAKT_OK)
        return status;
    const struct takt_sizes sizes = sizes_of(request);
    status = takt__decide(&ctx->decider, request->policy, &sizes, &choice);
    if (status == TAKT_OK)
        takt__decision_fill(ctx, &sizes, &choice, out);
    return status;
}
