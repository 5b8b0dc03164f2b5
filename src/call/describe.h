/* SPDX-License-Identifier: MIT */
/* describe.h - a choice in words. */
#ifndef TAKT_CALL_DESCRIBE_H
#define TAKT_CALL_DESCRIBE_H

#include "call/ctx.h"

void takt__describe(const takt_ctx *ctx, const struct takt_sizes *sizes,
                    const struct takt_choice *choice, takt_decision *out);

#endif
