/* SPDX-License-Identifier: MIT */
/*
 * tune_window.c - samples wait until it is known that the machine was calm.
 *
 * Whether others use the processors can only be said over some time: the
 * kernel counts in hundredths of a second. So samples are kept aside for half
 * a second, then told to the context, or thrown away if others were busy. What
 * was told stays true whenever the program ends.
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tune.h"

static const double look_s = 0.25;

/* Processors that others may use, of all, before samples are not worth
 * keeping: a guess, well above what a desktop at rest needs. */
static double tolerable(const struct tune *tune)
{
    const double tenth = tune->machine->logical_cpus * 0.1;
    return tenth > 0.4 ? tenth : 0.4;
}

/* Seconds that processors were not idle, by whoever, and stolen ones. */
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

struct attention pay_attention(double about_s)
{
    const double stolen = about_s >= steal_from_s ? stolen_s() : -1;

    return (struct attention){.preemptions = preemptions(), .stolen_s = stolen};
}

bool was_interrupted(const struct attention *since, double seconds)
{
    if (preemptions() != since->preemptions && seconds < preempted_below_s)
        return true;
    return since->stolen_s >= 0 &&
           stolen_s() - since->stolen_s > 0.05 * seconds;
}

/* ---- all processors ------------------------------------------------------ */

static double own_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void start_window(struct window *window)
{
    double steal_s;

    window->start_s = tune_now();
    read_stat(&window->start_busy_s, &steal_s);
    window->start_own_s = own_s();
}

/* Processors that others used since; 0 where nobody counts. */
static double others_since(const struct window *window)
{
    const double wall_s = tune_now() - window->start_s;
    double busy_s, steal_s;

    if (!read_stat(&busy_s, &steal_s) || wall_s <= 0)
        return 0;
    const double others_s =
        busy_s - window->start_busy_s - (own_s() - window->start_own_s);
    return others_s > 0 ? others_s / wall_s : 0;
}

bool wait_for_calm(struct tune *tune, double patience_s, double *others)
{
    const double start = tune_now();
    const struct timespec look = {.tv_nsec = (long)(look_s * 1e9)};

    do {
        start_window(&tune->window);
        nanosleep(&look, NULL);
        *others = others_since(&tune->window);
        if (*others <= tolerable(tune))
            return true;
    } while (tune_now() - start < patience_s && stop_signal == 0);
    return false;
}

void open_window(struct tune *tune)
{
    tune->window.count = 0;
    start_window(&tune->window);
}

bool note_sample(struct tune *tune, const takt_request *request, size_t expert,
                 double seconds)
{
    struct window *window = &tune->window;

    if (window->count == window->room) {
        const size_t room = window->room == 0 ? 1024 : 2 * window->room;
        struct note *more = realloc(window->note, room * sizeof *more);
        if (more == NULL)
            return false;
        window->note = more;
        window->room = room;
    }
    window->note[window->count++] = (struct note){
        .request = *request, .expert = expert, .seconds = seconds};
    return true;
}

static void tell(struct tune *tune, const struct note *note)
{
    const takt_measurement told = {.request = note->request,
                                   .expert = tune->expert[note->expert],
                                   .seconds = note->seconds,
                                   .is_trial = 1};
    const takt_status status = takt_record(tune->ctx, &told);

    if (status == TAKT_OK) {
        tune->samples++;
        tune->resident_samples +=
            (note->request.situation & TAKT_SITUATION_ON_GPU) != 0;
    } else {
        tune->refused = status;
    }
}

bool close_window(struct tune *tune)
{
    struct window *window = &tune->window;
    const bool is_calm =
        tune->takes_anything || others_since(window) <= tolerable(tune);

    if (!is_calm)
        tune->discarded += window->count;
    for (size_t i = 0; is_calm && i < window->count; i++)
        tell(tune, &window->note[i]);
    open_window(tune);
    return is_calm;
}
