/* SPDX-License-Identifier: MIT */
/* log.c - writes what an attribution is told: recording.h has the lines. */
#include <inttypes.h>

#include "energy/inside.h"

void takt__log_counter(FILE *log, const struct takt_energy_counter *counter)
{
    fprintf(log, "counter %s %s %" PRIu64 " %" PRIu64 " %u %d %s\n",
            counter->source,
            counter->address[0] != '\0' ? counter->address : "-",
            counter->unit_aj, counter->range, counter->step_ms,
            counter->is_power, counter->name);
}

void takt__log_reading(FILE *log, unsigned counter,
                       const struct takt_energy_reading *reading)
{
    if (reading->is_gone)
        fprintf(log, "gone %u %" PRIu64 "\n", counter, reading->at_ns);
    else
        fprintf(log, "read %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %u\n",
                counter, reading->at_ns, reading->count, reading->cpu_ns,
                reading->share_pml);
}

void takt__log_use(FILE *log, const struct takt_energy_use *use)
{
    char where[16];

    snprintf(where, sizeof where, "%d", use->where);
    fprintf(log, "use %u %u %u %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            use->arm, use->bound, use->threads,
            use->where == TAKT_ENERGY_PROCESSOR   ? "-"
            : use->where == TAKT_ENERGY_UNCOUNTED ? "?"
                                                  : where,
            use->start_ns, use->ns, use->runs);
}
