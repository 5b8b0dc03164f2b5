/* SPDX-License-Identifier: MIT */
/*
 * caches.c - the caches of the first CPU.
 *
 * sysfs first: it holds what the kernel made of CPUID, firmware and device
 * tree. Some virtual machines and sandboxes have none; then CPUID is asked.
 */
#include "hw/ask.h"

#include <stdio.h>
#include <string.h>

#include "hw/text.h"

#define CACHE_FOLDER "/sys/devices/system/cpu/cpu0/cache"

/* "48K" and the like; 0: not understood. */
static uint64_t parse_size(const char *text)
{
    static const char units[] = "KMG";
    uint64_t number;

    if (!takt__text_number(&text, 10, &number))
        return 0;
    const char *unit = *text != '\0' ? strchr(units, *text) : NULL;
    const unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    return number <= UINT64_MAX >> shift ? number << shift : 0;
}

static void read_cache(struct takt_probe *probe, const char *name)
{
    char path[128];
    char type[32];
    char size[32];
    uint64_t level;

    snprintf(path, sizeof path, CACHE_FOLDER "/%s/level", name);
    if (!takt__probe_number(probe, path, 10, &level))
        return;
    snprintf(path, sizeof path, CACHE_FOLDER "/%s/type", name);
    if (!takt__probe_file(probe, path, type, sizeof type) ||
        strncmp(type, "Instruction", 11) == 0)
        return;
    snprintf(path, sizeof path, CACHE_FOLDER "/%s/size", name);
    if (takt__probe_file(probe, path, size, sizeof size))
        takt__cache_note(probe->machine, level, parse_size(size));
}

void takt__caches_probe(struct takt_probe *probe)
{
    char names[1024];

    takt__probe_list(probe, CACHE_FOLDER, names, sizeof names);
    char *rest = names;
    for (char *name; (name = takt__text_cut(&rest, '\n')) != NULL;)
        if (strncmp(name, "index", 5) == 0)
            read_cache(probe, name);

    const takt_machine *machine = probe->machine;
    const bool has_none = machine->l1d_bytes == 0 && machine->l2_bytes == 0 &&
                          machine->l3_bytes == 0;
    if (has_none && strcmp(machine->architecture, "x86_64") == 0)
        takt__x86_probe_caches(probe);
}
