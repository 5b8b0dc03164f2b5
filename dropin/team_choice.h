/* SPDX-License-Identifier: MIT */
/*
 * team_choice.h - where calls of one kind run, by what they took: on how many
 * threads of the library (its team), or by other code.
 *
 * Choice 0 is the number of threads that the program has; the next ones are the
 * powers of two below it. Other code, where it is to be had, is that of libtakt
 * and a GPU. A kind begins as the program has it, tries half of the threads,
 * and goes on to fewer while that is faster. Trials take 2% of the time, and
 * four calls or a few milliseconds, whichever is less, at the beginning. Choice
 * 0 is tried again now and then: these calls are the control by which gains are
 * told. Nothing is predicted.
 *
 * Threads: any. Two that learn at once may lose one of their times.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "running_mean.h"

enum {
    TAKT_TEAMS = 10, /* up to 512 threads and more */
    TAKT_CHOICE_GPU = TAKT_TEAMS,
    TAKT_CHOICE_OWN, /* Takt's own kernels */
    TAKT_CHOICES
};

struct takt_team_kind {
    struct takt_running_mean team[TAKT_CHOICES]; /* ns per unit of work */
    _Atomic uint32_t calls;
    _Atomic uint32_t trial; /* the number of the choice that is tried, plus 1;
                             * 0: none */
    _Atomic uint32_t left;  /* calls of that trial */
    _Atomic uint32_t since; /* calls since the last trial */
    _Atomic uint32_t is_settling; /* that trial has just ended */
    _Atomic uint32_t retries;
    _Atomic uint32_t passes; /* calls that need no choice */
    _Atomic uint32_t kept;   /* for the next run: a choice, plus 1 */
    _Atomic float all_ns;    /* of all calls */
    _Atomic float extra_ns;  /* that trials took longer than the preferred */
};

struct takt_team_choice {
    unsigned choice;
    unsigned threads;
    bool is_timed;
};

/* How many choices there are for a program with so many threads, and the
 * threads of one. */
unsigned takt__teams_of(unsigned threads);
unsigned takt__team_threads(unsigned choice, unsigned threads);

/* The number of threads that is the fastest so far. */
unsigned takt__team_preferred(const struct takt_team_kind *kind);

/* The fastest choice of all so far. */
unsigned takt__team_fastest(const struct takt_team_kind *kind);

/* What a choice takes, as a share of what the calls take as the program has
 * them; 0: not known. */
double takt__team_share(const struct takt_team_kind *kind, unsigned choice);

/* Whether the next call needs no choice: short calls that are the fastest as
 * the program has them skip 31 of 32, since a choice takes a tenth of a
 * microsecond. */
static inline bool takt__team_passes(struct takt_team_kind *kind)
{
    const uint32_t passes =
        atomic_load_explicit(&kind->passes, memory_order_relaxed);

    if (passes > 0)
        atomic_store_explicit(&kind->passes, passes - 1, memory_order_relaxed);
    return passes > 0;
}

/* The next call. */
struct takt_team_call {
    unsigned threads; /* of the program */
    unsigned hint;    /* what calls of a similar kind or of an earlier run
                       * prefer */
    bool has_gpu;     /* a GPU is open, and can run it */
    bool has_own;     /* libtakt is open, and can run it */
    double work;
};

struct takt_team_choice takt__team_choose(struct takt_team_kind *kind,
                                          const struct takt_team_call *call);

/* What that call took. True: a trial has ended. */
bool takt__team_learn(struct takt_team_kind *kind,
                      const struct takt_team_choice *choice, double work,
                      uint64_t ns);
