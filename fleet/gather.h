/* SPDX-License-Identifier: MIT */
/* gather.h - what a machine has to share, read from its store. */
#pragma once

#include <stdint.h>

#include <takt/store.h>

#include "fleet/cell.h"
#include "fleet/line.h"

enum { TAKT_FLEET_DIGEST = 17 };

/* All cells of one line, of all writers together. */
struct takt_fleet_page {
    char line[TAKT_FLEET_LINE];
    char digest[TAKT_FLEET_DIGEST]; /* of the bytes: the start of a SHA-256 */
    uint64_t seq;                   /* set by plan.h */
    bool is_waiting;                /* to be sent; the same */
    unsigned char *bytes;           /* owned */
    size_t length, cells;
};

struct takt_fleet_pages {
    struct takt_fleet_page *page; /* in the order of their lines */
    size_t count, cells;
    size_t withheld; /* records that are never shared */
};

/* Reads the store, which stays as it is. Of records of this `machine` alone:
 * what others measured is theirs to share. The same records make the same
 * bytes. TAKT_ENOENT: there is no store.
 * Others: as takt__store_open(); `diag` says why. */
takt_status takt__fleet_gather(const char *store, const char *machine,
                               struct takt_fleet_pages *out, takt_diag *diag);
void takt__fleet_pages_free(struct takt_fleet_pages *pages);
