/* SPDX-License-Identifier: MIT */
/*
 * user_experts.h - the user's own code, as arms after those of the fleet.
 *
 * Threads: experts are added under a lock and never removed; what is counted
 * can be read without one.
 */
#ifndef TAKT_CALL_USER_EXPERTS_H
#define TAKT_CALL_USER_EXPERTS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "takt/expert.h"

enum {
    TAKT_MAX_USER_EXPERTS = 190,
    TAKT_MAX_EXPERTS_PER_OP = 16,
    TAKT_GIVEN_NAME_MAX = 26 /* letters, without "user." */
};

struct takt_user_expert {
    char name[TAKT_EXPERT_NAME_MAX]; /* "user.NAME", or as it was recorded */
    const takt_op *op;
    takt_expert_spec spec;
    unsigned arm;
};

struct takt_model;

struct takt_user_experts {
    struct takt_user_expert expert[TAKT_MAX_USER_EXPERTS];
    _Atomic unsigned count;
};

/* The expert of an op by that name, regardless of case; NULL: none. */
const struct takt_user_expert *
takt__user_experts_find(const struct takt_user_experts *experts,
                        const takt_op *op, const char *name);

/* Those of an op, one after another: begin with NULL, ends with NULL. */
const struct takt_user_expert *
takt__user_experts_next(const struct takt_user_experts *experts,
                        const takt_op *op,
                        const struct takt_user_expert *after);

/* The arm of a user's op whom somebody speaks of; a new name becomes an expert
 * of it, on the backend of our expert of that name, or else on SIMD. With the
 * learner's lock.
 * TAKT_EINVAL: a name that experts cannot have. TAKT_EFULL: no room. */
takt_status takt__ctx_meet_expert(takt_ctx *ctx, struct takt_model *model,
                                  const takt_op *op, const char *name,
                                  int *arm);

/* The same for a name in the store: only those that takt_record() brought in,
 * because the others are code, and so few that there is room for new ones.
 * -1: not so. */
int takt__ctx_recall_expert(takt_ctx *ctx, struct takt_model *model,
                            const takt_op *op, const char *name);

/* Whether experts can have that name of at most so many letters. */
bool takt__expert_is_name(const char *name, size_t longest);

/* Whether an op is of the catalogue or of this context. */
bool takt__ctx_has_op(const takt_ctx *ctx, const takt_op *op);

#endif
