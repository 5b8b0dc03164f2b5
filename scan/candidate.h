/* SPDX-License-Identifier: MIT */
/*
 * candidate.h - what a query found, while it is being judged.
 */
#pragma once

#include "language.h"

struct takt_scan_candidate {
    struct takt_match match;
    struct takt_finding finding;
    uint32_t start, end; /* bytes */
    uint32_t pattern;    /* its place in the query */
    bool is_dropped;
};

/* Orders candidates by place, the larger first, and drops those that others
 * are meant instead of. */
void takt__candidates_settle(const struct takt_language *language,
                             struct takt_scan_candidate *candidate,
                             size_t count);
