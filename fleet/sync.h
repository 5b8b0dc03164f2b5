/* SPDX-License-Identifier: MIT */
/* sync.h - sends what a machine measured to the database of its fleet. */
#pragma once

#include "fleet/facts.h"
#include "fleet/plan.h"
#include "fleet/server.h"
#include "store/turn.h"

/* A machine and its store. */
struct takt_fleet_member {
    const char *store;   /* a path */
    const char *machine; /* its fingerprint, in full */
    struct takt_fleet_facts facts;
};

struct takt_fleet_report {
    size_t lines, cells; /* in the store, that are shared */
    size_t withheld;     /* records that are not */
    size_t pages, bytes; /* that were sent now */
    size_t waiting;      /* pages that could not be sent */
    size_t repeated;     /* statements */
    double sending_s;    /* that sending the pages took */
    bool is_new;         /* the machine is a new origin since now */
};

/* A sync ended, by a timer or begun by a program: programs of this machine
 * leave the next one alone until their interval is over (`every_s`; 0: they
 * never begin any). `problem`: one line, "" for none. */
void takt__fleet_note(const char *store, double every_s, const char *problem);

/* When programs sync the store next (turn.h), without taking the turn. */
struct takt_turn takt__fleet_look(const char *store, double every_s);

/* Sends every page that the database lacks. Can be repeated, and ended at any
 * time: what was not sent, or is not known to have arrived, is sent the next
 * time, and is in the database once. TAKT_ENOENT: there is no store.
 * Others: `diag` says why; the report counts what waits. */
takt_status takt__fleet_push(const struct takt_fleet_member *member,
                             struct takt_fleet_state *state,
                             struct takt_fleet_server *server,
                             struct takt_fleet_report *report, takt_diag *diag);
