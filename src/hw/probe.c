/* SPDX-License-Identifier: MIT */
/* probe.c - runs each part of the probe, one after another. */
#include "hw/probe.h"

#include <stdlib.h>
#include <string.h>

#include "hw/ask.h"
#include "hw/fingerprint.h"
#include "hw/text.h"

static void read_memory(struct takt_probe *probe)
{
    char *text = takt__probe_text(probe, "/proc/meminfo");

    for (char *line; (line = takt__text_cut(&text, '\n')) != NULL;) {
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

/* A quarter of a CPU is worth a thread, less is not. (Measured: a product of
 * 256 takes 1.14 times the CPU time on two threads, so they pay from 1.14 CPUs
 * on; with a library that spins, from 1.3. At 1.5 they are 1.29 times as fast,
 * although both stand still for a quarter of each period.) */
static unsigned count_threads(const takt_machine *machine)
{
    unsigned threads = machine->allowed_cpus;

    if (machine->quota_cpus > 0.0 && machine->quota_cpus < threads)
        threads = (unsigned)(machine->quota_cpus + 0.75);
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
    /* Another machine's fingerprint would be worse than none. */
    if (!probe->has_failed)
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

unsigned takt__machine_threads_now(const struct takt_hw_source *source,
                                   const takt_machine *machine)
{
    takt_machine now = {.allowed_cpus = machine->allowed_cpus};
    struct takt_probe probe = {.source = source, .machine = &now};

    probe.text = malloc(TAKT_PROBE_TEXT);
    if (probe.text == NULL)
        return machine->threads;
    takt__quota_probe(&probe);
    free(probe.text);
    return probe.has_failed ? machine->threads : count_threads(&now);
}
