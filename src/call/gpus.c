/* SPDX-License-Identifier: MIT */
/* gpus.c - GPUs of a context: openings, queues and late samples. */
#include "call/gpus.h"

#include "base/clock.h"
#include "gpu/times.h"

_Thread_local double takt__moved_s;

/* ---- how busy a GPU is --------------------------------------------------- */

double takt__gpu_queue_s(takt_ctx *ctx, unsigned gpu)
{
    const uint64_t until = atomic_load_explicit(
        &ctx->gpu_watch[gpu].busy_until_ns, memory_order_relaxed);
    const uint64_t now = until == 0 ? 0 : takt__now_ns();

    return until > now ? (double)(until - now) * 1e-9 : 0;
}

void takt__gpu_note_busy(takt_ctx *ctx, const struct takt_device *device,
                         const struct takt_choice *choice, bool is_async)
{
    _Atomic uint64_t *busy = &ctx->gpu_watch[device->number].busy_until_ns;
    const struct takt_cell cell = takt__cell_unpack(choice->word);

    if (!is_async || choice->word == 0 || !(cell.seconds < 10)) {
        atomic_store_explicit(busy, 0, memory_order_relaxed);
        return;
    }
    const uint64_t now = takt__now_ns();
    const uint64_t until = atomic_load_explicit(busy, memory_order_relaxed);
    atomic_store_explicit(busy,
                          (until > now ? until : now) +
                              (uint64_t)((double)cell.seconds * 1e9),
                          memory_order_relaxed);
}

/* ---- late samples -------------------------------------------------------- */

/* One in so many calls is timed once a GPU is known there: two marks in its
 * queue take a tenth of the shortest call. */
enum { timed_shift = 3 };

/* Energy is a matter of how long a GPU was busy in all: long calls are all
 * timed, and one of the others stands for those that are not. */
static const float long_call_s = 1e-4F;

/* How many calls a sample of this one stands for; 0: it is not sampled. */
static unsigned draw(const takt_ctx *ctx, const struct takt_device *device,
                     const struct takt_choice *choice)
{
    const bool is_known = (choice->word >> TAKT_CELL_MEASURED & 1) != 0 &&
                          takt__cell_tries(choice->word) == 0;
    const bool is_measured = takt__energy_wanted(ctx);

    if (!ctx->is_learning || takt__device_is_software(device))
        return 0;
    if (!is_known || choice->reason == TAKT_REASON_EXPLORE ||
        (is_measured && takt__cell_unpack(choice->word).seconds > long_call_s))
        return 1;
    if (!takt__thread_draw(&takt__thread, timed_shift))
        return 0;
    return is_measured ? 1 << timed_shift : 1;
}

/* The calls of a new timing: with those before it that found none free, which
 * are counted where energy is measured. */
static uint16_t take_untimed(struct takt_gpu_watch *watch, unsigned calls)
{
    if (calls == 0 ||
        atomic_load_explicit(&watch->untimed, memory_order_relaxed) == 0)
        return (uint16_t)calls;
    const uint32_t all = calls + atomic_exchange_explicit(&watch->untimed, 0,
                                                          memory_order_relaxed);
    return (uint16_t)(all < UINT16_MAX ? all : UINT16_MAX);
}

struct takt_timing *takt__gpu_timing(const struct takt_exec *exec,
                                     struct takt_device *device)
{
    struct takt_gpu_watch *watch = &exec->ctx->gpu_watch[device->number];
    const unsigned calls = draw(exec->ctx, device, &exec->choice);

    if (!device->known.has_timing || (calls == 0 && !exec->is_emitted))
        return NULL;
    for (unsigned i = 0; i < TAKT_TIMINGS; i++) {
        struct takt_timing *timing = &watch->timing[i];
        int is_free = 0;
        if (!atomic_compare_exchange_strong(&timing->use, &is_free, 1))
            continue;
        if (timing->life != device->life)
            timing->from = timing->to = (struct takt_mark){NULL};
        timing->life = device->life;
        timing->is_sampled = calls > 0;
        timing->calls = take_untimed(watch, calls);
        timing->tap = exec->is_emitted ? exec->tap : NULL;
        return timing;
    }
    if (takt__energy_wanted(exec->ctx))
        atomic_fetch_add_explicit(&watch->untimed, calls, memory_order_relaxed);
    return NULL;
}

void takt__gpu_forget_timing(struct takt_timing *timing)
{
    if (timing != NULL)
        atomic_store(&timing->use, 0);
}

void takt__gpu_keep_timing(const struct takt_exec *exec,
                           struct takt_timing *timing, bool is_async)
{
    const struct takt_question *question = &exec->question;
    const double paid_s =
        (double)(exec->end - exec->start) * takt__seconds_per_tick() -
        takt__moved_s;

