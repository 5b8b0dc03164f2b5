/* SPDX-License-Identifier: MIT */
/*
 * loop_choice.h - whether loops of one kind run whole, on the caller's thread,
 * or split over several, by what they took.
 *
 * Loops of one ufunc and types whose length has the same binary logarithm are
 * of one kind. A kind begins whole, is split for some milliseconds, and goes on
 * with what was faster. The other side runs for a stretch of calls now and
 * then, so rarely that it costs one percent: calls that run whole by that are
 * the control calls, against which gains are computed. Nothing is predicted:
 * how cold the memory is, whether the threads sleep, and whether others need
 * the processors is in the times.
 *
 * Threads: any. Two that learn at once may lose one of their times.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "running_mean.h"

enum takt_loop_side { TAKT_LOOP_WHOLE, TAKT_LOOP_SPLIT, TAKT_LOOP_SIDES };

struct takt_loop_kind {
    struct takt_running_mean side[TAKT_LOOP_SIDES]; /* ns per element */
    _Atomic uint32_t calls;
    _Atomic uint32_t stretch; /* of calls on the side that is not preferred: the
                               * side and 1; 0: there is none now */
    _Atomic uint32_t spent_us; /* in calls, since one began or ended */
    _Atomic uint32_t stretches;
};

/* The side of the next call, and whether it is to be timed: a kind that stays
 * whole times one call in some, and all others are. */
struct takt_loop_choice {
    enum takt_loop_side side;
    bool is_timed;
};
struct takt_loop_choice takt__loop_choose(struct takt_loop_kind *kind);

/* A call of so many elements took `ns` on a side. */
void takt__loop_learn(struct takt_loop_kind *kind, enum takt_loop_side side,
                      size_t elements, uint64_t ns);

/* The same where the side is no choice: it counts in the mean alone. */
void takt__loop_note(struct takt_loop_kind *kind, enum takt_loop_side side,
                     size_t elements, uint64_t ns);

/* What a side takes for so many elements by the calls so far, and the standard
 * error of that. 0: not known. */
struct takt_mean_estimate takt__loop_expect(const struct takt_loop_kind *kind,
                                            enum takt_loop_side side,
                                            size_t elements);
