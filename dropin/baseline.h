/* SPDX-License-Identifier: MIT */
/*
 * baseline.h - the baseline library: the BLAS that would get the program's
 * calls if they were not intercepted.
 *
 * Every exported name has an entry. The first call of a name from a loaded
 * object looks for the function that this object would have got, in what is
 * loaded at that moment. The answer is final, and the library stays loaded.
 * There may be several in one process: NumPy's and SciPy's wheels bring their
 * own.
 *
 * Threads: no lock is held while the loader is asked, since a constructor that
 * runs under the loader's lock may call BLAS. Threads that look for the same
 * name at the same time find the same function.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "library_threads.h"
#include "routine.h"

/* Any function; cast to its true type to call it. */
typedef void takt_symbol(void);

struct takt_baseline {
    struct takt_baseline *next;
    const void *base; /* where it begins in memory */
    char path[256];   /* its file, cut off if longer */
    char name[32];    /* for experts: letters, digits, '.', '_' and '-' */
    bool is_wide;     /* its integers have 64 bits */
    takt_symbol *function[TAKT_ROUTINES][2]; /* Fortran's, of s and d; NULL:
                                              * it has none */
    int (*get_threads)(void);    /* that it would use; NULL: it does not say */
    int (*is_in_parallel)(void); /* OpenMP's, if it uses that; else NULL */
    struct takt_library_threads *threads; /* NULL: cannot be changed */
};

/* A family of names: "cblas_%s", and Fortran's name of the same routine in the
 * same library. */
struct takt_naming {
    const char *name, *fortran;
    bool is_wide;
};

/* The function that a name stands for, when called by code in some range of
 * memory: one loaded object, or all of them. */
struct takt_target {
    const struct takt_target *next;
    uintptr_t low, high; /* the range; high is not in it */
    takt_symbol *function;
    struct takt_baseline *baseline; /* NULL: it cannot be described */
    bool is_wide;                   /* its integers have 64 bits */
    bool is_own; /* the range has BLAS routines itself, and calls them by name.
                  * While it runs a call of ours, such a call is part of that;
                  * else LAPACK beside them made it, or a program that has BLAS
                  * inside (as PyTorch's library has) */
};

/* An exported name. */
struct takt_blas_entry {
    const struct takt_naming *naming;
    const char *routine; /* "dgemm" */
    _Atomic(const struct takt_target *) first;
    /* Of LAPACK: the kind of the last call that needed no choice, and its
     * arguments. */
    _Atomic(struct takt_team_kind *) recent;
    _Atomic uint64_t recent_arguments;
};

/* The function for the code at `caller`; NULL: it was not looked for yet. */
static inline const struct takt_target *
takt__blas_entry_known(const struct takt_blas_entry *entry, const void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    const struct takt_target *target =
        atomic_load_explicit(&entry->first, memory_order_acquire);

    while (target != NULL &&
           __builtin_expect(at < target->low || at >= target->high, 0))
        target = target->next;
    return target;
}

/* The same, and looks for it if need be. A program that calls what no library
 * has is ended with a message. */
const struct takt_target *takt__blas_entry_target(struct takt_blas_entry *entry,
                                                  const void *caller);

/* Threads that the program lets the library use at this moment: what the
 * library says, else what the usual variables say; 0: not said. */
unsigned takt__baseline_threads(const struct takt_baseline *baseline);
