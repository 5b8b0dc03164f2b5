/* SPDX-License-Identifier: MIT */
/*
 * fuzz_recording.c - any bytes, probed as a recorded machine.
 *
 * The probe must neither crash nor invent: it uses at least one thread, no
 * more than there are CPUs, and only printable names. Each file also passes
 * the scrubbing that a recorder would do. The form of the input is described
 * in memory_source.h.
 */
#include "fuzz.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../tests/hw/memory_source.h"
#include "hw/powercap.h"
#include "hw/probe.h"
#include "hw/scrub.h"

static void demand(bool condition)
{
    if (!condition)
        abort();
}

static void check_name(const char *name, size_t cap)
{
    demand(memchr(name, '\0', cap) != NULL);
    for (; *name != '\0'; name++)
        demand(*name >= ' ' && *name <= '~');
}

static void check(const takt_machine *machine)
{
    demand(machine->threads >= 1);
    demand(machine->threads <= machine->allowed_cpus);
    demand(machine->allowed_cpus <= machine->logical_cpus);
    demand(machine->cores >= 1 && machine->cores <= machine->logical_cpus);
    demand(machine->quota_cpus >= 0.0);
    demand(machine->gpu_count <= TAKT_MACHINE_MAX_GPUS);
    check_name(machine->cpu_vendor, sizeof machine->cpu_vendor);
    check_name(machine->cpu_name, sizeof machine->cpu_name);
    for (unsigned i = 0; i < machine->gpu_count; i++) {
        check_name(machine->gpu[i].name, sizeof machine->gpu[i].name);
        check_name(machine->gpu[i].address, sizeof machine->gpu[i].address);
    }
}

static void check_powercap(const struct takt_hw_source *source)
{
    struct takt_powercap_zone zone[TAKT_POWERCAP_ZONES];
    const unsigned count = takt__powercap_find(source, zone);

    demand(count <= TAKT_POWERCAP_ZONES);
    for (unsigned i = 0; i < count; i++)
        check_name(zone[i].name, sizeof zone[i].name);
}

static void scrub_all(const struct memory_source *source)
{
    static const char *const paths[] = {
        "/proc/self/status", "/proc/self/cgroup", "/proc/self/mountinfo",
        "/proc/cpuinfo"};
    struct takt_scrub *scrub = calloc(1, sizeof *scrub);
    char text[4096];
    char out[512];

    for (size_t i = 0; i < source->count && scrub != NULL; i++) {
        const struct memory_file *file = &source->file[i];
        const size_t size =
            file->length < sizeof text ? file->length : sizeof text - 1;
        memcpy(text, file->text, size);
        text[size] = '\0';
        takt__scrub_text(scrub, paths[i % 4], text, out, sizeof out);
        takt__scrub_restore(scrub, out, text, sizeof text);
    }
    free(scrub);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct memory_source *memory = malloc(sizeof *memory);
    takt_machine *machine = malloc(sizeof *machine);
    struct takt_hw_source source;

    if (memory != NULL && machine != NULL) {
        if (memory_source_open(memory, (const char *)bytes, size, &source) &&
            takt__machine_probe(&source, machine) == TAKT_OK) {
            check(machine);
            check_powercap(&source);
        }
        scrub_all(memory);
        memory_source_close(memory);
    }
    free(machine);
    free(memory);
    return 0;
}
