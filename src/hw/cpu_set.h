/* SPDX-License-Identifier: MIT */
/*
 * cpu_set.h - sets of CPUs (or NUMA nodes) as the kernel lists them.
 */
#ifndef TAKT_HW_CPU_SET_H
#define TAKT_HW_CPU_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most CPUs a Linux kernel can be built for; higher ones are ignored. */
enum { TAKT_CPU_SET_SIZE = 8192 };

struct takt_cpu_set {
    uint64_t word[TAKT_CPU_SET_SIZE / 64];
};

/* Reads a list such as "0-3,8,10-11"; anything else makes the empty set. */
void takt__cpu_set_parse(const char *list, struct takt_cpu_set *out);

bool takt__cpu_set_has(const struct takt_cpu_set *set, unsigned cpu);
unsigned takt__cpu_set_count(const struct takt_cpu_set *set);

/* The lowest CPU of the set; TAKT_CPU_SET_SIZE when it is empty. */
unsigned takt__cpu_set_first(const struct takt_cpu_set *set);

/* Keeps in `set` only what `other` has too. */
void takt__cpu_set_intersect(struct takt_cpu_set *set,
                             const struct takt_cpu_set *other);

#endif
