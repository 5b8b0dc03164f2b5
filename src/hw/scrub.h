/* SPDX-License-Identifier: MIT */
/*
 * scrub.h - what of a machine's files may be recorded.
 *
 * Of files that also identify the owner of a machine, only the lines the probe
 * needs are kept. Names of control groups hold container, pod and user ids;
 * they become g0, g1, ... in the order they are found, and back again when a
 * file below them is asked for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { TAKT_SCRUB_NAMES = 64, TAKT_SCRUB_NAME = 256 };

/* All zero at first. */
struct takt_scrub {
    size_t count;
    char name[TAKT_SCRUB_NAMES][TAKT_SCRUB_NAME]; /* name[i] became "g<i>" */
};

/* Copies what may be known of `text`, the file at `path`, and returns its
 * length, at most cap - 1. `text` is changed. */
size_t takt__scrub_text(struct takt_scrub *scrub, const char *path, char *text,
                        char *out, size_t cap);

/* The path on the machine for a path with neutral names; false: too long. */
bool takt__scrub_restore(const struct takt_scrub *scrub, const char *path,
                         char *out, size_t cap);
