/* SPDX-License-Identifier: MIT */
/*
 * line.h - what cells are about: an op, its layout and dtype, a situation, an
 * expert and its GPU.
 *
 * As text: "op|layout|dtype|situation|expert|device". Only names of Takt's own
 * are shared: ops of the catalogue, links, and experts that Takt names itself.
 * Names that users gave to ops, experts or programs never make a line.
 */
#pragma once

#include <stdbool.h>

#include "store/record.h"

enum { TAKT_FLEET_LINE = 160, TAKT_FLEET_DEVICE_SIZE = 17 };

struct takt_fleet_line {
    char op[TAKT_RECORD_OP];
    char layout[TAKT_RECORD_LAYOUT];
    unsigned dtype, situation;
    char expert[TAKT_RECORD_EXPERT];
    char device[TAKT_FLEET_DEVICE_SIZE]; /* the first 16 digits; "": no GPU */
};

/* The line of a record. False: it is not shared. */
bool takt__fleet_line_of(const struct takt_record *record,
                         char out[TAKT_FLEET_LINE]);

/* Reads what others wrote. False: no such line is shared. */
bool takt__fleet_line_parse(const char *text, struct takt_fleet_line *out);

/* How many threads the expert of that name has. */
unsigned takt__fleet_threads(const char *expert);
