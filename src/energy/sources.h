/* SPDX-License-Identifier: MIT */
/* sources.h - what a meter is made of, for the files of this folder. */
#pragma once

#include <stddef.h>

#include "energy/counter.h"
#include "hw/source.h"

/* ---- perf.c -------------------------------------------------------------- */

struct takt_perf_counter {
    int fd;
    uint64_t id; /* of the event, by which the descriptor is known to be ours */
};

/* Opens energy-pkg, and energy-ram, of each package; returns how many, and
 * fills in both. 0: `problem` says why. */
unsigned takt__perf_open(const struct takt_hw_source *source,
                         struct takt_perf_counter out[TAKT_ENERGY_COUNTERS],
                         struct takt_energy_counter counter[], char *problem,
                         size_t size);
bool takt__perf_read(const struct takt_perf_counter *perf, uint64_t *count);
void takt__perf_close(const struct takt_perf_counter *perf);

/* ---- nvml.c -------------------------------------------------------------- */

struct takt_nvml;

/* Loads NVML and fills in a counter for each GPU, at most `most`; returns how
 * many. *out is NULL, and 0 returned: `problem` says why. It is also set where
 * some GPU cannot be counted. */
unsigned takt__nvml_open(struct takt_nvml **out,
                         struct takt_energy_counter counter[], unsigned most,
                         char *problem, size_t size);
void takt__nvml_close(struct takt_nvml *nvml); /* NULL is allowed */

/* By the number of the counter that open() filled in. */
bool takt__nvml_read(struct takt_nvml *nvml, unsigned index,
                     struct takt_energy_reading *out);
