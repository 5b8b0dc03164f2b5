/* SPDX-License-Identifier: MIT */
/* machine_energy.h - the counters of energy of this machine or a recorded one.
 */
#pragma once

#include "energy/meter.h"
#include "json.h"

/* `recording` NULL: this machine. NULL: no memory. */
struct takt_energy_meter *open_energy(const char *recording);

/* "nvml: NVIDIA H200 at 0000:19:00.0" */
void describe_counter(const struct takt_energy_counter *counter, char *out,
                      size_t size);

/* What counts, or why nothing does and what to do. */
void print_energy(const struct takt_energy_meter *meter); /* NULL: nothing */
void print_energy_json(struct json *json,
                       const struct takt_energy_meter *meter);
