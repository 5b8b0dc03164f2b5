/* SPDX-License-Identifier: MIT */
/* store_room.c - whether the disk of a store has room for what is learned. */
#define _GNU_SOURCE /* O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "context.h"

/* SQLite writes a log beside the store first. */
enum { room_bytes = 256 << 10 };

/* Beyond it the process would get a signal, and the library blocks that. */
static bool is_file_size_limited(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           limit.rlim_cur < (rlim_t)room_bytes;
}

const char *store_room_problem(const char *store)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(store, '/');
    const int length = slash != NULL ? (int)(slash - store) + 1 : 1;

    if (is_file_size_limited() ||
        snprintf(folder, sizeof folder, "%.*s", length,
                 slash != NULL ? store : ".") >= (int)sizeof folder)
        return NULL;
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL; /* not all file systems have such files */
    const int wrong = posix_fallocate(fd, 0, room_bytes);
    close(fd);
    return wrong == ENOSPC || wrong == EDQUOT ? strerror(wrong) : NULL;
}
