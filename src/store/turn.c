/* SPDX-License-Identifier: MIT */
/* turn.c - the time and the text of STORE-fleet-lock. */
#define _DEFAULT_SOURCE /* flock() */
#include "store/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/write_signals.h"

static const double longest_wait_s = 60;

/* Machines that are new wait for up to so long, not for a whole interval. */
static const double first_wait_s = 60;

static double wall_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* From 0 to 1; without random bytes in the middle. */
static double random_share(void)
{
    uint32_t bits;

    return getrandom(&bits, sizeof bits, GRND_NONBLOCK) == sizeof bits
               ? (double)bits / UINT32_MAX
               : 0.5;
}

/* A text that is longer than ours is somebody else's. */
static bool is_ours(int fd)
{
    struct stat facts;

    return fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_size < TAKT_TURN_TEXT;
}

static int open_file(const char *store, int flags)
{
    char path[4096];

    errno = ENAMETOOLONG;
    if (snprintf(path, sizeof path, "%s-fleet-lock", store) >= (int)sizeof path)
        return -1;
    const int fd =
        open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0 || is_ours(fd))
        return fd;
    close(fd);
    errno = EEXIST;
    return -1;
}

/* When the interval began. */
static double begin_of(int fd)
{
    struct stat facts;

    if (fstat(fd, &facts) != 0)
        return wall_s();
    return (double)facts.st_mtim.tv_sec + (double)facts.st_mtim.tv_nsec * 1e-9;
}

static void set_begin(int fd, double begin_s)
{
    const double whole = floor(begin_s);
    const struct timespec times[] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_sec = (time_t)whole, .tv_nsec = (long)((begin_s - whole) * 1e9)}};

    futimens(fd, times);
}

static void begin_now(int fd, double every_s)
{
    set_begin(fd, wall_s() + 0.25 * every_s * random_share());
}

/* Seconds until it is time; a time that is too far off was set by a clock that
 * was wrong. */
static double left_of(int fd, double every_s)
{
    const double left_s = begin_of(fd) + every_s - wall_s();

    return left_s > 2.25 * every_s ? 0 : left_s;
}

static void read_text(int fd, char out[TAKT_TURN_TEXT])
{
    const ssize_t length = pread(fd, out, TAKT_TURN_TEXT - 1, 0);

    out[length > 0 ? length : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

/* The first program of a machine makes the file. */
static void make_file(const char *store, double every_s)
{
    const int fd = open_file(store, O_RDWR | O_CREAT | O_EXCL);

    if (fd < 0)
        return;
    set_begin(fd, wall_s() - every_s +
                      random_share() * fmin(first_wait_s, every_s));
    close(fd);
}

/* With the file open: false: it is locked, or was somebody's a moment ago. */
static bool take(int fd, double every_s)
{
    bool is_taken = false;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return false;
    if (left_of(fd, every_s) <= 0) {
        begin_now(fd, every_s);
        is_taken = true;
    }
    flock(fd, LOCK_UN);
    return is_taken;
}

struct takt_turn takt__turn_look(const char *store, double every_s,
                                 bool is_taking)
{
    struct takt_turn out = {.wait_s = longest_wait_s};
    int fd = open_file(store, O_RDWR);

    if (fd < 0 && errno == ENOENT && is_taking) {
        make_file(store, every_s);
        fd = open_file(store, O_RDWR);
    }
    if (fd < 0) {
        out.wrong = errno != ENOENT || is_taking ? errno : 0;
        return out;
    }
    const double left_s = left_of(fd, every_s);
    out.is_now = left_s <= 0 && (!is_taking || take(fd, every_s));
    out.wait_s = left_s > 0 ? fmin(left_s, longest_wait_s) : longest_wait_s;
    read_text(fd, out.said);
    close(fd);
    return out;
}

/* Programs hold it for a moment; a sync that is under way notes what comes of
 * it itself. */
static bool lock_soon(int fd)
{
    enum { tries = 100 };

    for (int i = 0; i < tries; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

void takt__turn_note(const char *store, double every_s, const char *problem)
{
    const int fd = open_file(store, O_RDWR | O_CREAT);
    char line[TAKT_TURN_TEXT + 1];
    struct takt_write_signals signals;

    if (fd < 0)
        return;
    if (lock_soon(fd)) {
        const int length =
            snprintf(line, sizeof line, "%.*s%s", TAKT_TURN_TEXT - 2, problem,
                     problem[0] != '\0' ? "\n" : "");
        takt__write_signals_block(&signals);
        if (ftruncate(fd, 0) != 0 ||
            pwrite(fd, line, (size_t)length, 0) != length)
            errno = 0; /* a text that is missing says nothing wrong */
        takt__write_signals_restore(&signals);
        begin_now(fd, every_s);
    }
    close(fd);
}
