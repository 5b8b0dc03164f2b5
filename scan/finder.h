/* SPDX-License-Identifier: MIT */
/*
 * finder.h - the findings of one text.
 */
#pragma once

#include "patterns.h"
#include "text/region.h"

/* What one thread needs to look through files, one after the other. */
struct takt_scan_finder {
    TSParser *parser;
    TSQueryCursor *cursor;
    struct takt_scan_candidate *candidate; /* of the file at hand */
    size_t count, room;
    uint64_t deadline; /* of the file at hand, by takt__now_ns() */
};

/* In the order of their places. The strings live in the region, the path is the
 * one that was given. */
struct takt_found {
    struct takt_finding *finding;
    size_t count, test_count;
    bool is_partly;   /* the text was not understood completely */
    bool is_given_up; /* it took too long, or there was too much: count is 0 */
    struct takt_region region;
};

/* TAKT_ENOMEM. */
takt_status takt__finder_open(struct takt_scan_finder *finder);
void takt__finder_close(struct takt_scan_finder *finder);

/* Looks for the patterns in a text. TAKT_ENOMEM: *out is empty. */
takt_status takt__find(struct takt_scan_finder *finder,
                       const struct takt_patterns *patterns, const char *path,
                       const char *text, size_t size, struct takt_found *out);
/* The same; behind `own_size` bytes stand declarations of other files, in which
 * nothing is looked for. */
takt_status takt__find_among(struct takt_scan_finder *finder,
                             const struct takt_patterns *patterns,
                             const char *path, const char *text,
                             size_t own_size, size_t size,
                             struct takt_found *out);
void takt__found_clear(struct takt_found *found);
