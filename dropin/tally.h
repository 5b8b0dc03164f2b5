/* SPDX-License-Identifier: MIT */
/*
 * tally.h - writing on the board (board.h), if there is one.
 */
#ifndef TAKT_DROPIN_TALLY_H
#define TAKT_DROPIN_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board.h"

struct takt_plain;

/* NULL: nobody wants to know. */
extern _Atomic(struct takt_board *) takt__board;

/* What the environment asks for beyond the usual. */
enum {
    TAKT_MODE_TALLIED = 1, /* there is a board */
    TAKT_MODE_EAGER = 2    /* TAKT_RUN_EAGER: every call is asked about, however
                            * small, and from the first on; for tests */
};
extern _Atomic unsigned takt__mode;

/* Reads it, once in a process, and looks for the board. */
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

/* What was met; kept by whoever reads the board. */
void takt__tally_library(const struct takt_plain *plain);
void takt__tally_router(void);
void takt__tally_trouble(const char *text);
void takt__tally_gpu(const char *name);

static inline bool takt__is_tallied(void)
{
    return (atomic_load_explicit(&takt__mode, memory_order_relaxed) &
            TAKT_MODE_TALLIED) != 0;
}

/* The cell of a call by its work, see board.h. */
struct takt_board_cell *takt__tally_cell(enum takt_routine routine,
                                         enum takt_letter letter, double work);

static inline void takt__tally_add(_Atomic uint64_t *at, uint64_t what)
{
    atomic_fetch_add_explicit(at, what, memory_order_relaxed);
}

/* A call that ran, and whether that was timed (ns > 0). */
void takt__tally_run(struct takt_board_cell *cell, enum takt_way way,
                     uint64_t ns);

uint64_t takt__now(void); /* in ns */

#endif
