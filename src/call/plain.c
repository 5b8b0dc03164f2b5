/* SPDX-License-Identifier: MIT */
/* plain.c - calls on plain memory: which expert runs them, and which one when
 * that refuses. */
#include <math.h>

#include "base/clock.h"
#include "call/gpus.h"
#include "call/learning.h"

/* ---- decide -------------------------------------------------------------- */

/* Of operands in plain memory, threads awake or not: bit 1 << situation. */
enum {
    fresh = 1 | 1 << TAKT_ASLEEP,
    repeated = 1 << TAKT_REPEAT | 1 << (TAKT_REPEAT | TAKT_ASLEEP)
};

/* A series that was never called in such a situation. The table gets what was
 * learned of it before; of a user's op, what the model predicts. An urgent call
 * does not wait for that. */
static takt_status decide_new(struct takt_exec *exec, double longest_s)
{
    takt_ctx *ctx = exec->ctx;

    if (exec->question.op->is_user) {
        if (takt__user_expert_next(&ctx->experts, exec->question.op, NULL) ==
            NULL)
            return TAKT_ENOTSUP;
        takt__ctx_predict(ctx, &exec->question);
    } else if ((exec->call->flags & TAKT_CALL_URGENT) == 0) {
        takt__ctx_ask(ctx, exec->question.key.series,
                      exec->is_repeat ? repeated : fresh);
    } else {
        takt__learner_notify(ctx->learner); /* it reads the store meanwhile */
        return takt__decide_static(&ctx->decider, TAKT_POLICY_ADAPTIVE,
                                   &exec->question, &exec->choice);
    }
    const takt_status status =
        takt__decide(&ctx->decider, exec->thread, &exec->question,
                     exec->is_repeat, longest_s, &exec->choice);
    return status == TAKT_ENOENT ? TAKT_ENOMEM : status;
}

static bool is_like(const struct takt_device *a, const struct takt_device *b)
{
    return a->driver == b->driver && a->known.units == b->known.units &&
           a->known.memory_bytes == b->known.memory_bytes;
}

/* Of several GPUs of one kind, the one with the fewest calls under way: it will
 * be done first. */
static void spread(struct takt_exec *exec, const struct takt_device *best)
{
    const struct takt_decider *decider = &exec->ctx->decider;
    unsigned fewest = takt__device_users(best);
    for (unsigned i = 0; i < decider->gpu_count && fewest > 0; i++) {
        const struct takt_device *other = decider->gpu[i].device;
        if (takt__device_is_ready(other) && takt__device_is_ready(best) &&
            is_like(other, best) && takt__device_users(other) < fewest) {
            fewest = takt__device_users(other);
            exec->choice.expert = (uint8_t)decider->gpu[i].expert;
        }
    }
}

/* The longest call on which a trial is allowed now: none if it is urgent; what
 * the budget of shadow runs has left if it is steady. */
static double longest_trial_s(const struct takt_exec *exec)
{
    if ((exec->call->flags & (TAKT_CALL_URGENT | TAKT_CALL_UNTYPICAL)) != 0)
        return 0;
    return exec->question.is_steady ? takt__shadow_budget_s(exec->ctx)
                                    : HUGE_VAL;
}

takt_status takt__plain_decide(struct takt_exec *exec)
{
    takt_ctx *ctx = exec->ctx;
    const double longest_s = longest_trial_s(exec);
    const void *in = exec->call->in[0];

    exec->is_repeat = !exec->question.is_steady &&
                      (in == exec->thread->in || in == exec->thread->out);
    takt_status status =
        takt__decide(&ctx->decider, exec->thread, &exec->question,
                     exec->is_repeat, longest_s, &exec->choice);
    if (status == TAKT_ENOENT)
        status = decide_new(exec, longest_s);
    if (status == TAKT_OK && ctx->decider.policy != TAKT_POLICY_ADAPTIVE)
        status = takt__gpu_open_chosen(ctx, &exec->question,
                                       ctx->decider.policy, &exec->choice);
    if (status != TAKT_OK)
        return status;
    if (exec->question.is_steady)
        takt__shadow_plan(exec);
    const struct takt_device *device = takt__exec_expert(exec)->device;
    if (device != NULL && exec->choice.reason == TAKT_REASON_MODEL)
        spread(exec, device);
    return TAKT_OK;
}

