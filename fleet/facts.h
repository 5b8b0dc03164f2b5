/* SPDX-License-Identifier: MIT */
/*
 * facts.h - what kind of machine an origin is, and which machines are alike.
 *
 * Facts travel as lines "key=value". They hold nothing that names a machine:
 * fingerprints are of kinds of hardware (hw/fingerprint.h).
 */
#pragma once

#include <takt/machine.h>

#include "fleet/line.h"

enum {
    TAKT_FLEET_CLASS = 64,
    TAKT_FLEET_FACTS = 1024,
    TAKT_FLEET_FINGERPRINT = 17, /* 16 digits */
    TAKT_FLEET_WORD = 16
};

struct takt_fleet_facts {
    char machine[TAKT_FLEET_FINGERPRINT];
    char vendor[TAKT_FLEET_WORD];
    char isa[TAKT_FLEET_WORD];
    unsigned family, cores, threads;
    unsigned l1_kib, l2_kib, l3_kib;
    unsigned driver;                  /* its major version; 0: none */
    char gpu_vendor[TAKT_FLEET_WORD]; /* PCI's number; "": there is no GPU */
    /* By what was measured, in millions a second; 0: not known. */
    unsigned peak, bandwidth; /* operations, and bytes of memory */
};

/* The classes that a line of a machine belongs to, from the narrowest on:
 *                        of a processor             of a GPU
 *   exact                the fingerprint            and the driver
 *   kind                 vendor, family,            the device and the driver
 *                        instruction set, cores
 *   device               -                          the device, any driver
 *   vendor               the vendor                 the vendor
 * Of drivers the major version counts. */
enum takt_fleet_level {
    TAKT_FLEET_EXACT,
    TAKT_FLEET_KIND,
    TAKT_FLEET_DEVICE,
    TAKT_FLEET_VENDOR,
    TAKT_FLEET_LEVELS
};

/* Of this machine (`is_here`), or of a recording, of which no driver is known.
 */
void takt__fleet_facts_of(const takt_machine *machine, bool is_here,
                          struct takt_fleet_facts *out);

/* Returns the length of the text, which ends with a NUL. */
size_t takt__fleet_facts_print(const struct takt_fleet_facts *facts,
                               char out[TAKT_FLEET_FACTS]);

/* Reads what others wrote; keys that are not known are passed over. False: it
 * is not valid. */
bool takt__fleet_facts_parse(const char *text, size_t length,
                             struct takt_fleet_facts *out);

/* The class of a machine at a level; `device`: of a line, "" for the
 * processor. "": there is none. */
void takt__fleet_class(const struct takt_fleet_facts *facts,
                       enum takt_fleet_level level, const char *device,
                       char out[TAKT_FLEET_CLASS]);

/* How alike two processors are, from 0 to 1: by their peak, bandwidth, cores
 * and caches, as far as both are known. Other vendors and families count as
 * less alike. */
double takt__fleet_likeness(const struct takt_fleet_facts *a,
                            const struct takt_fleet_facts *b);
