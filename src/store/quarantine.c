/* SPDX-License-Identifier: MIT */
/*
 * quarantine.c - renaming a database and its companions.
 *
 * The database goes last: were we killed in between, what is left under its
 * name is still damaged and is found again, and never is a journal left that
 * would be applied to the new one.
 */
#include "store/quarantine.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { most = 100, number_bytes = 32 };

static const char *const companions[] = {"-wal", "-shm", "-journal", ""};

static bool exists(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0;
}

static bool move(char *from, char *to)
{
    char *const from_end = from + strlen(from);
    char *const to_end = to + strlen(to);
    bool is_moved = true;

    for (size_t i = 0; i < sizeof companions / sizeof companions[0]; i++) {
        strcpy(from_end, companions[i]);
        strcpy(to_end, companions[i]);
        if (rename(from, to) != 0 && errno != ENOENT)
            is_moved = false;
    }
    return is_moved;
}

takt_status takt__quarantine(const char *path, int *number)
{
    const size_t bytes = strlen(path) + number_bytes;
    char *from = malloc(bytes);
    char *to = malloc(bytes);
    takt_status status = TAKT_EIO;

    *number = 0;
    if (from == NULL || to == NULL) {
        status = TAKT_ENOMEM;
        goto out;
    }
    strcpy(from, path);
    for (int i = 1; i <= most; i++) {
        snprintf(to, bytes, "%s.damaged-%d", path, i);
        if (exists(to))
            continue;
        *number = i;
        status = move(from, to) ? TAKT_OK : TAKT_EIO;
        break;
    }
out:
    free(to);
    free(from);
    return status;
}
