/* SPDX-License-Identifier: MIT */
/*
 * walk.h - the files to look at, one after the other, in the order of paths.
 *
 * Folders are opened from the one before and never by a path, so that nothing
 * is reached through a link; there is no way into a loop. What is nested deeper
 * than people do is passed over.
 */
#pragma once

#include "folder.h"
#include "ignore.h"
#include "language.h"

enum { TAKT_WALK_DEEPEST = 128 };

struct takt_walk_rules {
    struct takt_ignore ignore;
    size_t base; /* of walk->full: where paths start for these rules */
};

struct takt_walk_level {
    struct takt_folder folder;
    size_t next;      /* entry */
    size_t path_size; /* of walk->full, up to this folder */
    size_t rules;     /* that were there before */
};

struct takt_walk {
    const struct takt_scan_options *options;
    size_t next_path; /* of the options */
    bool is_any_path_there;
    unsigned depth;
    struct takt_walk_level level[TAKT_WALK_DEEPEST];
    struct takt_walk_rules *rules;
    size_t rule_count, rule_room;
    char *full; /* the real path of what is looked at */
    size_t full_size, full_room;
    const char *given;            /* how the path began that was given ... */
    size_t given_size, root_size; /* ... for that much of `full` */
    uint64_t others, ignored, linked;
};

/* A file, or something to tell about a path. */
struct takt_walk_file {
    char *path;        /* to be freed */
    const char *inner; /* of it, what follows the folder that was given */
    int fd;            /* to be closed; -1: see `why` */
    const struct takt_language *language;
    bool is_unreadable;
    char why[128];
};

/* TAKT_ENOENT: there is nothing more.  TAKT_ENOMEM. */
void takt__walk_open(struct takt_walk *walk,
                     const struct takt_scan_options *options);
takt_status takt__walk_next(struct takt_walk *walk, struct takt_walk_file *out);
void takt__walk_close(struct takt_walk *walk);
