/* SPDX-License-Identifier: MIT */
/* gpu.h - calls on a GPU whose operands may be in buffers. */
#pragma once

#include "expert/expert.h"

struct takt_operand_list;

/* Runs an admitted call on a GPU; `count` operands of it are in buffers. Marks
 * that are not NULL are set around it, timed.
 * TAKT_ENODEV, TAKT_ENOMEM, TAKT_ELOST: not so, and nothing was touched. */
takt_status takt__gpu_run(struct takt_experts *experts,
                          struct takt_device *device, const takt_call *call,
                          struct takt_operand_list *operands, unsigned count,
                          struct takt_mark *from, struct takt_mark *to);

/* Lists the devices of this machine, as the options say. */
void takt__gpus_list(struct takt_experts *experts,
                     const struct takt_experts_options *options);
