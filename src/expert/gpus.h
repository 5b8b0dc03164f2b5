/* SPDX-License-Identifier: MIT */
/* gpus.h - which GPUs a fleet has. */
#ifndef TAKT_EXPERT_GPUS_H
#define TAKT_EXPERT_GPUS_H

#include "expert/expert.h"

/* Lists the devices, as the options say. */
void takt__fleet_list_gpus(struct takt_fleet *fleet,
                           const struct takt_fleet_options *options);

#endif
