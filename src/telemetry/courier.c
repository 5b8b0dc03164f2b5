/* SPDX-License-Identifier: MIT */
/* courier.c - the thread, its sinks, and what fork() and exit() do to it. */
#include "telemetry/courier.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/futex.h"
#include "telemetry/inside.h"

/* Looks for notes: as often as that while there are some, then less. Each time
 * it takes a core away from somebody; when many notes come, it is woken. */
static const uint64_t shortest_ns = 10000000, longest_ns = 50000000;
static const unsigned patience = 25; /* looks in vain before it sleeps */
static const uint64_t longest_sleep_ns = 1000000000;

/* Every courier, for the sake of fork() and exit(). */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct takt_courier *first_courier;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

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

/* True when it found any notes. */
static bool work(struct takt_courier *courier)
{
    const uint64_t now_ns = takt__now_ns();
    const bool found = carry_all(courier);

    takt__courier_watch(courier, now_ns);
    give_metrics(courier, now_ns, false);
    return found;
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

static void sleep_until_woken(struct takt_courier *courier)
{
    struct takt_tap *tap = courier->tap;
    uint32_t expected = TAKT_COURIER_AWAKE;

    if (!atomic_compare_exchange_strong(&tap->state, &expected,
                                        TAKT_COURIER_ASLEEP))
        return;
    /* A note that came in before the state was set would wake nobody. */
    if (takt__ring_count(&tap->ring) == 0)
        takt__futex_wait_for(&tap->state, TAKT_COURIER_ASLEEP,
                             longest_sleep_ns);
    expected = TAKT_COURIER_ASLEEP;
    atomic_compare_exchange_strong(&tap->state, &expected, TAKT_COURIER_AWAKE);
}

static void close_sinks(struct takt_courier *courier)
{
    struct takt_seat *seats[TAKT_MAX_SINKS];
    const unsigned count = copy_sinks(courier, seats);

    for (unsigned i = 0; i < count; i++)
        leave(courier, seats[i]);
}

static bool is_wanted(uint32_t state)
{
    return state == TAKT_COURIER_AWAKE || state == TAKT_COURIER_ASLEEP;
}

/* Tells exit() that it is done, and stays: nobody would join it. */
static void stay_if_leaving(_Atomic uint32_t *state)
{
    uint32_t expected = TAKT_COURIER_LEAVING;

    if (atomic_compare_exchange_strong(state, &expected, TAKT_COURIER_LEFT))
        takt__futex_wake(state);
    while (atomic_load(state) == TAKT_COURIER_LEFT)
        takt__futex_wait(state, TAKT_COURIER_LEFT);
}

static void *live(void *self)
{
    struct takt_courier *courier = self;
    _Atomic uint32_t *state = &courier->tap->state;
    uint64_t rest_ns = shortest_ns;
    unsigned idle = 0;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    while (is_wanted(*state)) {
        const bool found = work(courier);
        serve_flush(courier);
        idle = found ? 0 : idle + 1;
        rest_ns = found                      ? shortest_ns
                  : 2 * rest_ns < longest_ns ? 2 * rest_ns
                                             : longest_ns;
        if (idle > patience)
            sleep_until_woken(courier);
        else
            takt__futex_wait_for(state, TAKT_COURIER_AWAKE, rest_ns);
    }
    work_off(courier, true);
    close_sinks(courier);
    stay_if_leaving(state);
    return NULL;
}

/* Signals are for the program's own threads. With the lock. */
static void start(struct takt_courier *courier)
{
    sigset_t all, before;

    if (courier->has_thread || courier->tap == NULL || courier->is_finished)
        return;
    atomic_store(&courier->tap->state, TAKT_COURIER_AWAKE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    courier->has_thread =
        pthread_create(&courier->thread, NULL, live, courier) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!courier->has_thread) /* a later note tries again */
        atomic_store(&courier->tap->state, TAKT_COURIER_GONE);
}

/* By a caller, who waits for nobody: what has the lock will be done soon, and a
 * system without threads to give is asked again only after a while. */
void takt__courier_start(struct takt_courier *courier)
{
    static const uint64_t try_again_ns = 1000000000;
    const uint64_t now_ns = takt__now_ns();

    if (now_ns < atomic_load(&courier->next_start_ns) ||
        !takt__trylock(&courier->lock))
        return;
    start(courier);
    atomic_store(&courier->next_start_ns,
                 courier->has_thread ? 0 : now_ns + try_again_ns);
    takt__unlock(&courier->lock);
}

/* With the lock. True: there is a thread, which will close the sinks. */
static bool ask_to(struct takt_courier *courier, uint32_t next)
{
    courier->is_finished = true;
    if (!courier->has_thread)
        return false;
    atomic_store(&courier->tap->state, next);
    takt__futex_wake(&courier->tap->state);
    return true;
}

/* ---- fork() and exit() -----------------------------------------------------
 */

static void tell_sinks(struct takt_courier *courier, takt_fork_phase phase)
{
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++) {
        const takt_sink *sink = &courier->seat[i].sink;
        if (courier->seat[i].is_taken && sink->forked != NULL)
            sink->forked(sink->self, phase);
    }
}

