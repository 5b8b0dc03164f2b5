/* SPDX-License-Identifier: MIT */
/* dispatcher.c - the telemetry thread and its sinks. */
#include "telemetry/dispatcher.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/thread.h"
#include "telemetry/inside.h"

/* Between two looks for records: while there are some, and at most. Each look
 * takes a core away from the program; when many records come, it is woken. */
static const uint64_t shortest_ns = 10000000, longest_ns = 50000000;
static const unsigned most_idle = 25; /* looks in vain before it sleeps */
static const uint64_t longest_sleep_ns = 1000000000;

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
        event.actual_s = (double)(event.end_ns - event.run_ns) * 1e-9;
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

/* True when it found any records. */
static bool work(struct takt_dispatcher *dispatcher)
{
    const uint64_t now_ns = takt__now_ns();
    const bool found = emit_all(dispatcher);

    takt__dispatcher_watch(dispatcher, now_ns);
    give_metrics(dispatcher, now_ns, false);
    return found;
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

static void sleep_until_woken(struct takt_dispatcher *dispatcher)
{
    struct takt_tap *tap = dispatcher->tap;
    uint32_t expected = TAKT_DISPATCHER_AWAKE;

    if (!atomic_compare_exchange_strong(&tap->state, &expected,
                                        TAKT_DISPATCHER_ASLEEP))
        return;
    /* A record that came in before the state was set would not wake it. */
    if (takt__ring_count(&tap->ring) == 0)
        takt__futex_wait_for(&tap->state, TAKT_DISPATCHER_ASLEEP,
                             longest_sleep_ns);
    expected = TAKT_DISPATCHER_ASLEEP;
    atomic_compare_exchange_strong(&tap->state, &expected,
                                   TAKT_DISPATCHER_AWAKE);
}

static void close_sinks(struct takt_dispatcher *dispatcher)
{
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++)
        if (dispatcher->slot[i].is_taken)
            remove_sink(dispatcher, &dispatcher->slot[i]);
}

static bool is_wanted(uint32_t state)
{
    return state == TAKT_DISPATCHER_AWAKE || state == TAKT_DISPATCHER_ASLEEP;
}

/* Tells exit() that it is done, and stays: no thread would join it. */
static void stay_if_leaving(_Atomic uint32_t *state)
{
    uint32_t expected = TAKT_DISPATCHER_LEAVING;

    if (atomic_compare_exchange_strong(state, &expected, TAKT_DISPATCHER_LEFT))
        takt__futex_wake(state);
    while (atomic_load(state) == TAKT_DISPATCHER_LEFT)
        takt__futex_wait(state, TAKT_DISPATCHER_LEFT);
}

static void *live(void *self)
{
    struct takt_dispatcher *dispatcher = self;
    _Atomic uint32_t *state = &dispatcher->tap->state;
    uint64_t rest_ns = shortest_ns;
    unsigned idle = 0;

    takt__thread_enter();
    while (is_wanted(*state)) {
        const bool found = work(dispatcher);
        serve_flush(dispatcher);
        idle = found ? 0 : idle + 1;
        rest_ns = found                      ? shortest_ns
                  : 2 * rest_ns < longest_ns ? 2 * rest_ns
                                             : longest_ns;
        if (idle > most_idle)
            sleep_until_woken(dispatcher);
        else
            takt__futex_wait_for(state, TAKT_DISPATCHER_AWAKE, rest_ns);
    }
    work_off(dispatcher, true);
    close_sinks(dispatcher);
    stay_if_leaving(state);
    return NULL;
}

/* Signals are for the program's own threads. With the lock. */
static void start(struct takt_dispatcher *dispatcher)
{
    sigset_t all, before;

    if (dispatcher->has_thread || dispatcher->tap == NULL ||
        dispatcher->is_finished)
        return;
    atomic_store(&dispatcher->tap->state, TAKT_DISPATCHER_AWAKE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    dispatcher->has_thread =
        pthread_create(&dispatcher->thread, NULL, live, dispatcher) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!dispatcher->has_thread) /* a later record tries again */
        atomic_store(&dispatcher->tap->state, TAKT_DISPATCHER_GONE);
}

/* By a caller, which does not wait for the lock; a system without threads to
 * give is asked again only after a while. */
static void start_from_call(struct takt_dispatcher *dispatcher)
{
    static const uint64_t try_again_ns = 1000000000;
    const uint64_t now_ns = takt__now_ns();

    if (now_ns < atomic_load(&dispatcher->next_start_ns) ||
        !takt__trylock(&dispatcher->lock))
        return;
    start(dispatcher);
    atomic_store(&dispatcher->next_start_ns,
                 dispatcher->has_thread ? 0 : now_ns + try_again_ns);
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
    dispatcher->names = *names;
    dispatcher->deadline_ms = deadline_ms;
    takt__dispatcher_enlist(dispatcher);
    return dispatcher;
}

void takt__dispatcher_finish(struct takt_dispatcher *dispatcher)
{
    takt__lock(&dispatcher->lock);
    const bool has_thread =
        takt__dispatcher_ask_to(dispatcher, TAKT_DISPATCHER_ENDING);
    takt__unlock(&dispatcher->lock);
    if (has_thread) {
        pthread_join(dispatcher->thread, NULL);
        dispatcher->has_thread = false;
    } else if (dispatcher->tap != NULL) {
        work_off(dispatcher, true);
        close_sinks(dispatcher);
    }
}

void takt__dispatcher_destroy(struct takt_dispatcher *dispatcher)
{
    if (dispatcher == NULL)
        return;
    takt__dispatcher_delist(dispatcher);
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
        start(dispatcher);
    }
    takt__unlock(&dispatcher->lock);
    return status;
}

void takt__dispatcher_flush(struct takt_dispatcher *dispatcher)
{
    struct timespec until;

    takt__lock(&dispatcher->lock);
    if (!dispatcher->has_thread ||
        pthread_equal(dispatcher->thread, pthread_self()) != 0) { /* a sink */
        takt__unlock(&dispatcher->lock);
        return;
    }
    const uint64_t wanted = ++dispatcher->flush_wanted;
    uint32_t expected = TAKT_DISPATCHER_ASLEEP;
    atomic_compare_exchange_strong(&dispatcher->tap->state, &expected,
                                   TAKT_DISPATCHER_AWAKE);
    takt__futex_wake(&dispatcher->tap->state);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1 + dispatcher->deadline_ms * TAKT_MAX_SINKS / 1000;
    while (dispatcher->flush_done < wanted && !dispatcher->is_finished)
        if (pthread_cond_timedwait(&dispatcher->flushed, &dispatcher->lock,
                                   &until) != 0)
            break;
    takt__unlock(&dispatcher->lock);
}
