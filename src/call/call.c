/* SPDX-License-Identifier: MIT */
/*
 * call.c - the path of a call: admit, decide, run, observe.
 *
 * Admission and the experts say what can be run, the decision which expert
 * should, the run which one did.
 */
#include "call/call.h"

#include "base/clock.h"
#include "base/fpenv.h"
#include "base/sized.h"
#include "call/direct.h"
#include "call/libraries.h"
#include "call/objective.h"
#include "call/question.h"
#include "call/user_experts.h"
#include "gpu/times.h"
#include "op/admit.h"

/* ---- admit --------------------------------------------------------------- */

/* What the decision reads. The call was admitted, so its shape is right.
 * Beyond vectors, `elements` is needed by static rules and by reports alone. */
void takt__call_question(const takt_call *call, struct takt_question *out)
{
    const struct takt_op_entry *entry = takt__op_entry(call->op);
    double elements;

    if (entry->form == TAKT_FORM_user) {
        takt_op_work(call->op, call->dtype, &call->shape, &out->work);
        if (!takt__work_is_sane(&out->work)) /* as the user's function says */
            out->work = (takt_work){0};
    } else {
        takt__form_work(entry, &call->shape, &elements, &out->work.flops);
        out->work.bytes = elements * (double)takt_dtype_size(call->dtype);
    }
    out->op = call->op;
    out->name = NULL;
    out->complexity = call->op->complexity;
    out->elements = call->shape.rank == 1 ? call->shape.dim[0] : 0;
    out->work_is_given = false;
    out->is_steady = (call->flags & TAKT_CALL_STEADY) != 0;
    out->objective = (uint8_t)takt__call_objective(call->flags);
    out->has_key = true;
    out->key = takt__key_of(call->op, call->dtype, &call->shape, call->flags,
                            &out->work);
}

/* Operands, sizes, and the libraries that a large product may need. */
static takt_status prepare(struct takt_exec *exec)
{
    takt_call *call = exec->call;

    if (exec->has_buffers) {
        const takt_status status = takt__resident_find(exec);
        if (status != TAKT_OK)
            return status;
    }
    takt__call_question(call, &exec->question);
    if (exec->question.objective != 0 &&
        exec->question.objective >= atomic_load(&exec->ctx->objective_count))
        return TAKT_EINVAL;
    takt__ctx_open_for_product(exec->ctx, &exec->question, call->flags);
    if (exec->decision != NULL ||
        exec->ctx->decider.policy != TAKT_POLICY_ADAPTIVE)
        exec->question.elements = takt_op_elements(call->op, &call->shape);
    return TAKT_OK;
}

/* ---- decide -------------------------------------------------------------- */

/* Mostly there is no telemetry, and then it costs two comparisons. */
static takt_status decide(struct takt_exec *exec)
{
    if (__builtin_expect(exec->tap != NULL, 0) &&
        !takt__tap_is_quiet(exec->tap, exec->question.key.series))
        exec->came = takt__ticks();
    const takt_status status = exec->is_resident ? takt__resident_decide(exec)
                                                 : takt__plain_decide(exec);
    if (status != TAKT_OK)
        return status;
    exec->chosen = exec->choice.expert;
    if (__builtin_expect(exec->tap != NULL, 0))
        takt__emit_count(exec);
    return TAKT_OK;
}

/* ---- run ----------------------------------------------------------------- */

static void run(struct takt_exec *exec)
{
    if (exec->is_resident)
        takt__resident_run(exec);
    else
        takt__plain_run(exec);
}

/* ---- observe ------------------------------------------------------------- */

/* What the thread knows of this call when the next one comes. */
static void remember(struct takt_exec *exec)
{
    struct takt_thread *thread = exec->thread;

    thread->in = exec->call->in[0];
    thread->out = exec->call->out;
    thread->team = takt__exec_expert(exec)->threads;
    if (exec->choice.is_threaded || thread->team > 1)
        thread->threads_used = exec->end;
}

static void observe(struct takt_exec *exec)
{
    if (exec->is_sampled || takt__exec_failed_over(exec))
        takt__sample(exec);
    remember(exec);
    if (exec->question.is_steady)
        takt__shadow_run(exec);
    if (exec->tap != NULL)
        takt__emit(exec);
}

static void describe(const struct takt_exec *exec)
{
    takt_decision decision;

    takt__describe(exec->ctx, &exec->question, &exec->choice, &decision);
    decision.actual_s =
        (double)(exec->end - exec->start) * takt__seconds_per_tick();
    decision.transfer_s =
        (double)takt__device_times.moved * takt__seconds_per_tick();
    decision.wait_s =
        (double)takt__device_times.waited * takt__seconds_per_tick();
    takt__decision_fill(exec->decision, &decision);
}

/* ---- the path ------------------------------------------------------------ */

/* What is computed before and after the run leaves no trace in the caller's
 * floating-point environment, and no trap of the caller's fires there. */
