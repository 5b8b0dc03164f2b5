/* SPDX-License-Identifier: MIT */
/* cpu_set.c - a bit for each CPU. */
#include "hw/cpu_set.h"

#include <string.h>

#include "hw/text.h"

enum { words = TAKT_CPU_SET_SIZE / 64 };

static void add_range(struct takt_cpu_set *set, uint64_t first, uint64_t last)
{
    for (uint64_t cpu = first; cpu <= last && cpu < TAKT_CPU_SET_SIZE; cpu++)
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

static bool parse(const char *list, struct takt_cpu_set *out)
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

void takt__cpu_set_parse(const char *list, struct takt_cpu_set *out)
{
    memset(out, 0, sizeof *out);
    if (!parse(list, out))
        memset(out, 0, sizeof *out);
}

bool takt__cpu_set_has(const struct takt_cpu_set *set, unsigned cpu)
{
    return cpu < TAKT_CPU_SET_SIZE && (set->word[cpu / 64] >> cpu % 64 & 1);
}

unsigned takt__cpu_set_count(const struct takt_cpu_set *set)
{
    unsigned count = 0;

    for (size_t i = 0; i < words; i++)
        for (uint64_t rest = set->word[i]; rest != 0; rest &= rest - 1)
            count++;
    return count;
}

unsigned takt__cpu_set_first(const struct takt_cpu_set *set)
{
    unsigned cpu = 0;

    while (cpu < TAKT_CPU_SET_SIZE && !takt__cpu_set_has(set, cpu))
        cpu++;
    return cpu;
}

void takt__cpu_set_intersect(struct takt_cpu_set *set,
                             const struct takt_cpu_set *other)
{
    for (size_t i = 0; i < words; i++)
        set->word[i] &= other->word[i];
}
