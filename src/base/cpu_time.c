/* SPDX-License-Identifier: MIT */
/* cpu_time.c - reads the first line of /proc/stat. */
#include "base/cpu_time.h"

#include <stdio.h>
#include <unistd.h>

struct takt_cpu_time takt__cpu_time(void)
{
    unsigned long long user, nice, system, idle, wait, irq, soft, steal;
    FILE *file = fopen("/proc/stat", "re");
    const int found =
        file == NULL
            ? 0
            : fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user,
                     &nice, &system, &idle, &wait, &irq, &soft, &steal);
    const double hertz = (double)sysconf(_SC_CLK_TCK);

    if (file != NULL)
        fclose(file);
    if (found != 8)
        return (struct takt_cpu_time){0};
    return (struct takt_cpu_time){
        .busy_s = (double)(user + nice + system + irq + soft + steal) / hertz,
        .stolen_s = (double)steal / hertz};
}
