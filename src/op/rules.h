/* SPDX-License-Identifier: MIT */
/* rules.h - what an op requires of a call beyond its form; admit.c says which.
 */
#pragma once

#include <math.h>

#include "op/dims.h"
#include "takt/call.h"

enum {
    TAKT_NEEDS_FACTOR = 1,   /* an alpha of 0 would make the whole result 0 */
    TAKT_IS_IN_PLACE = 2,    /* its second input is the output */
    TAKT_TAKES_BOUNDS = 4,   /* alpha <= beta */
    TAKT_TAKES_EPSILON = 8,  /* alpha >= 0 */
    TAKT_NEEDS_ELEMENT = 16, /* it has no answer for nothing */
    TAKT_TAKES_SCALE = 32,   /* an alpha of 0 stands for 1 / sqrt(depth) */
    TAKT_NEEDS_COLUMN = 64   /* no answer for rows of nothing */
};

/* A 0 that the caller did not confirm may have been forgotten. */
static inline bool takt__is_unset(const takt_call *call, double factor)
{
    return factor == 0 && (call->flags & TAKT_CALL_ALPHA_ZERO) == 0;
}

static inline takt_status takt__check_rare_rules(takt_call *call,
                                                 unsigned rules)
{
    if ((rules & TAKT_TAKES_BOUNDS) != 0 &&
        (!(call->alpha <= call->beta) ||
         (call->beta == 0 && takt__is_unset(call, call->alpha))))
        return TAKT_EINVAL;
    if ((rules & TAKT_TAKES_EPSILON) != 0 && !(call->alpha >= 0))
        return TAKT_EINVAL;
    if ((rules & TAKT_NEEDS_ELEMENT) != 0 && call->shape.dim[0] == 0)
        return TAKT_ESHAPE;
    if ((rules & TAKT_NEEDS_COLUMN) != 0 && call->shape.dim[TAKT_COLS] == 0)
        return TAKT_ESHAPE;
    if ((rules & TAKT_TAKES_SCALE) != 0 && call->alpha == 0)
        call->alpha = 1 / sqrt((double)call->shape.dim[TAKT_ATTENTION_D]);
    return TAKT_OK;
}

/* The factors, and sizes that the op has no answer for; fills in a factor that
 * has a default value. The shape fits. */
static inline takt_status takt__check_rules(takt_call *call, unsigned rules)
{
    if ((rules & TAKT_NEEDS_FACTOR) != 0 && takt__is_unset(call, call->alpha))
        return TAKT_EINVAL;
    if ((rules & TAKT_IS_IN_PLACE) != 0 && call->in[1] != call->out)
        return TAKT_EINVAL;
    return rules < TAKT_TAKES_BOUNDS ? TAKT_OK
                                     : takt__check_rare_rules(call, rules);
}

/* ---- memory -------------------------------------------------------------- */

static inline bool takt__overlap(const void *a, size_t a_bytes, const void *b,
                                 size_t b_bytes)
{
    const uintptr_t at_a = (uintptr_t)a, at_b = (uintptr_t)b;
    return a_bytes > 0 && b_bytes > 0 && at_a < at_b + b_bytes &&
           at_b < at_a + a_bytes;
}

/* Whether that much memory can be there. */
static inline bool takt__is_sane(const void *pointer, size_t bytes)
{
    return pointer != NULL && (uintptr_t)pointer <= UINTPTR_MAX - bytes;
}
