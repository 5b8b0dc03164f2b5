/* SPDX-License-Identifier: MIT */
/*
 * sample.h - what a run cost: data only.
 */
#ifndef TAKT_MODEL_SAMPLE_H
#define TAKT_MODEL_SAMPLE_H

#include <stdint.h>

enum {
    TAKT_SAMPLE_EXPLORED = 1, /* run to learn, not because it was best */
    TAKT_SAMPLE_SWITCHED = 2, /* the operands lay in another team's caches */
    TAKT_SAMPLE_REFUSED = 4,  /* the arm did not run it: no time in it */
    TAKT_SAMPLE_TOLD = 8,     /* by somebody who ran and timed it himself */
    TAKT_SAMPLE_TRIAL = 16,   /* on purpose and with care, not in a program */
    TAKT_SAMPLE_ASIDE = 32    /* explored, but beside a call: all of it is extra
                               */
};

struct takt_sample {
    uint16_t series;
    uint8_t bucket;
    uint8_t situation;
    uint8_t arm;
    uint8_t flags;
    uint16_t calls; /* that this one stands for: others were not timed */
    float bytes, flops;
    uint64_t start_ns; /* of CLOCK_MONOTONIC */
    double seconds;
};

#endif
