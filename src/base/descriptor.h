/* SPDX-License-Identifier: MIT */
/*
 * descriptor.h - files that stay open in a program that knows nothing of them.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* The same file, above the numbers of standard input and output: what a program
 * prints that has closed those must not end up in it. -1 stays -1; errno says
 * what is wrong. */
static inline int takt__descriptor_move_up(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int wrong = errno;
    close(fd);
    errno = wrong;
    return moved;
}
