/* SPDX-License-Identifier: MIT */
/*
 * stats_write.h - writing to the shared statistics (stats.h), if there are any.
 *
 * Threads: all functions may be called from any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stats.h"
#include "switchback.h"

/* Maps the file. False: it is not one of this version. Call it once. */
bool takt__stats_open(const char *path);

/* Without statistics, these do nothing. Of texts, the first is kept. */
void takt__stats_library(const char *path);
void takt__stats_router(void);
void takt__stats_trouble(const char *text);
void takt__stats_gpu(const char *name);
void takt__stats_result(const struct takt_switchback_result *result);
void takt__stats_history(unsigned history);
void takt__stats_opened(uint64_t ns);

/* NULL: there are no statistics. */
struct takt_stats_effect *takt__stats_effect(void);

/* The cell of a call by its work. There must be statistics. */
struct takt_stats_cell *takt__stats_cell(enum takt_routine routine,
                                         enum takt_blas_type type, double work);

static inline void takt__stats_add(_Atomic uint64_t *at, uint64_t what)
{
    atomic_fetch_add_explicit(at, what, memory_order_relaxed);
}

/* The loops of that name; and of those, the ones of a length. There must be
 * statistics. */
struct takt_stats_loop *takt__stats_loop(const char *name);
struct takt_stats_loop_cell *takt__stats_loop_cell(struct takt_stats_loop *loop,
                                                   uint64_t length);

/* The calls of LAPACK of a routine and type (false: s) by their work. There
 * must be statistics. */
struct takt_stats_loop_cell *takt__stats_lapack(enum takt_lapack routine,
                                                bool is_double, double work);

/* A timed call of this thread. There must be statistics. */
void takt__stats_span(uint64_t start_ns, uint64_t end_ns);

/* Time of a call or loop that was timed, and stands for so many, in the slots
 * of the timeline. There must be statistics. */
void takt__stats_time(enum takt_track track, uint64_t start_ns, uint64_t end_ns,
                      double weight);

/* A call that ran; ns 0: it was not timed. */
void takt__stats_run(struct takt_stats_cell *cell,
                     enum takt_destination destination, uint64_t ns);
