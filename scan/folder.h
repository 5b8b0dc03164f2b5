/* SPDX-License-Identifier: MIT */
/*
 * folder.h - what is in a folder, in the order of paths.
 */
#pragma once

#include "text/region.h"

#include <stdbool.h>

enum takt_entry_kind {
    TAKT_ENTRY_FILE,
    TAKT_ENTRY_FOLDER,
    TAKT_ENTRY_LINK,
    TAKT_ENTRY_OTHER /* pipes, sockets, devices: never opened */
};

struct takt_entry {
    const char *name;
    enum takt_entry_kind kind;
};

struct takt_folder {
    int fd;
    size_t count;
    struct takt_entry *entry;
    struct takt_region region;
};

/* Takes `fd`, also when it fails. 0, or what errno says. */
int takt__folder_read(int fd, struct takt_folder *out);
void takt__folder_close(struct takt_folder *folder);

bool takt__folder_has(const struct takt_folder *folder, const char *name);

/* Whether these are not the project's sources: what tools made, or others
 * wrote. By the name of the folder, and its path from the one on that was given
 * ... */
bool takt__is_vendored_name(const char *name, const char *path);
/* ... and by what lies in it. */
bool takt__is_vendored_folder(const struct takt_folder *folder);

/* Where version control keeps its own. */
bool takt__is_repository_name(const char *name);

/* A small text file of the folder, terminated, to be freed; NULL: there is
 * none, or it is none. */
char *takt__folder_text(const struct takt_folder *folder, const char *name,
                        size_t *size);
