/* SPDX-License-Identifier: MIT */
/* origins.h - the machines that sent something, and their classes. */
#pragma once

#include "fleet/facts.h"
#include "fleet/server.h"
#include "fleet/state.h"

struct takt_fleet_origin {
    char id[TAKT_FLEET_ORIGIN];
    uint64_t epoch, seq; /* of its latest facts; older pages do not count */
    struct takt_fleet_facts facts;
    /* The first origin of the same class: of processors, of a GPU. */
    size_t group[2][TAKT_FLEET_LEVELS];
};

struct takt_fleet_origins {
    struct takt_fleet_origin *origin; /* in the order of their ids */
    size_t count, room;
    size_t refused; /* facts that are not valid */
};

/* Reads the facts of machines that sent some within so many days. */
takt_status takt__fleet_origins_read(struct takt_fleet_server *server,
                                     unsigned days,
                                     struct takt_fleet_origins *out,
                                     takt_diag *diag);

/* The same from elsewhere: one after the other in the order of their ids, later
 * facts of an origin behind earlier ones, and then the groups. False: no
 * memory. */
bool takt__fleet_origins_add(struct takt_fleet_origins *origins,
                             const struct takt_fleet_origin *origin);
bool takt__fleet_origins_group(struct takt_fleet_origins *origins);

void takt__fleet_origins_free(struct takt_fleet_origins *origins);

/* SIZE_MAX: there is none. */
size_t takt__fleet_origins_find(const struct takt_fleet_origins *origins,
                                const char *id);
