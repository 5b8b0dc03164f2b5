/* SPDX-License-Identifier: MIT */
/* facts.c - facts as text, classes and likeness. */
#include "fleet/facts.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/files.h"

static const struct fact {
    const char *key;
    size_t offset;
    size_t size; /* of a text; 0: a number */
} known[] = {
#define TEXT(name)                                      \
    {                                                   \
#name, offsetof(struct takt_fleet_facts, name), \
            sizeof((struct takt_fleet_facts *)0)->name  \
    }
#define NUMBER(name)                                      \
    {                                                     \
#name, offsetof(struct takt_fleet_facts, name), 0 \
    }
    TEXT(machine),     TEXT(vendor),    TEXT(isa),        NUMBER(family),
    NUMBER(cores),     NUMBER(threads), NUMBER(l1_kib),   NUMBER(l2_kib),
    NUMBER(l3_kib),    NUMBER(driver),  TEXT(gpu_vendor), NUMBER(peak),
    NUMBER(bandwidth),
};

enum { facts = sizeof known / sizeof known[0] };

/* Letters, digits, - and _: a class name has no others. */
static bool is_word_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static void copy_word(const char *from, char *out, size_t size)
{
    size_t length = 0;

    for (; from[length] != '\0' && length + 1 < size; length++)
        out[length] = is_word_letter(from[length]) ? from[length] : '_';
    out[length] = '\0';
}

/* NVIDIA's kernel module says its version in a file. */
static unsigned find_driver(void)
{
    char text[64];

    if (takt__file_read("/sys/module/nvidia/version", text, sizeof text) == 0)
        return 0;
    return (unsigned)strtoul(text, NULL, 10) % 100000;
}

void takt__fleet_facts_of(const takt_machine *machine, bool is_here,
                          struct takt_fleet_facts *out)
{
    *out = (struct takt_fleet_facts){
        .family = machine->cpu_family,
        .cores = machine->cores,
        .threads = machine->threads,
        .l1_kib = (unsigned)(machine->l1d_bytes >> 10),
        .l2_kib = (unsigned)(machine->l2_bytes >> 10),
        .l3_kib = (unsigned)(machine->l3_bytes >> 10),
        .driver = is_here && machine->gpu_count > 0 ? find_driver() : 0,
    };
    snprintf(out->machine, sizeof out->machine, "%.16s",
             machine->hw_fingerprint);
    copy_word(machine->cpu_vendor, out->vendor, sizeof out->vendor);
    copy_word(takt_isa_name(takt_machine_best_isa(machine)), out->isa,
              sizeof out->isa);
    if (machine->gpu_count > 0)
        snprintf(out->gpu_vendor, sizeof out->gpu_vendor, "%04x",
                 machine->gpu[0].vendor & 0xffff);
}

size_t takt__fleet_facts_print(const struct takt_fleet_facts *of,
                               char out[TAKT_FLEET_FACTS])
{
    size_t length = 0;

    for (size_t i = 0; i < facts; i++) {
        const char *at = (const char *)of + known[i].offset;
        const size_t room = TAKT_FLEET_FACTS - length;
        length += (size_t)(known[i].size > 0
                               ? snprintf(out + length, room, "%s=%s\n",
                                          known[i].key, at)
                               : snprintf(out + length, room, "%s=%u\n",
                                          known[i].key, *(const unsigned *)at));
    }
    return length;
}

static bool read_word(const char *value, size_t length, char *out, size_t size)
{
    if (length >= size)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!is_word_letter(value[i]))
            return false;
    memcpy(out, value, length);
    out[length] = '\0';
    return true;
}

static bool read_number(const char *value, size_t length, unsigned *out)
{
    unsigned number = 0;

    if (length == 0 || length > 8)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (value[i] < '0' || value[i] > '9')
            return false;
        number = 10 * number + (unsigned)(value[i] - '0');
    }
    *out = number;
    return true;
}

static bool read_fact(const char *line, size_t length,
                      struct takt_fleet_facts *out)
{
    const char *equals = memchr(line, '=', length);

