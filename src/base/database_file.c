/* SPDX-License-Identifier: MIT */
/* database_file.c - knowing files of SQLite's by their first bytes. */
#include "base/database_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"

/* A store that is in use has such a file beside it. To open and close the store
 * would drop the locks that SQLite holds in this process. */
static bool has_writers(int folder, const char *name)
{
    char writers[PATH_MAX];
    struct stat facts;

    return snprintf(writers, sizeof writers, "%s-writers", name) <
               (int)sizeof writers &&
           fstatat(folder, writers, &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

bool takt__is_database(int folder, const char *name)
{
    static const char mark[] = "SQLite format 3"; /* with the 0 */
    char found[sizeof mark] = "";
    struct stat facts;
    ssize_t length = 0;

    if (fstatat(folder, name, &facts, 0) != 0 || !S_ISREG(facts.st_mode))
        return false;
    if (has_writers(folder, name))
        return true;
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        length = read(fd, found, sizeof found);
        close(fd);
    }
    return length == sizeof mark && memcmp(found, mark, sizeof mark) == 0;
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
