/* SPDX-License-Identifier: MIT */
/*
 * plan.h - how a call whose operands are on the host travels to a device: what
 * goes in first, what can be computed when, what comes out.
 */
#ifndef TAKT_GPU_PLAN_H
#define TAKT_GPU_PLAN_H

#include "gpu/stage.h"
#include "op/operands.h"

/* Plans the journey of an admitted call. Operand i is in resident[i], or, where
 * that has no block, on the host; then it goes to `block`, of which *used says
 * how much is needed: the caller finds that much afterwards. Only for calls all
 * of whose operands are on the host is the work cut.
 * TAKT_ENODEV: it cannot travel. */
takt_status takt__plan(const takt_call *call, const struct takt_place *resident,
                       const struct takt_block *block,
                       struct takt_journey *journey, size_t *used);

#endif
