/* SPDX-License-Identifier: MIT */
/* energy_direct.c - reads counters before and after something else. */
#include "energy_direct.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench.h"

void pause_until(double end_ns)
{
    while (bench_now_ns() < end_ns)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* Reads all counters at the beginning and at the end, where they step. */
struct energy_reader {
    struct takt_energy_meter *meter;
    pthread_t thread;
    _Atomic bool is_over;
    struct takt_energy_reading first[TAKT_ENERGY_COUNTERS],
        last[TAKT_ENERGY_COUNTERS];
};

/* A reading right after a step. */
static void read_step(struct takt_energy_meter *meter, unsigned counter,
                      struct takt_energy_reading *out)
{
    struct takt_energy_reading before;

    takt__meter_read(meter, counter, &before);
    do
        takt__meter_read(meter, counter, out);
    while (!out->is_gone && out->count == before.count &&
           takt__meter_counters(meter)[counter].step_ms > 0 &&
           !takt__meter_counters(meter)[counter].is_power);
}

static void *read_all(void *self)
{
    struct energy_reader *reader = self;
    const unsigned count = takt__meter_count(reader->meter);
    struct takt_energy_reading reading;

    for (unsigned i = 0; i < count; i++)
        read_step(reader->meter, i, &reader->first[i]);
    while (!atomic_load(&reader->is_over)) {
        pause_until(bench_now_ns() + 50e6);
        for (unsigned i = 0; i < count; i++)
            if (takt__meter_counters(reader->meter)[i].is_power)
                takt__meter_read(reader->meter, i, &reading);
    }
    for (unsigned i = 0; i < count; i++)
        read_step(reader->meter, i, &reader->last[i]);
    return NULL;
}

/* Wraps around at most once: a counter of a large machine takes longer than
 * this runs. */
static double watts_between(const struct takt_energy_counter *counter,
                            const struct takt_energy_reading *first,
                            const struct takt_energy_reading *last)
{
    uint64_t counts = last->count - first->count;

    if (first->is_gone || last->is_gone || last->at_ns <= first->at_ns)
        return NAN;
    if (last->count < first->count)
        counts += counter->range;
    return (double)counts * (double)counter->unit_aj * 1e-18 /
           ((double)(last->at_ns - first->at_ns) * 1e-9);
}

struct energy_reader *energy_reader_begin(struct takt_energy_meter *meter)
{
    struct energy_reader *reader = calloc(1, sizeof *reader);

    if (reader == NULL)
        exit(1);
    reader->meter = meter;
    if (pthread_create(&reader->thread, NULL, read_all, reader) != 0)
        exit(1);
    return reader;
}

void energy_reader_ask(struct energy_reader *reader)
{
    atomic_store(&reader->is_over, true);
}

void energy_reader_end(struct energy_reader *reader,
                       double watts[TAKT_ENERGY_COUNTERS])
{
    pthread_join(reader->thread, NULL);
    for (unsigned i = 0; i < takt__meter_count(reader->meter); i++)
        watts[i] = watts_between(&takt__meter_counters(reader->meter)[i],
                                 &reader->first[i], &reader->last[i]);
    free(reader);
}
