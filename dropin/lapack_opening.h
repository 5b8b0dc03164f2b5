/* SPDX-License-Identifier: MIT */
/*
 * lapack_opening.h - a GPU and its LAPACK are opened, on a thread of their own:
 * that takes a second or so.
 */
#pragma once

#include "route.h"

enum takt_opening {
    TAKT_OPENING_NONE,
    TAKT_OPENING_BEGUN,
    TAKT_OPENING_DONE,
    TAKT_OPENING_FAILED
};

/* What it takes from a program, ns: to open it, calls that are slower
 * meanwhile, and the end of a process that has used it. On an H200; with 1.3 s,
 * a program with 2 s of SVD took 1.15 times as long. */
static const double TAKT_OPENING_PRICE = 2e9;

enum takt_opening takt__lapack_opening(void);

/* The route of calls to the open GPU; NULL: none is open. */
const struct takt_route *takt__lapack_opened(void);

/* Begins to, unless that was begun before. Kinds of calls that gained in an
 * earlier run are warm when it is done (lapack_warm.h). */
void takt__lapack_begin_opening(const struct takt_route *route);

/* It cannot be opened. */
void takt__lapack_give_up(void);

/* The device was lost: it may be opened again. */
void takt__lapack_closed(void);
