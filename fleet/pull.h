/* SPDX-License-Identifier: MIT */
/* pull.h - brings the priors of a machine into its store. */
#pragma once

#include "fleet/choose.h"
#include "fleet/server.h"

/* Whether the processors of the machine are of a kind that is known. If not,
 * those like it count, and what is known of its speed (facts.h). */
bool takt__fleet_is_known(const struct takt_fleet_priors *priors,
                          const struct takt_fleet_facts *facts);

/* Reads what the machine needs from the database. To be freed. The first are
 * those of its own classes. If its kind is not known, the second adds those of
 * machines like it. */
takt_status takt__fleet_read_priors(struct takt_fleet_server *server,
                                    const takt_machine *machine,
                                    const struct takt_fleet_facts *facts,
                                    struct takt_fleet_priors *out,
                                    takt_diag *diag);
takt_status takt__fleet_read_near(struct takt_fleet_server *server,
                                  const struct takt_fleet_facts *facts,
                                  struct takt_fleet_priors *out,
                                  takt_diag *diag);

/* Reads a file of priors, or gets it within `most_s` from an address (fetch.h).
 * It must be signed by the key in the file `key`: nothing of it is looked at
 * before. To be freed. TAKT_ECORRUPT: it is not signed by that key, or not
 * valid. */
takt_status takt__fleet_open_priors(const char *path, const char *key,
                                    unsigned most_s,
                                    struct takt_fleet_priors *out,
                                    takt_diag *diag);

/* The same of a file that nobody signed, for those who made it themselves. */
takt_status takt__fleet_open_unsigned(const char *path,
                                      struct takt_fleet_priors *out,
                                      takt_diag *diag);

/* Writes such a file; `key` NULL: without a signature. */
takt_status takt__fleet_save_priors(const struct takt_fleet_priors *priors,
                                    const char *path, const char *key,
                                    takt_diag *diag);

/* Replaces what the store has of the fleet by the choice from `priors`. */
takt_status takt__fleet_take_in(const struct takt_fleet_priors *priors,
                                const takt_machine *machine,
                                const struct takt_fleet_facts *facts,
                                const char *store,
                                struct takt_fleet_choice *out, takt_diag *diag);
