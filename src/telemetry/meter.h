/* SPDX-License-Identifier: MIT */
/*
 * meter.h - durations by op and expert, out of the samples that are learned
 * from.
 *
 * Threads: add() is the learner's, copy() the courier's; a lock between the two
 * that no caller ever waits for.
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
    uint8_t arm;
    uint64_t calls;
    double seconds, least_s, most_s;
    uint64_t in_class[TAKT_DURATION_BOUNDS + 1];
};

struct takt_meters {
    pthread_mutex_t lock;
    struct takt_meter of[TAKT_METERS]; /* by a hash of the pair */
};

void takt__meters_init(struct takt_meters *meters);
void takt__meters_clear(struct takt_meters *meters);

/* Adds the time of a run. Pairs beyond the last place are not kept. */
void takt__meters_add(struct takt_meters *meters, unsigned op, unsigned arm,
                      double seconds, uint64_t calls);

/* Those in use, at most TAKT_METERS, copied; returns their number. */
unsigned takt__meters_copy(struct takt_meters *meters, struct takt_meter *out);

#endif
