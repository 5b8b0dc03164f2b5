/* SPDX-License-Identifier: MIT */
/*
 * privileged.h - copies of the test program, one of them with more rights than
 * who runs it, in a folder.
 */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "support/child.h"

enum { nobody = 65534, not_privileged = 77 };

static char folder[] = "/tmp/takt-privileged-XXXXXX";

static inline char *path_of(const char *name)
{
    static char path[8][320];
    static unsigned next;
    char *out = path[next++ % 8];

    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

static inline void copy_file(const char *from, const char *to, mode_t mode)
{
    static char bytes[1 << 16];
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ssize_t length;

    REQUIRE(in >= 0 && out >= 0);
    while ((length = read(in, bytes, sizeof bytes)) > 0)
        REQUIRE(write(out, bytes, (size_t)length) == length);
    REQUIRE(length == 0);
    if ((mode & S_ISUID) != 0)
        REQUIRE(fchown(out, nobody, nobody) == 0);
    REQUIRE(fchmod(out, mode) == 0);
    close(in);
    close(out);
}

static inline bool exists(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

static inline void remove_all(void)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;

    while (entries != NULL && (entry = readdir(entries)) != NULL)
        if (entry->d_name[0] != '.')
            unlink(path_of(entry->d_name));
    if (entries != NULL)
        closedir(entries);
    rmdir(folder);
}
