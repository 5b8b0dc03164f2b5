/* SPDX-License-Identifier: MIT */
/*
 * region.h - memory for the many small parts of one structure, which are freed
 * together.
 */
#pragma once

#include <stddef.h>

/* Zeros: nothing is allocated. */
struct takt_region {
    struct takt_region_block *last;
};

/* Zeroed memory, aligned for any type; NULL: no memory. */
void *takt__region_take(struct takt_region *region, size_t size);

/* A copy of `length` bytes with a NUL behind them; NULL: no memory. */
char *takt__region_copy(struct takt_region *region, const char *text,
                        size_t length);

void takt__region_free(struct takt_region *region);
