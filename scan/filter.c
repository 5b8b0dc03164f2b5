/* SPDX-License-Identifier: MIT */
/*
 * filter.c - looks at each place of a text through a table of how words start,
 * eight places at a time without a branch, and compares words only where that
 * says so.
 */
#include "filter.h"

#include <string.h>

static uint32_t hash(uint32_t start)
{
    return start * 2654435761u >> (32 - TAKT_FILTER_BITS);
}

/* The first bytes at a place; bytes beyond those of the mask do not matter. */
static uint32_t start_at(const char *text, uint32_t mask)
{
    uint32_t start;

    memcpy(&start, text, sizeof start);
    return start & mask;
}

static uint32_t mask_of(unsigned block)
{
    const unsigned char one[4] = {0xFF, block > 1 ? 0xFF : 0,
                                  block > 2 ? 0xFF : 0, block > 3 ? 0xFF : 0};
    uint32_t mask;

    memcpy(&mask, one, sizeof mask); /* in the order of this machine */
    return mask;
}

void takt__filter_make(struct takt_filter *out, const char *const *words)
{
    *out = (struct takt_filter){.word = words, .is_open = words == NULL};
    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        const size_t size = strlen(words[i]);
        if (size == 0 || (size == 1 && out->singles == TAKT_FILTER_SINGLES))
            out->is_open = true;
        else if (size == 1)
            out->single[out->singles++] = words[i][0];
        else if (out->block == 0 || size < out->block)
            out->block = size < 4 ? (unsigned)size : 4;
    }
    out->mask = mask_of(out->block);
    for (size_t i = 0; words != NULL && words[i] != NULL; i++) {
        char start[4] = "";
        if (strlen(words[i]) < 2)
            continue;
        memcpy(start, words[i], out->block);
        out->table[hash(start_at(start, out->mask))] = 1;
    }
}

static bool is_word_at(const struct takt_filter *filter, const char *text,
                       size_t size)
{
    for (size_t i = 0; filter->word[i] != NULL; i++) {
        const size_t wanted = strlen(filter->word[i]);
        if (wanted > 1 && wanted <= size && text[0] == filter->word[i][0] &&
            memcmp(text, filter->word[i], wanted) == 0)
            return true;
    }
    return false;
}

static unsigned may_start(const struct takt_filter *filter, const char *text)
{
    return filter->table[hash(start_at(text, filter->mask))];
}

static bool has_word(const struct takt_filter *filter, const char *text,
                     size_t size)
{
    size_t i = 0;

    for (; i + 11 <= size; i += 8) { /* a start takes up to three more bytes */
        const char *at = text + i;
        const unsigned any =
            may_start(filter, at) | may_start(filter, at + 1) |
            may_start(filter, at + 2) | may_start(filter, at + 3) |
            may_start(filter, at + 4) | may_start(filter, at + 5) |
            may_start(filter, at + 6) | may_start(filter, at + 7);
        if (any == 0)
            continue;
        for (size_t k = 0; k < 8; k++)
            if (may_start(filter, at + k) &&
                is_word_at(filter, at + k, size - i - k))
                return true;
    }
    for (; i < size; i++)
        if (is_word_at(filter, text + i, size - i))
            return true;
    return false;
}

bool takt__filter_passes(const struct takt_filter *filter, const char *text,
                         size_t size)
{
    if (filter->is_open)
        return true;
    for (unsigned i = 0; i < filter->singles; i++)
        if (memchr(text, filter->single[i], size) != NULL)
            return true;
    return filter->block > 0 && has_word(filter, text, size);
}