    timing->sample = (struct takt_sample){
        .series = question->key.series,
        .bucket = question->key.bucket,
        .situation = TAKT_RESIDENT,
        .arm = exec->choice.expert,
        .flags = exec->choice.reason == TAKT_REASON_EXPLORE
                     ? TAKT_SAMPLE_EXPLORED
                     : 0,
        .calls = timing->calls,
        .bytes = (float)question->work.bytes,
        .flops = (float)question->work.flops,
        .start_ns = takt__ns_at(exec->start),
        .seconds = paid_s > 1e-9 ? paid_s : 1e-9,
    };
    if (!is_async && timing->is_sampled)
        takt__sample_push(exec->ctx, &timing->sample);
    if (timing->tap != NULL && is_async)
        takt__emit_record(exec, &timing->record);
    atomic_store(&timing->use, is_async ? 2 : 0);
}

/* The device began when the call was queued, or when it was done with what came
 * before; the marks say how long it took. */
static void emit(takt_ctx *ctx, unsigned gpu, struct takt_timing *timing,
                 double device_s)
{
    _Atomic uint64_t *done = &ctx->gpu_watch[gpu].done;
    const uint64_t before = atomic_load(done);
    struct takt_event_record *record = &timing->record;

    if (device_s < 0) {
        record->status = TAKT_ELOST;
    } else {
        if (before > record->run)
            record->run = before;
        record->end =
            record->run + (uint64_t)(device_s / takt__seconds_per_tick());
        atomic_store(done, record->end);
    }
    takt__thread_draw(&takt__thread, 0);
    record->told = (uint8_t)takt__tap_emits(
        timing->tap, record->series, (takt_reason)record->reason,
        record->refused != record->expert || device_s < 0,
        record->end - record->run, (uint32_t)(takt__thread.random >> 32));
    if (record->told != 0)
        takt__tap_push(timing->tap, record);
}

/* Takes a timing that is waited for; NULL: it is not one. */
static struct takt_timing *take_waiting(takt_ctx *ctx, unsigned gpu,
                                        unsigned index)
{
    struct takt_timing *timing = &ctx->gpu_watch[gpu].timing[index];
    int is_waiting = 2;

    return atomic_load_explicit(&timing->use, memory_order_relaxed) == 2 &&
                   atomic_compare_exchange_strong(&timing->use, &is_waiting, 1)
               ? timing
               : NULL;
}

/* What the caller paid for, or what the device took: whichever was longer is
 * what a chain of such calls costs. */
void takt__gpu_push_finished(takt_ctx *ctx, unsigned gpu)
{
    struct takt_device *device = &ctx->experts.devices.device[gpu];

    for (unsigned i = 0; i < TAKT_TIMINGS; i++) {
        struct takt_timing *timing = take_waiting(ctx, gpu, i);
        if (timing == NULL)
            continue;
        const bool is_gone = timing->life != device->life;
        if (!is_gone && !device->driver->is_past(device, &timing->to)) {
            atomic_store(&timing->use, 2);
            continue;
        }
        const double device_s =
            is_gone
                ? -1
                : device->driver->between_s(device, &timing->from, &timing->to);
        if (timing->tap != NULL)
            emit(ctx, gpu, timing, device_s);
        if (device_s > timing->sample.seconds)
            timing->sample.seconds = device_s;
        if (device_s >= 0 && timing->is_sampled)
            takt__sample_push(ctx, &timing->sample);
        atomic_store(&timing->use, 0);
    }
}

/* Events that telemetry wanted of them are dropped. */
static void give_up(takt_ctx *ctx, unsigned gpu)
{
    for (unsigned i = 0; i < TAKT_TIMINGS; i++) {
        struct takt_timing *timing = take_waiting(ctx, gpu, i);
        if (timing == NULL)
            continue;
        if (timing->tap != NULL)
            takt__tap_drop(timing->tap);
        atomic_store(&timing->use, 0);
    }
}

void takt__ctx_collect(takt_ctx *ctx, bool is_last)
{
    for (unsigned d = 0; d < ctx->experts.devices.count; d++) {
        struct takt_device *device = &ctx->experts.devices.device[d];
        if (is_last) {
            give_up(ctx, d);
        } else if (takt__device_is_ready(device) &&
                   takt__device_enter(device) == TAKT_OK) {
            takt__gpu_push_finished(ctx, d);
            takt__device_leave(device);
        }
    }
}

static void drop_timings(takt_ctx *ctx, struct takt_device *device)
{
    if (takt__device_enter(device) != TAKT_OK)
        return;
    if (takt__ctx_tap(ctx) != NULL && takt__device_sync(device) == TAKT_OK)
        takt__gpu_push_finished(ctx, device->number);
    takt__lock(&device->lock);
    for (unsigned i = 0; i < TAKT_TIMINGS; i++) {
        struct takt_timing *timing = &ctx->gpu_watch[device->number].timing[i];
        if (timing->life != device->life)
            continue;
        device->driver->drop(device, &timing->from);
        device->driver->drop(device, &timing->to);
    }
    takt__unlock(&device->lock);
    takt__device_leave(device);
}

/* ---- links --------------------------------------------------------------- */

static unsigned expert_of(const takt_ctx *ctx, const struct takt_device *device)
{
    return ctx->decider.gpu[device->number].expert;
}

