/* SPDX-License-Identifier: MIT */
/*
 * cpus.c - what the kernel says, which counts affinity and containers.
 */
#define _GNU_SOURCE /* sched_getaffinity() */
#include "cpus.h"

#include <sched.h>

unsigned takt__allowed_cpus(void)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 1; /* there may be more than such a set holds */
    return (unsigned)CPU_COUNT(&allowed);
}
