/* SPDX-License-Identifier: MIT */
/* courier.c - the thread and its sinks. */
#include "telemetry/courier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "telemetry/inside.h"

/* ---- one round -------------------------------------------------------------
 */

/* Sinks are taken and left under the lock and called without it: by one thread
 * at a time, which is this one. */
static unsigned copy_sinks(struct takt_courier *courier,
                           struct takt_seat *out[TAKT_MAX_SINKS])
{
    unsigned count = 0;

    takt__lock(&courier->lock);
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++)
        if (courier->seat[i].is_taken)
            out[count++] = &courier->seat[i];
    takt__unlock(&courier->lock);
    return count;
}

static void leave(struct takt_courier *courier, struct takt_seat *seat)
{
    const takt_sink sink = seat->sink;

    takt__lock(&courier->lock);
    seat->is_taken = false;
    takt__courier_adjust(courier);
    takt__unlock(&courier->lock);
    sink.close(sink.self, courier->deadline_ms);
}

static bool is_for(const struct takt_courier *courier,
                   const struct takt_seat *seat, const struct takt_note *note)
{
    return seat->sink.wants_all != 0 || (note->told & ~TAKT_TOLD_ALL) != 0 ||
           atomic_load(&courier->is_debugging);
}

static void carry(struct takt_courier *courier, const struct takt_note *note,
                  struct takt_seat **seats, unsigned count)
{
    takt_event event;

    courier->names.describe(courier->names.self, note, &event);
    event.start_ns = takt__span_clock_at(&courier->clock, note->start);
    event.run_ns = takt__span_clock_at(&courier->clock, note->run);
    event.end_ns = takt__span_clock_at(&courier->clock, note->end);
    if (event.kind == TAKT_EVENT_CALL)
        event.actual_s = (double)(event.end_ns - event.run_ns) * 1e-9;
    for (unsigned i = 0; i < count; i++)
        if (seats[i] != NULL && is_for(courier, seats[i], note) &&
            seats[i]->sink.event(seats[i]->sink.self, &event) != 0) {
            leave(courier, seats[i]);
            seats[i] = NULL;
        }
}

/* Notes that are there now: callers may leave them faster than they are
 * carried. */
static bool carry_all(struct takt_courier *courier)
{
    struct takt_seat *seats[TAKT_MAX_SINKS];
    const unsigned count = copy_sinks(courier, seats);
    struct takt_note note;
    uint64_t left = takt__ring_count(&courier->tap->ring);
    const bool found = left > 0;

    takt__span_clock_set(&courier->clock);
    for (; left > 0 && takt__tap_next(courier->tap, &note); left--)
        carry(courier, &note, seats, count);
    return found;
}

static void give_metrics(struct takt_courier *courier, uint64_t now_ns,
                         bool now)
{
    struct takt_seat *seats[TAKT_MAX_SINKS];
    const unsigned count = copy_sinks(courier, seats);
    const takt_metrics *metrics = NULL;

    for (unsigned i = 0; i < count; i++) {
        struct takt_seat *seat = seats[i];
        if (seat->sink.metrics == NULL || seat->sink.metrics_ms == 0 ||
            (!now && now_ns < seat->next_metrics_ns))
            continue;
        seat->next_metrics_ns =
            now_ns + (uint64_t)seat->sink.metrics_ms * 1000000;
        if (metrics == NULL)
            metrics = takt__courier_measure(courier);
        if (seat->sink.metrics(seat->sink.self, metrics) != 0)
            leave(courier, seat);
    }
}

static void flush_sinks(struct takt_courier *courier)
{
    struct takt_seat *seats[TAKT_MAX_SINKS];
    const unsigned count = copy_sinks(courier, seats);

    for (unsigned i = 0; i < count; i++)
        if (seats[i]->sink.flush != NULL)
            seats[i]->sink.flush(seats[i]->sink.self, courier->deadline_ms);
}

/* All that is left, with fresh metrics. */
static void work_off(struct takt_courier *courier, bool is_last)
{
    courier->names.settle(courier->names.self, is_last);
    while (carry_all(courier))
        continue;
    takt__courier_watch(courier, takt__now_ns());
    give_metrics(courier, takt__now_ns(), true);
}

/* ---- the thread ------------------------------------------------------------
 */

static void serve_flush(struct takt_courier *courier)
{
    takt__lock(&courier->lock);
    const uint64_t wanted = courier->flush_wanted;
    takt__unlock(&courier->lock);
    if (wanted == courier->flush_done)
        return;
    work_off(courier, false);
    flush_sinks(courier);
    takt__lock(&courier->lock);
    courier->flush_done = wanted;
    pthread_cond_broadcast(&courier->flushed);
    takt__unlock(&courier->lock);
}