static takt_status choose(struct takt_exec *exec)
{
    const struct takt_fpenv callers = takt__fpenv_save();
    takt_status status = prepare(exec);

    if (status == TAKT_OK)
        status = decide(exec);
    takt__fpenv_restore(callers);
    return status;
}

static void finish(struct takt_exec *exec)
{
    const struct takt_fpenv callers = takt__fpenv_save();

    if (exec->is_empty)
        remember(exec);
    else
        observe(exec);
    if (exec->decision != NULL)
        describe(exec);
    takt__fpenv_restore(callers);
}

static takt_status carry_out(struct takt_exec *exec)
{
    const takt_status status = choose(exec);

    if (status != TAKT_OK)
        return status;
    if (!exec->is_empty)
        run(exec);
    finish(exec);
    return exec->status != TAKT_OK ? exec->status : exec->numeric_status;
}

/* How many callers are at work counts under throughput alone: a counter that
 * all of them write takes them longer than a small call. */
static takt_status carry_out_counted(struct takt_exec *exec)
{
    atomic_fetch_add_explicit(&exec->ctx->callers, 1, memory_order_relaxed);
    const takt_status status = carry_out(exec);
    atomic_fetch_sub_explicit(&exec->ctx->callers, 1, memory_order_relaxed);
    return status;
}

static bool is_counted(const struct takt_exec *exec)
{
    const unsigned counted =
        atomic_load_explicit(&exec->ctx->counts_callers, memory_order_relaxed);

    return __builtin_expect(counted != 0, 0) &&
           (counted >> takt__call_objective(exec->call->flags) & 1) != 0;
}

static takt_status perform(struct takt_exec *exec)
{
    takt_status status = takt__admit(exec->call, &exec->is_empty);

    if (status != TAKT_OK)
        return status;
    if (exec->call->op->is_user && !takt__ctx_has_op(exec->ctx, exec->call->op))
        return TAKT_EINVAL;
    exec->has_buffers = takt__resident_has_buffers(exec->call);
    if (exec->may_be_direct && !exec->has_buffers && takt__direct_run(exec))
        return TAKT_OK;
    if (exec->decision != NULL)
        takt__device_times = (struct takt_device_times){0};
    return is_counted(exec) ? carry_out_counted(exec) : carry_out(exec);
}

/* ---- entry points ---------------------------------------------------------
 */

takt_status takt__call(takt_call *call)
{
    takt_ctx *ctx = takt_ctx_default();
    struct takt_exec exec;

    if (ctx == NULL)
        return TAKT_ENOMEM;
    takt__exec_begin(&exec, ctx, call, NULL);
    return perform(&exec);
}

takt_status takt__call_indirect(takt_call *call, bool is_learned)
{
    takt_ctx *ctx = takt_ctx_default();
    struct takt_exec exec;

    if (ctx == NULL)
        return TAKT_ENOMEM;
    takt__exec_begin(&exec, ctx, call, NULL);
    exec.may_be_direct = false;
    takt__direct_represent(&exec, is_learned);
    return perform(&exec);
}

takt_status takt_run(takt_ctx *ctx, const takt_call *call,
                     takt_decision *decision)
{
    struct takt_exec exec;
    takt_call copy;

    if (call == NULL || !takt__sized_read(call, &copy) ||
        (decision != NULL && !takt__decision_fits(decision)))
        return TAKT_EINVAL;
    const takt_status found = takt__ctx_to_run(&ctx);
    if (found != TAKT_OK)
        return found;
    takt__exec_begin(&exec, ctx, &copy, decision);
    return perform(&exec);
}

static takt_status run_on(struct takt_exec *exec, unsigned expert)
{
    struct takt_experts *experts = &exec->ctx->experts;
    struct takt_device *device = experts->expert[expert].device;
    takt_status status = takt__admit(exec->call, &exec->is_empty);

    if (status != TAKT_OK || exec->is_empty)
        return status;
    /* What can run already does not wait for the rest to open. */
    if (exec->call->op->is_user ||
        (device != NULL && !takt__device_can_run(device, exec->call) &&
         takt__device_open(device) != TAKT_OK))
        return TAKT_ENODEV;
    if (!takt__resident_has_buffers(exec->call))
        return takt__expert_run(experts, expert, exec->call);
    status = takt__resident_find(exec);
    return status == TAKT_OK ? takt__resident_run_on(exec, expert) : status;
}

takt_status takt_run_on(takt_ctx *ctx, const takt_call *call, size_t expert)
{
    struct takt_exec exec;
    takt_call copy;

    if (call == NULL || !takt__sized_read(call, &copy))
        return TAKT_EINVAL;
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (ctx->is_recorded || expert >= takt__experts_known(&ctx->experts))
        return TAKT_ENODEV;
    takt__exec_begin(&exec, ctx, &copy, NULL);
    return run_on(&exec, (unsigned)expert);
}
