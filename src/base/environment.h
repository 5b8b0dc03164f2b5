/* SPDX-License-Identifier: MIT */
/*
 * environment.h - what of the environment concerns Takt, read while others may
 * change it.
 *
 * A program may call setenv() wherever no other thread of its own calls
 * getenv(); that frees the list which getenv() walks. Under `takt run` it knows
 * nothing of the threads and calls that read the environment for Takt.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Variables, each ended by a NUL, and an empty one. */
struct takt_environment {
    size_t size; /* without the empty one */
    char text[64 << 10];
    char left_out[64]; /* the first one that did not fit; "": all did */
    /* For reading: stacks of threads may be small. */
    char list_window[4 << 10], text_window[4 << 10];
};

/* Needs no memory, and may be called in a signal handler. Variables that do not
 * fit count as not set: out->left_out names one. */
void takt__environment_read(struct takt_environment *out);

/* The value; NULL: not set. */
const char *takt__environment_find(const struct takt_environment *in,
                                   const char *name);

/* Reads a value that is yes or no: 1, on, yes, true, or 0, off, no, false.
 * False: it is neither, and *is_on stays. */
bool takt__environment_switch(const char *text, bool *is_on);
