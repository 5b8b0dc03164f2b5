/* SPDX-License-Identifier: MIT */
/*
 * baseline_lapack.c - a library with the names of LAPACK that records its
 * calls, for test_lapack.c. It has threads as OpenBLAS has them.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "baseline_lapack.h"
#include "lapack_arguments.h"

#define ENTRY __attribute__((visibility("default")))

ENTRY extern struct lapack_seen lapack_seen;
ENTRY extern jmp_buf *lapack_jump;
ENTRY extern bool lapack_ends_thread;
struct lapack_seen lapack_seen;
jmp_buf *lapack_jump;
bool lapack_ends_thread;

static int threads = 8;

ENTRY int openblas_get_num_threads(void);
int openblas_get_num_threads(void)
{
    return threads;
}

ENTRY void openblas_set_num_threads(int number);
void openblas_set_num_threads(int number)
{
    threads = number;
}

/* 1: threads of its own; 2: those of OpenMP. */
ENTRY int openblas_get_parallel(void);
int openblas_get_parallel(void)
{
#ifdef WITH_OPENMP
    return 2;
#else
    return 1;
#endif
}

static void see(const char *name, void *const *argument, size_t arguments,
                const size_t *length, size_t lengths)
{
    lapack_seen.calls++;
    lapack_seen.name = name;
    lapack_seen.threads = threads;
    lapack_seen.arguments = arguments;
    lapack_seen.lengths = lengths;
    memcpy(lapack_seen.argument, argument, arguments * sizeof *argument);
    memcpy(lapack_seen.length, length, lengths * sizeof *length);
    if (lapack_jump != NULL)
        longjmp(*lapack_jump, 1);
    if (lapack_ends_thread)
        pthread_exit(NULL);
}

#define SEE(name_, arguments_, options_)                                   \
    ENTRY void name_(TAKT_ARGUMENTS(TAKT_PARAMETER, arguments_)            \
                         TAKT_LENGTHS(TAKT_LENGTH_PARAMETER, options_));   \
    void name_(TAKT_ARGUMENTS(TAKT_PARAMETER, arguments_)                  \
                   TAKT_LENGTHS(TAKT_LENGTH_PARAMETER, options_))          \
    {                                                                      \
        void *const argument[] = {TAKT_ARGUMENTS(TAKT_VALUE, arguments_)}; \
        const size_t length[] = {0 TAKT_LENGTHS(LENGTH, options_)};        \
        see(#name_, argument, arguments_, length + 1, options_);           \
    }
#define LENGTH(i_) l##i_
#define TAKT_LAPACK(stem_, arguments_, options_, work_, is_query_) \
    SEE(s##stem_##_, arguments_, options_)                         \
    SEE(d##stem_##_64_, arguments_, options_)                      \
    SEE(scipy_s##stem_##_, arguments_, options_)                   \
    SEE(scipy_d##stem_##_64_, arguments_, options_)
#include "lapack.def"

#ifdef WITH_WIDE_BLAS
ENTRY int64_t isamax_(const int64_t *n, const float *x, const int64_t *step);
int64_t isamax_(const int64_t *n, const float *x, const int64_t *step)
{
    int64_t at = 0;

    for (int64_t i = 1; i < *n; i++)
        if (x[i * *step] > x[at * *step])
            at = i;
    return *n < 1 ? 0 : at + 1;
}
#endif

/* Calls others by name, as LAPACK does. */
ENTRY void dpotrf_(void *, void *, void *, void *, void *, size_t);
void dpotrf_(void *a0, void *a1, void *a2, void *a3, void *a4, size_t l0)
{
    const int before = threads;

    spotrf_(a0, a1, a2, a3, a4, l0);
    lapack_seen.is_nested_alike = lapack_seen.threads == before;
    see("dpotrf_", (void *const[]){a0, a1, a2, a3, a4}, 5, &l0, 1);
}
