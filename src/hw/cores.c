/* SPDX-License-Identifier: MIT */
/*
 * cores.c - the CPUs of the machine, and those this process may use.
 *
 * Cores, threads and nodes belong to the machine and to its fingerprint; what
 * affinity leaves does not.
 */
#include "hw/ask.h"

#include <stdio.h>

#include "hw/cpu_set.h"
#include "hw/text.h"

static bool read_set(struct takt_probe *probe, const char *path,
                     struct takt_cpu_set *out)
{
    takt__cpu_set_parse(takt__probe_text(probe, path), out);
    return takt__cpu_set_count(out) > 0;
}

/* Calls the CPUs of a /proc/cpuinfo 0, 1, ... */
static void count_processors(struct takt_probe *probe, struct takt_cpu_set *out)
{
    char *text = takt__probe_text(probe, "/proc/cpuinfo");
    char list[32];
    unsigned count = 0;

    for (char *line; (line = takt__text_cut(&text, '\n')) != NULL;)
        count += takt__text_value(line, "processor") != NULL;
    snprintf(list, sizeof list, "0-%u", count > 0 ? count - 1 : 0);
    takt__cpu_set_parse(list, out);
}

/* A core is counted at the first of its hardware threads. */
static bool leads_core(struct takt_probe *probe, unsigned cpu)
{
    struct takt_cpu_set siblings;
    char path[96];

    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
             cpu);
    return read_set(probe, path, &siblings) &&
           takt__cpu_set_first(&siblings) == cpu;
}

/* Without any topology, every CPU counts as a core. */
static unsigned count_cores(struct takt_probe *probe,
                            const struct takt_cpu_set *cpus)
{
    unsigned cores = 0;

    for (unsigned cpu = 0; cpu < TAKT_CPU_SET_SIZE; cpu++)
        if (takt__cpu_set_has(cpus, cpu))
            cores += leads_core(probe, cpu);
    return cores > 0 ? cores : takt__cpu_set_count(cpus);
}

static void read_allowed(struct takt_probe *probe, struct takt_cpu_set *out)
{
    char *text = takt__probe_text(probe, "/proc/self/status");
    const char *list = "";

    for (char *line; (line = takt__text_cut(&text, '\n')) != NULL;) {
        const char *value = takt__text_value(line, "Cpus_allowed_list");
        if (value != NULL)
            list = value;
    }
    takt__cpu_set_parse(list, out);
}

/* The mask of a process that was never pinned names every CPU the kernel was
 * prepared for, so it is cut to those that run. */
static unsigned count_allowed(struct takt_probe *probe,
                              const struct takt_cpu_set *running)
{
    struct takt_cpu_set allowed;

    read_allowed(probe, &allowed);
    takt__cpu_set_intersect(&allowed, running);
    const unsigned count = takt__cpu_set_count(&allowed);
    return count > 0 ? count : takt__cpu_set_count(running);
}

void takt__cores_probe(struct takt_probe *probe)
{
    takt_machine *machine = probe->machine;
    struct takt_cpu_set present, online, nodes;
    const bool knows_online =
        read_set(probe, "/sys/devices/system/cpu/online", &online);

    if (!read_set(probe, "/sys/devices/system/cpu/present", &present)) {
        if (knows_online)
            present = online;
        else
            count_processors(probe, &present);
    }
    takt__cpu_set_intersect(&online, &present);
    if (takt__cpu_set_count(&online) == 0)
        online = present;
    machine->logical_cpus = takt__cpu_set_count(&present);
    machine->cores = count_cores(probe, &present);
    machine->allowed_cpus = count_allowed(probe, &online);

    /* A kernel without NUMA has no such file, and one node. */
    const bool has_nodes =
        read_set(probe, "/sys/devices/system/node/online", &nodes);
    machine->numa_nodes = has_nodes ? takt__cpu_set_count(&nodes) : 1;
}
