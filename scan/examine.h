/* SPDX-License-Identifier: MIT */
/*
 * examine.h - what there is to say about one file.
 */
#pragma once

#include <pthread.h>

#include "filter.h"
#include "finder.h"
#include "project.h"
#include "walk.h"

/* What all threads share. Patterns are compiled when the first file of their
 * language is worth it. */
struct takt_shared {
    const struct takt_scan_options *options;
    struct takt_project *project;
    struct takt_filter filter[TAKT_SCAN_LANGUAGES];
    struct takt_filter loops[TAKT_SCAN_LANGUAGES];
    pthread_mutex_t lock; /* of what follows, while patterns are opened */
    struct takt_patterns patterns[TAKT_SCAN_LANGUAGES];
    takt_diag diag;
};

void takt__shared_open(struct takt_shared *shared,
                       const struct takt_scan_options *options);
void takt__shared_close(struct takt_shared *shared);

/* What a thread has to itself. */
struct takt_examiner {
    struct takt_scan_finder finder;
    char *text;
    size_t room;
};

takt_status takt__examiner_open(struct takt_examiner *examiner);
void takt__examiner_close(struct takt_examiner *examiner);

enum takt_file_kind {
    TAKT_FILE_TEXT,
    TAKT_FILE_OTHER, /* of a language that is not looked for */
    TAKT_FILE_UNREADABLE,
    TAKT_FILE_BINARY,
    TAKT_FILE_TOO_LARGE
};

struct takt_examined {
    takt_status status; /* not TAKT_OK: the scan cannot go on */
    enum takt_file_kind kind;
    const struct takt_language *language;
    int error; /* errno, where it is unreadable */
    bool is_utf8, is_parsed;
    uint64_t bytes, lines;
    struct takt_found found;
};

/* Reads what a file declares for others, before any is examined. By one thread
 * and in the order of paths. TAKT_ENOMEM. */
takt_status takt__examine_outline(struct takt_examiner *examiner,
                                  struct takt_shared *shared,
                                  const struct takt_walk_file *file);

/* Reads a file, and looks for patterns in it if it is worth that. */
void takt__examine(struct takt_examiner *examiner, struct takt_shared *shared,
                   const struct takt_walk_file *file,
                   struct takt_examined *out);
