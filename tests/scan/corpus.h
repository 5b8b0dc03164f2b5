/* SPDX-License-Identifier: MIT */
/*
 * corpus.h - labelled source code, and how well it is understood.
 *
 * A line that has a finding ends with a comment that names its op, in C, C++
 * and Rust as in
 *     let s: f32 = v.iter().sum(); //~ sum
 * and in Python after #~ . What is to be known besides may follow: the sizes
 * (512x512x512), f32 or f64, and `test` for test code; several ops may stand
 * there. A line that only looks like a finding ends with //~! or #~! .
 * Whatever is found on any line that is not marked is wrong, too.
 */
#pragma once

#include <stdio.h>

#include "finder.h"

struct corpus_score {
    unsigned files, partly;
    unsigned positives, negatives; /* marked */
    unsigned found;                /* of the positives */
    unsigned wrong;                /* findings that are none */
    unsigned differ;               /* found, but not as the mark says */
};

double corpus_precision(const struct corpus_score *score);
double corpus_recall(const struct corpus_score *score);

/* Adds all files of the language in a folder, and those in it, to the score.
 * What is missed or wrong is said on `complaints`. */
bool corpus_score_folder(struct takt_scan_finder *finder,
                         const struct takt_patterns *patterns,
                         const char *folder, struct corpus_score *score,
                         FILE *complaints);

/* A whole file, terminated, to be freed; NULL: it cannot be read. */
char *corpus_read(const char *path, size_t *size);
