/* SPDX-License-Identifier: MIT */
/*
 * recovery.c - when an arm that refused gets another chance.
 *
 * It is suspended: 0.1 s, then twice as long each time, up to a minute.
 */
#include "model/inside.h"

/* Judgement. */
static const uint64_t first_pause_ns = 100000000,
                      longest_pause_ns = 60000000000;

/* Calls that were under way when it was suspended are no new refusals. */
bool takt__suspend(struct takt_model *model,
                   const struct takt_observation *seen)
{
    struct takt_track *track = seen->track;
    struct takt_series *series = seen->series;
    const unsigned doublings = track->refusals < 10 ? track->refusals : 10;
    const uint64_t pause_ns = first_pause_ns << doublings;

    model->counters.refused++;
    if (seen->sample->start_ns < track->suspect_ns)
        return false;
    if (track->refusals < UINT8_MAX)
        track->refusals++;
    track->suspect_ns =
        seen->sample->start_ns +
        (pause_ns < longest_pause_ns ? pause_ns : longest_pause_ns);
    if (series->retry_ns == 0 || track->suspect_ns < series->retry_ns)
        series->retry_ns = track->suspect_ns;
    takt__series_change(series);
    return true;
}

void takt__end_suspensions(struct takt_series *series, uint64_t now_ns)
{
    if (series->retry_ns == 0 || now_ns < series->retry_ns)
        return;
    series->retry_ns = 0;
    takt__series_change(series);
    for (unsigned i = 0; i < series->arm_count; i++) {
        const uint64_t then_ns = series->track[series->arm[i]]->suspect_ns;
        if (then_ns > now_ns &&
            (series->retry_ns == 0 || then_ns < series->retry_ns))
            series->retry_ns = then_ns;
    }
}
