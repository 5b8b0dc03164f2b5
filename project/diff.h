/* SPDX-License-Identifier: MIT */
/*
 * diff.h - what distinguishes two texts, line by line, as people and `patch`
 * read it: a unified diff.
 */
#pragma once

#include <stddef.h>

struct takt_diff_side {
    const char *name; /* of the file */
    const char *text;
    size_t length;
};

/* Owned by the caller; "" if the texts are the same. NULL: no memory. It is the
 * shortest there is, unless the texts have more than 400 lines that differ. */
char *takt__diff(struct takt_diff_side old, struct takt_diff_side new_);
