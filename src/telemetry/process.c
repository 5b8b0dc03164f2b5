/* SPDX-License-Identifier: MIT */
/* process.c - what fork() and exit() do to telemetry. */
#include <stdlib.h>

#include "base/exit.h"
#include "telemetry/dispatcher_parts.h"

static void notify_sinks(struct takt_dispatcher *dispatcher,
                         takt_fork_phase phase)
{
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++) {
        const takt_sink *sink = &dispatcher->slot[i].sink;
        if (dispatcher->slot[i].is_taken && sink->forked != NULL)
            sink->forked(sink->self, phase);
    }
}

static void prepare(void *self)
{
    struct takt_dispatcher *dispatcher = self;

    takt__lock(&dispatcher->lock);
    notify_sinks(dispatcher, TAKT_FORK_PREPARE);
}

static void release(void *self)
{
    struct takt_dispatcher *dispatcher = self;

    notify_sinks(dispatcher, TAKT_FORK_PARENT);
    takt__unlock(&dispatcher->lock);
}

/* A child begins with no counts, no records and no thread, and with sinks of
 * its own. */
static void reset_in_child(void *self)
{
    struct takt_dispatcher *dispatcher = self;

    notify_sinks(dispatcher, TAKT_FORK_CHILD);
    takt__dispatcher_reset(dispatcher);
    takt__unlock(&dispatcher->lock);
}

static const struct takt_fork_handlers at_fork = {.order = TAKT_FORK_TELEMETRY,
                                                  .prepare = prepare,
                                                  .parent = release,
                                                  .child = reset_in_child};

/* As long as the sinks may take, and a second for what is left to emit. */
static uint64_t budget_ns(const struct takt_dispatcher *dispatcher)
{
    uint64_t ms = 1000;

    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++)
        ms += dispatcher->slot[i].is_taken ? dispatcher->deadline_ms : 0;
    return ms * 1000000;
}

/* The thread that exits may have been interrupted anywhere, so the worker
 * emits what is left; without a worker nothing was emitted, and there is
 * nothing to close that the end of the process would not. A sink that calls
 * exit() is not waited for. */
static void finish_at_exit(void *self, void *is_interrupted)
{
    struct takt_dispatcher *dispatcher = self;
    const uint64_t until_ns =
        takt__exit_deadline(*(bool *)is_interrupted, budget_ns(dispatcher));

    if (dispatcher->is_finished ||
        !takt__lock_until(&dispatcher->lock, until_ns))
        return;
    dispatcher->is_finished = true;
    const bool is_own = takt__worker_is_self(&dispatcher->worker);
    const bool is_asked =
        !is_own && takt__worker_ask_to_leave(&dispatcher->worker);
    takt__unlock(&dispatcher->lock);
    if (is_own ||
        (is_asked && !takt__worker_has_left(&dispatcher->worker, until_ns)))
        takt__exit_give_up();
}

/* The sinks of a program that ends are closed; later calls are not emitted. */
static void finish_all(void)
{
    bool is_interrupted = takt__exit_begin();

    takt__fork_visit(&at_fork, finish_at_exit, &is_interrupted,
                     takt__exit_deadline(is_interrupted, 1000000000));
}

/* Handlers run last in, first out, so what the newest sink needs is there. */
void takt__dispatcher_flush_at_exit(void)
{
    enum { most = 30 };
    static _Atomic unsigned count;

    if (atomic_fetch_add(&count, 1) < most)
        atexit(finish_all);
}

void takt__dispatcher_enlist(struct takt_dispatcher *dispatcher)
{
    dispatcher->fork =
        (struct takt_fork_entry){.handlers = &at_fork, .self = dispatcher};
    takt__fork_add(&dispatcher->fork);
}