static void leave_link(takt_ctx *ctx, const struct takt_device *device,
                       unsigned link, double bytes, double seconds)
{
    const struct takt_sample sample = {
        .series = (uint16_t)(TAKT_SERIES_LINKS + link),
        .bucket = link == TAKT_LINK_OPEN ? 0 : takt__bucket_of(bytes),
        .situation = TAKT_RESIDENT,
        .arm = (uint8_t)expert_of(ctx, device),
        .calls = 1,
        .bytes = (float)bytes,
        .start_ns = takt__now_ns(),
        .seconds = seconds,
    };

    if (ctx->is_learning && !takt__device_is_software(device))
        takt__sample_push(ctx, &sample);
}

static void moved(void *self, const struct takt_device *device, bool is_in,
                  bool is_pinned, size_t bytes, double seconds)
{
    takt__moved_s += seconds;
    leave_link(self, device, takt__link_of(is_in, is_pinned), (double)bytes,
               seconds);
}

/* ---- openings ------------------------------------------------------------ */

/* The caller waits for all of it. */
static takt_status open_now(struct takt_device *device)
{
    const uint64_t start = takt__ticks();
    const takt_status status = takt__device_open(device);

    takt__device_times.waited += takt__ticks() - start;
    return status;
}

takt_status takt__gpu_open_chosen(takt_ctx *ctx,
                                  const struct takt_question *question,
                                  takt_policy policy,
                                  struct takt_choice *choice)
{
    struct takt_device *device = takt__ctx_expert(ctx, choice->expert)->device;
    const bool is_named =
        policy == TAKT_POLICY_FIXED || policy == TAKT_POLICY_PINNED;

    if (device == NULL || policy == TAKT_POLICY_ADAPTIVE)
        return TAKT_OK;
    if (takt__device_is_ready(device) && takt__device_is_incomplete(device))
        open_now(device);
    /* What the bus showed may turn out to be nothing, or software, which no
     * rule means. */
    if (atomic_load(&device->state) != TAKT_DEVICE_ASLEEP ||
        (open_now(device) == TAKT_OK &&
         (is_named || !takt__device_is_software(device))))
        return TAKT_OK;
    return takt__decide_static(&ctx->decider, policy, question, choice);
}

/* It may be chosen from now on. Not so a software device. */
static void wake(takt_ctx *ctx, struct takt_model *model,
                 const struct takt_device *device)
{
    if (!takt__device_is_ready(device) || takt__device_is_software(device))
        return;
    takt__decider_update_gpu(&ctx->decider, device->number);
    takt__model_set_rates(model, expert_of(ctx, device),
                          &ctx->decider.gpu[device->number].known);
    takt__model_set_closed(model, expert_of(ctx, device), false);
}

void takt__ctx_add_gpus(takt_ctx *ctx, struct takt_model *model)
{
    for (unsigned d = 0; d < ctx->experts.devices.count; d++) {
        const struct takt_device *device = &ctx->experts.devices.device[d];
        takt__model_set_closed(model, expert_of(ctx, device), true);
        for (unsigned link = 0; link < TAKT_LINKS; link++)
            takt__model_allow(model, TAKT_SERIES_LINKS + link,
                              expert_of(ctx, device));
        wake(ctx, model, device);
    }
}

static void opened(void *self, struct takt_device *device)
{
    takt_ctx *ctx = self;
    struct takt_model *model = takt__learner_enter(ctx->learner);

    wake(ctx, model, device);
    takt__learner_leave(ctx->learner);
    if (takt__device_is_ready(device))
        leave_link(ctx, device, TAKT_LINK_OPEN, 1, device->open_s);
}

void takt__ctx_watch_gpus(takt_ctx *ctx)
{
    ctx->experts.devices.opened = opened;
    ctx->experts.devices.moved = moved;
    ctx->experts.devices.self = ctx;
}

void takt__ctx_leave_gpus(takt_ctx *ctx)
{
    struct takt_devices *devices = &ctx->experts.devices;

    atomic_store(&devices->is_closing, true);
    if (ctx->learner != NULL && devices->count > 0) { /* it may wake one now */
        takt__learner_enter(ctx->learner);
        takt__learner_leave(ctx->learner);
    }
    takt__devices_settle(devices);
    for (unsigned d = 0; ctx->gpu_watch != NULL && d < devices->count; d++)
        drop_timings(ctx, &devices->device[d]);
    ctx->experts.devices.moved = NULL;
}

const char *takt__ctx_address_of(void *self, unsigned expert)
{
    const takt_ctx *ctx = self;
    const struct takt_device *device = takt__ctx_expert(ctx, expert)->device;

    return device == NULL || !takt__device_is_ready(device)
               ? NULL
               : device->known.address;
}

const char *takt__ctx_device_of(void *self, unsigned expert)
{
    const takt_ctx *ctx = self;
    const struct takt_device *device = takt__ctx_expert(ctx, expert)->device;

    return device == NULL ? NULL : ctx->gpu_fingerprint[device->number];
}

void takt__ctx_wake(void *self, unsigned expert)
{
    takt_ctx *ctx = self;
    struct takt_device *device = takt__ctx_expert(ctx, expert)->device;

    if (atomic_load(&device->state) == TAKT_DEVICE_ASLEEP)
        takt__device_open_later(device);
}
