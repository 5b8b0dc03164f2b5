/* SPDX-License-Identifier: MIT */
/* question.c - the question that a request asks, and where its operands would
 * be. */
#include "call/question.h"

#include "base/clock.h"
#include "base/size.h"
#include "call/learning.h"
#include "call/libraries.h"
#include "call/objective.h"
#include "call/user_experts.h"
#include "op/admit.h"
#include "op/operands.h"

/* ---- the question -------------------------------------------------------- */

/* The number of elements when the op is not described: all sizes, multiplied
 * as those of a user's op are. */
static size_t elements_of(const takt_request *request)
{
    const takt_shape *shape = &request->shape;

    if (request->op != NULL)
        return takt_op_elements(request->op, shape);
    return shape->rank == 0 ? 0 : takt__size_product(shape->dim, shape->rank);
}

static takt_status check(const takt_request *request)
{
    if (request == NULL || (unsigned)request->policy > TAKT_POLICY_PINNED ||
        (unsigned)request->dtype > TAKT_F64 ||
        request->shape.rank > TAKT_SHAPE_MAX_RANK ||
        request->situation >= 2 * TAKT_SITUATION_ON_GPU)
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

/* Products and layers are keyed by their shape too; a bare number of elements
 * will not do. Nor will work that no machine can do: it is left to the rules.
 */
static bool has_key(const takt_request *request,
                    const struct takt_question *question)
{
    if (request->op == NULL || !takt__work_is_sane(&question->work) ||
        takt__op_entry(request->op)->form == TAKT_FORM_view)
        return false;
    return request->op->is_user || request->shape.rank >= request->op->rank_min;
}

takt_status takt__request_question(const takt_request *request,
                                   struct takt_question *out)
{
    const takt_status status = check(request);

    if (status != TAKT_OK)
        return status;
    *out = (struct takt_question){
        .op = request->op,
        .name = request->name,
        .complexity =
            request->op != NULL ? request->op->complexity : request->complexity,
        .elements = elements_of(request),
        .work_is_given = request->work != NULL,
    };
    if (request->work != NULL)
        out->work = *request->work;
    else if (request->op == NULL ||
             takt_op_work(request->op, request->dtype, &request->shape,
                          &out->work) != TAKT_OK)
        out->work = (takt_work){.bytes = -1, .flops = -1};
    out->has_key = has_key(request, out);
    if (out->has_key)
        out->key = takt__key_of(request->op, request->dtype, &request->shape,
                                request->flags, &out->work);
    return TAKT_OK;
}

takt_status takt__question_begin(takt_ctx **ctx, const takt_request *request,
                                 struct takt_question *out)
{
    *ctx = takt__ctx_or_default(*ctx);
    if (*ctx == NULL)
        return TAKT_ENOMEM;
    if (request->op != NULL && !takt__ctx_has_op(*ctx, request->op))
        return TAKT_EINVAL;
    const takt_status status = takt__request_question(request, out);
    if (status != TAKT_OK)
        return status;
    if (!out->has_key)
        return TAKT_ESHAPE;
    takt__ctx_open_libraries_for(*ctx, request->op);
    return TAKT_OK;
}

takt_status takt__question_objective(const takt_request *request,
                                     struct takt_objective *out,
                                     bool *has_objective)
{
    takt_status status = TAKT_OK;

    *out = (struct takt_objective){0};
    *has_objective = request->objective != NULL;
    if (*has_objective)
        status = takt__objective_parse(request->objective, out, NULL);
    if (request->callers != 0 &&
        !(request->callers >= 1 && request->callers <= 1e6))
        return TAKT_EINVAL;
    out->callers = request->callers;
    return status;
}

/* ---- operands on a GPU --------------------------------------------------- */

_Static_assert(TAKT_SITUATION_REPEAT == TAKT_REPEAT &&
                   TAKT_SITUATION_ASLEEP == TAKT_ASLEEP &&
                   TAKT_SITUATION_ON_GPU == TAKT_RESIDENT,
               "a question and a sample mean the same by a situation");

bool takt__question_call(const takt_request *request, takt_call *out)
{
    struct takt_lengths lengths;
    bool is_empty;

    *out = (takt_call){.op = request->op,
                       .dtype = request->dtype,
                       .shape = request->shape,
                       .alpha = 1,
                       .flags = request->flags};
    takt__admit(out, &is_empty);
    takt__lengths_of(out, &lengths);
    return !lengths.overflow && lengths.of[TAKT_OUT] > 0;
}

/* Seconds to move all inputs of a call over one link. */
static double move_inputs(const struct takt_decider *decider, unsigned gpu,
                          unsigned link, const takt_call *call)
{
    struct takt_extents extents;
    double all = 0;

    takt__extents_of(call, &extents);
    for (unsigned i = 0; i < TAKT_OUT; i++)
        if (extents.bytes[i] > 0)
            all +=
                takt__decide_link(decider, gpu, link, (double)extents.bytes[i]);
    return all;
}

void takt__question_where(takt_ctx *ctx, const takt_request *request,
                          const struct takt_question *question,
                          struct takt_question_location *out)
{
    const struct takt_decider *decider = &ctx->decider;
    struct takt_move_costs *moves = &out->moves;
    takt_call call;

    *out = (struct takt_question_location){.home = -1};
    if (!question->has_key || request->op->is_user ||
        !takt__question_call(request, &call))
        return;
    for (unsigned d = decider->gpu_count; d-- > 0;) {
        const struct takt_device *device = decider->gpu[d].device;
        moves->is_open[d] = takt__device_is_ready(device) &&
                            !takt__device_is_software(device) &&
                            !atomic_load(&device->is_occupied) &&
                            device->driver->can_run(device, &call);
        if (moves->is_open[d] &&
            (request->situation & TAKT_SITUATION_ON_GPU) != 0)
            out->home = (int)d;
    }
    if (out->home < 0)
        return;
    const unsigned home = (unsigned)out->home;
    moves->host_s = move_inputs(decider, home, TAKT_LINK_OUT, &call);
    for (unsigned d = 0; d < decider->gpu_count; d++)
        if (moves->is_open[d] && d != home)
            moves->gpu_s[d] =
                moves->host_s + move_inputs(decider, d, TAKT_LINK_IN, &call);
}

/* The question is that of a thread that used others just now, or (asleep) long
 * ago. */
void takt__question_locate(takt_ctx *ctx, const takt_request *request,
                           const struct takt_question *question,
                           const struct takt_question_location *where,
                           struct takt_choice *out)
{
    const bool is_asleep = (request->situation & TAKT_SITUATION_ASLEEP) != 0;
    struct takt_thread asking = {.threads_used = is_asleep ? 0 : takt__ticks()};

    takt__ctx_predict(ctx, question);
    takt__decide_location(&ctx->decider, &asking, question, &where->moves, true,
                          out);
}
