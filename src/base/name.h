/* SPDX-License-Identifier: MIT */
/* name.h - names as people type them: any case, and sometimes wrong. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The name of a value; "?": it has none. */
#define TAKT_NAME_IN(names, value)                                         \
    ((unsigned)(value) < sizeof(names) / sizeof(names)[0] ? (names)[value] \
                                                          : "?")

/* ASCII only, whatever the locale. */
char takt__lower(char c);

/* Whether the names are the same but for the case of their letters. */
bool takt__name_equal(const char *a, const char *b);

/* The same for the first `length` bytes of `a`, which need not end there. */
bool takt__name_equal_n(const char *a, size_t length, const char *b);

/* How many letters must be inserted, removed, replaced or swapped with their
 * neighbour to turn `a` into `b`, regardless of case. Names longer than 63
 * count as infinitely far: SIZE_MAX. */
size_t takt__name_distance(const char *a, const char *b);

/* Whether that distance is what a typing mistake makes: at most 2, and at
 * most a third of the name. */
bool takt__name_near(const char *typed, const char *name, size_t distance);
