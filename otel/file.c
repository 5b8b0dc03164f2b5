/* SPDX-License-Identifier: MIT */
/*
 * file.c - JSON lines. When the disk fills up in the middle of a line, what is
 * there of it is cut off again, unless another process has written behind it;
 * otherwise the next line begins on a line of its own.
 */
#include "transport.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/database_file.h"

struct takt_otel_file {
    pthread_mutex_t lock; /* a line is written */
    int fd;
    dev_t device; /* of the file; a program may close what it did not open */
    ino_t inode;
    bool is_ragged;   /* it does not end with a whole line */
    bool is_anothers; /* it was opened before a fork */
    char path[];
};

static int open_file(const char *path)
{
    return takt__append_open(path, 0644);
}

static void set_fd(struct takt_otel_file *file, int fd)
{
    struct stat facts = {0};

    fstat(fd, &facts);
    file->fd = fd;
    file->device = facts.st_dev;
    file->inode = facts.st_ino;
}

/* Whether the descriptor is still the one that was opened here. */
static bool is_open(const struct takt_otel_file *file)
{
    struct stat facts;

    return fstat(file->fd, &facts) == 0 && facts.st_dev == file->device &&
           facts.st_ino == file->inode;
}

static void close_file(struct takt_otel_file *file)
{
    if (is_open(file))
        close(file->fd);
}

struct takt_otel_file *takt__otel_file_open(const char *path)
{
    struct takt_otel_file *file = malloc(sizeof *file + strlen(path) + 1);

    if (file == NULL)
        return NULL;
    memset(file, 0, sizeof *file);
    strcpy(file->path, path);
    const int fd = open_file(path);
    if (fd < 0) {
        free(file);
        return NULL;
    }
    set_fd(file, fd);
    pthread_mutex_init(&file->lock, NULL);
    return file;
}

void takt__otel_file_close(struct takt_otel_file *file)
{
    if (file == NULL)
        return;
    close_file(file);
    pthread_mutex_destroy(&file->lock);
    free(file);
}

/* Processes that share an open file share its position, too: it would not say
 * what this one wrote. */
static bool start(void *self)
{
    struct takt_otel_file *file = self;
    const int fd = file->is_anothers ? open_file(file->path) : -1;

    if (fd >= 0) {
        close_file(file);
        set_fd(file, fd);
    }
    file->is_anothers = false;
    return true;
}

static void forget(void *self)
{
    struct takt_otel_file *file = self;

    pthread_mutex_init(&file->lock, NULL); /* its holder was in the parent */
    file->is_anothers = true;
}

/* False: the time has come. */
static bool wait_for_room(const struct takt_otel_file *file,
                          const struct takt_otel_watch *watch)
{
    enum { slice_ms = 20 }; /* a nearer deadline does not wake it */
    struct pollfd pipe = {.fd = file->fd, .events = POLLOUT};

    if (takt__now_ns() >= watch->until_ns(watch->self))
        return false;
    watch->release(watch->self);
    poll(&pipe, 1, slice_ms);
    watch->acquire(watch->self);
    return true;
}

/* Returns how much was written; errno says why it is not all. */
static size_t write_all(const struct takt_otel_file *file,
                        const unsigned char *at, size_t size,
                        const struct takt_otel_watch *watch)
{
    size_t written = 0;

    while (written < size) {
        const ssize_t more = write(file->fd, at + written, size - written);
        if (more > 0) {
            written += (size_t)more;
            continue;
        }
        const int reason = more == 0 ? EIO : errno;
        const bool is_passing = reason == EAGAIN || reason == EINTR;
        if (is_passing && wait_for_room(file, watch))
            continue;
        errno = reason;
        break;
    }
    return written;
}

static void cut(struct takt_otel_file *file, size_t written)
{
    const off_t end = lseek(file->fd, 0, SEEK_CUR);
    struct stat status;

    file->is_ragged = end < (off_t)written || fstat(file->fd, &status) != 0 ||
                      !S_ISREG(status.st_mode) || status.st_size != end ||
                      ftruncate(file->fd, end - (off_t)written) != 0;
}

static bool write_line(struct takt_otel_file *file,
                       const struct takt_otel_bytes *line,
                       const struct takt_otel_watch *watch)
{
    static const unsigned char line_end = '\n';

    errno = EBADF;
    if (!is_open(file))
        return false;
    if (file->is_ragged && write_all(file, &line_end, 1, watch) != 1)
        return false;
    file->is_ragged = false;
    const size_t written = write_all(file, line->at, line->size, watch);
    if (written == line->size)
        return true;
    const int reason = errno;
    if (written > 0)
        cut(file, written);
    errno = reason;
    return false;
}

static void send_line(void *self, const struct takt_otel_bytes *request,
                      const struct takt_otel_watch *watch,
                      struct takt_otel_outcome *out)
{
    struct takt_otel_file *file = self;
    char why[128];

    *out = (struct takt_otel_outcome){TAKT_OTEL_DELIVERED, -1, 0, ""};
    while (pthread_mutex_trylock(&file->lock) != 0)
        if (!wait_for_room(file, watch)) {
            out->result = TAKT_OTEL_PUT_OFF;
            return;
        }
    const bool is_written = write_line(file, request, watch);
    const int reason = errno;
    pthread_mutex_unlock(&file->lock);
    if (is_written)
        return;
    out->result = reason == ENOSPC || reason == EDQUOT || reason == EAGAIN ||
                          reason == EINTR
                      ? TAKT_OTEL_PUT_OFF
                      : TAKT_OTEL_REFUSED;
    if (strerror_r(reason, why, sizeof why) != 0)
        snprintf(why, sizeof why, "error %d", reason);
    snprintf(out->problem, sizeof out->problem, "cannot write %.100s: %s",
             file->path, why);
}

struct takt_otel_transport
takt__otel_file_transport(struct takt_otel_file *file)
{
    return (struct takt_otel_transport){
        .self = file,
        .format = TAKT_OTEL_JSON,
        .start = start,
        .send = send_line,
        .forget = forget,
    };
}
