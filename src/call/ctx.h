/* SPDX-License-Identifier: MIT */
/* ctx.h - what a context holds. */
#ifndef TAKT_CALL_CTX_H
#define TAKT_CALL_CTX_H

#include "op/user_ops.h"
#include "takt/context.h"

struct takt_ctx {
    takt_machine *machine; /* owned, constant */
    takt_cost_model cost;
    struct takt_user_ops user_ops;
};

#endif
