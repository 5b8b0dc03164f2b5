/* SPDX-License-Identifier: MIT */
/*
 * examples.h - the examples that stand above each pattern of a query file:
 *     ;+ code that the pattern below finds
 *     ;- code in which no pattern finds anything
 * \n in such a line is a line break.
 */
#pragma once

#include <stdio.h>

#include "finder.h"

struct examples_score {
    unsigned positives, negatives, wrong;
    unsigned patterns, without; /* of the patterns, those without any ;+ */
};

/* What is wrong is said on `complaints`. */
struct examples_score examples_check(struct takt_scan_finder *finder,
                                     const struct takt_patterns *patterns,
                                     FILE *complaints);
