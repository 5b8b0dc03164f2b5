/* SPDX-License-Identifier: MIT */
/*
 * meter.h - the energy counters of this machine, or of a recorded one.
 *
 * Processors: the files of powercap, or the power events of perf where these
 * are missing or may not be read. NVIDIA's GPUs: NVML, which is loaded by name.
 * What cannot be used is said in a line that ends with what to do about it.
 *
 * Threads: one at a time. A read of NVML takes some milliseconds, and opening
 * takes up to a second: not for callers. NVML does not survive
 * fork().
 */
#pragma once

#include "energy/counter.h"
#include "hw/source.h"

enum { TAKT_METER_PROBLEMS = 4, TAKT_METER_PROBLEM = 256 };

struct takt_energy_meter;

/* `is_live`: the source is this machine. Otherwise there is nothing to read,
 * only what was found when the machine was recorded. NULL: no memory. */
struct takt_energy_meter *takt__meter_open(const struct takt_hw_source *source,
                                           bool is_live);
void takt__meter_close(struct takt_energy_meter *meter); /* NULL is allowed */

/* The same in a child of fork(), which calls no driver. */
void takt__meter_forget(struct takt_energy_meter *meter);

unsigned takt__meter_count(const struct takt_energy_meter *meter);
const struct takt_energy_counter *
takt__meter_counters(const struct takt_energy_meter *meter);

/* Why something is not counted; NULL: there is no more of that. */
const char *takt__meter_problem(const struct takt_energy_meter *meter,
                                unsigned i);

void takt__meter_read(struct takt_energy_meter *meter, unsigned counter,
                      struct takt_energy_reading *out);
