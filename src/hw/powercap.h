/* SPDX-License-Identifier: MIT */
/*
 * powercap.h - the energy counters of processors that Linux shows as files
 * (RAPL: Intel's, and AMD's under the same names).
 *
 * Packages, and memory, which no package includes. Cores and graphics are in
 * their package, "psys" includes everything, and the same package may be there
 * a second time by another interface: these would be counted twice.
 */
#pragma once

#include <stdbool.h>

#include "hw/source.h"

enum { TAKT_POWERCAP_ZONES = 16 };

struct takt_powercap_zone {
    char name[32];   /* "package-0", "dram of package-0" */
    char folder[96]; /* with the files energy_uj and max_energy_range_uj */
    uint64_t range_uj;
    bool is_readable; /* most systems let only root read it */
};

/* The zones of a machine. */
unsigned
takt__powercap_find(const struct takt_hw_source *source,
                    struct takt_powercap_zone out[TAKT_POWERCAP_ZONES]);

/* False: it cannot be read. */
bool takt__powercap_read(const struct takt_hw_source *source,
                         const struct takt_powercap_zone *zone,
                         uint64_t *energy_uj);
