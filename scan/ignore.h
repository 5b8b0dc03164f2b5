/* SPDX-License-Identifier: MIT */
/*
 * ignore.h - the rules of one .gitignore file.
 */
#pragma once

#include "glob.h"
#include "text/region.h"

struct takt_ignore_rule {
    struct takt_span pattern;
    bool is_negated;  /* !pattern: not ignored after all */
    bool is_folder;   /* pattern/: only folders */
    bool is_anchored; /* it has a slash: the whole path must fit */
};

struct takt_ignore {
    size_t count;
    struct takt_ignore_rule *rule;
    struct takt_region region;
};

/* Reads the text of such a file; false: no memory. */
bool takt__ignore_read(struct takt_ignore *out, const char *text, size_t size);
void takt__ignore_clear(struct takt_ignore *ignore);

/* > 0: the path is to be ignored, < 0: it is not, whatever rules further up
 * say, 0: these rules say nothing. `path` is as seen from the folder of the
 * file. */
int takt__ignore_verdict(const struct takt_ignore *ignore,
                         struct takt_span path, bool is_folder);
