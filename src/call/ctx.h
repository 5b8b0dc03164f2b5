/* SPDX-License-Identifier: MIT */
/* ctx.h - what a context holds. */
#ifndef TAKT_CALL_CTX_H
#define TAKT_CALL_CTX_H

#include "decide/decide.h"
#include "expert/expert.h"
#include "op/user_ops.h"
#include "takt/context.h"

struct takt_ctx {
    takt_machine *machine; /* owned, constant */
    struct takt_fleet fleet;
    struct takt_decider decider;

    /* Calls so small that nothing but one thread of the best instruction set
     * can be first go straight to its kernels. */
    bool is_straight;
    const struct takt_slots *straight;
    size_t straight_below[TAKT_DTYPES][TAKT_OP_COUNT]; /* elements; 0: none */

    struct takt_user_ops user_ops;
    bool is_recorded; /* answers for another machine, and runs nothing */
    char library[TAKT_BLAS_MAX][704];
};

#endif