static void prepare_all(void)
{
    takt__lock(&list_lock);
    for (struct takt_courier *c = first_courier; c != NULL; c = c->next) {
        takt__lock(&c->lock);
        tell_sinks(c, TAKT_FORK_PREPARE);
    }
}

static void release_all(void)
{
    for (struct takt_courier *c = first_courier; c != NULL; c = c->next) {
        tell_sinks(c, TAKT_FORK_PARENT);
        takt__unlock(&c->lock);
    }
    takt__unlock(&list_lock);
}

/* A child begins with no counts, no notes and no thread, and with sinks that
 * speak for it. */
static void reset_in_child(void)
{
    for (struct takt_courier *c = first_courier; c != NULL; c = c->next) {
        tell_sinks(c, TAKT_FORK_CHILD);
        takt__courier_reset(c);
        takt__unlock(&c->lock);
    }
    takt__unlock(&list_lock);
}

static void add_fork_handlers(void)
{
    pthread_atfork(prepare_all, release_all, reset_in_child);
}

/* As long as the sinks may take, and a second for what is left to tell. */
static uint64_t patience_ns(const struct takt_courier *courier)
{
    uint64_t ms = 1000;

    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++)
        ms += courier->seat[i].is_taken ? courier->deadline_ms : 0;
    return ms * 1000000;
}

/* The thread that exits may have been interrupted anywhere, so the courier's
 * own carries what is left; without it nothing was told, and there is nothing
 * to close that the end of the process would not. A sink that calls exit() is
 * waited for by nobody. */
static void finish_at_exit(struct takt_courier *courier, bool is_interrupted)
{
    const uint64_t until_ns =
        takt__exit_deadline(is_interrupted, patience_ns(courier));

    if (courier->is_finished || !takt__lock_until(&courier->lock, until_ns))
        return;
    const bool is_own = courier->has_thread &&
                        pthread_equal(courier->thread, pthread_self()) != 0;
    const bool is_asked = !is_own && ask_to(courier, TAKT_COURIER_LEAVING);
    takt__unlock(&courier->lock);
    if (is_own ||
        (is_asked && !takt__futex_changes(&courier->tap->state,
                                          TAKT_COURIER_LEAVING, until_ns)))
        takt__exit_give_up();
}

/* The sinks of a program that ends are closed; what it still calls is told to
 * nobody. */
static void finish_all(void)
{
    const bool is_interrupted = takt__exit_begin();
    const uint64_t until_ns = takt__exit_deadline(is_interrupted, 1000000000);

    if (!takt__lock_until(&list_lock, until_ns))
        return;
    for (struct takt_courier *c = first_courier; c != NULL; c = c->next)
        finish_at_exit(c, is_interrupted);
    takt__unlock(&list_lock);
}

/* Handlers run last in, first out, so what the newest sink needs is there. */
void takt__courier_carry_at_exit(void)
{
    enum { most = 30 };
    static _Atomic unsigned count;

    if (atomic_fetch_add(&count, 1) < most)
        atexit(finish_all);
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
    pthread_once(&fork_once, add_fork_handlers);
    pthread_mutex_init(&courier->lock, NULL);
    pthread_cond_init(&courier->flushed, NULL);
    takt__meters_init(&courier->meters);
    courier->names = options->names;
    courier->deadline_ms = options->deadline_ms;
    takt__lock(&list_lock);
    courier->next = first_courier;
    first_courier = courier;
    takt__unlock(&list_lock);
    return courier;
}

void takt__courier_finish(struct takt_courier *courier)
{
    takt__lock(&courier->lock);
    const bool has_thread = ask_to(courier, TAKT_COURIER_ENDING);
    takt__unlock(&courier->lock);
    if (has_thread) {
        pthread_join(courier->thread, NULL);
        courier->has_thread = false;
    } else if (courier->tap != NULL) {
        work_off(courier, true);
        close_sinks(courier);
    }
}

void takt__courier_destroy(struct takt_courier *courier)
{
    if (courier == NULL)
        return;
    takt__lock(&list_lock);
    struct takt_courier **at = &first_courier;
    while (*at != NULL && *at != courier)
        at = &(*at)->next;
    if (*at != NULL)
        *at = courier->next;
    takt__unlock(&list_lock);
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
        start(courier);
    }
    takt__unlock(&courier->lock);
    return status;
}

void takt__courier_flush(struct takt_courier *courier)
{
    struct timespec until;

    takt__lock(&courier->lock);
    if (!courier->has_thread ||
        pthread_equal(courier->thread, pthread_self()) != 0) { /* a sink */
        takt__unlock(&courier->lock);
        return;
    }
    const uint64_t wanted = ++courier->flush_wanted;
    uint32_t expected = TAKT_COURIER_ASLEEP;
    atomic_compare_exchange_strong(&courier->tap->state, &expected,
                                   TAKT_COURIER_AWAKE);
    takt__futex_wake(&courier->tap->state);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1 + courier->deadline_ms * TAKT_MAX_SINKS / 1000;
    while (courier->flush_done < wanted && !courier->is_finished)
        if (pthread_cond_timedwait(&courier->flushed, &courier->lock, &until) !=
            0)
            break;
    takt__unlock(&courier->lock);
}
