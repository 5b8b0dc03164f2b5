/* SPDX-License-Identifier: MIT */
/*
 * lockfile.c - byte-range locks of open file descriptions.
 *
 * Ordinary POSIX locks would not do: they are dropped when any descriptor of
 * the file is closed in the process, and a second store in one process would
 * be given the slot of the first.
 */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "store/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "store/path.h"

enum { opening_byte = TAKT_WRITER_SLOTS, longest_wait_ms = 5000, pause_ms = 2 };

static bool set_lock(int lockfile, short kind, off_t byte)
{
    struct flock lock = {
        .l_type = kind, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(lockfile, F_OFD_SETLK, &lock) == 0;
}

/* Its size is a mark of damage: a file of somebody else's that has this name
 * would be emptied, and a store beside it be taken for damaged. */
static bool is_ours(int lockfile)
{
    struct stat facts;

    return fstat(lockfile, &facts) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_size <= TAKT_DAMAGE_FOUND_AGAIN;
}

int takt__lockfile_open(const char *path, bool may_make)
{
    char *name = takt__path_extend(path, "-writers");

    if (name == NULL)
        return -1;
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    const int lockfile = open(name, flags | (may_make ? O_CREAT : 0), 0666);
    free(name);
    if (lockfile >= 0 && !is_ours(lockfile)) {
        close(lockfile);
        errno = EEXIST;
        return -1;
    }
    return takt__descriptor_move_up(lockfile);
}

void takt__lockfile_close(int lockfile)
{
    if (lockfile >= 0)
        close(lockfile);
}

/* Tries again and again: a lock that is waited for cannot be waited for only
 * so long, and a process that was stopped inside must not stop the others. */
takt_status takt__lockfile_lock(int lockfile,
                                const struct takt_patience *patience)
{
    const struct timespec pause = {.tv_nsec = pause_ms * 1000000L};

    for (int ms = 0; ms < longest_wait_ms; ms += pause_ms) {
        if (set_lock(lockfile, F_WRLCK, opening_byte))
            return TAKT_OK;
        if ((errno != EAGAIN && errno != EACCES && errno != EINTR) ||
            !takt__may_wait(patience))
            return TAKT_EIO;
        nanosleep(&pause, NULL);
    }
    return TAKT_EIO;
}

void takt__lockfile_unlock(int lockfile)
{
    set_lock(lockfile, F_UNLCK, opening_byte);
}

int takt__lockfile_take(int lockfile)
{
    for (int slot = 0; slot < TAKT_WRITER_SLOTS; slot++) {
        if (set_lock(lockfile, F_WRLCK, slot))
            return slot;
        if (errno != EAGAIN && errno != EACCES)
            return -1;
    }
    return -1;
}

/* If this fails, the next process that finds the damage tries again. */
void takt__lockfile_set_damage(int lockfile, enum takt_damage damage)
{
    if (lockfile >= 0 && ftruncate(lockfile, (off_t)damage) != 0)
        return;
}

enum takt_damage takt__lockfile_damage(int lockfile)
{
    struct stat facts;

    if (lockfile < 0 || fstat(lockfile, &facts) != 0 || facts.st_size <= 0)
        return TAKT_DAMAGE_NONE;
    return facts.st_size < TAKT_DAMAGE_FOUND_AGAIN
               ? (enum takt_damage)facts.st_size
               : TAKT_DAMAGE_FOUND_AGAIN;
}
