/* SPDX-License-Identifier: MIT */
/*
 * recovery.c - when an arm that refused or lost gets another chance.
 *
 * An arm that refuses a call is suspended: 0.1 s, then twice as long each time,
 * up to a minute. Arms that lost are tried again after 256 calls, then after
 * twice as many each time, until these are 2,048 and took a second; soon, when
 * the speed of any arm has changed. An arm that was the best and became slower
 * is tried more often: every 512 calls if these took 0.2 s, however slow it is,
 * as far as the budget allows.
 */
#include "model/inside.h"

/* Judgement. */
static const double first_calls = 256, soon_calls = 64;
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

static void set(struct takt_schedule *schedule, double now, double calls)
{
    schedule->calls = calls;
    schedule->next = now + calls;
}

void takt__recheck_init(struct takt_bandit *bandit)
{
    set(&bandit->losers, 0, first_calls);
    set(&bandit->fallen, 0, first_calls);
}

bool takt__recheck_is_due(const struct takt_bandit *bandit)
{
    return bandit->calls >= bandit->losers.next ||
           bandit->calls >= bandit->fallen.next;
}

/* Twice as many calls later than the last time, but for those that are enough
 * and took long enough. */
static void begin(struct takt_bandit *bandit, struct takt_schedule *schedule,
                  double enough_calls, uint64_t enough_ns, uint64_t now_ns)
{
    if (bandit->calls < schedule->next)
        return;
    const bool is_enough = schedule->calls >= enough_calls &&
                           now_ns - schedule->began_ns >= enough_ns;
    set(schedule, bandit->calls, schedule->calls * (is_enough ? 1 : 2));
    schedule->began_ns = now_ns;
}

void takt__recheck_begin_due(struct takt_bandit *bandit, uint64_t now_ns)
{
    begin(bandit, &bandit->losers, 2048, 1000000000, now_ns);
    begin(bandit, &bandit->fallen, 512, 200000000, now_ns);
}

void takt__recheck_soon(struct takt_bandit *bandit)
{
    set(&bandit->losers, bandit->calls, soon_calls);
    set(&bandit->fallen, bandit->calls, soon_calls);
}
