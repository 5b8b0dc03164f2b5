/* SPDX-License-Identifier: MIT */
/*
 * room.c - whether there are memory and threads for what libraries work in.
 *
 * OpenBLAS maps 128 MiB for each of its threads and for each caller that is
 * inside at once, and tries for ever where it may not (`ulimit -v`, strict
 * overcommit); BLIS ends the program. So the same is mapped for a try first. It
 * is not touched, and takes no memory.
 *
 * OpenBLAS starts its threads when it is loaded, and ends the program by SIGINT
 * if the system has none to give (`ulimit -u`, pids.max of a cgroup). So as
 * many are started for a try.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, sched_getaffinity() */
#include <sched.h>
#include <sys/mman.h>
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

/* Lives until it may pass. */
static void *try_thread(void *self)
{
    takt__lock(self);
    takt__unlock(self);
    return NULL;
}

static bool has_threads(unsigned threads)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread[TAKT_BLAS_MAX_THREADS];
    const unsigned most =
        threads < TAKT_BLAS_MAX_THREADS ? threads : TAKT_BLAS_MAX_THREADS;
    unsigned count = 0;

    takt__lock(&gate);
    while (count < most &&
           takt__thread_start(&thread[count], try_thread, &gate))
        count++;
    takt__unlock(&gate);
    for (unsigned i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&gate);
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
            has_threads((unsigned)CPU_COUNT(&allowed) - 1));
}
