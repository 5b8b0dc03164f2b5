/* SPDX-License-Identifier: MIT */
/* rollup.h - priors of classes, from the pages of all machines. */
#pragma once

#include "fleet/prior.h"
#include "fleet/server.h"
#include "fleet/share.h"

struct takt_fleet_rollup {
    unsigned least; /* machines that a published size needs */
    unsigned days;  /* after which a machine that sends nothing is gone */
    /* What was found and made. */
    size_t origins, pages, refused; /* refused: not valid */
    size_t classes, cells;
};

/* Reads all pages and makes the priors, to be freed. TAKT_EIO: `diag` says
 * why. */
takt_status takt__fleet_roll_up(struct takt_fleet_server *server,
                                struct takt_fleet_rollup *rollup,
                                struct takt_fleet_priors *out, takt_diag *diag);

/* The same without a database, from what machines have to share. None is there
 * twice. */
takt_status takt__fleet_roll_up_shares(const struct takt_fleet_share *share,
                                       size_t count,
                                       struct takt_fleet_rollup *rollup,
                                       struct takt_fleet_priors *out,
                                       takt_diag *diag);

/* Replaces what the database has by these. Readers see old or new rows. */
takt_status takt__fleet_publish(struct takt_fleet_server *server,
                                const struct takt_fleet_priors *priors,
                                takt_diag *diag);

/* Removes pages that a later one of the same line has replaced. */
takt_status takt__fleet_prune(struct takt_fleet_server *server,
                              takt_diag *diag);
