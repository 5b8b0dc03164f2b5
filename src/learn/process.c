/* SPDX-License-Identifier: MIT */
/* process.c - what fork() and exit() do to the learners of a process. */
#include <stdlib.h>

#include "base/exit.h"
#include "learn/inside.h"

/* ---- fork() -------------------------------------------------------------- */

/* A connection of SQLite's that a child inherits is not merely useless to it:
 * the child's own connections would rely on locks that only its parent has. So
 * there is none while a process forks. */
static void prepare(void *self)
{
    struct takt_learner *learner = self;

    atomic_store(&learner->is_hurried, true);
    takt__lock(&learner->store_lock);
    atomic_store(&learner->is_hurried, false);
    takt__learner_close(learner);
    takt__lock(&learner->lock);
}

static void unlock(void *self)
{
    struct takt_learner *learner = self;

    takt__unlock(&learner->lock);
    takt__unlock(&learner->store_lock);
}

/* A child has no thread, and a journal in which some thread that is gone may
 * have stopped half-way. What the parent learned it knows, but it is not the
 * child's to store. */
static void reset_in_child(void *self)
{
    struct takt_learner *learner = self;

    takt__learner_disown(learner);
    takt__learner_forget_energy(learner);
    takt__journal_init(&learner->journal);
    takt__worker_reset(&learner->worker);
    unlock(learner);
}

static const struct takt_fork_handlers at_fork = {.order = TAKT_FORK_LEARNER,
                                                  .prepare = prepare,
                                                  .parent = unlock,
                                                  .child = reset_in_child};

/* ---- exit() ----------------------------------------------------------------
 *
 * What is left is learned and stored by the thread, for the one that exits may
 * have been interrupted anywhere, malloc() and SQLite included. A learner
 * that learned something has a thread, unless the system had none to give.
 */

static void ask_to_leave(void *self, void *unused)
{
    struct takt_learner *learner = self;

    (void)unused;
    takt__worker_ask_to_leave(&learner->worker);
}

static void await(void *self, void *until_ns)
{
    struct takt_learner *learner = self;

    if (!takt__worker_has_left(&learner->worker, *(uint64_t *)until_ns))
        takt__exit_give_up();
}

/* SQLite waits for two seconds at most, so most often this is long enough. */
static void finish_all(void)
{
    uint64_t until_ns = takt__exit_deadline(takt__exit_begin(), 5000000000);

    if (takt__fork_visit(&at_fork, ask_to_leave, NULL, until_ns))
        takt__fork_visit(&at_fork, await, &until_ns, until_ns);
}

static void add_exit_handler(void)
{
    atexit(finish_all);
}

void takt__learner_enlist(struct takt_learner *learner)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, add_exit_handler);
    learner->fork =
        (struct takt_fork_entry){.handlers = &at_fork, .self = learner};
    takt__fork_add(&learner->fork);
}
