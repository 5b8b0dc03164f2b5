/* SPDX-License-Identifier: MIT */
/*
 * record.h - writes a call that has ended to the shared statistics: where it
 * ran, what it took compared with the baseline library, and why not on a GPU.
 */
#pragma once

#include "forecast.h"
#include "intercepted.h"
#include "route.h"

enum takt_destination takt__destination_of(const struct takt_route *route,
                                           const takt_decision *decision);

/* What a call took on its side, for the comparison of both. */
void takt__record_side(const struct takt_intercept *intercept,
                       enum takt_side side, uint64_t start_ns, uint64_t end_ns);

/* Gives the model a time that was measured here. Takes the learner's lock,
 * guarded (guard.h). */
void takt__record_learned(const struct takt_route *route,
                          const takt_measurement *measurement);

/* What calls of this thread took that were recorded and timed: calls that
 * LAPACK makes by name are not its own time. */
extern _Thread_local uint64_t takt__recorded_ns;

/* It was passed through; ns 0: not timed. */
void takt__record_pass(const struct takt_intercept *intercept, uint64_t ns);

/* What a routed call took, as its caller saw it. */
struct takt_taken {
    uint64_t start_ns, end_ns;
    double transfer_s, wait_s; /* of that: moving operands, waiting */
};

/* It was routed as one call. */
void takt__record_routed(const struct takt_route *route,
                         const struct takt_intercept *intercept,
                         const takt_call *call, const takt_decision *decision,
                         uint64_t start_ns, uint64_t end_ns);

/* It ran there. `why` counts if that is not a GPU. */
void takt__record(const struct takt_intercept *intercept,
                  enum takt_destination destination,
                  const struct takt_taken *taken,
                  const struct takt_forecast *forecast, enum takt_why why);
