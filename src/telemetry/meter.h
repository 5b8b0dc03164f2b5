/* SPDX-License-Identifier: MIT */
/*
 * meter.h - durations by op and expert, from the samples that are learned from.
 *
 * Threads: the learner adds, the dispatcher copies; no caller waits for the
 * lock between the two.
 */
#ifndef TAKT_TELEMETRY_METER_H
#define TAKT_TELEMETRY_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "model/sample.h"
#include "takt/telemetry.h"

enum { TAKT_METERS = 1024 }; /* pairs of an op and an expert; a power of two */

struct takt_meter {
    uint16_t op; /* its number, and one more; 0: free */
    uint8_t expert;
    takt_duration_metric metric; /* without names */
};

struct takt_meters {
    pthread_mutex_t lock;
    struct takt_meter of[TAKT_METERS]; /* by a hash of the pair */
};

void takt__meters_init(struct takt_meters *meters);

/* Adds the time of a run. Pairs beyond TAKT_METERS are not counted. */
void takt__meters_add(struct takt_meters *meters, unsigned op, unsigned expert,
                      double seconds, uint64_t calls);

/* Copies those in use, at most TAKT_METERS; returns their number. */
unsigned takt__meters_copy(struct takt_meters *meters, struct takt_meter *out);

#endif
