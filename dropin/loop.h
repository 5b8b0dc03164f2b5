/* SPDX-License-Identifier: MIT */
/*
 * loop.h - the inner loops of NumPy's ufuncs that were replaced.
 *
 * NumPy calls a function for a loop over elements. numpy.c puts functions of
 * ours in their place (loop_entries.c), which hand short loops on to NumPy's
 * own at the price of a compare. Any other loop runs whole, or is split over
 * the threads of a context (loop_split.h), as loop_choice.h has measured.
 *
 * Threads: any, with or without Python's lock.
 */
#pragma once

#include "loop_choice.h"
#include "loop_reduce.h"
#include "loop_split.h"
#include "stats.h"

enum {
    TAKT_LOOPS = 1024,
    TAKT_REDUCTIONS = 160,
    TAKT_LOOP_CLASSES = 17, /* of lengths: binary logarithms from 10 on */
    TAKT_LOOP_NAME = TAKT_STATS_LOOP_NAME
};

/* The loop of one ufunc for some types. */
struct takt_loop {
    _Atomic ptrdiff_t least; /* elements of loops that are not short */
    takt_inner_loop *own;    /* NumPy's */
    struct takt_loop_form form;
    struct takt_loop *reduction;   /* of the same ufunc and types; NULL: none */
    struct takt_reduction reduces; /* size 0: it is no reduction */
    _Atomic float fastest;         /* ns per element that were seen; 0: none */
    _Atomic(struct takt_stats_loop *) counted;
    char name[TAKT_LOOP_NAME]; /* "add ff->f" */
    struct takt_loop_kind kind[TAKT_LOOP_CLASSES];
};
extern struct takt_loop takt__loops[TAKT_LOOPS];
extern struct takt_loop takt__reductions[TAKT_REDUCTIONS];

/* The library whose context has the threads; NULL: loops run whole. */
void takt__loops_open(const struct takt_baseline *baseline);

/* The shortest loop that is measured before anything is known about it. */
ptrdiff_t takt__loop_first_least(void);

/* What is known about loops of so many elements. */
struct takt_loop_kind *takt__loop_kind(struct takt_loop *loop, ptrdiff_t n);

/* The context for loops at this moment; NULL: there is none, and *why says why.
 */
const struct takt_route *takt__loop_route(enum takt_why *why);

/* A loop that is not short. */
void takt__loop_run(struct takt_loop *loop, char **args,
                    const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                    void *data);
