/* SPDX-License-Identifier: MIT */
/* objective.h - objectives as text, and those of a context. */
#pragma once

#include "call/ctx.h"
#include "takt/objective.h"

/* Reads a text of takt/objective.h.
 * TAKT_EINVAL: `diag` (may be NULL) says what is wrong. */
takt_status takt__objective_parse(const char *text, struct takt_objective *out,
                                  takt_diag *diag);
void takt__objective_print(const struct takt_objective *objective,
                           char out[TAKT_OBJECTIVE_MAX]);

/* Gives a context that is being made its own objective; NULL: that of the
 * environment, where a mistake is logged and no error.
 * TAKT_EINVAL, TAKT_ENOTSUP: as takt_ctx_create(). */
takt_status takt__ctx_set_objective(takt_ctx *ctx, const char *text);

/* Whether that objective, or the environment's, needs what experts draw. */
bool takt__objective_wants_energy(const char *text);

/* Notes an objective that the model has got. */
void takt__ctx_keep_objective(takt_ctx *ctx, unsigned number,
                              const struct takt_objective *objective);

/* Whether objectives of energy can be pursued; if not, `diag` says why.
 * TAKT_ENOTSUP. With the model's lock. */
takt_status takt__objective_allowed(const struct takt_objective *objective,
                                    const struct takt_model *model,
                                    takt_diag *diag);

/* The objective of a call by its flags. */
static inline unsigned takt__call_objective(unsigned flags)
{
    return flags >> 28 & (TAKT_OBJECTIVES - 1);
}
