/* SPDX-License-Identifier: MIT */
/*
 * ask.h - how the parts of the probe read a source, and what the parts are.
 *
 * Each part reads its own facts and leaves zero what it cannot find or
 * understand.
 */
#pragma once

#include <stdbool.h>

#include <takt/machine.h>

#include "hw/source.h"

/* Enough for the longest file read: /proc/self/mountinfo where many containers
 * run. What is longer is read up to here. */
enum { TAKT_PROBE_TEXT = 256 * 1024 };

struct takt_probe {
    const struct takt_hw_source *source;
    takt_machine *machine; /* zero at first */
    char *text;            /* TAKT_PROBE_TEXT bytes, for long files */
    bool has_failed;       /* something that may be there was not read */
};

/* A short file; false: absent or empty, `buf` is then "". */
bool takt__probe_file(struct takt_probe *probe, const char *path, char *buf,
                      size_t cap);

/* The number at the start of a short file. */
bool takt__probe_number(struct takt_probe *probe, const char *path,
                        unsigned base, uint64_t *out);

/* A long file, or "". Valid and free to be changed until the next call. */
char *takt__probe_text(struct takt_probe *probe, const char *path);

/* The names in a folder (struct takt_hw_source). */
void takt__probe_list(struct takt_probe *probe, const char *folder, char *buf,
                      size_t cap);

/* The parts. */
void takt__x86_probe(struct takt_probe *probe);
void takt__x86_probe_caches(struct takt_probe *probe);
void takt__arm_probe(struct takt_probe *probe);
void takt__cores_probe(struct takt_probe *probe);
void takt__quota_probe(struct takt_probe *probe);
void takt__caches_probe(struct takt_probe *probe);
void takt__gpus_probe(struct takt_probe *probe);

/* Notes one cache of `bytes`, whichever way it was found; the largest of a
 * level counts. */
void takt__cache_note(takt_machine *machine, uint64_t level, uint64_t bytes);
