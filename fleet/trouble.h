/* SPDX-License-Identifier: MIT */
/* trouble.h - what a failed statement means, and what is said about it. */
#pragma once

#include "fleet/server.h"

enum takt_fleet_trouble {
    TAKT_FLEET_THERE,  /* 23505: the row is there already */
    TAKT_FLEET_PASSES, /* it may be repeated on this connection */
    TAKT_FLEET_LOST,   /* it may be repeated on another one */
    TAKT_FLEET_REFUSED /* it would fail again */
};

/* `result` NULL: the connection is lost. `diag` says what is wrong in one
 * line, and for what is common what to do. */
enum takt_fleet_trouble
takt__fleet_judge(const struct takt_fleet_server *server,
                  const struct takt_pq_result *result, takt_diag *diag);

/* One line of a text that may have several. */
void takt__fleet_say(takt_diag *diag, const char *text);

/* The same for a connection that failed, with what that may mean. */
void takt__fleet_say_lost(takt_diag *diag, const char *text);

/* Connects again. */
takt_status takt__fleet_reconnect(struct takt_fleet_server *server,
                                  takt_diag *diag);
