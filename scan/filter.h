/* SPDX-License-Identifier: MIT */
/*
 * filter.h - whether any of a list of words occurs in a text, at more than a
 * gigabyte a second.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAKT_FILTER_BITS = 13, TAKT_FILTER_SINGLES = 8 };

struct takt_filter {
    const char *const *word;
    bool is_open;   /* there are no words, or more than fit: all pass */
    uint32_t mask;  /* so many bytes of a place are looked at first */
    unsigned block; /* their number; 0: there are only single bytes */
    char single[TAKT_FILTER_SINGLES]; /* words of one byte */
    unsigned singles;
    unsigned char table[1 << TAKT_FILTER_BITS]; /* 0: no word starts so */
};

/* `words` ends with NULL and is borrowed; NULL: every text passes. */
void takt__filter_make(struct takt_filter *out, const char *const *words);

bool takt__filter_passes(const struct takt_filter *filter, const char *text,
                         size_t size);
