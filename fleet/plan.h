/* SPDX-License-Identifier: MIT */
/*
 * plan.h - which pages are to be sent, and under which numbers.
 *
 * A page is all that is known of a line, so that a later one replaces it. It
 * keeps its number until the database has it: sent twice, it is there once.
 */
#pragma once

#include "fleet/state.h"

/* Gives every page that the database lacks its number, and notes all of them
 * in the state. `database` is the id of the one that they go to: another one
 * than before has nothing yet. Returns how many pages wait.
 * TAKT_ENOMEM: nothing was changed. */
takt_status takt__fleet_plan(struct takt_fleet_state *state,
                             struct takt_fleet_pages *pages,
                             const char *database, size_t *waiting);
