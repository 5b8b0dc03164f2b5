/* SPDX-License-Identifier: MIT */
/*
 * lapack_record.h - calls of LAPACK in the shared statistics, and as steps of
 * the program.
 *
 * Calls that are short beside an off slice are steps (effect.h): the slices say
 * what they gain. Single control calls say too much of these: the threads of
 * the library were not used for a while. Longer calls have nothing else.
 */
#pragma once

#include "lapack_call.h"
#include "team_choice.h"

/* A call that ran otherwise than the program has it, or not, and what it took;
 * 0: it was not timed. Calls of BLAS that were recorded are not counted twice.
 */
void takt__lapack_count(const struct takt_lapack_call *call, bool is_other,
                        uint64_t start_ns, uint64_t ns, uint64_t blas_ns);

/* In an off slice, a call that is a step runs as the program has it. */
void takt__lapack_pause(const struct takt_team_kind *kind,
                        const struct takt_team_call *call,
                        struct takt_team_choice *choice);

/* A call that was timed: a step, perhaps. One in which calls of BLAS were
 * recorded is none: these are. */
void takt__lapack_add_step(const struct takt_team_kind *kind,
                           const struct takt_team_choice *choice, double work,
                           uint64_t start_ns, uint64_t ns, uint64_t blas_ns);

/* What a call took, for the next choice. */
void takt__lapack_learn(struct takt_team_kind *kind,
                        const struct takt_team_choice *choice, double work,
                        uint64_t ns);

/* Compares a call that ran otherwise with the mean of those that ran as the
 * program has them. */
void takt__lapack_compare(const struct takt_lapack_call *call,
                          const struct takt_team_kind *kind, uint64_t ns);
