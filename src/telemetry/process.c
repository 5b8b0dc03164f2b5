/* SPDX-License-Identifier: MIT */
/* process.c - what fork() and exit() do to telemetry. */
#include <stdlib.h>

#include "base/exit.h"
#include "telemetry/inside.h"

static void tell_sinks(struct takt_courier *courier, takt_fork_phase phase)
{
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++) {
        const takt_sink *sink = &courier->seat[i].sink;
        if (courier->seat[i].is_taken && sink->forked != NULL)
            sink->forked(sink->self, phase);
    }
}

static void prepare(void *self)
{
    struct takt_courier *courier = self;

    takt__lock(&courier->lock);
    tell_sinks(courier, TAKT_FORK_PREPARE);
}

static void release(void *self)
{
    struct takt_courier *courier = self;

    tell_sinks(courier, TAKT_FORK_PARENT);
    takt__unlock(&courier->lock);
}

/* A child begins with no counts, no notes and no thread, and with sinks that
 * speak for it. */
static void reset_in_child(void *self)
{
    struct takt_courier *courier = self;

    tell_sinks(courier, TAKT_FORK_CHILD);
    takt__courier_reset(courier);
    takt__unlock(&courier->lock);
}

static const struct takt_fork_handlers at_fork = {.order = TAKT_FORK_TELEMETRY,
                                                  .prepare = prepare,
                                                  .parent = release,
                                                  .child = reset_in_child};

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
static void finish_at_exit(void *self, void *is_interrupted)
{
    struct takt_courier *courier = self;
    const uint64_t until_ns =
        takt__exit_deadline(*(bool *)is_interrupted, patience_ns(courier));

    if (courier->is_finished || !takt__lock_until(&courier->lock, until_ns))
        return;
    courier->is_finished = true;
    const bool is_own = takt__worker_is_self(&courier->worker);
    const bool is_asked =
        !is_own && takt__worker_ask_to_leave(&courier->worker);
    takt__unlock(&courier->lock);
    if (is_own ||
        (is_asked && !takt__worker_has_left(&courier->worker, until_ns)))
        takt__exit_give_up();
}

/* The sinks of a program that ends are closed; what it still calls is told to
 * nobody. */
static void finish_all(void)
{
    bool is_interrupted = takt__exit_begin();

    takt__fork_visit(&at_fork, finish_at_exit, &is_interrupted,
                     takt__exit_deadline(is_interrupted, 1000000000));
}

/* Handlers run last in, first out, so what the newest sink needs is there. */
void takt__courier_carry_at_exit(void)
{
    enum { most = 30 };
    static _Atomic unsigned count;

    if (atomic_fetch_add(&count, 1) < most)
        atexit(finish_all);
}

void takt__courier_enlist(struct takt_courier *courier)
{
    courier->fork =
        (struct takt_fork_entry){.handlers = &at_fork, .self = courier};
    takt__fork_add(&courier->fork);
}
