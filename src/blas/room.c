/* SPDX-License-Identifier: MIT */
/*
 * room.c - whether there are memory and threads for what libraries work in.
 *
 * OpenBLAS maps 128 MiB for each of its threads and for each caller that is
 * inside at once, and tries for ever where it may not (`ulimit -v`, strict
 * overcommit); BLIS ends the program. So the same is mapped for a try first. It
 * is not touched, and takes no memory.
 *
 * OpenBLAS starts its threads when it is loaded and again after a fork, and
 * ends the program by SIGINT if the system has none to give (`ulimit -u`,
 * pids.max of a cgroup); GNU's OpenMP ends it too. So as many are started for a
 * try.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, sched_getaffinity(), gettid() */
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/thread.h"
#include "blas/library.h"

bool takt__blas_has_room(unsigned buffers)
{
    static const size_t bytes = (size_t)128 << 20;
    void *buffer[TAKT_BLAS_MAX_THREADS];
    const unsigned most =
        buffers < TAKT_BLAS_MAX_THREADS ? buffers : TAKT_BLAS_MAX_THREADS;
    unsigned count = 0;

    while (count < most &&
           (buffer[count] = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) !=
               MAP_FAILED)
        count++;
    for (unsigned i = 0; i < count; i++)
        munmap(buffer[i], bytes);
    return count == most;
}

struct thread_trial {
    pthread_t thread;
    pthread_mutex_t *gate;
    pid_t number;
};

/* Lives until it may pass. */
static void *try_thread(void *self)
{
    struct thread_trial *trial = self;

    trial->number = gettid();
    takt__lock(trial->gate);
    takt__unlock(trial->gate);
    return NULL;
}

/* A thread still counts for a moment after it was joined, and would be the one
 * that the library cannot have. */
static void join(const struct thread_trial *trial)
{
    enum { most_looks = 10000 };

    pthread_join(trial->thread, NULL);
    for (int i = 0;
         i < most_looks && syscall(SYS_tgkill, getpid(), trial->number, 0) == 0;
         i++)
        sched_yield();
}

/* The gate and the trials are on this thread's stack: it is not cancelled while
 * others use them. */
bool takt__blas_can_start(unsigned threads)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct thread_trial trial[TAKT_BLAS_MAX_THREADS];
    const unsigned most =
        threads < TAKT_BLAS_MAX_THREADS ? threads : TAKT_BLAS_MAX_THREADS;
    unsigned count = 0;

    takt__section_begin();
    takt__lock(&gate);
    for (; count < most; count++) {
        trial[count].gate = &gate;
        if (!takt__thread_start(&trial[count].thread, try_thread,
                                &trial[count]))
            break;
    }
    takt__unlock(&gate);
    for (unsigned i = 0; i < count; i++)
        join(&trial[i]);
    pthread_mutex_destroy(&gate);
    takt__section_end();
    return count == most;
}

/* OpenBLAS has a thread for each processor that it may use, one of which is the
 * caller's; one buffer more is for the library itself and for the stacks of its
 * threads. */
bool takt__blas_may_load(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t allowed;

    return takt__blas_has_room(processors > 1 ? (unsigned)processors + 1 : 2) &&
           (sched_getaffinity(0, sizeof allowed, &allowed) != 0 ||
            takt__blas_can_start((unsigned)CPU_COUNT(&allowed) - 1));
}
