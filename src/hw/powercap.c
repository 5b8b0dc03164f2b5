/* SPDX-License-Identifier: MIT */
/* powercap.c - finds the zones below /sys/class/powercap. */
#include "hw/powercap.h"

#include <stdio.h>
#include <string.h>

#include "hw/text.h"

static const char root[] = "/sys/class/powercap";

static bool read_number(const struct takt_hw_source *source, const char *folder,
                        const char *file, uint64_t *out)
{
    char path[160], text[64];
    const char *at = text;

    snprintf(path, sizeof path, "%s/%s", folder, file);
    return source->file(source->self, path, text, sizeof text) > 0 &&
           takt__text_number(&at, 10, out);
}

/* What a zone is called; "" if it has no name. */
static void read_name(const struct takt_hw_source *source, const char *folder,
                      char *out, size_t size)
{
    char path[160], text[64] = "";

    snprintf(path, sizeof path, "%s/name", folder);
    source->file(source->self, path, text, sizeof text);
    text[strcspn(text, "\n")] = '\0';
    takt__text_tidy(text, out, size);
}

static unsigned count_colons(const char *text)
{
    unsigned count = 0;

    for (; *text != '\0'; text++)
        count += *text == ':';
    return count;
}

/* "intel-rapl:0" is a package or the platform, "intel-rapl:0:1" a part. */
static bool name_zone(const struct takt_hw_source *source, const char *entry,
                      struct takt_powercap_zone *zone)
{
    char name[20], package[20], folder[96];
    const unsigned colons = count_colons(entry);

    if (strncmp(entry, "intel-rapl:", 11) != 0 || colons > 2 ||
        strlen(entry) > 32 || strchr(entry, '/') != NULL)
        return false;
    snprintf(zone->folder, sizeof zone->folder, "%s/%s", root, entry);
    read_name(source, zone->folder, name, sizeof name);
    if (colons == 1) {
        snprintf(zone->name, sizeof zone->name, "%s", name);
        return strncmp(name, "package", 7) == 0;
    }
    snprintf(folder, sizeof folder, "%s", zone->folder);
    *strrchr(folder, ':') = '\0';
    read_name(source, folder, package, sizeof package);
    snprintf(zone->name, sizeof zone->name, "dram of %.19s", package);
    return strcmp(name, "dram") == 0 && strncmp(package, "package", 7) == 0;
}

unsigned takt__powercap_find(const struct takt_hw_source *source,
                             struct takt_powercap_zone out[TAKT_POWERCAP_ZONES])
{
    char list[4096];
    char *rest = list;
    unsigned count = 0;
    uint64_t energy_uj;

    source->list(source->self, root, list, sizeof list);
    for (char *entry; count < TAKT_POWERCAP_ZONES &&
                      (entry = takt__text_cut(&rest, '\n')) != NULL;) {
        struct takt_powercap_zone *zone = &out[count];
        if (!name_zone(source, entry, zone))
            continue;
        zone->range_uj = 0;
        read_number(source, zone->folder, "max_energy_range_uj",
                    &zone->range_uj);
        zone->is_readable = takt__powercap_read(source, zone, &energy_uj);
        count++;
    }
    return count;
}

bool takt__powercap_read(const struct takt_hw_source *source,
                         const struct takt_powercap_zone *zone,
                         uint64_t *energy_uj)
{
    return read_number(source, zone->folder, "energy_uj", energy_uj);
}
