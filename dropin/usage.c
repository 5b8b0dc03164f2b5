/* SPDX-License-Identifier: MIT */
/* usage.c - what held up this thread. */
#include "usage.h"

#include <sys/resource.h>

struct takt_usage takt__usage(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return (struct takt_usage){0, 0};
    return (struct takt_usage){usage.ru_nivcsw, usage.ru_minflt};
}
