/* SPDX-License-Identifier: MIT */
/*
 * batch.c - how far tuning is, whether it has to end, and the samples, which
 * wait until it is known that the machine was idle.
 *
 * Whether other processes use the processors can only be said over some time:
 * the kernel counts in hundredths of a second. So samples are held back for
 * half a second, then recorded, or discarded if others were busy.
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu_time.h"
#include "base/grow.h"
#include "tune/inside.h"

static const double poll_s = 0.25;
enum { most_tries = 3 };

/* Processors that others may use, of all, before samples are worth nothing: a
 * guess, well above what a desktop at rest needs. */
static double tolerable(const struct takt_tuning *tuning)
{
    const double tenth = tuning->machine->logical_cpus * 0.1;
    return tenth > 0.4 ? tenth : 0.4;
}

/* ---- progress ---- */

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

/* ---- one thread ---- */

static const double steal_from_s = 1e-3, preempted_below_s = 1e-2;

static long preemptions(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

/* What shows that this thread was interrupted: by another one, or, where that
 * can be seen in a call of `about_s`, by a hypervisor. */
struct interruptions {
    long preemptions;
    double stolen_s; /* negative: not looked at */
};

static struct interruptions interruptions(double about_s)
{
    return (struct interruptions){
        .preemptions = preemptions(),
        .stolen_s = about_s >= steal_from_s ? takt__cpu_time().stolen_s : -1};
}

static bool was_interrupted(const struct interruptions *before, double seconds)
{
    if (preemptions() != before->preemptions && seconds < preempted_below_s)
        return true;
    return before->stolen_s >= 0 &&
           takt__cpu_time().stolen_s - before->stolen_s > 0.05 * seconds;
}

double takt__tune_sample(struct takt_tuning *tuning, double about_s,
                         takt__tune_timed *timed, void *self)
{
    double shortest = INFINITY;

    for (int try = 0; try < most_tries; try++) {
        /* The caller's function might let caches cool and threads fall asleep,
         * so it is called between long calls only. */
        if (!takt__tune_is_short(about_s) && takt__tune_is_stopped(tuning))
            return INFINITY;
        const struct interruptions before = interruptions(about_s);
        const double seconds = timed(self);
        if (seconds < 0 || !was_interrupted(&before, seconds))
            return seconds;
        shortest = fmin(shortest, seconds);
        tuning->result.rejected++;
    }
    return tuning->options.ignores_load != 0 ? shortest : INFINITY;
}

/* ---- all processors ---- */

static double own_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

void takt__batch_begin(struct takt_tuning *tuning)
{
    struct takt_batch *batch = &tuning->batch;

    batch->count = 0;
    batch->start_s = takt__tune_now();
    batch->start_busy_s = takt__cpu_time().busy_s;
    batch->start_own_s = own_s();
}

/* Processors that others used since. */
static double others_since(const struct takt_batch *batch)
{
    const double wall_s = takt__tune_now() - batch->start_s;
    const double busy_s = takt__cpu_time().busy_s - batch->start_busy_s;
    const double others_s = busy_s - (own_s() - batch->start_own_s);

    return wall_s > 0 && others_s > 0 ? others_s / wall_s : 0;
}

bool takt__tune_await_idle(struct takt_tuning *tuning, double limit_s)
{
    const double start = takt__tune_now();
    const struct timespec pause = {.tv_nsec = (long)(poll_s * 1e9)};

    do {
        takt__batch_begin(tuning);
        nanosleep(&pause, NULL);
        tuning->result.others = others_since(&tuning->batch);
        if (tuning->result.others <= tolerable(tuning))
            return true;
    } while (takt__tune_now() - start < limit_s &&
             !takt__tune_is_stopped(tuning));
    return false;
}

void takt__batch_add(struct takt_tuning *tuning, const takt_request *request,
                     size_t expert, double seconds)
{
    struct takt_batch *batch = &tuning->batch;

    if (!takt__grow(&batch->sample, &batch->capacity, batch->count + 1,
                    sizeof *batch->sample)) {
        tuning->result.learned = TAKT_ENOMEM;
        return;
    }
    batch->sample[batch->count++] =
        (struct takt_tune_sample){*request, tuning->expert[expert], seconds};
}

static void record(struct takt_tuning *tuning,
                   const struct takt_tune_sample *sample)
{
    takt_tune_result *result = &tuning->result;
    const takt_status status = takt_record(
        tuning->ctx, &(takt_measurement){.request = &sample->request,
                                         .expert = sample->expert,
                                         .seconds = sample->seconds,
                                         .is_trial = 1});

    if (status != TAKT_OK) {
        result->learned = status;
        return;
    }
    result->samples++;
    result->gpu_samples +=
        (sample->request.situation & TAKT_SITUATION_ON_GPU) != 0;
}

bool takt__batch_end(struct takt_tuning *tuning)
{
    const struct takt_batch *batch = &tuning->batch;
    const bool is_good = tuning->options.ignores_load != 0 ||
                         others_since(batch) <= tolerable(tuning);

    if (!is_good)
        tuning->result.discarded += batch->count;
    for (size_t i = 0; is_good && i < batch->count; i++)
        record(tuning, &batch->sample[i]);
    takt__batch_begin(tuning);
    return is_good;
}