    if (equals == NULL)
        return false;
    const size_t key = (size_t)(equals - line), value = length - key - 1;
    for (size_t i = 0; i < facts; i++) {
        char *at = (char *)out + known[i].offset;
        if (strlen(known[i].key) != key || memcmp(known[i].key, line, key) != 0)
            continue;
        return known[i].size > 0
                   ? read_word(equals + 1, value, at, known[i].size)
                   : read_number(equals + 1, value, (unsigned *)(void *)at);
    }
    return true;
}

bool takt__fleet_facts_parse(const char *text, size_t length,
                             struct takt_fleet_facts *out)
{
    *out = (struct takt_fleet_facts){0};
    if (length >= TAKT_FLEET_FACTS)
        return false;
    while (length > 0) {
        const char *end = memchr(text, '\n', length);
        if (end == NULL || !read_fact(text, (size_t)(end - text), out))
            return false;
        length -= (size_t)(end + 1 - text);
        text = end + 1;
    }
    return strlen(out->machine) == 16 && out->vendor[0] != '\0' &&
           out->isa[0] != '\0' && out->cores > 0;
}

void takt__fleet_class(const struct takt_fleet_facts *of,
                       enum takt_fleet_level level, const char *device,
                       char out[TAKT_FLEET_CLASS])
{
    const bool is_gpu = device[0] != '\0';

    out[0] = '\0';
    if (level == TAKT_FLEET_EXACT && is_gpu)
        snprintf(out, TAKT_FLEET_CLASS, "machine.%s.%u", of->machine,
                 of->driver);
    else if (level == TAKT_FLEET_EXACT)
        snprintf(out, TAKT_FLEET_CLASS, "machine.%s", of->machine);
    else if (level == TAKT_FLEET_KIND && is_gpu)
        snprintf(out, TAKT_FLEET_CLASS, "gpu.%.16s.%u", device, of->driver);
    else if (level == TAKT_FLEET_KIND)
        snprintf(out, TAKT_FLEET_CLASS, "cpu.%s.%u.%s.%u", of->vendor,
                 of->family, of->isa, of->cores);
    else if (level == TAKT_FLEET_DEVICE && is_gpu)
        snprintf(out, TAKT_FLEET_CLASS, "gpu.%.16s", device);
    else if (is_gpu && of->gpu_vendor[0] != '\0')
        snprintf(out, TAKT_FLEET_CLASS, "gpus.%s", of->gpu_vendor);
    else if (level == TAKT_FLEET_VENDOR && !is_gpu)
        snprintf(out, TAKT_FLEET_CLASS, "vendor.%s", of->vendor);
}

/* Floats of a vector. */
static double lanes_of(const char *isa)
{
    return strcmp(isa, "avx512") == 0   ? 16
           : strcmp(isa, "avx2") == 0   ? 8
           : strcmp(isa, "scalar") == 0 ? 1
                                        : 4;
}

/* The logarithm of a ratio; what is not known is as good as the same. */
static double distance(double a, double b)
{
    return a > 0 && b > 0 ? log(a / b) : 0;
}

double takt__fleet_likeness(const struct takt_fleet_facts *a,
                            const struct takt_fleet_facts *b)
{
    /* A factor of 2 in one of them is one standard deviation, but for caches,
     * of which it takes 8: judgement. */
    static const double near = 0.69;
    const bool is_measured = a->peak > 0 && b->peak > 0;
    const double peak = is_measured
                            ? distance(a->peak, b->peak)
                            : distance(lanes_of(a->isa), lanes_of(b->isa)),
                 bandwidth = distance(a->bandwidth, b->bandwidth),
                 cores = distance(a->cores, b->cores),
                 l2 = distance(a->l2_kib, b->l2_kib) / 3,
                 l3 = distance(a->l3_kib, b->l3_kib) / 3,
                 vendor = strcmp(a->vendor, b->vendor) == 0 ? 0 : near,
                 family = a->family == b->family ? 0 : near / 2;

    return exp(-(peak * peak + bandwidth * bandwidth + cores * cores + l2 * l2 +
                 l3 * l3 + vendor * vendor + family * family) /
               (2 * near * near));
}
