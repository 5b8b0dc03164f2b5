/* SPDX-License-Identifier: MIT */
/* expectation.c - adds up what calls would have gained. */
#include "expectation.h"

void takt__expectation_read(struct takt_expectation *self, double bytes,
                            bool is_kept)
{
    self->read_bytes += bytes;
    self->kept_bytes += is_kept ? bytes : 0;
}

/* Calls that a GPU would not have gained by do not run there, and lose nothing.
 */
bool takt__expectation_add(struct takt_expectation *self, double calls,
                           double own_s, double gpu_s, double moving_s,
                           double price_s)
{
    const double kept =
        self->read_bytes > 0 ? self->kept_bytes / self->read_bytes : 0;
    const double would_s = gpu_s - kept * moving_s;

    self->read_bytes = self->kept_bytes = 0;
    self->own_s += own_s * calls;
    self->gpu_s += (would_s < own_s ? would_s : own_s) * calls;
    if (would_s < own_s)
        self->missed_s += (own_s - would_s) * calls;
    return kept > 0 && self->missed_s >= price_s;
}

double takt__expectation_ratio(const struct takt_expectation *self)
{
    return self->own_s > 0 ? self->gpu_s / self->own_s : 1;
}
