/* SPDX-License-Identifier: MIT */
/* dispatcher.c - the telemetry thread and its sinks. */
#include "telemetry/dispatcher.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/write_signals.h"
#include "telemetry/dispatcher_parts.h"

/* ---- one round ----------------------------------------------------------- */

static void remove_sink(struct takt_dispatcher *dispatcher,
                        struct takt_sink_slot *slot)
{
    const takt_sink sink = slot->sink;

    takt__lock(&dispatcher->lock);
    slot->is_taken = false;
    takt__dispatcher_adjust(dispatcher);
    takt__unlock(&dispatcher->lock);
    sink.close(sink.self, dispatcher->deadline_ms);
}

static bool is_for(const struct takt_dispatcher *dispatcher,
                   const struct takt_sink_slot *slot,
                   const struct takt_event_record *record)
{
    return slot->sink.wants_all != 0 || (record->told & ~TAKT_TOLD_ALL) != 0 ||
           atomic_load(&dispatcher->is_debugging);
}

static void emit(struct takt_dispatcher *dispatcher,
                 const struct takt_event_record *record)
{
    takt_event event;

    dispatcher->names.describe(dispatcher->names.self, record, &event);
    event.start_ns = takt__span_clock_at(&dispatcher->clock, record->start);
    event.run_ns = takt__span_clock_at(&dispatcher->clock, record->run);
    event.end_ns = takt__span_clock_at(&dispatcher->clock, record->end);
    if (event.kind == TAKT_EVENT_CALL)
        event.actual_s = (double)(event.end_ns - event.run_ns) / 1e9;
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++) {
        struct takt_sink_slot *slot = &dispatcher->slot[i];
        if (slot->is_taken && is_for(dispatcher, slot, record) &&
            slot->sink.event(slot->sink.self, &event) != 0)
            remove_sink(dispatcher, slot);
    }
}

/* The records that are there now: callers may leave them faster than they are
 * emitted. */
static bool emit_all(struct takt_dispatcher *dispatcher)
{
    struct takt_event_record record;
    uint64_t left = takt__ring_count(&dispatcher->tap->ring);
    const bool found = left > 0;

    takt__span_clock_set(&dispatcher->clock);
    for (; left > 0 && takt__tap_next(dispatcher->tap, &record); left--)
        emit(dispatcher, &record);
    return found;
}

static void give_metrics(struct takt_dispatcher *dispatcher, uint64_t now_ns,
                         bool now)
{
    const takt_metrics *metrics = NULL;

    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++) {
        struct takt_sink_slot *slot = &dispatcher->slot[i];
        if (!slot->is_taken || slot->sink.metrics == NULL ||
            slot->sink.metrics_ms == 0 ||
            (!now && now_ns < slot->next_metrics_ns))
            continue;
        slot->next_metrics_ns =
            now_ns + (uint64_t)slot->sink.metrics_ms * 1000000;
        if (metrics == NULL)
            metrics = takt__dispatcher_measure(dispatcher);
        if (slot->sink.metrics(slot->sink.self, metrics) != 0)
            remove_sink(dispatcher, slot);
    }
}

static void flush_sinks(struct takt_dispatcher *dispatcher)
{
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++) {
        const struct takt_sink_slot *slot = &dispatcher->slot[i];
        if (slot->is_taken && slot->sink.flush != NULL)
            slot->sink.flush(slot->sink.self, dispatcher->deadline_ms);
    }
}

/* All that is left, with fresh metrics. */
static void work_off(struct takt_dispatcher *dispatcher, bool is_last)
{
    dispatcher->names.settle(dispatcher->names.self, is_last);
    while (emit_all(dispatcher))
        continue;
    takt__dispatcher_watch(dispatcher, takt__now_ns());
    give_metrics(dispatcher, takt__now_ns(), true);
}

/* ---- the thread ---------------------------------------------------------- */

static void serve_flush(struct takt_dispatcher *dispatcher)
{
    takt__lock(&dispatcher->lock);
    const uint64_t wanted = dispatcher->flush_wanted;
    takt__unlock(&dispatcher->lock);
    if (wanted == dispatcher->flush_done)
        return;
    work_off(dispatcher, false);
    flush_sinks(dispatcher);
    takt__lock(&dispatcher->lock);
    dispatcher->flush_done = wanted;
    pthread_cond_broadcast(&dispatcher->flushed);
    takt__unlock(&dispatcher->lock);
}

static bool work(void *self, bool *found)
{
    struct takt_dispatcher *dispatcher = self;
    const uint64_t now_ns = takt__now_ns();

    *found = emit_all(dispatcher);
    takt__dispatcher_watch(dispatcher, now_ns);
    give_metrics(dispatcher, now_ns, false);
    serve_flush(dispatcher);
    return *found;
}

static bool has_records(void *self)
{
    const struct takt_dispatcher *dispatcher = self;

    return takt__ring_count(&dispatcher->tap->ring) > 0;
}

static void close_sinks(struct takt_dispatcher *dispatcher)
{
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++)
        if (dispatcher->slot[i].is_taken)
            remove_sink(dispatcher, &dispatcher->slot[i]);
}