static bool work(void *self, bool *found)
{
    struct takt_courier *courier = self;
    const uint64_t now_ns = takt__now_ns();

    *found = carry_all(courier);
    takt__courier_watch(courier, now_ns);
    give_metrics(courier, now_ns, false);
    serve_flush(courier);
    return *found;
}

static bool has_notes(void *self)
{
    const struct takt_courier *courier = self;

    return takt__ring_count(&courier->tap->ring) > 0;
}

static void close_sinks(struct takt_courier *courier)
{
    struct takt_seat *seats[TAKT_MAX_SINKS];
    const unsigned count = copy_sinks(courier, seats);

    for (unsigned i = 0; i < count; i++)
        leave(courier, seats[i]);
}

static void finish(void *self)
{
    work_off(self, true);
    close_sinks(self);
}

/* Each look takes a core away from other threads; when many notes come, it is
 * woken. */
static const struct takt_worker_job job = {.name = "takt-telemetry",
                                           .work = work,
                                           .has_work = has_notes,
                                           .finish = finish,
                                           .shortest_rest_ns = 10000000,
                                           .longest_rest_ns = 50000000,
                                           .longest_sleep_ns = 1000000000,
                                           .starts_at_exit = true};

/* By a caller, which does not wait for the lock: what holds it will be done
 * soon, and a later note tries again. */
void takt__courier_start(struct takt_courier *courier)
{
    if (!takt__trylock(&courier->lock))
        return;
    if (!courier->is_finished)
        takt__worker_start(&courier->worker);
    takt__unlock(&courier->lock);
}

/* ---- making and unmaking ---------------------------------------------------
 */

struct takt_courier *
takt__courier_create(const struct takt_courier_options *options)
{
    /* Most of it is not touched until there is a sink. */
    struct takt_courier *courier = calloc(1, sizeof *courier);

    if (courier == NULL)
        return NULL;
    pthread_mutex_init(&courier->lock, NULL);
    pthread_cond_init(&courier->flushed, NULL);
    takt__meters_init(&courier->meters);
    courier->worker.job = &job;
    courier->worker.self = courier;
    courier->names = options->names;
    courier->deadline_ms = options->deadline_ms;
    takt__courier_enlist(courier);
    return courier;
}

void takt__courier_finish(struct takt_courier *courier)
{
    takt__lock(&courier->lock);
    courier->is_finished = true;
    takt__unlock(&courier->lock);
    if (!takt__worker_end(&courier->worker) && courier->tap != NULL)
        finish(courier);
}

void takt__courier_destroy(struct takt_courier *courier)
{
    if (courier == NULL)
        return;
    takt__fork_remove(&courier->fork);
    takt__tap_destroy(courier->tap);
    pthread_mutex_destroy(&courier->lock);
    pthread_cond_destroy(&courier->flushed);
    free(courier);
}

/* ---- sinks -----------------------------------------------------------------
 */

static takt_status open_tap(struct takt_courier *courier)
{
    if (courier->tap != NULL)
        return TAKT_OK;
    courier->tap = takt__tap_create();
    if (courier->tap == NULL)
        return TAKT_ENOMEM;
    courier->tap->courier = courier;
    courier->tap->worker = &courier->worker;
    takt__courier_begin(courier);
    return TAKT_OK;
}

takt_status takt__courier_add(struct takt_courier *courier,
                              const takt_sink *sink)
{
    struct takt_seat *seat = NULL;

    if (sink->event == NULL || sink->close == NULL)
        return TAKT_EINVAL;
    takt__lock(&courier->lock);
    for (unsigned i = 0; i < TAKT_MAX_SINKS && seat == NULL; i++)
        if (!courier->seat[i].is_taken)
            seat = &courier->seat[i];
    takt_status status =
        seat == NULL || courier->is_finished ? TAKT_EFULL : open_tap(courier);
    if (status == TAKT_OK) {
        *seat = (struct takt_seat){
            .sink = *sink,
            .is_taken = true,
            .next_metrics_ns =
                takt__now_ns() + (uint64_t)sink->metrics_ms * 1000000,
        };
        takt__courier_adjust(courier);
        takt__worker_start(&courier->worker);
    }
    takt__unlock(&courier->lock);
    return status;
}

void takt__courier_flush(struct takt_courier *courier)
{
    struct timespec until;

    takt__lock(&courier->lock);
    if (!courier->worker.has_thread ||
        takt__worker_is_self(&courier->worker)) { /* a sink */
        takt__unlock(&courier->lock);
        return;
    }
    const uint64_t wanted = ++courier->flush_wanted;
    takt__worker_wake(&courier->worker);
    takt__worker_hurry(&courier->worker);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1 + courier->deadline_ms * TAKT_MAX_SINKS / 1000;
    while (courier->flush_done < wanted && !courier->is_finished)
        if (pthread_cond_timedwait(&courier->flushed, &courier->lock, &until) !=
            0)
            break;
    takt__unlock(&courier->lock);
}
