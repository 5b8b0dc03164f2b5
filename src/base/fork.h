/* SPDX-License-Identifier: MIT */
/*
 * fork.h - what has to be done before and after a fork(), in one order.
 *
 * A child has one thread and a copy of all memory, also of locks that other
 * threads of its parent held. So whatever has a lock, a thread or a connection
 * registers here: fork() then takes the locks, and the child resets the rest.
 * The handlers of the system are set when Takt is loaded, and a registration
 * waits for a fork() that has begun: no child is ever made between the two.
 *
 * Needs libc and base/lock.c alone. Threads: every function may be called from
 * any thread, but none of the locks below may be held when an entry is added or
 * removed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The order in which fork() takes locks, which is the order of all of Takt: a
 * thread that holds one takes only those that stand below it. (The lock of
 * takt__fork_block() stands above them all.) */
enum takt_fork_order {
    TAKT_FORK_LEARNER,   /* calls telemetry with its lock held */
    TAKT_FORK_TELEMETRY, /* sinks of the program's */
    TAKT_FORK_DEVICES,   /* buffers are moved while their devices are locked */
    TAKT_FORK_LAST       /* locks inside of which no other is taken; resets */
};

/* Each may be NULL. */
struct takt_fork_handlers {
    enum takt_fork_order order;
    void (*prepare)(void *self);
    void (*parent)(void *self);
    void (*child)(void *self);
};

/* An object with such handlers, as long as it is registered. */
struct takt_fork_entry {
    const struct takt_fork_handlers *handlers;
    void *self;
    struct takt_fork_entry *next;
};

/* For an object that is a mutex, inside of which no other lock is taken. */
extern const struct takt_fork_handlers takt__fork_mutex;

/* For an entry that is there from the beginning: registers it when Takt is
 * loaded. Later its own code may hold any lock. */
#define TAKT_FORK_STATIC(entry)                                     \
    __attribute__((constructor)) static void register_##entry(void) \
    {                                                               \
        takt__fork_add(&entry);                                     \
    }

/* Registers an entry. */
void takt__fork_add(struct takt_fork_entry *entry);
/* An entry that is not registered is ignored. */
void takt__fork_remove(struct takt_fork_entry *entry);

/* Calls visit(self, with) for all objects with these handlers, which cannot be
 * removed meanwhile. False: it could not begin by that time of
 * CLOCK_MONOTONIC. */
bool takt__fork_visit(const struct takt_fork_handlers *handlers,
                      void (*visit)(void *self, void *with), void *with,
                      uint64_t until_ns);

/* ---- libraries that are loaded ------------------------------------------- */

/* No other thread forks between the two, or is between the two. The thread
 * itself may fork: some libraries do when they are loaded. Pairs nest.
 *
 * A fork() does not wait for the end for ever, since a library may wait for the
 * fork when it is loaded: for 30 seconds, or for one where pthread_atfork()
 * waits for forks (glibc before 2.36). Then its child has half of a library. */
void takt__fork_block(void);
void takt__fork_unblock(void);

/* The same, unless it takes until that time of CLOCK_MONOTONIC: false. */
bool takt__fork_block_until(uint64_t until_ns);

/* Whether this process is such a child, or a child's child: nothing is to be
 * loaded in it. */
bool takt__fork_was_torn(void);

/* Handlers that come before those of a library. The system calls what was set
 * last first, so this is called after the library was loaded, between block and
 * unblock. Only the first call counts. They get NULL, but in a fork() that had
 * begun by then: the library's own handlers are not called in that one. A fork
 * that waited in vain calls them while another thread loads a library. */
void takt__fork_before_library(const struct takt_fork_handlers *handlers);
