/* SPDX-License-Identifier: MIT */
/*
 * state.h - what this machine is to the fleet, and what it has sent: a text
 * beside the store, STORE-fleet.
 *
 * The store is the queue: what it holds and is not noted here as sent is
 * waiting. The text is written before anything is sent, so that a page keeps
 * its number however a process ends, and is replaced as a whole.
 */
#pragma once

#include <stdint.h>

#include "fleet/gather.h"

enum { TAKT_FLEET_ORIGIN = 33, TAKT_FLEET_DATABASE = 40 };

/* The last page of a line. */
struct takt_fleet_sent {
    char line[TAKT_FLEET_LINE];
    char digest[TAKT_FLEET_DIGEST];
    uint64_t seq;
    bool is_sent; /* the database has it */
};

struct takt_fleet_state {
    char path[1100];
    int lock;                           /* a descriptor; -1: none */
    char origin[TAKT_FLEET_ORIGIN];     /* random; "": none yet */
    char database[TAKT_FLEET_DATABASE]; /* to which it was sent; "": none */
    uint64_t inode;      /* of the store: a copy of it is another origin */
    uint64_t epoch;      /* raised when lines were forgotten */
    uint64_t seq;        /* the last one that was given */
    uint64_t generation; /* of the prior that was received; 0: none */
    uint64_t received, machines;  /* its cells, and the machines behind it */
    struct takt_fleet_sent *sent; /* in the order of their lines */
    size_t count;
};

/* Reads the state of a store, or begins one; with a lock, which keeps other
 * processes out until it is closed (`is_locked` false: only to look). A text
 * that is damaged is as good as none: the machine is a new origin.
 * TAKT_EIO: another process holds the lock for seconds, no file can be made, or
 * the one that is there cannot be read. TAKT_ENOMEM: no memory. */
takt_status takt__fleet_state_open(const char *store, bool is_locked,
                                   struct takt_fleet_state *out,
                                   takt_diag *diag);
void takt__fleet_state_close(struct takt_fleet_state *state);

takt_status takt__fleet_state_write(const struct takt_fleet_state *state,
                                    takt_diag *diag);

/* Becomes a new origin, of which nothing was sent. TAKT_EIO: the system has no
 * random bytes. */
takt_status takt__fleet_state_renew(struct takt_fleet_state *state);

/* What was noted of a line; NULL: nothing. */
struct takt_fleet_sent *
takt__fleet_state_find(const struct takt_fleet_state *state, const char *line);

/* The text alone, for tests. TAKT_ECORRUPT: it is not valid. */
takt_status takt__fleet_state_parse(const char *text, size_t length,
                                    struct takt_fleet_state *out);
