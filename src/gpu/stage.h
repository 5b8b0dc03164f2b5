/* SPDX-License-Identifier: MIT */
/*
 * stage.h - host memory to a device and back, through pinned slots.
 *
 * A device copies from pinned memory four times as fast as from any other, and
 * pinning what the caller has takes longer than copying it. So several threads
 * copy into a ring of pinned slots from which the device fetches, and out of
 * them what it delivers. What is to be done is a journey: lots that go in,
 * steps that compute as soon as their lots have arrived, and lots that come
 * out of steps, all at once where the hardware allows it.
 */
#ifndef TAKT_GPU_STAGE_H
#define TAKT_GPU_STAGE_H

#include "gpu/device.h"
#include "pool/pool.h"

enum { TAKT_MAX_LOTS = 96, TAKT_MAX_STEPS = 32 };

/* Rows of the host's memory, `pitch` bytes apart; without gaps on the device.
 */
struct takt_lot {
    char *host;
    size_t pitch, rows, row_bytes;
    struct takt_place at;
    bool is_out;
    int step; /* in: the first one that needs it. out: the one that makes it,
               * -1: it is there already */

    size_t rows_each, pieces; /* as it is cut: takt__journey_cut() */
    size_t left;              /* pieces that have not gone in yet */
};

/* A piece of a lot fills a slot, and is one copy of the device. Several threads
 * move it, a share each. */
enum { TAKT_SHARES = 8 };

struct takt_step {
    takt_call host;   /* the same on the host's memory */
    takt_call packed; /* and as it is on the device */
    struct takt_device_call call;
    struct takt_mark mark;
};

struct takt_journey {
    struct takt_device *device;
    struct takt_pool *pool;
    unsigned threads; /* at most */
    bool is_apart;    /* the in and out queues are used, not the computing one:
                       * for memory that nobody else knows */
    struct takt_lot lot[TAKT_MAX_LOTS]; /* in and out, in that order each */
    unsigned lots;
    struct takt_step step[TAKT_MAX_STEPS];
    unsigned steps;

    size_t pieces[2];       /* that go in, that come out */
    _Atomic size_t next[2]; /* share to move */
    _Atomic unsigned launched;
    _Atomic size_t fetched; /* pieces that come out, or have; with the lock */
    _Atomic size_t ready;   /* of these, pieces that have */
    _Atomic int status;     /* a takt_status: the first that was not TAKT_OK */
};

/* Pinned memory for a device that was just started, and its end. With the lock
 * of the device. */
takt_status takt__stage_open(struct takt_device *device);
void takt__stage_close(struct takt_device *device);

/* Cuts the lots into pieces that fit a slot.
 * TAKT_ENODEV: a row is too long for one. */
takt_status takt__journey_cut(struct takt_journey *journey);

/* Makes the journey, and returns when all of it is done; with is_apart false,
 * when it is certain that it will be, in the order of the computing queue. Any
 * other status than TAKT_OK: takt__journey_undone() says what came out. */
takt_status takt__journey_make(struct takt_journey *journey);

/* Whether any of the output was written. */
bool takt__journey_has_come_out(const struct takt_journey *journey);

/* Visits every stretch of rows of an out lot that was not written. */
typedef takt_status takt_undone_visit(void *self, const struct takt_lot *lot,
                                      size_t first, size_t rows);
takt_status takt__journey_undone(struct takt_journey *journey,
                                 takt_undone_visit *visit, void *self);

/* A letter: pinned memory of TAKT_MAIL_BYTES that is the caller's until it is
 * given back, for what is too small to travel. -1: all are in use. */
int takt__letter_take(struct takt_device *device);
void takt__letter_give(struct takt_device *device, int letter);
struct takt_place takt__letter_place(struct takt_device *device, int letter);

#endif
