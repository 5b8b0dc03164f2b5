/* SPDX-License-Identifier: MIT */
/*
 * baseline.h - the library target: the BLAS that the program calls, and that
 * would have got its calls if we were not there.
 *
 * Every name under which we are called has a slot. The first call through it
 * from an object looks for the function of that name that this object would
 * have got, in what is loaded at that moment, and remembers it for good: the
 * library is cached loaded from then on. There may be several libraries in one
 * process (NumPy's and SciPy's wheels bring their own).
 *
 * Threads: no lock is held while the loader is asked, since a constructor that
 * runs under the loader's lock may call BLAS. Who looks for the same thing at
 * the same time finds the same.
 */
#ifndef TAKT_DROPIN_BASELINE_H
#define TAKT_DROPIN_BASELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "routine.h"
#include "triangular.h"

/* Any function; cast to its true type to call it. */
typedef void takt_symbol(void);

struct takt_baseline {
    struct takt_baseline *next;
    unsigned number;  /* from 0, in the order they were met */
    const void *base; /* where it lies in memory */
    char path[256];   /* its file, cut off if longer */
    char name[32];    /* for experts: letters, digits, '.', '_' and '-' */
    bool is_wide;     /* its integers have 64 bits */
    takt_symbol *function[TAKT_ROUTINES][2]; /* Fortran's, of s and d; NULL:
                                              * it has none */
    int (*get_threads)(void);    /* that it would use; NULL: it does not say */
    int (*is_in_parallel)(void); /* OpenMP's, if it uses that; else NULL */
};

/* How a name is made: "cblas_%s", and the name that Fortran knows the same
 * routine by in the same library. */
struct takt_naming {
    const char *name, *fortran;
    bool is_wide;
};

/* What is target a name for the code in some stretch of memory: an object that
 * was loaded, or all of them. */
struct takt_target {
    const struct takt_target *next;
    uintptr_t low, high; /* of that stretch; high is behind it */
    takt_symbol *function;
    struct takt_baseline *baseline; /* NULL: it cannot be described */
    bool is_wide;                   /* its integers have 64 bits */
    bool is_own; /* that stretch has such routines itself, and calls them by
                  * name. If it was called, that is no call of the program's;
                  * else LAPACK beside them made it, or a program that has
                  * BLAS inside (PyTorch has) */
};

struct takt_entry {
    const struct takt_naming *dialect;
    const char *routine; /* "dgemm" */
    _Atomic(const struct takt_target *) first;
};

/* Looks for it, on behalf of the code at `caller`. A program that calls what no
 * library has cannot go on: it ends with a line that says so. */
const struct takt_target *takt__entry_resolve(struct takt_entry *slot,
                                              const void *caller);

static inline const struct takt_target *
takt__entry_target(struct takt_entry *slot, const void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    const struct takt_target *target =
        atomic_load_explicit(&slot->first, memory_order_acquire);

    for (; target != NULL; target = target->next)
        if (__builtin_expect(at >= target->low && at < target->high, 1))
            return target;
    return takt__entry_resolve(slot, caller);
}

/* Threads that the program lets the library use at this moment: what the
 * library says, else what the usual variables say; 0: nobody says. */
unsigned takt__baseline_threads(const struct takt_baseline *baseline);

/* The same calls, by rows as everywhere in Takt, in the library itself. It must
 * have the function. */
void takt__baseline_product(const struct takt_baseline *baseline,
                            const struct takt_product *product);
void takt__baseline_triangular(const struct takt_baseline *baseline,
                               const struct takt_triangular *call);

#endif
