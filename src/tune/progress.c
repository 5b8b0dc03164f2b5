/* SPDX-License-Identifier: MIT */
/* progress.c - how far tuning is, and whether it has to end. */
#include <math.h>

#include "tune/inside.h"

/* The share of the work that is done, and the seconds that are left: as many
 * as it took so far for as much, and never more than the budget. */
static void update(struct takt_tuning *tuning)
{
    const double now = takt__tune_now();
    const double elapsed = now - tuning->start_s;
    const double expected_s = tuning->plan.expected_s;
    const double by_work = expected_s > 0 ? tuning->done_s / expected_s : 1;
    const double by_time = elapsed / (tuning->deadline_s - tuning->start_s);
    takt_tune_progress *progress = &tuning->progress;

    progress->left_s = fmax(tuning->deadline_s - now, 0);
    if (progress->stage == TAKT_TUNE_STARTING) /* nothing is planned yet */
        return;
    progress->done = fmin(fmax(by_work, by_time), 1);
    if (by_work > 0.02)
        progress->left_s =
            fmin(progress->left_s, elapsed * (1 - fmin(by_work, 1)) / by_work);
}

bool takt__tune_is_stopped(struct takt_tuning *tuning)
{
    const takt_tune_options *options = &tuning->options;

    if (options->watch != NULL && !tuning->is_over) {
        update(tuning);
        tuning->is_stopped =
            options->watch(options->self, &tuning->progress) != 0;
        tuning->is_over = tuning->is_stopped;
    }
    return tuning->is_stopped;
}

bool takt__tune_is_over(struct takt_tuning *tuning)
{
    if (!takt__tune_is_stopped(tuning) && takt__tune_now() > tuning->deadline_s)
        tuning->is_over = true;
    return tuning->is_over;
}
