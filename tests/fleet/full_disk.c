/* SPDX-License-Identifier: MIT */
/*
 * full_disk.c - a library to preload into PostgreSQL: while there is the file
 * that TAKT_TEST_FULL names, its disk is full.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The headers leave these out or name them otherwise. */
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at);
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at);
int posix_fallocate(int fd, off_t at, off_t length);

static bool is_full(void)
{
    const char *flag = getenv("TAKT_TEST_FULL");

    return flag != NULL && access(flag, F_OK) == 0;
}

static ssize_t fail(void)
{
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    return is_full() ? fail() : syscall(SYS_pwrite64, fd, bytes, count, at);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    return is_full() ? fail()
                     : syscall(SYS_pwritev, fd, parts, count, at, (off_t)0);
}

int posix_fallocate(int fd, off_t at, off_t length)
{
    if (is_full())
        return ENOSPC;
    return syscall(SYS_fallocate, fd, 0, at, length) == 0 ? 0 : errno;
}
