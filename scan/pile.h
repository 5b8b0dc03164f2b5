/* SPDX-License-Identifier: MIT */
/*
 * pile.h - memory that is given back all at once.
 */
#ifndef TAKT_SCAN_PILE_H
#define TAKT_SCAN_PILE_H

#include <stddef.h>

struct takt_pile {
    struct takt_pile_block *last;
};

/* Aligned for anything, and zero; NULL: there is no memory. */
void *takt__pile_take(struct takt_pile *pile, size_t size);

void takt__pile_clear(struct takt_pile *pile);

#endif
