/* SPDX-License-Identifier: MIT */
/*
 * settle.c - which of several matches at one place is meant.
 */
#include "candidate.h"

#include <stdlib.h>

enum { DEEPEST = 64 }; /* candidates around a candidate that are asked about */

static int by_place(const void *left, const void *right)
{
    const struct takt_scan_candidate *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->pattern > b->pattern) - (a->pattern < b->pattern);
}

/* > 0: the first, < 0: the second, 0: both. */
static int meant(const struct takt_language *language,
                 const struct takt_scan_candidate *first,
                 const struct takt_scan_candidate *second)
{
    const bool is_same_place =
        first->start == second->start && first->end == second->end;

    if (is_same_place && first->match.of == second->match.of)
        return 1; /* found in two ways */
    if (language->prefer != NULL)
        return language->prefer(&first->match, &second->match);
    return is_same_place;
}

static void settle_one(const struct takt_language *language,
                       struct takt_scan_candidate **around, size_t depth,
                       struct takt_scan_candidate *candidate)
{
    for (size_t i = depth; i > 0 && !candidate->is_dropped; i--) {
        if (around[i - 1]->is_dropped)
            continue;
        const int which = meant(language, around[i - 1], candidate);
        around[i - 1]->is_dropped = which < 0;
        candidate->is_dropped = which > 0;
    }
}

void takt__candidates_settle(const struct takt_language *language,
                             struct takt_scan_candidate *candidate,
                             size_t count)
{
    struct takt_scan_candidate *around[DEEPEST];
    size_t depth = 0;

    if (count == 0)
        return;
    qsort(candidate, count, sizeof *candidate, by_place);
    for (size_t i = 0; i < count; i++) {
        while (depth > 0 && (around[depth - 1]->is_dropped ||
                             around[depth - 1]->end < candidate[i].end ||
                             around[depth - 1]->end <= candidate[i].start))
            depth--;
        settle_one(language, around, depth, &candidate[i]);
        if (!candidate[i].is_dropped && depth < DEEPEST)
            around[depth++] = &candidate[i];
    }
}
