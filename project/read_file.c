/* SPDX-License-Identifier: MIT */
/* read_file.c - regular files of a bounded size. */
#include "project/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"

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
    char *bytes = malloc(size + 1);
    if (bytes == NULL)
        return takt__say(diag, TAKT_ENOMEM, "no memory");
    if (!read_all(fd, bytes, size)) {
        free(bytes);
        return errno == 0
                   ? takt__say(diag, TAKT_EIO,
                               "%.300s: was changed while it was read", path)
                   : say_errno(diag, path, "cannot be read");
    }
    bytes[size] = '\0';
    *text = bytes;
    *length = size;
    return TAKT_OK;
}

takt_status takt__read_file(const char *path, size_t most, char **text,
                            size_t *length, takt_diag *diag)
{
    /* O_NONBLOCK: do not wait for a writer of a pipe. */
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

char *takt__join_path(const char *folder, const char *name)
{
    const size_t length = strlen(folder);
    const bool has_slash = length > 0 && folder[length - 1] == '/';
    const size_t size = length + strlen(name) + 2;
    char *path = malloc(size);

    if (path != NULL)
        snprintf(path, size, "%s%s%s", folder, has_slash ? "" : "/", name);
    return path;
}
