/* SPDX-License-Identifier: MIT */
/* process.c - what fork() and exit() do to the learners of a process. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/futex.h"
#include "learn/inside.h"

/* All of them. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct takt_learner *first_learner;
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

/* ---- fork() ----------------------------------------------------------------
 */

/* A connection of SQLite's that a child inherits is not merely useless to it:
 * the child's own connections would rely on locks that only its parent has. So
 * there is none while a process forks. */
static void prepare_all(void)
{
    takt__lock(&list_lock);
    for (struct takt_learner *l = first_learner; l != NULL; l = l->next) {
        takt__lock(&l->store_lock);
        takt__learner_close(l);
        takt__lock(&l->lock);
    }
}

static void unlock_all(void)
{
    for (struct takt_learner *l = first_learner; l != NULL; l = l->next) {
        takt__unlock(&l->lock);
        takt__unlock(&l->store_lock);
    }
    takt__unlock(&list_lock);
}

/* A child has no thread, and a journal in which some thread that is gone may
 * have stopped half-way. What the parent learned it knows, but it is not the
 * child's to store. */
static void reset_in_child(void)
{
    for (struct takt_learner *l = first_learner; l != NULL; l = l->next) {
        takt__learner_disown(l);
        takt__journal_init(&l->journal);
        atomic_store(&l->state, TAKT_LEARNER_NOT_STARTED);
        atomic_store(&l->next_start_ns, 0);
        l->has_thread = false;
    }
    unlock_all();
}

/* ---- exit() ----------------------------------------------------------------
 *
 * What is left is learned and stored by the thread, for the one that exits may
 * have been interrupted anywhere, malloc() and SQLite included. Who learned
 * something has a thread, unless the system had none to give.
 */

static void ask_to_leave(struct takt_learner *learner)
{
    uint32_t state = atomic_load(&learner->state);

    while (state == TAKT_LEARNER_AWAKE || state == TAKT_LEARNER_ASLEEP)
        if (atomic_compare_exchange_weak(&learner->state, &state,
                                         TAKT_LEARNER_LEAVING))
            takt__futex_wake(&learner->state);
}

/* SQLite waits for two seconds at most, so most often this is long enough. */
static void finish_all(void)
{
    const uint64_t until_ns =
        takt__exit_deadline(takt__exit_begin(), 5000000000);

    if (!takt__lock_until(&list_lock, until_ns))
        return;
    for (struct takt_learner *l = first_learner; l != NULL; l = l->next)
        ask_to_leave(l);
    for (struct takt_learner *l = first_learner; l != NULL; l = l->next)
        if (!takt__futex_changes(&l->state, TAKT_LEARNER_LEAVING, until_ns))
            takt__exit_give_up();
    takt__unlock(&list_lock);
}

static void add_handlers(void)
{
    pthread_atfork(prepare_all, unlock_all, reset_in_child);
    atexit(finish_all);
}

void takt__learner_enlist(struct takt_learner *learner)
{
    pthread_once(&handlers_once, add_handlers);
    takt__lock(&list_lock);
    learner->next = first_learner;
    first_learner = learner;
    takt__unlock(&list_lock);
}

void takt__learner_delist(struct takt_learner *learner)
{
    takt__lock(&list_lock);
    struct takt_learner **at = &first_learner;
    while (*at != NULL && *at != learner)
        at = &(*at)->next;
    if (*at != NULL)
        *at = learner->next;
    takt__unlock(&list_lock);
}
