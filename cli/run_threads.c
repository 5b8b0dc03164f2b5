/* SPDX-License-Identifier: MIT */
/*
 * run_threads.c - how many threads the program's own libraries start.
 *
 * They start one for each processor, and do not know of a quota. Threads that
 * wait for each other spin, and the CPU time of that is taken off the quota: at
 * half a CPU, products of 256 took 1.6 times as long on two threads of OpenBLAS
 * as on one.
 */
#define _GNU_SOURCE /* sched_getaffinity() */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/probe.h"
#include "run.h"

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && value[0] != '\0';
}

/* 0: no quota is below the number of processors. Nothing else of the machine is
 * looked at: that takes as long as a small program. */
static unsigned threads_of_quota(void)
{
    const struct takt_hw_source host = takt__host_source();
    takt_machine machine = {0};
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 0;
    machine.allowed_cpus = machine.threads = (unsigned)CPU_COUNT(&allowed);
    const unsigned threads = takt__machine_threads_now(&host, &machine);
    return threads < machine.allowed_cpus ? threads : 0;
}

static bool add(struct launch *launch, const char *name, unsigned threads)
{
    char text[16];

    snprintf(text, sizeof text, "%u", threads);
    char *value = strdup(text);
    if (value == NULL)
        return false;
    launch->variable[launch->variable_count++] =
        (struct variable){.name = name, .value = value};
    return true;
}

bool limit_library_threads(struct launch *launch)
{
    static const char *const variables[] = {"OPENBLAS_NUM_THREADS",
                                            "BLIS_NUM_THREADS"};
    const unsigned threads = threads_of_quota();

    if (threads == 0 || is_set("OMP_NUM_THREADS") || is_set("GOTO_NUM_THREADS"))
        return true;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (!is_set(variables[i]) && !add(launch, variables[i], threads))
            return false;
    return true;
}
