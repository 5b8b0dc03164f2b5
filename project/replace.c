/* SPDX-License-Identifier: MIT */
/*
 * replace.c - a new file is complete and on the disk before it gets the name of
 * the old one.
 */
#define _XOPEN_SOURCE 700 /* realpath() */

#include "project/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "project/say.h"

static takt_status say_errno(takt_diag *diag, const char *path,
                             const char *what)
{
    return takt__say(diag, TAKT_EIO, "%.300s: %s: %s", path, what,
                     strerror(errno));
}

/* False: errno says why; 0 is the end of a file that became shorter. */
static bool read_all(int fd, char *text, size_t length)
{
    while (length > 0) {
        const ssize_t got = read(fd, text, length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? 0 : errno;
            return false;
        }
        text += got;
        length -= (size_t)got;
    }
    return true;
}

static takt_status read_open(int fd, const char *path, size_t most, char **text,
                             size_t *length, takt_diag *diag)
{
    struct stat facts;

    if (fstat(fd, &facts) != 0)
        return say_errno(diag, path, "cannot be read");
    if (!S_ISREG(facts.st_mode))
        return takt__say(diag, TAKT_EIO, "%.300s: is no file", path);
    if ((uint64_t)facts.st_size > most)
        return takt__say(diag, TAKT_EIO,
                         "%.300s: is too large: more than %zu bytes", path,
                         most);
    const size_t size = (size_t)facts.st_size;
    char *room = malloc(size + 1);
    if (room == NULL)
        return takt__say(diag, TAKT_ENOMEM, "no memory");
    if (!read_all(fd, room, size)) {
        free(room);
        return errno == 0
                   ? takt__say(diag, TAKT_EIO,
                               "%.300s: was changed while it was read", path)
                   : say_errno(diag, path, "cannot be read");
    }
    room[size] = '\0';
    *text = room;
    *length = size;
    return TAKT_OK;
}

