/* SPDX-License-Identifier: MIT */
/* learning.h - the model and the learner of a context. */
#pragma once

#include "call/ctx.h"

/* Makes them. The learner's thread opens the store. */
takt_status takt__ctx_start_learning(takt_ctx *ctx,
                                     const takt_ctx_options *options);

/* Adds to the model the experts from number `first` on. With its lock. */
void takt__ctx_learn_libraries(takt_ctx *ctx, struct takt_model *model,
                               unsigned first);

/* Before the first call of a series in one of these situations (bit 1 <<
 * situation): has what was learned of it published. */
void takt__ctx_ask(takt_ctx *ctx, unsigned series, unsigned situations);

/* Has the model predict calls of that key, and publish what it predicts. */
void takt__ctx_predict(takt_ctx *ctx, const struct takt_question *question);
