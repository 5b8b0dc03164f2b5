/* SPDX-License-Identifier: MIT */
/*
 * counter.h - a counter of energy, and what is read of it: data only.
 *
 * Everything is a whole number, so that a recording (recording.h) gives the
 * same results wherever it is replayed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { TAKT_ENERGY_COUNTERS = 16 };

struct takt_energy_counter {
    char source[12];  /* "powercap", "perf" or "nvml" */
    char name[48];    /* "package-0", "NVIDIA H200" */
    char address[16]; /* of a GPU on the PCI bus; "": the processor's */
    uint64_t unit_aj; /* attojoules (1e-18 J) of a count */
    uint64_t range;   /* counts after which it begins anew; 0: never */
    unsigned step_ms; /* it stands still for so long in between; 0: for less
                       * than two milliseconds */
    bool is_power;    /* it is an integral that is made of readings of power, so
                       * it has to be read all the time */
};

struct takt_energy_reading {
    uint64_t at_ns;     /* of CLOCK_MONOTONIC, halfway of the reading */
    uint64_t count;     /* of the counter */
    uint64_t cpu_ns;    /* that all processors of the machine were at work since
                         * it was started */
    unsigned share_pml; /* how busy a GPU says it is, in thousandths; beyond
                         * 1000: not known */
    bool is_gone;       /* it could not be read */
};
