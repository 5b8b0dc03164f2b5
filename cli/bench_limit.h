/* SPDX-License-Identifier: MIT */
/*
 * bench_limit.h - what the machine could do at best, measured.
 *
 * The yardstick of `takt bench`: loops that multiply and add in registers, and
 * loops that read and write as many arrays as an op does, with the widest
 * instructions that the machine has. What they reach is not a theoretical
 * figure, so an expert may come out slightly above it.
 */
#pragma once

#include <takt/machine.h>

#include "base/clock.h"

/* How a call passes through memory. */
struct traffic {
    double bytes;     /* of all arrays together */
    unsigned streams; /* arrays read, 1 to 3 */
    bool is_written;  /* and one written */
};

/* Multiply-adds of floats on one core, in operations per second. Half of it is
 * what doubles can reach. */
double measure_flops(const takt_machine *machine);

/* Bytes per second on so many threads at once, each with its own part of the
 * arrays; 0 when there is no memory or no thread to be had. */
double measure_bandwidth(const takt_machine *machine,
                         const struct traffic *traffic, unsigned threads);

static inline double now_s(void)
{
    return (double)takt__now_ns() * 1e-9;
}
