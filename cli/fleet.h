/* SPDX-License-Identifier: MIT */
/* fleet.h - the parts of `takt fleet`. */
#pragma once

#include "command.h"
#include "fleet/pull.h"
#include "fleet/sync.h"
#include "json.h"

/* One machine, its store and its fleet. */
struct fleet_asking {
    const struct invocation *invocation;
    const char *address; /* NULL: none */
    char store[1024];
    takt_machine *machine; /* owned */
    struct takt_fleet_member member;
    bool is_json;
    unsigned most_s; /* for what talks to others */
    takt_diag diag;  /* what went wrong; "": nothing */
};

/* Says what is wrong. Returns EXIT_FINDING. */
int fleet_trouble(const takt_diag *diag, takt_status status);

/* Has what talks to the database end within asking->most_s. */
void fleet_limit(const struct fleet_asking *asking);

/* Connects to the fleet's database. EXIT_DONE, or what is wrong was said. */
int fleet_connect(struct fleet_asking *asking, struct takt_fleet_server *out);

/* ---- fleet_priors.c ---- */

/* Brings priors into the store, and notes it in the state. */
takt_status fleet_receive(const struct fleet_asking *asking,
                          const struct takt_fleet_priors *priors,
                          struct takt_fleet_state *state, takt_diag *diag);

/* Reads the priors of this machine from the database, or those of machines
 * like it. */
takt_status fleet_read(struct fleet_asking *asking,
                       struct takt_fleet_server *server,
                       struct takt_fleet_priors *out, takt_diag *diag);

int fleet_pull(struct fleet_asking *asking);
int fleet_roll_up(struct fleet_asking *asking);
int fleet_export(struct fleet_asking *asking);

/* ---- fleet_speed.c ---- */

/* Adds the peak and the bandwidth to the facts of the machine. */
void fleet_find_speed(struct fleet_asking *asking);

/* ---- fleet_print.c ---- */

struct fleet_view {
    const struct fleet_asking *asking;
    const struct takt_fleet_state *state;
    const struct takt_fleet_pages *pages; /* planned */
};

/* To standard output. `is_whole`: every line that would be sent, too. */
void print_fleet_status(const struct fleet_view *view, bool is_whole);
