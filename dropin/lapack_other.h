/* SPDX-License-Identifier: MIT */
/*
 * lapack_other.h - a call of LAPACK by other code than the library's: a GPU's,
 * or libtakt's own kernels.
 */
#pragma once

#include "lapack_solver.h"
#include "team_choice.h"

struct takt_route;

/* A call as other code takes it, and which could. */
struct takt_lapack_other {
    takt_solver_call call;
    const struct takt_baseline *baseline;
    double work;
    bool is_for_gpu, is_for_own;
    const struct takt_route *own; /* NULL: libtakt is not open */
};

/* True while this thread is in code that has its own choice of these: calls of
 * LAPACK inside of it have none. */
extern _Thread_local bool takt__lapack_has_chosen;

/* Whether other code could run a call of so much work of that routine. */
bool takt__lapack_may_be_other(enum takt_lapack routine, double work);

/* Finds out what there is for a call. The caller has set `call`, `baseline` and
 * `work`. */
void takt__lapack_find_other(struct takt_lapack_other *other,
                             enum takt_lapack routine);

/* Says so in a call that is to be chosen for. */
void takt__lapack_add_choices(const struct takt_lapack_other *other,
                              struct takt_team_call *call);

/* Runs it. False: it was refused, and nothing was written. */
bool takt__lapack_run_other(const struct takt_lapack_other *other,
                            unsigned choice);

/* What it took in the library. */
void takt__lapack_missed(const struct takt_lapack_other *other,
                         const struct takt_team_kind *kind, uint64_t ns);

/* What a call took for which there are numbers of threads alone: libtakt is
 * opened to keep what was chosen for the next run. */
void takt__lapack_spent(const struct takt_baseline *baseline, unsigned choice,
                        uint64_t ns);

/* For tests: the choices in turns, whatever they take; with TAKT_RUN_EAGER=last
 * the last one always (Takt's kernels, a GPU, one thread), so that the same
 * call has the same result. */
void takt__lapack_alternate(struct takt_team_choice *choice,
                            const struct takt_team_call *call);
