/* SPDX-License-Identifier: MIT */
/*
 * event_record.h - what a caller leaves of a call that is emitted: data only,
 * numbers instead of names. The dispatcher makes a takt_event of it.
 */
#ifndef TAKT_TELEMETRY_EVENT_RECORD_H
#define TAKT_TELEMETRY_EVENT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "takt/telemetry.h"

struct takt_event_record {
    const takt_op *op; /* NULL: the series says it */
    takt_shape shape;
    takt_work work;
    uint8_t kind; /* takt_event_kind */
    uint8_t told; /* why: TAKT_TOLD_... */
    uint8_t dtype;
    uint8_t arm;       /* the number of the expert that ran it */
    uint8_t runner_up; /* an expert; the same as `best`: not known */
    uint8_t best;      /* the expert that the model took for the best */
    uint8_t refused;   /* an expert; the same as `arm`: none refused */
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
