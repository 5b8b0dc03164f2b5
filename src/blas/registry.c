/* SPDX-License-Identifier: MIT */
/*
 * registry.c - the open libraries of this process.
 *
 * A library has one state per process, whoever opens it: two contexts that
 * use OpenBLAS share its one number of threads. So they share what we know
 * about it too. And a fork concerns every library, so its handlers are here.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/lock.h"
#include "blas/library.h"

static struct {
    pthread_mutex_t lock;
    struct takt_blas_library *first;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void before_fork(void)
{
    takt__lock(&registry.lock);
    takt__turn_before_fork();
    for (struct takt_blas_library *library = registry.first; library != NULL;
         library = library->next)
        library->is_drained = takt__turn_drain(library);
}

static void after_fork_in_parent(void)
{
    takt__turn_after_fork(false);
    takt__unlock(&registry.lock);
}

static void after_fork_in_child(void)
{
    takt__turn_after_fork(true);
    /* Other threads may have come to the door after the drain, and are not
     * here to turn round. */
    for (struct takt_blas_library *library = registry.first; library != NULL;
         library = library->next)
        if (library->is_drained)
            takt__turn_reset(library);
    takt__unlock(&registry.lock);
}

/* The destructors of libraries, which run after this, free what their callers
 * are using: OpenBLAS's unmaps its buffers. So calls go elsewhere from now on,
 * and those that are inside may leave. */
static void before_exit(void)
{
    const bool is_interrupted = takt__exit_begin();

    takt__turn_before_exit();
    if (!takt__lock_until(&registry.lock,
                          takt__exit_deadline(is_interrupted, 1000000000)))
        return;
    for (struct takt_blas_library *library = registry.first; library != NULL;
         library = library->next)
        takt__turn_drain(library);
    takt__unlock(&registry.lock);
}

static void watch_forks(void)
{
    atexit(before_exit);
    /* Without memory for this, forks go unnoticed, as they do when a program
     * loads us after forking. */
    (void)pthread_atfork(before_fork, after_fork_in_parent,
                         after_fork_in_child);
}

void takt__registry_lock(void)
{
    takt__lock(&registry.lock);
}

void takt__registry_unlock(void)
{
    takt__unlock(&registry.lock);
}

struct takt_blas_library *takt__registry_find(const void *handle)
{
    struct takt_blas_library *library = registry.first;

    while (library != NULL && library->handle != handle)
        library = library->next;
    return library;
}

void takt__registry_add(struct takt_blas_library *library)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    /* Of handlers the last registered runs first, so ours come after those
     * of the library, which is loaded by now. */
    (void)pthread_once(&once, watch_forks);
    library->next = registry.first;
    registry.first = library;
}

void takt__registry_remove(struct takt_blas_library *library)
{
    struct takt_blas_library **link = &registry.first;

    while (*link != library)
        link = &(*link)->next;
    *link = library->next;
}