static void finish(void *self)
{
    work_off(self, true);
    close_sinks(self);
}

/* Each look takes a core away from other threads; when many records come, it is
 * woken. */
static const struct takt_worker_job job = {.name = "takt-telemetry",
                                           .work = work,
                                           .has_work = has_records,
                                           .finish = finish,
                                           .shortest_rest_ns = 10000000,
                                           .longest_rest_ns = 50000000,
                                           .longest_sleep_ns = 1000000000,
                                           .starts_at_exit = true};

/* By a caller, which does not wait for the lock: a later record tries again. */
static void start_from_call(struct takt_dispatcher *dispatcher)
{
    if (!takt__trylock(&dispatcher->lock))
        return;
    if (!dispatcher->is_finished)
        takt__worker_start(&dispatcher->worker);
    takt__unlock(&dispatcher->lock);
}

/* ---- create and destroy -------------------------------------------------- */

struct takt_dispatcher *
takt__dispatcher_create(const struct takt_dispatcher_names *names,
                        unsigned deadline_ms)
{
    /* Most of it is not touched until there is a sink. */
    struct takt_dispatcher *dispatcher = calloc(1, sizeof *dispatcher);

    if (dispatcher == NULL)
        return NULL;
    pthread_mutex_init(&dispatcher->lock, NULL);
    pthread_cond_init(&dispatcher->flushed, NULL);
    pthread_mutex_init(&dispatcher->meters.lock, NULL);
    dispatcher->worker.job = &job;
    dispatcher->worker.self = dispatcher;
    dispatcher->names = *names;
    dispatcher->deadline_ms = deadline_ms;
    takt__dispatcher_enlist(dispatcher);
    return dispatcher;
}

void takt__dispatcher_finish(struct takt_dispatcher *dispatcher)
{
    struct takt_write_signals signals;

    takt__lock(&dispatcher->lock);
    dispatcher->is_finished = true;
    takt__unlock(&dispatcher->lock);
    if (takt__worker_end(&dispatcher->worker) || dispatcher->tap == NULL)
        return;
    takt__write_signals_block(&signals); /* on a thread of the program's */
    finish(dispatcher);
    takt__write_signals_restore(&signals);
}

void takt__dispatcher_destroy(struct takt_dispatcher *dispatcher)
{
    if (dispatcher == NULL)
        return;
    takt__fork_remove(&dispatcher->fork);
    takt__tap_destroy(dispatcher->tap);
    pthread_mutex_destroy(&dispatcher->lock);
    pthread_cond_destroy(&dispatcher->flushed);
    free(dispatcher);
}

/* ---- sinks --------------------------------------------------------------- */

static takt_status open_tap(struct takt_dispatcher *dispatcher)
{
    if (dispatcher->tap != NULL)
        return TAKT_OK;
    dispatcher->tap = takt__tap_create();
    if (dispatcher->tap == NULL)
        return TAKT_ENOMEM;
    dispatcher->tap->start = start_from_call;
    dispatcher->tap->dispatcher = dispatcher;
    dispatcher->tap->worker = &dispatcher->worker;
    takt__dispatcher_begin(dispatcher);
    return TAKT_OK;
}

takt_status takt__dispatcher_add(struct takt_dispatcher *dispatcher,
                                 const takt_sink *sink)
{
    struct takt_sink_slot *slot = NULL;

    if (sink->event == NULL || sink->close == NULL)
        return TAKT_EINVAL;
    takt__lock(&dispatcher->lock);
    for (unsigned i = 0; i < TAKT_MAX_SINKS && slot == NULL; i++)
        if (!dispatcher->slot[i].is_taken)
            slot = &dispatcher->slot[i];
    takt_status status = slot == NULL || dispatcher->is_finished
                             ? TAKT_EFULL
                             : open_tap(dispatcher);
    if (status == TAKT_OK) {
        slot->sink = *sink;
        slot->next_metrics_ns =
            takt__now_ns() + (uint64_t)sink->metrics_ms * 1000000;
        slot->is_taken = true;
        takt__dispatcher_adjust(dispatcher);
        takt__worker_start(&dispatcher->worker);
    }
    takt__unlock(&dispatcher->lock);
    return status;
}

void takt__dispatcher_flush(struct takt_dispatcher *dispatcher)
{
    struct timespec until;

    takt__lock(&dispatcher->lock);
    if (!dispatcher->worker.has_thread ||
        takt__worker_is_self(&dispatcher->worker)) { /* a sink */
        takt__unlock(&dispatcher->lock);
        return;
    }
    const uint64_t wanted = ++dispatcher->flush_wanted;
    takt__worker_wake(&dispatcher->worker);
    takt__worker_hurry(&dispatcher->worker);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1 + dispatcher->deadline_ms * TAKT_MAX_SINKS / 1000;
    while (dispatcher->flush_done < wanted && !dispatcher->is_finished)
        if (pthread_cond_timedwait(&dispatcher->flushed, &dispatcher->lock,
                                   &until) != 0)
            break;
    takt__unlock(&dispatcher->lock);
}
