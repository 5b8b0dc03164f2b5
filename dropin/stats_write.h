/* SPDX-License-Identifier: MIT */
/*
 * stats_write.h - writing on the stats (stats.h), if there is one.
 */
#ifndef TAKT_DROPIN_STATS_WRITE_H
#define TAKT_DROPIN_STATS_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats.h"

struct takt_baseline;

/* NULL: nobody wants to know. */
extern _Atomic(struct takt_stats *) takt__stats;

/* What the environment asks for beyond the usual. */
enum {
    TAKT_MODE_STATS = 1, /* there is a stats */
    TAKT_MODE_EAGER = 2  /* TAKT_RUN_EAGER: every call is asked about, however
                          * small, and from the first on; for tests */
};
extern _Atomic unsigned takt__mode;

/* Reads it, once in a process, and looks for the stats. */
void takt__mode_read(void);

static inline bool takt__is_usual_mode(void)
{
    return __builtin_expect(
        atomic_load_explicit(&takt__mode, memory_order_relaxed) == 0, 1);
}

static inline bool takt__is_eager(void)
{
    return (atomic_load_explicit(&takt__mode, memory_order_relaxed) &
            TAKT_MODE_EAGER) != 0;
}

/* What was met; cached by whoever reads the stats. */
void takt__stats_library(const struct takt_baseline *baseline);
void takt__stats_router(void);
void takt__stats_trouble(const char *text);
void takt__stats_gpu(const char *name);

static inline bool takt__has_stats(void)
{
    return (atomic_load_explicit(&takt__mode, memory_order_relaxed) &
            TAKT_MODE_STATS) != 0;
}

/* The cell of a call by its work, see stats.h. */
struct takt_stats_cell *takt__stats_cell(enum takt_routine routine,
                                         enum takt_blas_type type, double work);

static inline void takt__stats_add(_Atomic uint64_t *at, uint64_t what)
{
    atomic_fetch_add_explicit(at, what, memory_order_relaxed);
}

/* A call that ran, and whether that was timed (ns > 0). */
void takt__stats_run(struct takt_stats_cell *cell, enum takt_path way,
                     uint64_t ns);

uint64_t takt__now(void); /* in ns */

#endif
