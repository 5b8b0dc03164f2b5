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

/* How often this thread has the lock: a library that forks when it is loaded
 * comes back to it, and of the two sets of fork handlers below the second finds
 * it taken by the first. */
static _Thread_local unsigned holds __attribute__((tls_model("initial-exec")));

static void enter(void)
{
    if (holds++ == 0)
        takt__lock(&registry.lock);
}

static void leave(void)
{
    if (--holds == 0)
        takt__unlock(&registry.lock);
}

static void before_fork(void)
{
    enter();
    takt__turn_before_fork();
    for (struct takt_blas_library *library = registry.first; library != NULL;
         library = library->next)
        library->is_drained = takt__turn_drain(library);
}

static void after_fork_in_parent(void)
{
    takt__turn_after_fork(false);
    leave();
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
    leave();
}

static const uint64_t patience_ns = 2000000000;

/* The destructors of libraries, which run after this, free what their callers
 * are using: OpenBLAS's unmaps its buffers. So calls go elsewhere from now on,
 * and those that are inside may leave. */
static void before_exit(void)
{
    const bool is_interrupted = takt__exit_begin();

    takt__turn_before_exit();
    if (!takt__lock_until(&registry.lock,
                          takt__exit_deadline(is_interrupted, patience_ns)))
        return;
    for (struct takt_blas_library *library = registry.first; library != NULL;
         library = library->next)
        takt__turn_drain(library);
    takt__unlock(&registry.lock);
}

/* A thread that is opening libraries at exit() finishes the one it is at, and
 * opens no more. */
static void await_opening(void)
{
    const bool is_interrupted = takt__exit_begin();

    if (takt__lock_until(&registry.lock,
                         takt__exit_deadline(is_interrupted, patience_ns)))
        takt__unlock(&registry.lock);
}

/* Before the first library is loaded: a child must not find the lock taken by a
 * thread that it does not have. */
static void watch_opening(void)
{
    atexit(await_opening);
    (void)pthread_atfork(enter, leave, leave);
}

/* After a library was loaded, so that in a fork() these come before its own
 * handlers. */
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
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, watch_opening);
    enter();
}

void takt__registry_unlock(void)
{
    leave();
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
