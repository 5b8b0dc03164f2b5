/* SPDX-License-Identifier: MIT */
/* probe_machine.c - runs each part of the probe in turn. */
#include <stdlib.h>
#include <string.h>

#include "hw/fingerprint.h"
#include "hw/probe.h"
#include "hw/text.h"

static void read_memory(struct takt_probe *probe)
{
    char *text = takt__probe_text(probe, "/proc/meminfo");

    for (char *line = takt__text_cut(&text, '\n'); line != NULL;
         line = takt__text_cut(&text, '\n')) {
        const char *value = takt__text_value(line, "MemTotal");
        uint64_t kilobytes;
        if (value == NULL)
            continue;
        if (takt__text_number(&value, 10, &kilobytes) &&
            kilobytes <= UINT64_MAX / 1024)
            probe->machine->memory_bytes = kilobytes * 1024;
        return;
    }
}

/* The quota is rounded down: at 2.5 CPUs, three busy threads have used up a
 * period's time after 83% of it and then all stand still for the rest, and an
 * op waits for its slowest thread. Two threads are never stopped. */
static unsigned count_threads(const takt_machine *machine)
{
    unsigned threads = machine->allowed_cpus;

    if (machine->quota_cpus > 0.0 && machine->quota_cpus < threads)
        threads = (unsigned)machine->quota_cpus;
    return threads > 0 ? threads : 1;
}

static void read_all(struct takt_probe *probe)
{
    takt_machine *machine = probe->machine;
    const char *architecture = probe->source->architecture;

    takt__text_tidy(architecture, machine->architecture,
                    sizeof machine->architecture);
    if (strcmp(architecture, "x86_64") == 0)
        takt__x86_probe(probe);
    else if (strcmp(architecture, "aarch64") == 0)
        takt__arm_probe(probe);
    machine->isas |= 1u << TAKT_ISA_SCALAR;

    takt__cores_probe(probe);
    takt__quota_probe(probe);
    machine->threads = count_threads(machine);
    takt__caches_probe(probe);
    read_memory(probe);
    takt__gpus_probe(probe);
    takt__machine_fingerprint(machine);
}

takt_status takt__machine_probe(const struct takt_hw_source *source,
                                takt_machine *out)
{
    struct takt_probe probe = {.source = source, .machine = out};

    memset(out, 0, sizeof *out);
    probe.text = malloc(TAKT_PROBE_TEXT);
    if (probe.text == NULL)
        return TAKT_ENOMEM;
    read_all(&probe);
    free(probe.text);
    return TAKT_OK;
}
