/* SPDX-License-Identifier: MIT */
/*
 * cell.h - what is shared of one size: statistics of ln(nanoseconds).
 *
 * Cells of one line travel as bytes: a version, then 26 bytes for each cell in
 * the order of their bins, little-endian. Of an origin, n counts samples and
 * m2 sums their squared distances from the mean; of a prior, n counts machines
 * and m2 is n times the squared spread between them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
    TAKT_FLEET_CELL_BYTES = 26,
    TAKT_FLEET_MOST_CELLS = 1024,
    TAKT_FLEET_MOST_BYTES = 1 + TAKT_FLEET_CELL_BYTES * TAKT_FLEET_MOST_CELLS
};

struct takt_fleet_cell {
    unsigned bin; /* of the work, see op/key.h */
    float n, mean, m2;
    float first_s;      /* of the first run in a process; 0: not known */
    float bytes, flops; /* of a typical call */
};

/* Writes `count` cells, at most TAKT_FLEET_MOST_CELLS; returns the length. */
size_t takt__fleet_encode(const struct takt_fleet_cell *cell, size_t count,
                          unsigned char out[TAKT_FLEET_MOST_BYTES]);

/* Reads cells that others wrote. False: they are not valid, or a number is out
 * of the range that records may have (store/record.h). */
bool takt__fleet_decode(const unsigned char *bytes, size_t length,
                        struct takt_fleet_cell out[TAKT_FLEET_MOST_CELLS],
                        size_t *count);
