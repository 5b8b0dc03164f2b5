/* SPDX-License-Identifier: MIT */
/*
 * place.h - where in a text a finding is, as people and SARIF count.
 */
#pragma once

#include "language.h"

/* Keeps the last position, as lines may be very long. */
struct takt_ruler {
    const char *text;
    size_t size;
    size_t line_start, at; /* bytes */
    unsigned column;       /* of `at` */
};

/* From 1, in UTF-16 units, of the byte `at` in the line that starts at
 * `line_start`. */
unsigned takt__ruler_column(struct takt_ruler *ruler, size_t line_start,
                            size_t at);

/* The first line of a text: trimmed, and cut off, to fit; valid UTF-8 without
 * control characters. */
void takt__snippet(struct takt_text text, char out[TAKT_SNIPPET]);
