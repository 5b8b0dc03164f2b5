/* SPDX-License-Identifier: MIT */
/* backoff.c - when a batch is tried again. */
#include "backoff.h"

double takt__otel_backoff(const struct takt_otel_backoff *backoff,
                          unsigned tried, double elapsed_s, double asked_s,
                          uint64_t random)
{
    double longest_s = backoff->first_s;

    if (tried >= backoff->tries)
        return -1;
    for (unsigned i = 1; i < tried && longest_s < backoff->most_s; i++)
        longest_s *= backoff->factor;
    if (longest_s > backoff->most_s)
        longest_s = backoff->most_s;
    const double wait_s =
        asked_s >= 0 ? asked_s : longest_s * (double)(random >> 11) * 0x1p-53;
    return elapsed_s + wait_s < backoff->budget_s ? wait_s : -1;
}
