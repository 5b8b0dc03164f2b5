/* SPDX-License-Identifier: MIT */
/*
 * source.h - where facts about a machine come from.
 *
 * The probe never touches the machine itself: it reads a source. There is this
 * machine, a recording of some machine (a folder), and a recorder, which
 * passes on the answers of another source and keeps them in a new folder. A
 * recording so holds exactly what the probe reads, and nothing else.
 *
 * A recording is untrusted: it may be truncated, huge or binary, and it never
 * leads outside of its own folder.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <takt/status.h>

/* What `file` and `list` return of a file or folder that may well be there:
 * too many files are open, there is no memory, the device does not answer. */
#define TAKT_HW_FAILED SIZE_MAX

struct takt_hw_source {
    /* All zero for a leaf the source does not have. */
    void (*cpuid)(void *self, uint32_t leaf, uint32_t subleaf,
                  uint32_t reg[4]); /* eax, ebx, ecx, edx */

    /* 0: the operating system saves no wide registers. */
    uint64_t (*xcr0)(void *self);

    /* Reads the file at the absolute `path` of that machine into `buf`, at
     * most cap - 1 bytes, ends it with NUL and returns the bytes read.
     * 0: no such file, or it is empty, or it may not be read.
     * TAKT_HW_FAILED: not known; `buf` is "". */
    size_t (*file)(void *self, const char *path, char *buf, size_t cap);

    /* The names in a folder, in byte order, each followed by a newline; the
     * same buffer rules. A name that does not fit is left out whole. */
    size_t (*list)(void *self, const char *folder, char *buf, size_t cap);

    void *self;
    const char *architecture; /* "x86_64", "aarch64", or not decoded */
};

/* This machine. Nothing to close. */
struct takt_hw_source takt__host_source(void);

/* Opens the recording in `folder`; close it when it opened.
 * TAKT_ENOENT: there is no such folder.
 * TAKT_ECORRUPT: its cpuid.txt cannot be understood. */
takt_status takt__replay_open(const char *folder, struct takt_hw_source *out);
void takt__replay_close(struct takt_hw_source *replay);

/* Starts a recording of `original`, which is borrowed until the close, in the
 * new folder `folder`. What identifies a machine's owner is not passed on,
 * neither to the folder nor to the caller.
 * TAKT_EEXIST: the folder exists.  TAKT_EIO: it cannot be made. */
takt_status takt__recorder_open(const struct takt_hw_source *original,
                                const char *folder, struct takt_hw_source *out);

/* Finishes the recording. When `so_far` is a failure, or when something could
 * not be written (TAKT_EIO), the folder is removed and that is returned. */
takt_status takt__recorder_close(struct takt_hw_source *recorder,
                                 takt_status so_far);
