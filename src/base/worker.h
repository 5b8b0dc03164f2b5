/* SPDX-License-Identifier: MIT */
/*
 * worker.h - a thread that looks for work, and sleeps while there is none.
 *
 * It works in rounds with a rest between them, which doubles while nothing
 * changes. After 25 rounds without work it sleeps until it is notified, and
 * only checks once a second whether all other threads of the program have ended
 * (last_thread.h). At exit() it does what is left and stays, for no thread
 * would join it; it ends when its owner does. A child of fork() has no worker
 * until it starts one.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct takt_worker_job {
    const char *name; /* of the thread */

    /* One round. True: there was work. *is_news: the next rest is short. */
    bool (*work)(void *self, bool *is_news);
    /* Whether there is work now, looked at after all see that it sleeps. */
    bool (*has_work)(void *self);
    void (*before_sleep)(void *self); /* may be NULL */
    void (*finish)(void *self);       /* the last round of all */

    uint64_t shortest_rest_ns, longest_rest_ns;
    /* It rests for so many times as long as it worked, but no longer than
     * that. 0: however long it worked. */
    uint64_t rest_per_work, most_rest_ns;
    /* Once it has worked for longer than this and one part in so many of the
     * time, each rest is the longest one. 0: never. */
    uint64_t free_work_ns, steady_part;
    uint64_t longest_sleep_ns; /* 0: until it is notified */
    bool starts_at_exit;       /* also when exit() has begun */
};

/* The word that it sleeps on. LEAVING: exit() waits for it. LEFT: it has
 * finished, and stays. ENDING: it is joined. */
enum {
    TAKT_WORKER_NONE,
    TAKT_WORKER_AWAKE,
    TAKT_WORKER_ASLEEP,
    TAKT_WORKER_LEAVING,
    TAKT_WORKER_LEFT,
    TAKT_WORKER_ENDING
};

struct takt_worker {
    const struct takt_worker_job *job;
    void *self;
    _Atomic uint32_t state;
    _Atomic uint64_t next_start_ns; /* after a start that failed */
    uint64_t start_ns, worked_ns;   /* by the thread alone */
    pthread_t thread;
    bool has_thread;
};

/* There is none yet: at first, and in the child of a fork(). */
void takt__worker_reset(struct takt_worker *worker);

/* Starts the thread, unless there is one. A system that had none to give is
 * asked again after a second. */
void takt__worker_start(struct takt_worker *worker);

void takt__worker_wake(struct takt_worker *worker);  /* if it sleeps */
void takt__worker_hurry(struct takt_worker *worker); /* ends its rest */

/* There is work: starts or wakes the thread if need be, otherwise one load. The
 * work was stored before, and the worker looks for work once more after its
 * state says that it sleeps: in one order for all, so that one of the two sees
 * the other. */
static inline void takt__worker_notify(struct takt_worker *worker)
{
    const uint32_t state = atomic_load(&worker->state);

    if (state == TAKT_WORKER_AWAKE)
        return;
    if (state == TAKT_WORKER_NONE)
        takt__worker_start(worker);
    else
        takt__worker_wake(worker);
}

/* Whether the calling thread is the worker. */
bool takt__worker_is_self(const struct takt_worker *worker);

/* Has it finish and stay; false: there is none. */
bool takt__worker_ask_to_leave(struct takt_worker *worker);

/* Waits for one that was asked; false: it was not done by that time of
 * CLOCK_MONOTONIC. */
bool takt__worker_has_left(struct takt_worker *worker, uint64_t until_ns);

/* Lets it finish and joins it; no other is started. False: there was none, or
 * it had finished before. */
bool takt__worker_end(struct takt_worker *worker);
