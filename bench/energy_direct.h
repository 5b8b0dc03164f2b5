/* SPDX-License-Identifier: MIT */
/*
 * energy_direct.h - the watts of all counters between two moments, read by a
 * thread of its own where they step.
 */
#pragma once

#include "energy/meter.h"

struct energy_reader;

void pause_until(double end_ns); /* by bench_now_ns() */

struct energy_reader *energy_reader_begin(struct takt_energy_meter *meter);

/* What is measured may end; the thread then waits for the last steps. */
void energy_reader_ask(struct energy_reader *reader);

/* Joins it; NAN: the counter cannot be read. */
void energy_reader_end(struct energy_reader *reader,
                       double watts[TAKT_ENERGY_COUNTERS]);
