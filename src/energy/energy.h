/* SPDX-License-Identifier: MIT */
/*
 * energy.h - what experts draw, from counters and from who was at work when.
 *
 * Time is cut into windows of a second or more, which end where a counter
 * steps. Each window is an observation: the watts that the counter says, and
 * the share of the window that each expert was at work, by what bounds its
 * calls. A regression (regression.h) finds the watts of each, and those of a
 * machine that does nothing. It has no clock, no file and no counter: the owner
 * hands it readings and uses, from this machine or from a recording.
 *
 * Threads: none of its own; the owner locks it.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "energy/counter.h"

enum { TAKT_ENERGY_TERMS = 32, TAKT_ENERGY_BOUNDS = 7 };

/* What draws energy: a counter of a GPU, or one of these. */
enum {
    TAKT_ENERGY_PROCESSOR = -1,
    TAKT_ENERGY_UNCOUNTED = -2 /* a GPU that has no counter */
};

/* A run of an expert, or several that one stands for. */
struct takt_energy_use {
    unsigned arm;      /* below 256 */
    unsigned bound;    /* below TAKT_ENERGY_BOUNDS: what bounds it. A GPU that
                        * waits for its memory draws half of what it does in a
                        * product */
    unsigned threads;  /* of the processor */
    int where;         /* the counter of its GPU, or one of those above */
    uint64_t start_ns; /* of CLOCK_MONOTONIC */
    uint64_t ns, runs; /* each took so long */
};

/* Watts, and their standard error. */
struct takt_energy_watts {
    double mean, error;
    bool is_known; /* the error is at most a twentieth, or half a watt */
};

struct takt_energy;

/* NULL: no memory, or too many counters. */
struct takt_energy *
takt__energy_create(const struct takt_energy_counter *counter, unsigned count);
void takt__energy_destroy(struct takt_energy *energy); /* NULL is allowed */

unsigned takt__energy_counter_count(const struct takt_energy *energy);
const struct takt_energy_counter *
takt__energy_counter(const struct takt_energy *energy, unsigned counter);

/* The counter of the GPU at an address of the PCI bus, or
 * TAKT_ENERGY_UNCOUNTED. "00000000:3B:00.0" is "0000:3b:00.0". */
int takt__energy_find_gpu(const struct takt_energy *energy,
                          const char *address);

/* The counters that should be read now, bit 1 << counter. */
uint32_t takt__energy_due(const struct takt_energy *energy, uint64_t now_ns);

/* A counter was read. True: what it says of watts has changed. */
bool takt__energy_read(struct takt_energy *energy, unsigned counter,
                       const struct takt_energy_reading *reading);

/* An expert was at work. */
void takt__energy_use(struct takt_energy *energy,
                      const struct takt_energy_use *use);

/* What an expert draws beyond an idle machine while it is at work on calls with
 * that bound; or (TAKT_ENERGY_BOUNDS) on those that it ran lately, as they were
 * mixed. An expert of the processor: by all counters of the processor. One of a
 * GPU: by that of the GPU and, where there are some, those of the processor. */
struct takt_energy_watts takt__energy_watts(const struct takt_energy *energy,
                                            unsigned arm, unsigned bound);

/* The same beside a machine that does nothing else: idle watts of its counters
 * included. */
struct takt_energy_watts
takt__energy_total_watts(const struct takt_energy *energy, unsigned arm,
                         unsigned bound);

/* Arms that were at work: calls visit() for each arm and bound, and for each
 * arm with TAKT_ENERGY_BOUNDS. */
void takt__energy_each(const struct takt_energy *energy,
                       void (*visit)(void *self, unsigned arm, unsigned bound),
                       void *self);

/* What the counter says of a machine that does nothing. */
struct takt_energy_watts takt__energy_idle(const struct takt_energy *energy,
                                           unsigned counter);

/* What became of the windows of a counter. */
struct takt_energy_windows {
    unsigned used;
    unsigned busy_elsewhere; /* rejected: other load was more than half of it */
    unsigned mixed;          /* rejected: more of them than can be told
                              * apart */
    unsigned broken;         /* no reading in time, or the counter was reset */
    bool is_gone;            /* the counter cannot be read any more, or does not
                              * count */
};
struct takt_energy_windows
takt__energy_windows(const struct takt_energy *energy, unsigned counter);

/* Has everything that it is told written to a stream, as recording.h says;
 * NULL: no longer. Borrowed. */
void takt__energy_set_log(struct takt_energy *energy, FILE *log);
