/* SPDX-License-Identifier: MIT */
/* patch_text.h - a source file with calls in the places of loops. */
#pragma once

#include <stddef.h>

#include "findings.h"

struct source_file {
    char *text; /* ended by a NUL that does not count */
    size_t size;
    size_t *line; /* offsets; line[0] is that of line 1; one more at the end */
    unsigned lines;
};

bool open_source(const char *path, struct source_file *out);
void close_source(struct source_file *file);

/* Whether the loop stands on lines of its own, so that lines can be put around
 * it. */
bool is_on_own_lines(const struct source_file *file,
                     const struct takt_finding *finding);

/* The text with the rewrites of some findings, which follow each other and do
 * not lie in each other, and the #include that they need. NULL: no memory. The
 * caller frees it. */
char *rewrite_source(const struct source_file *file,
                     const struct takt_finding *const *finding, size_t count,
                     size_t *size);
