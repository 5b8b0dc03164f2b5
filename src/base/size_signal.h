/* SPDX-License-Identifier: MIT */
/*
 * size_signal.h - files that may not grow.
 *
 * A write beyond the limit of a file's size (`ulimit -f`) raises SIGXFSZ, which
 * ends the program. Between these calls such a write of this thread fails with
 * EFBIG and raises nothing: what Takt cannot store is no reason for a program
 * to end. Pairs nest.
 */
#ifndef TAKT_BASE_SIZE_SIGNAL_H
#define TAKT_BASE_SIZE_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

struct takt_size_signal {
    sigset_t before;
    bool was_pending; /* it is the program's */
};

void takt__size_signal_block(struct takt_size_signal *out);
void takt__size_signal_restore(const struct takt_size_signal *signal);

#endif
