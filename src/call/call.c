/* SPDX-License-Identifier: MIT */
/*
 * call.c - the spine: admit, decide, run, observe.
 *
 * Can, should and did have three owners: admission and the experts say what
 * can be run, the decider what should, run() what was.
 */
#include "call/inside.h"

#include <string.h>

#include "base/clock.h"
#include "call/libraries.h"
#include "op/admit.h"
#include "run/run.h"

/* What the decision reads. The call was admitted, so its shape is right. The
 * elements of more than a vector are for rules and people alone. */
void takt__call_sizes(const takt_call *call, struct takt_sizes *out)
{
    const struct takt_op_entry *entry = takt__op_entry(call->op);
    double elements;

    if (entry->form == TAKT_FORM_user) {
        takt_op_work(call->op, call->dtype, &call->shape, &out->work);
        if (!takt__work_is_sane(&out->work)) /* the user's own words */
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
    out->has_key = true;
    out->key = takt__key_of(call->op, call->dtype, &call->shape, call->flags,
                            &out->work);
}

/* ---- run -------------------------------------------------------------------
 */

static inline unsigned threads_of(const takt_ctx *ctx, unsigned arm)
{
    if (arm < ctx->fleet.count)
        return ctx->fleet.expert[arm].threads;
    const struct takt_user_expert *user = takt__ctx_user_expert(ctx, arm);
    return user->spec.threads;
}

static bool is_gpu(const takt_ctx *ctx, unsigned arm)
{
    return arm < ctx->fleet.count &&
           ctx->fleet.expert[arm].kind == TAKT_EXPERT_GPU;
}

takt_status takt__call_run_arm(takt_ctx *ctx, const takt_call *call,
                               unsigned arm)
{
    const struct takt_user_expert *user = takt__ctx_user_expert(ctx, arm);

    if (is_gpu(ctx, arm)) /* it may have been lost and be back by now */
        takt__device_revive(ctx->fleet.expert[arm].device);
    if (user == NULL)
        return takt__expert_can_run(&ctx->fleet.expert[arm], call)
                   ? takt__run(&ctx->fleet, arm, call)
                   : TAKT_ENODEV;
    if (user->spec.run == NULL ||
        (user->spec.can_run != NULL &&
         user->spec.can_run(call, user->spec.self) == 0))
        return TAKT_ENODEV;
    return user->spec.run(call, user->spec.self);
}

/* Whom to ask when the chosen one refuses: instead of a GPU the best processor,
 * then our best kernels on one thread, then scalar code, which runs everything
 * and needs next to no memory. Of a user's op, one expert after another. -1:
 * nobody is left. */
static int next_best(takt_ctx *ctx, const struct takt_sizes *sizes,
                     unsigned first, int refused)
{
    const unsigned simd = ctx->decider.team[0].expert;
    const struct takt_user_expert *at = NULL;
    const takt_op *op = sizes->op;

    if (is_gpu(ctx, (unsigned)refused)) {
        struct takt_choice host;
        takt__decide_host(&ctx->decider, &takt__thread, sizes, &host);
        return host.arm;
    }
    if (!op->is_user)
        return refused == 0 ? -1 : (unsigned)refused == simd ? 0 : (int)simd;
    if ((unsigned)refused != first)
        at = takt__ctx_user_expert(ctx, (unsigned)refused);
    do
        at = takt__user_experts_next(&ctx->user_experts, op, at);
    while (at != NULL && at->arm == first);
    return at == NULL ? -1 : (int)at->arm;
}

/* One that only lacks what it is getting is not to be suspected. */
static bool is_busy_gpu(const takt_ctx *ctx, unsigned arm,
                        const takt_call *call)
{
    struct takt_device *device =
        is_gpu(ctx, arm) ? ctx->fleet.expert[arm].device : NULL;

    return device != NULL && takt__device_is_ready(device) &&
           takt__device_is_busy(device) && !takt__device_can_run(device, call);
}

/* An expert that refuses has touched nothing, so another one may start. */
takt_status takt__call_run(takt_ctx *ctx, const takt_call *call,
                           const struct takt_sizes *sizes,
                           struct takt_choice *choice, struct takt_watch *watch)
{
    const uint8_t first = choice->arm;

    for (int arm = first;;) {
        const takt_status status = takt__call_run_arm(ctx, call, (unsigned)arm);
        if (status == TAKT_OK)
            return status;
        if (is_busy_gpu(ctx, (unsigned)arm, call)) {
            takt__decide_host(&ctx->decider, &takt__thread, sizes, choice);
            watch->chosen = choice->arm;
            arm = choice->arm;
            continue;
        }
        takt__watch_refusal(watch, (unsigned)arm, status);
        arm = next_best(ctx, sizes, first, arm);
        if (arm < 0)
            return call->op->is_user ? TAKT_ENODEV : status;
        choice->arm = (uint8_t)arm;
        choice->reason = TAKT_REASON_FALLBACK;
    }
}

/* ---- observe ---------------------------------------------------------------
 */

/* Whether the chosen one did not run it. */
static bool is_refused(const struct takt_choice *choice,
                       const struct takt_watch *watch)
{
    return watch->chosen != choice->arm || watch->status != TAKT_OK;
}

/* What a software device takes says nothing about any other. */
static bool is_worth_learning(const takt_ctx *ctx, unsigned arm)
{
    return (ctx->is_learning || takt__ctx_tap(ctx) != NULL) &&
           !(is_gpu(ctx, arm) &&
             takt__device_is_software(ctx->fleet.expert[arm].device));
}

void takt__call_leave_sample(takt_ctx *ctx, const struct takt_sizes *sizes,
                             const struct takt_choice *choice,
                             const struct takt_watch *watch)
{
    const unsigned team = threads_of(ctx, choice->arm);
    struct takt_sample sample = {
        .series = sizes->key.series,
        .bucket = sizes->key.bucket,
        .situation = (uint8_t)((watch->is_repeat ? TAKT_REPEAT : 0) |
                               (watch->is_asleep ? TAKT_ASLEEP : 0) |
                               (watch->is_resident ? TAKT_RESIDENT : 0)),
        .arm = choice->arm,
        .flags = (uint8_t)((choice->reason == TAKT_REASON_EXPLORE
                                ? TAKT_SAMPLE_EXPLORED
                                : 0) |
                           (watch->is_aside ? TAKT_SAMPLE_SHADOW : 0) |
                           (watch->is_repeat && watch->thread->team != team &&
                                    !watch->is_aside
                                ? TAKT_SAMPLE_SWITCHED
                                : 0)),
        .calls = watch->is_aside ? 0 : watch->calls,
        .bytes = (float)sizes->work.bytes,
        .flops = (float)sizes->work.flops,
        .start_ns = takt__ns_at(watch->start),
        .seconds =
            (double)(watch->end - watch->start) * takt__seconds_per_tick(),
    };

    if (is_refused(choice, watch)) {
        sample.arm = watch->chosen;
        sample.flags = TAKT_SAMPLE_REFUSED;
    }
    if (!is_worth_learning(ctx, sample.arm))
        return;
    takt__journal_push(takt__learner_journal(ctx->learner), &sample);
    takt__learner_notify(ctx->learner);
}

void takt__call_remember(const takt_ctx *ctx, const takt_call *call,
                         const struct takt_choice *choice,
                         const struct takt_watch *watch)
{
    struct takt_thread *thread = watch->thread;

    thread->in = call->in[0];
    thread->out = call->out;
    thread->team = threads_of(ctx, choice->arm);
    if (choice->is_threaded || thread->team > 1)
        thread->threads_used = watch->end;
}

/* ---- the call --------------------------------------------------------------
 */

void takt__decision_fill(const takt_ctx *ctx, const struct takt_sizes *sizes,
                         const struct takt_choice *choice, takt_decision *out)
{
    const struct takt_cell cell = takt__cell_unpack(choice->word);

    *out = (takt_decision){
        .backend = choice->is_rule ? choice->backend
                                   : takt__ctx_arm_backend(ctx, choice->arm),
        .reason = choice->reason,
        .predicted_s = choice->predicted_s,
        .confidence = -1,
        .elements = sizes->elements,
        .work = sizes->work,
        .actual_s = -1,
    };
    memcpy(out->expert, takt__ctx_arm_name(ctx, choice->arm),
           sizeof out->expert);
    if (choice->word == 0)
        return;
    if ((choice->situation & TAKT_RESIDENT) == 0) { /* else moves are in it */
        out->predicted_s = (double)cell.seconds;
        out->confidence = (double)cell.confidence;
    }
    if (cell.runner_up != cell.best)
        memcpy(out->runner_up, takt__ctx_arm_name(ctx, cell.runner_up),
               sizeof out->runner_up);
}

/* A user's op that nobody has called yet: the model is asked what it thinks,
 * and the table knows from then on. */
static takt_status decide(takt_ctx *ctx, const struct takt_sizes *sizes,
                          const struct takt_watch *watch, double most_s,
                          struct takt_choice *out)
{
    takt_status status = takt__decide(&ctx->decider, watch->thread, sizes,
                                      watch->is_repeat, most_s, out);

    if (status != TAKT_ENOENT)
        return status;
    if (takt__user_experts_next(&ctx->user_experts, sizes->op, NULL) == NULL)
        return TAKT_ENOTSUP;
    takt__ctx_meet(ctx, sizes);
    status = takt__decide(&ctx->decider, watch->thread, sizes, watch->is_repeat,
                          most_s, out);
    return status == TAKT_ENOENT ? TAKT_ENOMEM : status;
}

bool takt__call_is_timed(const takt_ctx *ctx, const struct takt_choice *choice,
                         struct takt_watch *watch)
{
    if (!ctx->is_learning && takt__ctx_tap(ctx) == NULL)
        return false;
    if (watch->calls > 1 || choice->reason == TAKT_REASON_EXPLORE ||
        choice->sample_shift == 0)
        return true;
    if (!takt__thread_draw(watch->thread, choice->sample_shift))
        return false;
    watch->calls = (uint16_t)(1u << choice->sample_shift);
    return true;
}

void takt__call_run_watched(takt_ctx *ctx, const takt_call *call,
                            const struct takt_sizes *sizes,
                            struct takt_choice *choice,
                            struct takt_watch *watch)
{
    const unsigned team = threads_of(ctx, choice->arm);

    watch->chosen = choice->arm;
    watch->is_asleep = team > 1 && !sizes->is_steady &&
                       takt__pool_asleep(ctx->fleet.pool, team) > 0;
    watch->start = takt__ticks();
    watch->status = takt__call_run(ctx, call, sizes, choice, watch);
    watch->end = takt__ticks();
    if (watch->is_sampled || is_refused(choice, watch))
        takt__call_leave_sample(ctx, sizes, choice, watch);
}

/* Without a look at the clock, unless somebody refuses: that is news. */
static void run_unwatched(takt_ctx *ctx, const takt_call *call,
                          const struct takt_sizes *sizes,
                          struct takt_choice *choice, struct takt_watch *watch)
{
    watch->chosen = choice->arm;
    watch->status = takt__call_run(ctx, call, sizes, choice, watch);
    if (is_refused(choice, watch)) {
        watch->start = watch->end = takt__ticks();
        takt__call_leave_sample(ctx, sizes, choice, watch);
    }
}

static bool is_like(const struct takt_device *a, const struct takt_device *b)
{
    return a->driver == b->driver && a->known.units == b->known.units &&
           a->known.memory_bytes == b->known.memory_bytes;
}

/* Of several GPUs of one kind, the one that the fewest calls are under way on:
 * it will be done first. */
static void spread(const takt_ctx *ctx, struct takt_choice *choice)
{
    if (!is_gpu(ctx, choice->arm))
        return;
    const struct takt_device *best = ctx->fleet.expert[choice->arm].device;
    unsigned fewest = takt__device_users(best);
    for (unsigned i = 0; i < ctx->decider.gpu_count && fewest > 0; i++) {
        const struct takt_device *other = ctx->decider.gpu[i].device;
        if (takt__device_is_ready(other) && takt__device_is_ready(best) &&
            is_like(other, best) && takt__device_users(other) < fewest) {
            fewest = takt__device_users(other);
            choice->arm = (uint8_t)ctx->decider.gpu[i].expert;
        }
    }
}

takt_status takt__call_open_gpu(takt_ctx *ctx, const struct takt_sizes *sizes,
                                takt_policy policy, struct takt_choice *choice)
{
    if (!is_gpu(ctx, choice->arm) || policy == TAKT_POLICY_ADAPTIVE)
        return TAKT_OK;
    struct takt_device *device = ctx->fleet.expert[choice->arm].device;
    const bool is_named =
        policy == TAKT_POLICY_FIXED || policy == TAKT_POLICY_PINNED;
    if (takt__device_is_ready(device) && takt__device_is_busy(device))
        takt__device_open(device); /* all of it */
    /* What the bus showed may turn out to be nothing, or software, which no
     * rule means. */
    if (atomic_load(&device->state) != TAKT_DEVICE_ASLEEP ||
        (takt__device_open(device) == TAKT_OK &&
         (is_named || !takt__device_is_software(device))))
        return TAKT_OK;
    return takt__decide_static(&ctx->decider, policy, sizes, choice);
}

/* Whether there is telemetry. Mostly there is none, and then it takes nothing.
 */
static inline bool is_told(const struct takt_tap *tap)
{
    return __builtin_expect(tap != NULL, 0);
}

/* Counts a decided call for telemetry; true: it is timed, to be told of. Calls
 * of an op that is hot are not, but for those that are told of in any case. */
static inline bool is_heard(const takt_ctx *ctx, struct takt_tap *tap,
                            const struct takt_sizes *sizes,
                            const struct takt_choice *choice, uint16_t calls)
{
    takt__tap_count(tap, sizes->key.series, choice->reason, calls);
    return !takt__tap_is_quiet(tap, sizes->key.series) ||
           choice->reason == TAKT_REASON_EXPLORE || is_gpu(ctx, choice->arm);
}

static takt_status call_for(takt_ctx *ctx, takt_call *call,
                            takt_decision *decision, struct takt_watch *watch)
{
    struct takt_tap *tap = takt__ctx_tap(ctx);
    struct takt_sizes sizes;
    struct takt_choice choice;
    const uint16_t calls = watch->calls;
    bool is_empty;

    takt_status status = takt__admit(call, &is_empty);
    if (status != TAKT_OK)
        return status;
    if (takt__call_has_buffers(call)) {
        if (!is_empty && !call->op->is_user)
            return takt__call_on_buffers(ctx, call, decision);
        status = takt__call_to_host(ctx, call);
        if (status != TAKT_OK)
            return status;
    }
    takt__call_sizes(call, &sizes);
    takt__ctx_meet_product(ctx, &sizes, call->flags);
    if (decision != NULL || ctx->decider.policy != TAKT_POLICY_ADAPTIVE)
        sizes.elements = takt_op_elements(call->op, &call->shape);
    if (is_told(tap) && !takt__tap_is_quiet(tap, sizes.key.series))
        watch->came = takt__ticks();
    watch->is_repeat = !sizes.is_steady && (call->in[0] == watch->thread->in ||
                                            call->in[0] == watch->thread->out);
    status =
        decide(ctx, &sizes, watch, takt__call_patience(ctx, call), &choice);
    if (status == TAKT_OK)
        status = takt__call_open_gpu(ctx, &sizes, ctx->decider.policy, &choice);
    if (status != TAKT_OK)
        return status;
    const int aside = takt__call_put_aside(call, &choice);
    if (choice.reason == TAKT_REASON_MODEL)
        spread(ctx, &choice);
    const bool is_timed =
        is_told(tap) && is_heard(ctx, tap, &sizes, &choice, calls);
    watch->is_sampled =
        watch->is_sampled && !is_empty &&
        (decision != NULL || takt__call_is_timed(ctx, &choice, watch));
    if (!is_empty && (decision != NULL || watch->is_sampled || is_timed))
        takt__call_run_watched(ctx, call, &sizes, &choice, watch);
    else if (!is_empty)
        run_unwatched(ctx, call, &sizes, &choice, watch);
    takt__call_remember(ctx, call, &choice, watch);
    if ((call->flags & TAKT_CALL_STEADY) != 0 && !is_empty)
        takt__call_try_aside(ctx, call, &sizes, watch, aside);
    if (is_told(tap) && !is_empty && (is_timed || watch->is_refused))
        takt__call_tell(ctx, tap, call, &sizes, &choice, watch);
    if (decision != NULL) {
        takt__decision_fill(ctx, &sizes, &choice, decision);
        decision->actual_s =
            (double)(watch->end - watch->start) * takt__seconds_per_tick();
    }
    return watch->status;
}

takt_status takt__call(takt_ctx *ctx, takt_call *call, takt_decision *decision)
{
    struct takt_watch watch = {.thread = &takt__thread,
                               .is_sampled = true,
                               .calls = 1,
                               .status = TAKT_OK};

    return call_for(ctx, call, decision, &watch);
}

takt_status takt__call_for(takt_ctx *ctx, takt_call *call, uint16_t calls,
                           bool is_learned)
{
    struct takt_watch watch = {.thread = &takt__thread,
                               .is_sampled = is_learned,
                               .calls = calls,
                               .status = TAKT_OK};

    return call_for(ctx, call, NULL, &watch);
}

takt_status takt__call_route(takt_call *call, bool is_learned)
{
    enum { straight_calls = 256 };
    takt_ctx *ctx = takt_ctx_default();
    struct takt_thread *thread = &takt__thread;

    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (thread->left != 0)
        return takt__call(ctx, call, NULL);
    takt__thread_draw(thread, 0);
    thread->left =
        straight_calls / 2 + (uint32_t)(thread->random >> 56); /* 0 to 255 */
    return takt__call_for(ctx, call, straight_calls, is_learned);
}

takt_status takt_run(takt_ctx *ctx, const takt_call *call,
                     takt_decision *decision)
{
    if (call == NULL)
        return TAKT_EINVAL;
    takt_call copy = *call;
    ctx = takt__ctx_meant(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (ctx->is_recorded)
        return TAKT_ENODEV;
    return takt__call(ctx, &copy, decision);
}

takt_status takt_run_on(takt_ctx *ctx, const takt_call *call, size_t expert)
{
    bool is_empty;

    if (call == NULL)
        return TAKT_EINVAL;
    takt_call copy = *call;
    ctx = takt__ctx_meant(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (ctx->is_recorded || expert >= takt__fleet_known(&ctx->fleet))
        return TAKT_ENODEV;
    const takt_status status = takt__admit(&copy, &is_empty);
    if (status != TAKT_OK || is_empty)
        return status;
    if (copy.op->is_user)
        return TAKT_ENODEV;
    if (is_gpu(ctx, (unsigned)expert) &&
        takt__device_open(ctx->fleet.expert[expert].device) != TAKT_OK)
        return TAKT_ENODEV;
    return takt__call_has_buffers(&copy)
               ? takt__call_on_buffers_on(ctx, &copy, (unsigned)expert)
               : takt__call_run_arm(ctx, &copy, (unsigned)expert);
}
