/* SPDX-License-Identifier: MIT */
/*
 * gemm_team.h - one matrix product on several threads.
 *
 * Every member of the team calls takt__gemm_team_work() once, at any time, or
 * one after the other. Members claim pieces of the work until none is left: one
 * that comes late, or never, only leaves more to the others. The result does
 * not depend on which member does what. Copies of A and B are made once, for
 * all.
 */
#pragma once

#include "kernels/gemm_plan.h"

struct takt_gemm_team;

/* Bytes of memory that a team of so many threads shares. */
size_t takt__gemm_team_room(const struct takt_gemm_plan *plan,
                            unsigned threads);

/* Prepares the shared memory for the call. `plan` was made for it and as many
 * threads; `scratch` has the room asked for above, at an alignment of 64;
 * `blocks` stays where it is. */
struct takt_gemm_team *takt__gemm_team_open(
    const struct takt_gemm *call, const struct takt_gemm_kernels *kernels,
    const struct takt_gemm_blocks *blocks, const struct takt_gemm_plan *plan,
    unsigned threads, void *scratch);

/* Works as member 0 <= `member` < threads. When all that began have returned,
 * and at least one has, the product is done. */
void takt__gemm_team_work(struct takt_gemm_team *team, unsigned member);
