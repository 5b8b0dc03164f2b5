/* SPDX-License-Identifier: MIT */
/*
 * tracking.h - whether memory of the program was written since we last looked.
 *
 * The kernel (Linux 6.7 or later) marks whole pages: they are write-protected
 * for the processor, the first write to each takes the mark off, in the
 * kernel and unnoticed by the program, and marks are looked at without touching
 * the pages. Writes of the kernel on the program's behalf count, whichever
 * thread or process asked for them; so does memory that was given back, moved,
 * or replaced by other memory at the same address. The pages at both ends that
 * a range only has a part of are compared with a copy instead.
 *
 * Only private anonymous memory is tracked: all other can be written from where
 * the marks are not. What a device writes through a pin that lasts is not seen;
 * the kernel counts some of those pins, and as long as there is one nothing is
 * tracked.
 *
 * Threads: one at a time; the program's own go on meanwhile. After a fork the
 * child watches nothing, and may begin anew.
 */
#ifndef TAKT_DROPIN_TRACKING_H
#define TAKT_DROPIN_TRACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct takt_tracked {
    uint64_t life;        /* of the watch; 0: it is not tracked */
    uintptr_t first, end; /* whole pages */
    const char *head, *tail;
    size_t head_bytes, tail_bytes;
    char *ends; /* what was there */
};

/* NULL: memory can be tracked here; else why not, in a line. */
const char *takt__tracking_problem(void);

/* From now on changes are seen: copy what is there after this. False: this
 * memory cannot be tracked. No two that are tracked have bytes in common. */
bool takt__tracking_begin(const void *at, size_t bytes,
                          struct takt_tracked *out);
void takt__tracking_end(struct takt_tracked *tracked);

/* Whether `bytes` at `at`, a part of it, are what they were at the beginning.
 * False also if that is not known. */
bool takt__tracking_is_unchanged(const struct takt_tracked *tracked,
                                 const void *at, size_t bytes);

#endif
