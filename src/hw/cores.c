/* SPDX-License-Identifier: MIT */
/*
 * cores.c - the CPUs of the machine, and those this process may use.
 *
 * Cores, threads and nodes belong to the machine and to its fingerprint; what
 * affinity leaves does not.
 */
#include "hw/ask.h"

#include <stdio.h>
#include <string.h>

#include "hw/text.h"

/* The most CPUs a Linux kernel can be built for; higher ones are ignored. */
enum { most_cpus = 8192, words = most_cpus / 64 };

/* A bit for each CPU, or NUMA node. */
struct cpu_set {
    uint64_t word[words];
};

static void add_range(struct cpu_set *set, uint64_t first, uint64_t last)
{
    for (uint64_t cpu = first; cpu <= last && cpu < most_cpus; cpu++)
        set->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

/* Reads "7" or "3-5"; false when there is neither. */
static bool read_range(const char **at, uint64_t *first, uint64_t *last)
{
    if (!takt__text_number(at, 10, first))
        return false;
    *last = *first;
    if (**at != '-')
        return true;
    (*at)++;
    return takt__text_number(at, 10, last) && *first <= *last;
}

static bool parse_list(const char *list, struct cpu_set *out)
{
    uint64_t first, last;

    for (const char *at = list; read_range(&at, &first, &last); at++) {
        add_range(out, first, last);
        if (*at == '\n' || *at == '\0')
            return true;
        if (*at != ',')
            return false;
    }
    return false;
}

/* Reads a list such as "0-3,8,10-11"; anything else makes the empty set. */
static void parse(const char *list, struct cpu_set *out)
{
    memset(out, 0, sizeof *out);
    if (!parse_list(list, out))
        memset(out, 0, sizeof *out);
}

static bool has(const struct cpu_set *set, unsigned cpu)
{
    return (set->word[cpu / 64] >> cpu % 64 & 1) != 0;
}

static unsigned count(const struct cpu_set *set)
{
    unsigned all = 0;

    for (size_t i = 0; i < words; i++)
        all += (unsigned)__builtin_popcountll(set->word[i]);
    return all;
}

/* Keeps in `set` only what `other` has too. */
static void intersect(struct cpu_set *set, const struct cpu_set *other)
{
    for (size_t i = 0; i < words; i++)
        set->word[i] &= other->word[i];
}

static bool read_set(struct takt_probe *probe, const char *path,
                     struct cpu_set *out)
{
    parse(takt__probe_text(probe, path), out);
    return count(out) > 0;
}

/* Calls the CPUs of a /proc/cpuinfo 0, 1, ... */
static void count_processors(struct takt_probe *probe, struct cpu_set *out)
{
    char *text = takt__probe_text(probe, "/proc/cpuinfo");
    uint64_t processors = 0;

    for (char *line; (line = takt__text_cut(&text, '\n')) != NULL;)
        processors += takt__text_value(line, "processor") != NULL;
    memset(out, 0, sizeof *out);
    add_range(out, 0, processors > 0 ? processors - 1 : 0);
}

/* A core is counted at the first of its hardware threads. */
static bool leads_core(struct takt_probe *probe, unsigned cpu)
{
    struct cpu_set siblings;
    char path[96];

    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
             cpu);
    if (!read_set(probe, path, &siblings))
        return false;
    unsigned first = 0;
    while (!has(&siblings, first))
        first++;
    return first == cpu;
}

/* Without any topology, every CPU counts as a core. */
static unsigned count_cores(struct takt_probe *probe,
                            const struct cpu_set *cpus)
{
    unsigned cores = 0;

    for (unsigned cpu = 0; cpu < most_cpus; cpu++)
        if (has(cpus, cpu))
            cores += leads_core(probe, cpu);
    return cores > 0 ? cores : count(cpus);
}

static void read_allowed(struct takt_probe *probe, struct cpu_set *out)
{
    char *text = takt__probe_text(probe, "/proc/self/status");
    const char *list = "";

    for (char *line; (line = takt__text_cut(&text, '\n')) != NULL;) {
        const char *value = takt__text_value(line, "Cpus_allowed_list");
        if (value != NULL)
            list = value;
    }
    parse(list, out);
}

/* The mask of a process that was never pinned names every CPU the kernel was
 * prepared for, so it is cut to those that run. */
static unsigned count_allowed(struct takt_probe *probe,
                              const struct cpu_set *running)
{
    struct cpu_set allowed;

    read_allowed(probe, &allowed);
    intersect(&allowed, running);
    return count(count(&allowed) > 0 ? &allowed : running);
}

void takt__cores_probe(struct takt_probe *probe)
{
    takt_machine *machine = probe->machine;
    struct cpu_set present, online, nodes;
    const bool knows_online =
        read_set(probe, "/sys/devices/system/cpu/online", &online);

    if (!read_set(probe, "/sys/devices/system/cpu/present", &present)) {
        if (knows_online)
            present = online;
        else
            count_processors(probe, &present);
    }
    intersect(&online, &present);
    if (count(&online) == 0)
        online = present;
    machine->logical_cpus = count(&present);
    machine->cores = count_cores(probe, &present);
    machine->allowed_cpus = count_allowed(probe, &online);

    /* A kernel without NUMA has no such file, and one node. */
    const bool has_nodes =
        read_set(probe, "/sys/devices/system/node/online", &nodes);
    machine->numa_nodes = has_nodes ? count(&nodes) : 1;
}
