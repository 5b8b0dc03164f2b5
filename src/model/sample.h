/* SPDX-License-Identifier: MIT */
/* sample.h - what a run cost: data only. */
#pragma once

#include <stdint.h>

enum {
    TAKT_SAMPLE_EXPLORED = 1, /* run to learn, not because it was best */
    TAKT_SAMPLE_SWITCHED = 2, /* the operands were in another team's caches */
    TAKT_SAMPLE_REFUSED = 4,  /* the arm did not run it: no time in it */
    TAKT_SAMPLE_REPORTED = 8, /* the program ran and timed it by itself */
    TAKT_SAMPLE_TUNING = 16,  /* a careful measurement, not a program's call */
    TAKT_SAMPLE_SHADOW = 32,  /* explored in a shadow run: all of it is extra */
    TAKT_SAMPLE_MISJUDGED = 64 /* threads slept where the decision took them to
                                * be awake, or the other way round */
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
    uint8_t objective; /* under which it was decided: its number */
};
