/* SPDX-License-Identifier: MIT */
/* process.c - what fork() and exit() do to telemetry. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/futex.h"
#include "telemetry/inside.h"

/* All dispatchers of the process. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct takt_dispatcher *first_dispatcher;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void tell_sinks(struct takt_dispatcher *dispatcher,
                       takt_fork_phase phase)
{
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++) {
        const takt_sink *sink = &dispatcher->slot[i].sink;
        if (dispatcher->slot[i].is_taken && sink->forked != NULL)
            sink->forked(sink->self, phase);
    }
}

static void prepare_all(void)
{
    takt__lock(&list_lock);
    for (struct takt_dispatcher *c = first_dispatcher; c != NULL; c = c->next) {
        takt__lock(&c->lock);
        tell_sinks(c, TAKT_FORK_PREPARE);
    }
}

static void release_all(void)
{
    for (struct takt_dispatcher *c = first_dispatcher; c != NULL; c = c->next) {
        tell_sinks(c, TAKT_FORK_PARENT);
        takt__unlock(&c->lock);
    }
    takt__unlock(&list_lock);
}

/* A child begins with no counts, no notes and no thread, and with sinks that
 * speak for it. */
static void reset_in_child(void)
{
    for (struct takt_dispatcher *c = first_dispatcher; c != NULL; c = c->next) {
        tell_sinks(c, TAKT_FORK_CHILD);
        takt__dispatcher_reset(c);
        takt__unlock(&c->lock);
    }
    takt__unlock(&list_lock);
}

static void add_fork_handlers(void)
{
    pthread_atfork(prepare_all, release_all, reset_in_child);
}

/* As long as the sinks may take, and a second for what is left to tell. */
static uint64_t patience_ns(const struct takt_dispatcher *dispatcher)
{
    uint64_t ms = 1000;

    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++)
        ms += dispatcher->slot[i].is_taken ? dispatcher->deadline_ms : 0;
    return ms * 1000000;
}

/* The thread that exits may have been interrupted anywhere, so the dispatcher's
 * own carries what is left; without it nothing was told, and there is nothing
 * to close that the end of the process would not. A sink that calls exit() is
 * waited for by nobody. */
static void finish_at_exit(struct takt_dispatcher *dispatcher,
                           bool is_interrupted)
{
    const uint64_t until_ns =
        takt__exit_deadline(is_interrupted, patience_ns(dispatcher));

    if (dispatcher->is_finished ||
        !takt__lock_until(&dispatcher->lock, until_ns))
        return;
    const bool is_own = dispatcher->has_thread &&
                        pthread_equal(dispatcher->thread, pthread_self()) != 0;
    const bool is_asked =
        !is_own && takt__dispatcher_ask_to(dispatcher, TAKT_DISPATCHER_LEAVING);
    takt__unlock(&dispatcher->lock);
    if (is_own ||
        (is_asked && !takt__futex_changes(&dispatcher->tap->state,
                                          TAKT_DISPATCHER_LEAVING, until_ns)))
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
    for (struct takt_dispatcher *c = first_dispatcher; c != NULL; c = c->next)
        finish_at_exit(c, is_interrupted);
    takt__unlock(&list_lock);
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
    pthread_once(&fork_once, add_fork_handlers);
    takt__lock(&list_lock);
    dispatcher->next = first_dispatcher;
    first_dispatcher = dispatcher;
    takt__unlock(&list_lock);
}

void takt__dispatcher_delist(struct takt_dispatcher *dispatcher)
{
    takt__lock(&list_lock);
    struct takt_dispatcher **at = &first_dispatcher;
    while (*at != NULL && *at != dispatcher)
        at = &(*at)->next;
    if (*at != NULL)
        *at = dispatcher->next;
    takt__unlock(&list_lock);
}
