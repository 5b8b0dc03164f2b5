/* SPDX-License-Identifier: MIT */
/*
 * choose.h - what a machine may expect, from the priors of classes.
 *
 * Of each size the narrowest class that has it: machines of the same
 * fingerprint, of the same kind, alike (weighted by how alike they are), of the
 * same vendor. The result is records for the store, of a machine named after
 * this one: they are hints, which what is measured here outweighs
 * (learn/hint.c).
 */
#pragma once

#include "fleet/prior.h"
#include "store/record.h"

struct takt_fleet_choice {
    struct takt_record *record; /* owned */
    size_t count;
    unsigned machines; /* the most that are behind one size */
};

/* The classes whose priors the machine needs: its own, of its GPUs too. Returns
 * how many there are. */
enum { TAKT_FLEET_OWN = 5 + 2 * TAKT_MACHINE_MAX_GPUS, TAKT_FLEET_NEAR = 8 };
size_t takt__fleet_own_classes(const takt_machine *machine,
                               const struct takt_fleet_facts *facts,
                               char out[TAKT_FLEET_OWN][TAKT_FLEET_CLASS]);

/* And of those whose facts are in `priors` the kinds that are most like it,
 * itself not among them. */
size_t takt__fleet_near_classes(const struct takt_fleet_priors *priors,
                                const struct takt_fleet_facts *facts,
                                char out[TAKT_FLEET_NEAR][TAKT_FLEET_CLASS]);

/* TAKT_ENOMEM. */
takt_status takt__fleet_choose(const struct takt_fleet_priors *priors,
                               const takt_machine *machine,
                               const struct takt_fleet_facts *facts,
                               struct takt_fleet_choice *out);
