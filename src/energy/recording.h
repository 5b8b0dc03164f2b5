/* SPDX-License-Identifier: MIT */
/*
 * recording.h - what an attribution was told, as text, and back.
 *
 *     takt-energy 1
 *     counter nvml 0000:19:00.0 1000000000000000 0 100 0 NVIDIA H200
 *     read 0 1000000 81536 250000000 430
 *     use 7 1 1 0 1000000 250000 1
 *     gone 0 2000000
 *
 * counter  source, address (or -), unit in attojoules, range, step in ms, 1 if
 *          it is made of power, name
 * read     counter, time, count, time that all processors were at work, share
 *          that a GPU was (thousandths; 1001: not known)
 * gone     counter, time
 * use      arm, bound, threads, counter of the GPU (- processor, ? a GPU
 * without one), start, length, runs
 *
 * Times are nanoseconds. Lines that begin with # are comments. A recording is
 * untrusted.
 */
#pragma once

#include <takt/store.h>

#include "energy/energy.h"

/* Makes an attribution and gives it all that the text says.
 * TAKT_ECORRUPT: `diag` says which line is not understood. TAKT_ENOMEM. */
takt_status takt__energy_replay(const char *text, struct takt_energy **out,
                                takt_diag *diag);
