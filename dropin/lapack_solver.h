/* SPDX-License-Identifier: MIT */
/* lapack_solver.h - calls of LAPACK as libtakt's takt_solver_run() takes them.
 */
#pragma once

#include "lapack_call.h"
#include "lapack_kind.h"
#include "takt/solver.h"

/* False: the routine is none of those, or its arguments are such that the
 * library would complain. */
bool takt__lapack_solver(const struct takt_lapack_call *call,
                         takt_solver_call *out);

/* A call of that kind by sizes alone, of a square matrix. False: the routine is
 * none of those. */
bool takt__lapack_like(const struct takt_lapack_key *key,
                       takt_solver_call *out);

/* Bytes that go in and come out. */
double takt__lapack_bytes(const takt_solver_call *call);

/* The argument that pivots go to; -1: there is none. */
int takt__lapack_pivots(const struct takt_lapack_call *call);

/* Says in the arguments that the routine has run: info, and what LAPACK writes
 * to its working memory. */
void takt__lapack_succeed(const struct takt_lapack_call *call);
