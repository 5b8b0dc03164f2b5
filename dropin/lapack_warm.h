/* SPDX-License-Identifier: MIT */
/*
 * lapack_warm.h - the first call of a kind on a GPU, on a thread of our own.
 *
 * cuSOLVER loads code with the first call of a routine, and memory is taken and
 * pinned for it: that took 0.9 s where the call itself took 7 ms. So the first
 * call has operands of ours, and the program's calls run in its library
 * meanwhile.
 */
#pragma once

#include <stdbool.h>

#include "takt/solver.h"

struct takt_route;

/* Whether calls of this kind (routine, type, letters, and sizes within an
 * octave) are warm. If not, they are warmed up, unless another kind is at it. A
 * kind that fails there never is. */
bool takt__lapack_is_warm(const struct takt_route *route,
                          const takt_solver_call *call);

/* Warms up a kind on the calling thread, which is one of our own. */
void takt__lapack_warm_up(const struct takt_route *route,
                          const takt_solver_call *call);

/* Whether one is being warmed up at this moment. */
bool takt__lapack_is_warming(void);

/* A child of a fork has no thread that would end it. */
void takt__lapack_warm_in_child(void);

/* The device was lost: nothing is warm any more. */
void takt__lapack_forget_warm(void);
