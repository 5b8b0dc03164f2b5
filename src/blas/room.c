/* SPDX-License-Identifier: MIT */
/*
 * room.c - whether there is memory for what libraries work in.
 *
 * OpenBLAS maps 128 MiB for each of its threads and for each caller that is
 * inside at once, and tries for ever where it may not (`ulimit -v`, strict
 * overcommit); BLIS ends the program. So the same is mapped for a try first. It
 * is not touched, and takes no memory.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <sys/mman.h>
#include <unistd.h>

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

/* OpenBLAS has a thread for each processor, one of which is the caller's; one
 * buffer more is for the library itself and for the stacks of its threads. */
bool takt__blas_may_load(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return takt__blas_has_room(processors > 1 ? (unsigned)processors + 1 : 2);
}
