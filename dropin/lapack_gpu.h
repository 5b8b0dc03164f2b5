/* SPDX-License-Identifier: MIT */
/*
 * lapack_gpu.h - a GPU for calls of LAPACK, opened when that pays.
 *
 * Opening the GPU and cuSOLVER takes a second or so, on a thread of its own.
 * What calls took longer than a GPU would have taken is added up; when that
 * exceeds what opening takes, it is opened. libtakt's model opens it for
 * products by the same rule; whichever does so first, both use it then.
 */
#pragma once

#include "lapack_solver.h"
#include "team_choice.h"

/* Whether a GPU is open for calls like this one, and has run one. In a program
 * where every call is routed, it is opened first, if there is one. */
bool takt__lapack_gpu_is_ready(const struct takt_baseline *baseline,
                               const takt_solver_call *call);

/* Whether processor time is spent on getting one ready, at this moment. */
bool takt__lapack_gpu_is_opening(void);

/* Runs a call. False: it was refused, and nothing was written. */
bool takt__lapack_gpu_run(const takt_solver_call *call);

/* A call that could have run on a GPU took so long elsewhere. Not 0: a GPU is
 * opened because of that, on which it is expected to take this share of it. */
double takt__lapack_gpu_missed(const struct takt_baseline *baseline,
                               const takt_solver_call *call,
                               const struct takt_team_kind *kind, double work,
                               uint64_t ns);

/* Whether there may be a GPU for calls of LAPACK, and for one of so much work.
 */
bool takt__lapack_gpu_may_be(void);
bool takt__lapack_gpu_wants(double work);