takt_status takt__read_file(const char *path, size_t most, char **text,
                            size_t *length, takt_diag *diag)
{
    /* Not to wait for whoever might write into a pipe. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *text = NULL;
    *length = 0;
    takt__say(diag, TAKT_OK, "%s", "");
    if (fd < 0 && errno == ENOENT)
        return TAKT_ENOENT;
    if (fd < 0)
        return say_errno(diag, path, "cannot be read");
    const takt_status status = read_open(fd, path, most, text, length, diag);
    close(fd);
    return status;
}

static bool write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return fsync(fd) == 0;
}

/* Gives an open file the owner and the permissions in `facts`. */
static bool dress(int fd, const struct stat *facts)
{
    struct stat own;

    if (fstat(fd, &own) != 0)
        return false;
    if ((own.st_uid != facts->st_uid || own.st_gid != facts->st_gid) &&
        fchown(fd, facts->st_uid, facts->st_gid) != 0)
        return false;
    return fchmod(fd, facts->st_mode & 07777) == 0;
}

/* Brings the names in the folder of `path` to the disk too. It does no harm
 * where that cannot be done: the old name then leads to the old file. */
static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 0;

    if (length >= sizeof folder)
        return;
    memcpy(folder, path, length);
    strcpy(folder + length, ".");
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

static takt_status check_unchanged(const char *path, const char *expected,
                                   size_t expected_length, takt_diag *diag)
{
    char *text;
    size_t length;
    takt_status status =
        takt__read_file(path, expected_length, &text, &length, NULL);

    if (status == TAKT_ENOMEM)
        return takt__say(diag, status, "no memory");
    if (status != TAKT_OK || length != expected_length ||
        memcmp(text, expected, length) != 0)
        status =
            takt__say(diag, TAKT_EIO,
                      "%.300s: was changed meanwhile; run this again", path);
    free(text);
    return status;
}

/* What there is to know about the file to replace; mode 0: there is none. */
static takt_status look_at(const char *path, struct stat *facts,
                           takt_diag *diag)
{
    if (stat(path, facts) != 0) {
        facts->st_mode = 0;
        return errno == ENOENT ? TAKT_OK
                               : say_errno(diag, path, "cannot be written");
    }
    if (!S_ISREG(facts->st_mode))
        return takt__say(diag, TAKT_EIO, "%.300s: is no file", path);
    /* One that nobody may write is meant to stay, also for those whom no
     * permissions stop. */
    if ((facts->st_mode & 0222) == 0 || access(path, W_OK) != 0)
        return takt__say(diag, TAKT_EIO, "%.300s: is read-only", path);
    return TAKT_OK;
}

takt_status takt__check_writable(const char *path, takt_diag *diag)
{
    struct stat facts;

    return look_at(path, &facts, diag);
}

/* The path that symbolic links lead to; of a new file, the path itself. */
static bool follow(const char *path, char target[PATH_MAX])
{
    if (realpath(path, target) != NULL)
        return true;
    return errno == ENOENT &&
           (size_t)snprintf(target, PATH_MAX, "%s", path) < PATH_MAX;
}

/* Opens a new file beside `target` for what is to replace it. What a process
 * that was killed has left there is in nobody's way. */
static int open_aside(const char *target, char aside[PATH_MAX])
{
    const char *slash = strrchr(target, '/');
    const int folder = slash != NULL ? (int)(slash - target) + 1 : 0;
    int fd = -1;

    errno = EEXIST;
    for (int i = 0; fd < 0 && errno == EEXIST && i < 100; i++) {
        if (snprintf(aside, PATH_MAX, "%.*s.%s.%ld-%d", folder, target,
                     target + folder, (long)getpid(), i) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return fd;
}

/* Makes a whole file beside `target`, like the one in `facts` unless that has
 * no mode. On failure nothing is left of it. */
static takt_status write_aside(const char *target, const struct stat *facts,
                               const char *text, size_t length,
                               char aside[PATH_MAX], takt_diag *diag)
{
    const int fd = open_aside(target, aside);
    takt_status status = TAKT_OK;

    if (fd < 0)
        return say_errno(diag, target, "cannot be written");
    if (facts->st_mode != 0 && !dress(fd, facts))
        status = say_errno(diag, target, "cannot keep its owner and mode");
    else if (!write_all(fd, text, length))
        status = say_errno(diag, target, "cannot be written");
    if (close(fd) != 0 && status == TAKT_OK)
        status = say_errno(diag, target, "cannot be written");
    if (status != TAKT_OK)
        unlink(aside);
    return status;
}

takt_status takt__replace_file(const char *path, const char *text,
                               size_t length, const char *expected,
                               size_t expected_length, takt_diag *diag)
{
    char target[PATH_MAX], aside[PATH_MAX];
    struct stat facts;

    takt__say(diag, TAKT_OK, "%s", "");
    if (!follow(path, target))
        return say_errno(diag, path, "cannot be written");
    takt_status status = look_at(target, &facts, diag);
    if (status == TAKT_OK)
        status = write_aside(target, &facts, text, length, aside, diag);
    if (status != TAKT_OK)
        return status;
    if (expected != NULL)
        status = check_unchanged(target, expected, expected_length, diag);
    if (status == TAKT_OK && rename(aside, target) != 0)
        status = say_errno(diag, path, "cannot be written");
    if (status != TAKT_OK)
        unlink(aside);
    else
        sync_folder(target);
    return status;
}

takt_status takt__create_file(const char *path, const char *like,
                              const char *text, size_t length, takt_diag *diag)
{
    char aside[PATH_MAX];
    struct stat facts, there;

    takt__say(diag, TAKT_OK, "%s", "");
    if (lstat(path, &there) == 0)
        return TAKT_EEXIST;
    if (stat(like, &facts) != 0)
        return say_errno(diag, like, "cannot be read");
    takt_status status = write_aside(path, &facts, text, length, aside, diag);
    if (status != TAKT_OK)
        return status;
    /* A second name never takes that of another file, as a new one would; but
     * not every file system has them. */
    if (link(aside, path) != 0) {
        if (errno == EEXIST)
            status = TAKT_EEXIST;
        else if (rename(aside, path) != 0)
            status = say_errno(diag, path, "cannot be written");
    }
    unlink(aside);
    if (status == TAKT_OK)
        sync_folder(path);
    return status;
}
