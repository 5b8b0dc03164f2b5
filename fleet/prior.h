/* SPDX-License-Identifier: MIT */
/*
 * prior.h - what classes of machines are expected to take: rows of the table
 * takt_fleet.prior, or of a file.
 *
 * A file is a first line, the generation, the rows, and a signature (Ed25519)
 * of all that, in 64 bytes (sign.h). Numbers are little-endian.
 */
#pragma once

#include <stdint.h>

#include "fleet/cell.h"
#include "fleet/facts.h"

struct takt_fleet_prior {
    char class[TAKT_FLEET_CLASS];
    char line[TAKT_FLEET_LINE]; /* "": the bytes are facts of the class */
    unsigned char *bytes;       /* owned */
    size_t length;
};

struct takt_fleet_priors {
    struct takt_fleet_prior *prior;
    size_t count, room;
    size_t bytes; /* of all of them, without their classes and lines */
    uint64_t generation;
};

/* Copies a row. False: it is too long, or there is no memory. */
bool takt__fleet_priors_add(struct takt_fleet_priors *priors, const char *class,
                            const char *line, const void *bytes, size_t length);
void takt__fleet_priors_free(struct takt_fleet_priors *priors);

/* The file without its signature, to be freed; NULL: no memory. */
unsigned char *takt__fleet_priors_print(const struct takt_fleet_priors *priors,
                                        size_t *length);

/* Reads such bytes. TAKT_ECORRUPT: they are not valid. TAKT_ENOMEM: no memory.
 * There is nothing to be freed then. */
takt_status takt__fleet_priors_parse(const unsigned char *bytes, size_t length,
                                     struct takt_fleet_priors *out);
