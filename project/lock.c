/* SPDX-License-Identifier: MIT */
/*
 * lock.c - flock() on a file that is removed with the lock.
 *
 * A file that was opened by its name may be removed before it is locked, so a
 * lock counts only while its file still has the name.
 */
#define _DEFAULT_SOURCE /* flock */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "read_file.h"

static const char file_name[] = ".takt-state.lock";

static bool has_name(int fd, const char *path)
{
    struct stat opened, named;

    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static takt_status name_holder(int fd, takt_diag *diag)
{
    char pid[24] = "";
    const ssize_t length = pread(fd, pid, sizeof pid - 1, 0);

    pid[length > 0 ? (size_t)length : 0] = '\0';
    pid[strspn(pid, "0123456789")] = '\0';
    return takt__say(
        diag, TAKT_EEXIST, "another takt is at work on this project%s%s%s",
        pid[0] != '\0' ? " (process " : "", pid, pid[0] != '\0' ? ")" : "");
}

/* A process that checks the lock holds it for a moment. False: errno. */
static bool lock_soon(int fd)
{
    for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK || tries == 4)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return true;
}

static takt_status try_path(struct takt_lock *lock, takt_diag *diag)
{
    for (int tries = 0; tries < 100; tries++) {
        lock->fd =
            open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (lock->fd < 0)
            return takt__say(diag, TAKT_EIO, "cannot make %.300s: %s",
                             lock->path, strerror(errno));
        if (!lock_soon(lock->fd)) {
            const takt_status status =
                errno == EWOULDBLOCK
                    ? name_holder(lock->fd, diag)
                    : takt__say(diag, TAKT_EIO, "cannot lock %.300s: %s",
                                lock->path, strerror(errno));
            close(lock->fd);
            return status;
        }
        if (has_name(lock->fd, lock->path))
            return TAKT_OK;
        close(lock->fd);
    }
    return takt__say(diag, TAKT_EIO, "%.300s comes and goes", lock->path);
}

takt_status takt__lock_take(const char *folder, struct takt_lock *out,
                            takt_diag *diag)
{
    *out = (struct takt_lock){.fd = -1,
                              .path = takt__join_path(folder, file_name)};
    if (out->path == NULL)
        return takt__say(diag, TAKT_ENOMEM, "no memory");
    const takt_status status = try_path(out, diag);
    if (status != TAKT_OK) {
        free(out->path);
        *out = (struct takt_lock){.fd = -1};
    } else if (ftruncate(out->fd, 0) != 0 ||
               dprintf(out->fd, "%ld\n", (long)getpid()) < 0) {
        /* The number is for messages alone: the lock is held all the same. */
    }
    return status;
}

void takt__lock_give(struct takt_lock *lock)
{
    if (lock->fd < 0)
        return;
    unlink(lock->path);
    close(lock->fd);
    free(lock->path);
    *lock = (struct takt_lock){.fd = -1};
}

bool takt__lock_is_taken(const char *folder)
{
    char *path = takt__join_path(folder, file_name);
    /* O_NONBLOCK: do not wait for a writer of a pipe. */
    const int fd =
        path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_taken = false;

    if (fd >= 0) {
        is_taken = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        close(fd);
    }
    free(path);
    return is_taken;
}
