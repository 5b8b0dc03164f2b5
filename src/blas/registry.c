/* SPDX-License-Identifier: MIT */
/*
 * registry.c - the open libraries of this process.
 *
 * A library has one state per process, however often it is opened: two contexts
 * that use OpenBLAS share its one number of threads. So they share what we know
 * about it too. And a fork concerns every library, so its handlers are here.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fork.h"
#include "base/loading.h"
#include "base/lock.h"
#include "blas/library.h"

/* A thread that opens libraries has two locks: that of takt__loading_begin()
 * all the while, and this one for moments, as a fork() may get this one alone.
 */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct takt_blas_library *first;

/* False: a child would wait for threads that it does not have. */
static bool stop_threads(const struct takt_blas_library *library)
{
    if (library->team <= 1 || library->is_openmp)
        return true;
    if (library->stop_threads == NULL)
        return false;
    library->stop_threads();
    return true;
}

/* Every fork() lets the callers of libraries leave before the handlers of the
 * libraries themselves run, or does what these would have done. */
static void before_fork(void *is_late)
{
    takt__callers_before_fork();
    takt__lock(&list_lock);
    for (struct takt_blas_library *l = first; l != NULL; l = l->next)
        l->is_drained =
            takt__callers_drain(l) && (is_late == NULL || stop_threads(l));
}

static void after_fork_in_parent(void *unused)
{
    (void)unused;
    takt__callers_after_fork(false);
    takt__unlock(&list_lock);
}

/* Other threads may have tried to enter after the drain, and are not here to
 * undo it. */
static void after_fork_in_child(void *unused)
{
    (void)unused;
    takt__callers_after_fork(true);
    for (struct takt_blas_library *l = first; l != NULL; l = l->next)
        if (l->is_drained)
            takt__callers_reset(l);
    takt__unlock(&list_lock);
}

static const struct takt_fork_handlers at_fork = {.prepare = before_fork,
                                                  .parent =
                                                      after_fork_in_parent,
                                                  .child = after_fork_in_child};

static const uint64_t most_wait_ns = 2000000000;

/* The destructors of libraries, which run after this, free what their callers
 * are using: OpenBLAS's unmaps its buffers. So calls go elsewhere from now on,
 * and those that are inside may leave. */
static void before_exit(void)
{
    const bool is_interrupted = takt__exit_begin();
    const uint64_t until_ns = takt__exit_deadline(is_interrupted, most_wait_ns);

    takt__callers_before_exit();
    if (!takt__fork_block_until(until_ns))
        return;
    if (takt__lock_until(&list_lock, until_ns)) {
        for (struct takt_blas_library *l = first; l != NULL; l = l->next)
            takt__callers_drain(l);
        takt__unlock(&list_lock);
    }
    takt__fork_unblock();
}

/* A thread that is opening libraries at exit() finishes the one it is at, and
 * opens no more. */
void takt__registry_lock(void)
{
    takt__loading_begin();
}

void takt__registry_unlock(void)
{
    takt__loading_end();
}

struct takt_blas_library *takt__registry_find(const void *handle)
{
    takt__lock(&list_lock);
    struct takt_blas_library *library = first;
    while (library != NULL && library->handle != handle)
        library = library->next;
    takt__unlock(&list_lock);
    return library;
}

void takt__registry_add(struct takt_blas_library *library)
{
    static bool is_watching;

    /* First, as a fork may have to stop its threads while this one waits in
     * pthread_atfork(). */
    takt__lock(&list_lock);
    library->next = first;
    first = library;
    takt__unlock(&list_lock);
    /* Of handlers the last registered runs first, so ours come before those
     * of the library, which is loaded by now. */
    if (!is_watching) {
        atexit(before_exit);
        takt__fork_before_library(&at_fork);
    }
    is_watching = true;
}

void takt__registry_remove(struct takt_blas_library *library)
{
    struct takt_blas_library **link = &first;

    takt__lock(&list_lock);
    while (*link != library)
        link = &(*link)->next;
    *link = library->next;
    takt__unlock(&list_lock);
}