/* ---- run ----------------------------------------------------------------- */

/* Of a user's op, one expert after another. */
static int next_of_user(const struct takt_exec *exec, unsigned refused)
{
    const struct takt_experts *experts = &exec->ctx->experts;
    const struct takt_expert *at =
        refused == exec->chosen ? NULL : &experts->expert[refused];

    do
        at = takt__user_expert_next(experts, exec->question.op, at);
    while (at != NULL && takt__expert_number(experts, at) == exec->chosen);
    return at == NULL ? -1 : (int)takt__expert_number(experts, at);
}

/* Fallback order: for a GPU the best CPU expert, then SIMD on one thread, then
 * scalar code, which runs everything and needs next to no memory. -1: none is
 * left. */
static int fallback_of(struct takt_exec *exec, unsigned refused)
{
    struct takt_decider *decider = &exec->ctx->decider;
    const unsigned simd = decider->team[0].expert;
    struct takt_choice host;

    if (takt__ctx_expert(exec->ctx, refused)->device != NULL) {
        takt__decide_host(decider, exec->thread, &exec->question, &host);
        return host.expert;
    }
    if (exec->question.op->is_user)
        return next_of_user(exec, refused);
    return refused == 0 ? -1 : refused == simd ? 0 : (int)simd;
}

/* That a GPU whose kernels are still being loaded refuses does not count
 * against it. */
static bool is_incomplete(const struct takt_exec *exec, unsigned expert)
{
    struct takt_device *device = takt__ctx_expert(exec->ctx, expert)->device;

    return device != NULL && takt__device_is_ready(device) &&
           takt__device_is_incomplete(device) &&
           !takt__device_can_run(device, exec->call);
}

/* A matrix without a factor is a result: the call is done. It took less than
 * one with another result, so nothing is learned from it. */
static bool is_numeric_status(struct takt_exec *exec)
{
    if (!takt__is_numeric_status(exec->call->op, exec->status))
        return false;
    exec->numeric_status = exec->status;
    exec->status = TAKT_OK;
    exec->is_sampled = false;
    return true;
}

/* An expert that fails (it refuses, or its GPU was lost before any output came
 * back) has not changed the output, so another one may start. */
static void run(struct takt_exec *exec)
{
    takt_ctx *ctx = exec->ctx;

    exec->chosen = exec->choice.expert;
    for (;;) {
        const unsigned expert = exec->choice.expert;
        exec->status = takt__expert_run(&ctx->experts, expert, exec->call);
        if (exec->status == TAKT_OK || is_numeric_status(exec))
            return;
        if (is_incomplete(exec, expert)) {
            takt__decide_host(&ctx->decider, exec->thread, &exec->question,
                              &exec->choice);
            exec->chosen = exec->choice.expert;
            continue;
        }
        takt__exec_refuse(exec, expert, exec->status);
        const int next = fallback_of(exec, expert);
        if (next < 0)
            break;
        exec->choice.expert = (uint8_t)next;
        exec->choice.reason = TAKT_REASON_FALLBACK;
    }
    if (exec->call->op->is_user)
        exec->status = TAKT_ENODEV;
}

void takt__plain_run_timed(struct takt_exec *exec)
{
    const struct takt_expert *expert = takt__exec_expert(exec);

    exec->is_asleep =
        takt__expert_uses_pool(expert)
            ? takt__pool_asleep(exec->ctx->experts.pool, expert->threads) > 0
            : (exec->choice.situation & TAKT_ASLEEP) != 0;
    exec->start = takt__ticks();
    run(exec);
    exec->end = takt__ticks();
}

/* Times the run if it is to be sampled, emitted or reported. A refusal always
 * leaves a sample. */
void takt__plain_run(struct takt_exec *exec)
{
    exec->is_sampled = exec->is_sampled &&
                       (exec->call->flags & TAKT_CALL_UNTYPICAL) == 0 &&
                       (exec->decision != NULL || takt__exec_draw_timing(exec));
    if (exec->is_sampled || exec->is_emitted || exec->decision != NULL) {
        takt__plain_run_timed(exec);
        return;
    }
    run(exec);
    if (takt__exec_failed_over(exec))
        exec->start = exec->end = takt__ticks();
}
