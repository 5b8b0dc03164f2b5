/* SPDX-License-Identifier: MIT */
/* fleet_print.h - what a machine shares, for people. */
#pragma once

#include "fleet/facts.h"
#include "fleet/state.h"
#include "json.h"

struct fleet_view {
    const char *store, *address; /* address NULL: none is set */
    const struct takt_fleet_facts *facts;
    const struct takt_fleet_state *state;
    const struct takt_fleet_pages *pages; /* planned */
};

/* To standard output. `is_whole`: every line that would be sent, too. */
void print_fleet_status(const struct fleet_view *view, bool is_whole,
                        bool is_json);
