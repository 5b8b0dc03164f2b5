/* SPDX-License-Identifier: MIT */
/*
 * backoff.h - when a batch that could not be delivered is tried again: later
 * and later, at a random moment, so that not all programs come back at once.
 * Knows no clock: what time it is, it is told.
 */
#ifndef TAKT_OTEL_BACKOFF_H
#define TAKT_OTEL_BACKOFF_H

#include <stdint.h>

struct takt_otel_backoff {
    double first_s;  /* the longest wait before the second try */
    double factor;   /* by which that grows */
    double most_s;   /* up to this */
    double budget_s; /* from the first try to the last */
    unsigned tries;  /* at most, the first included */
};

/* Waits of 1 s and half as much more each time, up to 5 s, and 5 tries. */
#define TAKT_OTEL_BACKOFF_USUAL ((struct takt_otel_backoff){1, 1.5, 5, 30, 5})

/* After the try number `tried` (the first is 1), `elapsed_s` after the first
 * began: how long to wait before the next. `asked_s` is what the collector
 * asked for, negative when it did not; `random` is any number. Negative: there
 * is no next. */
double takt__otel_backoff(const struct takt_otel_backoff *backoff,
                          unsigned tried, double elapsed_s, double asked_s,
                          uint64_t random);

#endif
