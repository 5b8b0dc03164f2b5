/* SPDX-License-Identifier: MIT */
/*
 * spinning.h - how many of a library's threads spin between its calls.
 *
 * A library uses threads for some calls, and all of them for few. Those that it
 * did not use sleep, and take no processor after a change of sides. What a
 * process takes beyond one processor while calls run in the library is threads
 * at work or spinning.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct takt_spinning {
    uint64_t (*process_ns)(void); /* CPU time of the process; NULL: not known */
    unsigned threads;             /* of the library; 0: not known */
    uint64_t cpu_ns, at_ns;       /* when it was last measured */
    double share;                 /* of the threads; below 0: not known */
};

/* Measures every 20 ms at most; what was before `since_ns` does not count. */
void takt__spinning_measure(struct takt_spinning *spinning, uint64_t since_ns,
                            uint64_t now_ns);

/* The share of threads; 1: not known. */
double takt__spinning_share(const struct takt_spinning *spinning);

/* Whether it is known that none does. */
bool takt__spinning_is_none(const struct takt_spinning *spinning);
