/* SPDX-License-Identifier: MIT */
/* fork.c - a sorted list, and the only calls of pthread_atfork(). */
#define _GNU_SOURCE /* strverscmp() */
#include "base/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"

/* Two locks. `loading` is held for as long as a library is loaded; `list_lock`
 * for as long as a fork() takes, or to change the list. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct takt_fork_entry *first;
static _Atomic(const struct takt_fork_handlers *) of_libraries;

/* This is a child of a fork() that had waited in vain, or a child's child. */
static _Atomic bool is_torn;

/* How often this thread blocks forks. */
static _Thread_local unsigned blocks __attribute__((tls_model("initial-exec")));

/* Of the fork() that this thread makes. One that began before the libraries
 * were loaded calls neither their handlers nor ours for them. */
static _Thread_local struct {
    bool has_prepared, is_late;
    bool is_beside; /* it has not got `loading` */
} own __attribute__((tls_model("initial-exec")));

/* ---- waiting for a library that is loaded -------------------------------- */

/* Before glibc 2.36 a lock is held while handlers run, which pthread_atfork()
 * takes as well. A library that calls it when it is loaded waits for the fork
 * then, and it is in vain that the fork waits for it. */
static uint64_t most_wait_ns(void)
{
    static const uint64_t second_ns = 1000000000;

#ifdef _CS_GNU_LIBC_VERSION
    char version[32] = "";

    if (confstr(_CS_GNU_LIBC_VERSION, version, sizeof version) > 0 &&
        strverscmp(version, "glibc 2.36") >= 0)
        return 30 * second_ns;
#endif
    return second_ns;
}

static void wait_for_library(void)
{
    own.is_beside = !takt__fork_block_until(takt__now_ns() + most_wait_ns());
}

static void let_load(void)
{
    if (!own.is_beside)
        takt__fork_unblock();
}

/* The thread that has the lock is not here, and half of its library is. */
static void let_load_in_child(void)
{
    if (own.is_beside) {
        atomic_store(&is_torn, true);
        pthread_mutex_init(&loading, NULL);
    }
    let_load();
}

bool takt__fork_was_torn(void)
{
    return atomic_load_explicit(&is_torn, memory_order_relaxed);
}

/* ---- the handlers of the system ------------------------------------------ */

static void prepare(void)
{
    if (!own.has_prepared)
        wait_for_library();
    own.is_late = of_libraries != NULL && !own.has_prepared;
    if (own.is_late)
        of_libraries->prepare(&own.is_late);
    takt__lock(&list_lock);
    for (struct takt_fork_entry *e = first; e != NULL; e = e->next)
        if (e->handlers->prepare != NULL)
            e->handlers->prepare(e->self);
}

static void in_parent(void)
{
    for (struct takt_fork_entry *e = first; e != NULL; e = e->next)
        if (e->handlers->parent != NULL)
            e->handlers->parent(e->self);
    if (own.is_late)
        of_libraries->parent(&own.is_late);
    takt__unlock(&list_lock);
    if (!own.has_prepared)
        let_load();
}

static void in_child(void)
{
    for (struct takt_fork_entry *e = first; e != NULL; e = e->next)
        if (e->handlers->child != NULL)
            e->handlers->child(e->self);
    if (own.is_late)
        of_libraries->child(&own.is_late);
    takt__unlock(&list_lock);
    if (!own.has_prepared)
        let_load_in_child();
}

/* Before any thread can be inside of Takt; and before the program sets handlers
 * of its own, whose locks it may hold when it calls Takt: they are taken before
 * ours then. Without memory for this, forks go unnoticed. */
__attribute__((constructor)) static void watch(void)
{
    (void)pthread_atfork(prepare, in_parent, in_child);
}

/* These begin a fork() before prepare(), and end it after in_parent(). */
static void prepare_libraries(void)
{
    wait_for_library();
    of_libraries->prepare(NULL);
    own.has_prepared = true;
}

static void in_parent_of_libraries(void)
{
    own.has_prepared = false;
    of_libraries->parent(NULL);
    let_load();
}

static void in_child_of_libraries(void)
{
    own.has_prepared = false;
    of_libraries->child(NULL);
    let_load_in_child();
}

void takt__fork_before_library(const struct takt_fork_handlers *handlers)
{
    if (of_libraries != NULL)
        return;
    of_libraries = handlers;
    (void)pthread_atfork(prepare_libraries, in_parent_of_libraries,
                         in_child_of_libraries);
}

/* ---- the list ------------------------------------------------------------ */

void takt__fork_add(struct takt_fork_entry *entry)
{
    struct takt_fork_entry **at = &first;

    takt__lock(&list_lock);
    while (*at != NULL && (*at)->handlers->order <= entry->handlers->order)
        at = &(*at)->next;
    entry->next = *at;
    *at = entry;
    takt__unlock(&list_lock);
}

void takt__fork_remove(struct takt_fork_entry *entry)
{
    struct takt_fork_entry **at = &first;

    takt__lock(&list_lock);
    while (*at != NULL && *at != entry)
        at = &(*at)->next;
    if (*at == entry)
        *at = entry->next;
    takt__unlock(&list_lock);
}

bool takt__fork_visit(const struct takt_fork_handlers *handlers,
                      void (*visit)(void *self, void *with), void *with,
                      uint64_t until_ns)
{
    if (!takt__lock_until(&list_lock, until_ns))
        return false;
    for (struct takt_fork_entry *e = first; e != NULL; e = e->next)
        if (e->handlers == handlers)
            visit(e->self, with);
    takt__unlock(&list_lock);
    return true;
}

static void lock(void *mutex)
{
    takt__lock(mutex);
}

static void unlock(void *mutex)
{
    takt__unlock(mutex);
}

const struct takt_fork_handlers takt__fork_mutex = {.order = TAKT_FORK_LAST,
                                                    .prepare = lock,
                                                    .parent = unlock,
                                                    .child = unlock};

/* ---- libraries ----------------------------------------------------------- */

void takt__fork_block(void)
{
    if (blocks++ == 0)
        takt__lock(&loading);
}

bool takt__fork_block_until(uint64_t until_ns)
{
    if (blocks == 0 && !takt__lock_until(&loading, until_ns))
        return false;
    blocks++;
    return true;
}

void takt__fork_unblock(void)
{
    if (--blocks == 0)
        takt__unlock(&loading);
}
