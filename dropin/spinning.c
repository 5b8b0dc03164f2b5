/* SPDX-License-Identifier: MIT */
/* spinning.c - from the CPU time of the process to threads. */
#include "spinning.h"

#include <stddef.h>

static double between_0_and_1(double x)
{
    return x < 0 ? 0 : x < 1 ? x : 1;
}

void takt__spinning_measure(struct takt_spinning *spinning, uint64_t since_ns,
                            uint64_t now_ns)
{
    static const uint64_t every_ns = 20000000;
    static const double one = 0.9; /* processor: the caller does not wait */
    const uint64_t cpu_ns = spinning->cpu_ns, at_ns = spinning->at_ns;

    if (spinning->process_ns == NULL || spinning->threads < 2 ||
        now_ns < at_ns + every_ns)
        return;
    spinning->cpu_ns = spinning->process_ns();
    spinning->at_ns = now_ns;
    if (at_ns == 0 || at_ns < since_ns)
        return;
    const double busy =
        (double)(spinning->cpu_ns - cpu_ns) / (double)(now_ns - at_ns);
    const double share = between_0_and_1((busy - 1) / (spinning->threads - 1));
    if (busy >= one)
        spinning->share =
            share > spinning->share ? share : (share + spinning->share) / 2;
}

double takt__spinning_share(const struct takt_spinning *spinning)
{
    return spinning->share < 0 ? 1 : spinning->share;
}

bool takt__spinning_is_none(const struct takt_spinning *spinning)
{
    static const double least = 0.5; /* threads */

    return spinning->threads > 1 &&
           takt__spinning_share(spinning) * (spinning->threads - 1.0) < least;
}
