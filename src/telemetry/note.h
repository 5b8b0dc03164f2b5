/* SPDX-License-Identifier: MIT */
/*
 * note.h - what a caller leaves of a call that is told of: data only, numbers
 * instead of names. Takt's own thread makes an event of it (takt_event).
 */
#ifndef TAKT_TELEMETRY_NOTE_H
#define TAKT_TELEMETRY_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "takt/telemetry.h"

struct takt_note {
    const takt_op *op; /* NULL: the series says it */
    takt_shape shape;
    takt_work work;
    uint8_t kind; /* takt_event_kind */
    uint8_t told;
    uint8_t dtype;
    uint8_t arm;       /* who ran it */
    uint8_t runner_up; /* an arm; the same as `best`: not known */
    uint8_t best;      /* an arm: whom the model took for the best */
    uint8_t refused;   /* an arm; the same as `arm`: nobody refused */
    uint8_t reason, residency;
    uint8_t refusal, status; /* takt_status */
    bool has_history;
    uint16_t series;
    float confidence;
    double predicted_s;
    double actual_s;          /* of a change */
    uint64_t start, run, end; /* ticks */
    uint64_t thread_id;
    takt_span_context parent;
};

#endif
