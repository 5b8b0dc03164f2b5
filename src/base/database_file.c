/* SPDX-License-Identifier: MIT */
/* database_file.c - knowing files of SQLite's by their first bytes. */
#define _GNU_SOURCE /* realpath() */
#include "base/database_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/open_files.h"

/* Whether there is such a file; `name` is of so many bytes. */
static bool exists(int folder, const char *name, size_t length, const char *end)
{
    char whole[PATH_MAX];
    struct stat facts;

    return snprintf(whole, sizeof whole, "%.*s%s", (int)length, name, end) <
               (int)sizeof whole &&
           fstatat(folder, whole, &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A store that is in use has a list of writers beside it. */
static bool is_store(int folder, const char *name, size_t length)
{
    return exists(folder, name, length, "") &&
           exists(folder, name, length, "-writers");
}

bool takt__is_part_of_store(int folder, const char *name)
{
    static const char *const ends[] = {"-wal", "-shm", "-journal", "-writers"};
    const size_t length = strlen(name);

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const size_t end = strlen(ends[i]);
        if (length > end && strcmp(name + length - end, ends[i]) == 0 &&
            is_store(folder, name, length - end))
            return true;
    }
    return false;
}

static bool is_of_store(int folder, const char *name)
{
    return is_store(folder, name, strlen(name)) ||
           takt__is_part_of_store(folder, name);
}

/* Where the links of a path lead to; the path, if that is not known. */
static bool is_of_store_by_links(int folder, const char *name)
{
    char *end = folder == AT_FDCWD ? realpath(name, NULL) : NULL;
    const bool is =
        is_of_store(folder, name) || (end != NULL && is_of_store(folder, end));

    free(end);
    return is;
}

/* The first bytes of a database, of its journal, of its log (of which two
 * differ in a bit), and of the index of that, which is in the order of bytes of
 * the machine. */
static bool is_start(const unsigned char *at, size_t length)
{
    static const unsigned char journal[] = {0xd9, 0xd5, 0x05, 0xf9,
                                            0x20, 0xa1, 0x63, 0xd7};
    static const unsigned char log[] = {0x37, 0x7f, 0x06, 0x82};
    static const char database[] = "SQLite format 3"; /* with the 0 */
    const uint32_t index = 3007000;

    if (length < sizeof database)
        return false;
    return memcmp(at, database, sizeof database) == 0 ||
           memcmp(at, journal, sizeof journal) == 0 ||
           memcmp(at, &index, sizeof index) == 0 ||
           (memcmp(at, log, sizeof log - 1) == 0 && (at[3] & ~1) == log[3]);
}

bool takt__is_database(int folder, const char *name)
{
    unsigned char start[16];
    struct stat facts;

    if (fstatat(folder, name, &facts, 0) != 0 || !S_ISREG(facts.st_mode))
        return false;
    if (is_of_store_by_links(folder, name))
        return true;
    const struct takt_borrowed file = takt__borrow(folder, name);
    const ssize_t length =
        file.fd < 0 ? -1 : pread(file.fd, start, sizeof start, 0);
    takt__give_back(file);
    return length > 0 && is_start(start, (size_t)length);
}

int takt__append_open(const char *path, mode_t mode)
{
    const int flags =
        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

    if (takt__is_database(AT_FDCWD, path)) {
        errno = EEXIST;
        return -1;
    }
    return takt__descriptor_move_up(open(path, flags, mode));
}
