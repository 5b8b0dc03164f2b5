/* SPDX-License-Identifier: MIT */
/* fork.c - a sorted list, and the only calls of pthread_atfork(). */
#include "base/fork.h"

#include <pthread.h>
#include <stddef.h>

#include "base/lock.h"

/* Two locks. `loading` is held for as long as a library is loaded; `list_lock`
 * for as long as a fork() takes, or to change the list. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct takt_fork_entry *first;
static const struct takt_fork_handlers *of_libraries;

/* Of the fork() that is under way. One that began before the libraries were
 * loaded calls neither their handlers nor ours for them. */
static bool has_prepared, is_late;

/* How often this thread blocks forks. */
static _Thread_local unsigned blocks __attribute__((tls_model("initial-exec")));

/* ---- the handlers of the system ------------------------------------------ */

static void prepare(void)
{
    takt__fork_block();
    is_late = of_libraries != NULL && !has_prepared;
    if (is_late)
        of_libraries->prepare(&is_late);
    takt__lock(&list_lock);
    for (struct takt_fork_entry *e = first; e != NULL; e = e->next)
        if (e->handlers->prepare != NULL)
            e->handlers->prepare(e->self);
}

static void end(void)
{
    takt__unlock(&list_lock);
    takt__fork_unblock();
}

static void in_parent(void)
{
    for (struct takt_fork_entry *e = first; e != NULL; e = e->next)
        if (e->handlers->parent != NULL)
            e->handlers->parent(e->self);
    if (is_late)
        of_libraries->parent(&is_late);
    end();
}

static void in_child(void)
{
    for (struct takt_fork_entry *e = first; e != NULL; e = e->next)
        if (e->handlers->child != NULL)
            e->handlers->child(e->self);
    if (is_late)
        of_libraries->child(&is_late);
    end();
}

/* Before any thread can be inside of Takt; and before the program sets handlers
 * of its own, whose locks it may hold when it calls Takt: they are taken before
 * ours then. Without memory for this, forks go unnoticed. */
__attribute__((constructor)) static void watch(void)
{
    (void)pthread_atfork(prepare, in_parent, in_child);
}

static void prepare_libraries(void)
{
    takt__fork_block();
    of_libraries->prepare(NULL);
    has_prepared = true;
}

static void in_parent_of_libraries(void)
{
    has_prepared = false;
    of_libraries->parent(NULL);
    takt__fork_unblock();
}

static void in_child_of_libraries(void)
{
    has_prepared = false;
    of_libraries->child(NULL);
    takt__fork_unblock();
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
