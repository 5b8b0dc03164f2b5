/* SPDX-License-Identifier: MIT */
/*
 * cgroup.h - the two kernel files that say which control group a process is
 * in and where its files are.
 */
#pragma once

#include <stdbool.h>

/* A line of /proc/self/cgroup; everything points into that line. */
struct takt_group_line {
    const char *controllers; /* "" for version 2 */
    const char *path;        /* of the group, below the hierarchy's root */
};

/* A line of /proc/self/mountinfo; everything points into that line. */
struct takt_mount_line {
    const char *root;    /* the part of the file system that is mounted */
    const char *point;   /* where, with \040 and the like decoded */
    const char *type;    /* such as "cgroup2" */
    const char *options; /* of the file system: the controllers, version 1 */
};

/* Both change the line; false when it is not of that form. */
bool takt__group_line_parse(char *line, struct takt_group_line *out);
bool takt__mount_line_parse(char *line, struct takt_mount_line *out);

/* Whether the line is about CPU time in version 2, or else in version 1. */
bool takt__group_line_matches(const struct takt_group_line *line, bool is_v2);
bool takt__mount_line_matches(const struct takt_mount_line *line, bool is_v2);
