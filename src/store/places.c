/* SPDX-License-Identifier: MIT */
/*
 * places.c - byte-range locks of open file descriptions.
 *
 * Ordinary POSIX locks would not do: they are dropped when any descriptor of
 * the file is closed in the process, and a second store in one process would
 * be given the place of the first.
 */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "store/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/path.h"

enum { gate = TAKT_PLACES, longest_wait_ms = 5000, pause_ms = 2 };

static bool set_lock(int places, short kind, off_t byte)
{
    struct flock lock = {
        .l_type = kind, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(places, F_OFD_SETLK, &lock) == 0;
}

/* What a program without standard output prints must not end up in there. */
static int move_up(int places)
{
    if (places < 0 || places > STDERR_FILENO)
        return places;
    const int moved = fcntl(places, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(places);
    return moved;
}

int takt__places_open(const char *path, bool may_make)
{
    char *name = takt__path_extend(path, "-writers");

    if (name == NULL)
        return -1;
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    const int places = open(name, flags | (may_make ? O_CREAT : 0), 0666);
    free(name);
    return move_up(places);
}

void takt__places_close(int places)
{
    if (places >= 0)
        close(places);
}

/* Asks again and again: a lock that is waited for cannot be waited for only
 * so long, and a process that was stopped inside must not stop the others. */
takt_status takt__places_enter(int places)
{
    const struct timespec pause = {.tv_nsec = pause_ms * 1000000L};

    for (int ms = 0; ms < longest_wait_ms; ms += pause_ms) {
        if (set_lock(places, F_WRLCK, gate))
            return TAKT_OK;
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return TAKT_EIO;
        nanosleep(&pause, NULL);
    }
    return TAKT_EIO;
}

void takt__places_leave(int places)
{
    set_lock(places, F_UNLCK, gate);
}

int takt__places_take(int places)
{
    for (int place = 0; place < TAKT_PLACES; place++) {
        if (set_lock(places, F_WRLCK, place))
            return place;
        if (errno != EAGAIN && errno != EACCES)
            return -1;
    }
    return -1;
}

/* One that cannot be made is made by the next who meets the damage. */
void takt__places_mark(int places, enum takt_mark mark)
{
    if (places >= 0 && ftruncate(places, (off_t)mark) != 0)
        return;
}

enum takt_mark takt__places_read_mark(int places)
{
    struct stat facts;

    if (places < 0 || fstat(places, &facts) != 0 || facts.st_size <= 0)
        return TAKT_MARK_NONE;
    return facts.st_size < TAKT_MARK_MET_AGAIN ? (enum takt_mark)facts.st_size
                                               : TAKT_MARK_MET_AGAIN;
}
