/* SPDX-License-Identifier: MIT */
/* lines.h - lines of a file, however long, in memory of a fixed size. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { TAKT_LINE_BYTES = 1 << 16 };

struct takt_lines {
    FILE *file;
    bool keeps_end; /* of a line that is too long, its end; else its begin */
    char text[TAKT_LINE_BYTES]; /* without its end, ended by a NUL */
    size_t length;
};

/* False: there is none left. NUL bytes become blanks. */
bool takt__lines_next(struct takt_lines *lines);
