/* SPDX-License-Identifier: MIT */
/* meter.c - all counters of a machine, from wherever they come. */
#include "energy/meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "energy/sources.h"
#include "hw/powercap.h"
#include "hw/text.h"

struct takt_energy_meter {
    struct takt_hw_source source;
    bool is_live;
    unsigned count, gpus; /* counters; those of GPUs come first */
    struct takt_energy_counter counter[TAKT_ENERGY_COUNTERS];
    /* Of the processor: the one or the other. */
    struct takt_powercap_zone zone[TAKT_POWERCAP_ZONES];
    struct takt_perf_counter perf[TAKT_ENERGY_COUNTERS];
    bool is_perf;
    struct takt_nvml *nvml;
    char problem[TAKT_METER_PROBLEMS][TAKT_METER_PROBLEM];
    unsigned problems;
};

/* ---- processors ---------------------------------------------------------- */

static char *next_problem(struct takt_energy_meter *meter)
{
    return meter->problem[meter->problems];
}

static void keep_problem(struct takt_energy_meter *meter)
{
    meter->problems += next_problem(meter)[0] != '\0' &&
                       meter->problems < TAKT_METER_PROBLEMS - 1;
}

static void add_zone(struct takt_energy_meter *meter,
                     const struct takt_powercap_zone *zone)
{
    struct takt_energy_counter *counter = &meter->counter[meter->count];

    if (meter->count == TAKT_ENERGY_COUNTERS)
        return;
    *counter = (struct takt_energy_counter){.source = "powercap",
                                            .unit_aj = UINT64_C(1000000000000),
                                            .range = zone->range_uj};
    memcpy(counter->name, zone->name, sizeof zone->name);
    meter->zone[meter->count - meter->gpus] = *zone;
    meter->count++;
}

/* False: there is none that can be read. */
static bool open_powercap(struct takt_energy_meter *meter)
{
    struct takt_powercap_zone found[TAKT_POWERCAP_ZONES];
    const unsigned count = takt__powercap_find(&meter->source, found);
    unsigned hidden = 0;

    for (unsigned i = 0; i < count; i++)
        hidden += !found[i].is_readable;
    if (count == 0)
        snprintf(next_problem(meter), TAKT_METER_PROBLEM,
                 "powercap: there is no package below /sys/class/powercap "
                 "(virtual machines and most containers have none; else "
                 "'modprobe intel_rapl_msr')");
    else if (hidden > 0)
        snprintf(next_problem(meter), TAKT_METER_PROBLEM,
                 "powercap: this user may not read the counters: run 'chmod "
                 "a+r /sys/class/powercap/intel-rapl:*/energy_uj' as root "
                 "(until the next start)");
    keep_problem(meter);
    for (unsigned i = 0; i < count && hidden == 0; i++)
        add_zone(meter, &found[i]);
    return count > 0 && hidden == 0;
}

/* False: there is none. */
static bool open_perf(struct takt_energy_meter *meter)
{
    struct takt_energy_counter counter[TAKT_ENERGY_COUNTERS];
    const unsigned room = TAKT_ENERGY_COUNTERS - meter->count;
    const unsigned count =
        takt__perf_open(&meter->source, meter->perf, counter,
                        next_problem(meter), TAKT_METER_PROBLEM);

    keep_problem(meter);
    meter->is_perf = count > 0;
    for (unsigned i = 0; i < count; i++)
        if (i < room)
            meter->counter[meter->count++] = counter[i];
        else
            takt__perf_close(&meter->perf[i]);
    return count > 0;
}

/* ---- open and close ------------------------------------------------------ */

static void open_all(struct takt_energy_meter *meter)
{
    if (meter->is_live) {
        meter->gpus = takt__nvml_open(&meter->nvml, meter->counter,
                                      TAKT_ENERGY_COUNTERS / 2,
                                      next_problem(meter), TAKT_METER_PROBLEM);
        meter->count = meter->gpus;
        keep_problem(meter);
    }
    const unsigned before = meter->problems;
    if (!open_powercap(meter) && meter->is_live && open_perf(meter))
        meter->problems = before; /* the processor is counted after all */
}

struct takt_energy_meter *takt__meter_open(const struct takt_hw_source *source,
                                           bool is_live)
{
    struct takt_energy_meter *meter = calloc(1, sizeof *meter);

    if (meter == NULL)
        return NULL;
    meter->source = *source;
    meter->is_live = is_live;
    open_all(meter);
    return meter;
}

static void close_perf(struct takt_energy_meter *meter)
{
    for (unsigned i = meter->gpus; meter->is_perf && i < meter->count; i++)
        takt__perf_close(&meter->perf[i - meter->gpus]);
}

void takt__meter_close(struct takt_energy_meter *meter)
{
    if (meter == NULL)
        return;
    close_perf(meter);
    takt__nvml_close(meter->nvml);
    free(meter);
}

void takt__meter_forget(struct takt_energy_meter *meter)
{
    if (meter == NULL)
        return;
    close_perf(meter);
    free(meter->nvml);
    free(meter);
}

unsigned takt__meter_count(const struct takt_energy_meter *meter)
{
    return meter->count;
}

const struct takt_energy_counter *
takt__meter_counters(const struct takt_energy_meter *meter)
{
    return meter->counter;
}

const char *takt__meter_problem(const struct takt_energy_meter *meter,
                                unsigned i)
{
    return i < meter->problems ? meter->problem[i] : NULL;
}

/* ---- reading ------------------------------------------------------------- */

/* What all processors were at work: user, nice, system, (idle, waiting,) irq,
 * softirq, in ticks of the clock. */
static uint64_t read_cpu_ns(const struct takt_hw_source *source)
{
    char text[512];
    const char *at = text + 4;
    uint64_t ticks = 0, number;
    const long per_second = sysconf(_SC_CLK_TCK);

    if (source->file(source->self, "/proc/stat", text, sizeof text) < 5 ||
        strncmp(text, "cpu ", 4) != 0 || per_second <= 0)
        return 0;
    for (int i = 0; i < 7 && takt__text_number(&at, 10, &number); i++)
        ticks += i == 3 || i == 4 ? 0 : number;
    return ticks * (UINT64_C(1000000000) / (uint64_t)per_second);
}

static bool read_processor(struct takt_energy_meter *meter, unsigned index,
                           struct takt_energy_reading *out)
{
    const uint64_t begin_ns = takt__now_ns();
    const bool is_read =
        meter->is_perf ? takt__perf_read(&meter->perf[index], &out->count)
                       : takt__powercap_read(&meter->source,
                                             &meter->zone[index], &out->count);
    out->at_ns = begin_ns + (takt__now_ns() - begin_ns) / 2;
    out->cpu_ns = read_cpu_ns(&meter->source);
    out->share_pml = 1001;
    return is_read;
}

void takt__meter_read(struct takt_energy_meter *meter, unsigned counter,
                      struct takt_energy_reading *out)
{
    *out = (struct takt_energy_reading){.at_ns = 0};
    const bool is_read =
        meter->is_live &&
        (counter < meter->gpus
             ? takt__nvml_read(meter->nvml, counter, out)
             : read_processor(meter, counter - meter->gpus, out));
    out->is_gone = !is_read;
    if (out->at_ns == 0)
        out->at_ns = takt__now_ns();
}
