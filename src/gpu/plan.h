/* SPDX-License-Identifier: MIT */
/*
 * plan.h - the staged transfer of a call whose operands are on the host: what
 * goes in first, what can be computed when, what comes out.
 */
#ifndef TAKT_GPU_PLAN_H
#define TAKT_GPU_PLAN_H

#include "gpu/transfer.h"
#include "op/operands.h"

/* Plans the transfer of an admitted call. Operand i is in resident[i], or,
 * where that has no block, on the host; then it goes to `block`, of which *used
 * says how much is needed: the caller allocates that much afterwards. The work
 * is cut only if all operands are on the host. TAKT_ENODEV: it cannot be
 * staged. */
takt_status takt__plan(const takt_call *call,
                       const struct takt_location *resident,
                       const struct takt_block *block,
                       struct takt_transfer *transfer, size_t *used);

#endif
