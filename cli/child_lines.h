/* SPDX-License-Identifier: MIT */
/* child_lines.h - running another program for what it says. */
#pragma once

#include <stdbool.h>

/* A line, without its end. */
typedef void line_visit(void *self, const char *line);

struct child_lines {
    const char *name;        /* found in PATH */
    const char *const *word; /* all of them, its name first; NULL ends */
    const char *folder;      /* in which it runs; NULL: where we are */
    bool reads_errors;       /* lines of stderr, stdout is dropped; else the
                              * other way round, and errors are shown */
    unsigned most_seconds;   /* of CPU time; 0: no limit */
    line_visit *visit;
    void *self;
};

/* True: it ran, and its exit status is 0. */
bool read_child(const struct child_lines *child);
