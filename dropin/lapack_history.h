/* SPDX-License-Identifier: MIT */
/*
 * lapack_history.h - what calls of LAPACK chose in earlier runs of this
 * program.
 *
 * In the store it is an op of its own, "lapack.NAME-HASH" (program_history.h).
 * Its experts are a routine, its letters and a choice, as "gesv.---.gpu"; their
 * time is what the choice took as a share of what the calls took as the program
 * has them. Kinds that gained clearly are tried again first. The expert "worth"
 * has the seconds that a GPU saved in a run, or was expected to: one that
 * gained is opened at once where that is more than what opening it takes.
 */
#pragma once

#include "lapack_kind.h"
#include "route.h"
#include "takt/solver.h"

/* Reads it, in a context that was just made. True: there is a GPU to be opened
 * at once. */
bool takt__lapack_history_open(const struct takt_route *route);

/* What calls of that kind chose; 0: not known. */
unsigned takt__lapack_history_choice(const struct takt_lapack_key *key);

/* A call like those that gained on a GPU or were expected to and not tried
 * there, without operands: number i of them. False: there are no more. */
bool takt__lapack_history_gpu(unsigned i, takt_solver_call *out);

/* Keeps what share of its time a kind is expected to take on a GPU: the run may
 * end before it was tried. */
void takt__lapack_history_expect(const struct takt_team_kind *kind,
                                 double share);

/* What calls of a kind take on a GPU, as a share of what they take as the
 * program has them: in this run, else in earlier ones; 0: not known. */
double takt__lapack_history_share(const struct takt_team_kind *kind);

/* A GPU saved so many ns of a call, or would have. Kept when the program ends.
 */
void takt__lapack_history_worth(double ns);

/* Keeps what a kind has chosen, once. */
void takt__lapack_history_keep(struct takt_team_kind *kind);
