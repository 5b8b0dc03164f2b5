/* SPDX-License-Identifier: MIT */
/*
 * write_signals.h - writes that fail without a signal.
 *
 * A write beyond the limit of a file's size (`ulimit -f`) raises SIGXFSZ, one
 * to a pipe without a reader SIGPIPE; either ends the program. Between these
 * calls such a write of this thread fails (EFBIG, EPIPE) and raises nothing:
 * what Takt cannot store or say is no reason for a program to end. Pairs nest.
 */
#pragma once

#include <signal.h>

struct takt_write_signals {
    sigset_t mask;    /* of before */
    sigset_t pending; /* at that time: the program's own */
};

void takt__write_signals_block(struct takt_write_signals *out);
void takt__write_signals_restore(const struct takt_write_signals *before);
