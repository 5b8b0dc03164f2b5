/* SPDX-License-Identifier: MIT */
/*
 * share.h - what one machine has to share, as a file: for fleets without a
 * database.
 *
 * The file is one of priors (prior.h) whose class is the origin, without a
 * signature; the line "" has the facts of the machine.
 */
#pragma once

#include "fleet/facts.h"
#include "fleet/gather.h"
#include "fleet/prior.h"
#include "fleet/state.h"

struct takt_fleet_share {
    char origin[TAKT_FLEET_ORIGIN];
    uint64_t generation; /* of two files of one origin the larger counts */
    struct takt_fleet_facts facts;
    struct takt_fleet_pages pages;
};

void takt__fleet_share_free(struct takt_fleet_share *share);

/* Takes the rows of such a file; what they own may be the share's then. False:
 * they are not one machine's, or there is no memory. To be freed either way. */
bool takt__fleet_share_take(struct takt_fleet_priors *rows,
                            struct takt_fleet_share *out);

/* TAKT_EIO, TAKT_ENOMEM. */
takt_status takt__fleet_share_save(const struct takt_fleet_share *share,
                                   const char *path, takt_diag *diag);

/* Reads such a file, or the store of the machine with these facts.
 * TAKT_ECORRUPT: it is neither. TAKT_ENOENT: nothing in the store is of that
 * machine. */
takt_status takt__fleet_share_open(const char *path, const char *machine,
                                   const struct takt_fleet_facts *facts,
                                   struct takt_fleet_share *out,
                                   takt_diag *diag);
