/* SPDX-License-Identifier: MIT */
/*
 * batch.c - samples wait until it is known that the machine was idle.
 *
 * Whether other processes use the processors can only be said over some time:
 * the kernel counts in hundredths of a second. So samples are held back for
 * half a second, then recorded, or discarded if others were busy.
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tune/inside.h"

static const double look_s = 0.25;

/* Processors that others may use, of all, before samples are worth nothing: a
 * guess, well above what a desktop at rest needs. */
static double tolerable(const struct takt_tuning *tuning)
{
    const double tenth = tuning->machine->logical_cpus * 0.1;
    return tenth > 0.4 ? tenth : 0.4;
}

/* Seconds that processors were not idle, for any reason, and stolen ones. */
static bool read_stat(double *busy_s, double *steal_s)
{
    unsigned long long user, nice, system, idle, wait, irq, soft, steal;
    FILE *file = fopen("/proc/stat", "re");
    const int found =
        file == NULL
            ? 0
            : fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user,
                     &nice, &system, &idle, &wait, &irq, &soft, &steal);
    const double hertz = (double)sysconf(_SC_CLK_TCK);

    if (file != NULL)
        fclose(file);
    *busy_s = *steal_s = 0;
    if (found != 8)
        return false;
    *steal_s = (double)steal / hertz;
    *busy_s = (double)(user + nice + system + irq + soft) / hertz + *steal_s;
    return true;
}

/* ---- one thread ---------------------------------------------------------- */

static const double steal_from_s = 1e-3, preempted_below_s = 1e-2;

static double stolen_s(void)
{
    double busy_s, steal_s;

    read_stat(&busy_s, &steal_s);
    return steal_s;
}

static long preemptions(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

struct takt_interruptions takt__interruptions(double about_s)
{
    const double stolen = about_s >= steal_from_s ? stolen_s() : -1;

    return (struct takt_interruptions){.preemptions = preemptions(),
                                       .stolen_s = stolen};
}

bool takt__was_interrupted(const struct takt_interruptions *before,
                           double seconds)
{
    if (preemptions() != before->preemptions && seconds < preempted_below_s)
        return true;
    return before->stolen_s >= 0 &&
           stolen_s() - before->stolen_s > 0.05 * seconds;
}

/* ---- all processors ------------------------------------------------------ */

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
    double steal_s;

    batch->count = 0;
    batch->start_s = takt__tune_now();
    read_stat(&batch->start_busy_s, &steal_s);
    batch->start_own_s = own_s();
}

/* Processors that others used since; 0 where the kernel does not count. */
static double others_since(const struct takt_batch *batch)
{
    const double wall_s = takt__tune_now() - batch->start_s;
    double busy_s, steal_s;

    if (!read_stat(&busy_s, &steal_s) || wall_s <= 0)
        return 0;
    const double others_s =
        busy_s - batch->start_busy_s - (own_s() - batch->start_own_s);
    return others_s > 0 ? others_s / wall_s : 0;
}

bool takt__tune_await_idle(struct takt_tuning *tuning, double limit_s)
{
    const double start = takt__tune_now();
    const struct timespec look = {.tv_nsec = (long)(look_s * 1e9)};

    do {
        takt__batch_begin(tuning);
        nanosleep(&look, NULL);
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

    if (batch->count == batch->capacity) {
        const size_t capacity = batch->capacity == 0 ? 1024 : 2 * batch->count;
        takt_measurement *more =
            realloc(batch->sample, capacity * sizeof *more);
        if (more == NULL) {
            tuning->result.learned = TAKT_ENOMEM;
            return;
        }
        batch->sample = more;
        batch->capacity = capacity;
    }
    batch->sample[batch->count++] =
        (takt_measurement){.request = *request,
                           .expert = tuning->expert[expert],
                           .seconds = seconds,
                           .is_trial = 1};
}

static void record(struct takt_tuning *tuning, const takt_measurement *sample)
{
    takt_tune_result *result = &tuning->result;
    const takt_status status = takt_record(tuning->ctx, sample);

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
