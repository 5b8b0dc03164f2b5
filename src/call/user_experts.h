/* SPDX-License-Identifier: MIT */
/* user_experts.h - experts of the user's, in the table and in the model. */
#pragma once

#include "call/ctx.h"

enum { TAKT_GIVEN_NAME_MAX = 26 /* letters, without "user." */ };

/* Adds an expert to an op: takt_ctx_add_expert(). With the learner's lock. */
takt_status takt__ctx_add_expert(takt_ctx *ctx, struct takt_model *model,
                                 const takt_op *op, const char *name,
                                 const takt_expert_spec *spec);

/* The number of the expert of a user's op by that name; a new name becomes an
 * expert of it, on the backend of Takt's own expert of that name, or else on
 * SIMD. With the learner's lock.
 * TAKT_EINVAL: a name that experts cannot have. TAKT_EFULL: no room. */
takt_status takt__ctx_resolve_expert(takt_ctx *ctx, struct takt_model *model,
                                     const takt_op *op, const char *name,
                                     int *number);

/* The same for a name in the store: only those that takt_record() brought in,
 * because the others are code, and so few that there is room for new ones.
 * -1: not so. */
int takt__ctx_recall_expert(takt_ctx *ctx, struct takt_model *model,
                            const takt_op *op, const char *name);

/* Whether an op is of the catalogue or of this context. */
bool takt__ctx_has_op(const takt_ctx *ctx, const takt_op *op);
