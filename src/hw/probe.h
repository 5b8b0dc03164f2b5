/* SPDX-License-Identifier: MIT */
/* probe.h - fills in a takt_machine from a source; only memory can run out. */
#pragma once

#include <takt/machine.h>

#include "hw/source.h"

/* Reads everything, fingerprints included. `out` is overwritten. Where
 * something could not be read that may be there, the fingerprints are "".
 * TAKT_ENOMEM: no memory. */
takt_status takt__machine_probe(const struct takt_hw_source *source,
                                takt_machine *out);

/* The threads of a machine that was probed, by the quota as it is now. */
unsigned takt__machine_threads_now(const struct takt_hw_source *source,
                                   const takt_machine *machine);
