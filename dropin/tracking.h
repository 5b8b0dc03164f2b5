/* SPDX-License-Identifier: MIT */
/*
 * tracking.h - write tracking: whether memory of the program was written since
 * it was last looked at.
 *
 * The kernel (Linux 6.7 or later) marks whole pages: they are write-protected
 * for the processor, and the first write to each removes the mark, in the
 * kernel and unnoticed by the program. Marks are read without touching the
 * pages. Writes of the kernel on behalf of any thread or process count; so does
 * memory that was returned to the kernel, moved, or replaced by other memory at
 * the same address. Pages at both ends that are only partly in a range are
 * compared with a copy instead.
 *
 * Only private anonymous memory is tracked: any other can be written through a
 * mapping without marks. Writes of a device to pinned memory are not seen. The
 * kernel counts some of those pins, and while there is one nothing is tracked.
 *
 * Threads: one at a time; the program's own go on meanwhile. After a fork the
 * child tracks nothing, and may begin anew.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct takt_tracked {
    uint64_t generation;  /* of the tracker; 0: it is not tracked */
    uintptr_t first, end; /* whole pages */
    const char *head, *tail;
    size_t head_bytes, tail_bytes;
    char *ends; /* a copy of head and tail */
};

/* NULL: memory can be tracked here; else why not, in a line. */
const char *takt__tracking_problem(void);

/* What the first write to a page costs, in seconds: measured, in a fraction of
 * a millisecond. Negative: it cannot be. */
double takt__tracking_fault_s(void);

/* From now on changes are seen: copy what is there after this. False: this
 * memory cannot be tracked. No two that are tracked have bytes in common. */
bool takt__tracking_begin(const void *at, size_t bytes,
                          struct takt_tracked *out);
void takt__tracking_end(struct takt_tracked *tracked);

/* Whether `bytes` at `at`, a part of it, are what they were at the beginning.
 * False also if that is not known. */
bool takt__tracking_is_unchanged(const struct takt_tracked *tracked,
                                 const void *at, size_t bytes);
