/* SPDX-License-Identifier: MIT */
/*
 * stage.h - host memory to a device and back, through pinned slots.
 *
 * A device copies from pinned memory four times as fast as from any other, and
 * pinning the caller's memory takes longer than copying it. So several threads
 * copy into a ring of pinned slots that the device copies from, and out of
 * slots that it copies to. A staged transfer is a list of chunks that go in,
 * steps that compute as soon as their chunks have arrived, and chunks that come
 * out of steps, all at once where the hardware allows it.
 */
#ifndef TAKT_GPU_STAGE_H
#define TAKT_GPU_STAGE_H

#include "gpu/device.h"
#include "pool/pool.h"

enum { TAKT_MAX_CHUNKS = 96, TAKT_MAX_STEPS = 32 };

/* Rows of the host's memory, `pitch` bytes apart; without gaps on the device.
 */
struct takt_chunk {
    char *host;
    size_t pitch, rows, row_bytes;
    struct takt_location at;
    bool is_out;
    int step; /* in: the first one that needs it. out: the one that makes it,
               * -1: it is there already */

    size_t rows_each, pieces; /* as it is cut: takt__transfer_cut() */
    size_t left;              /* pieces that have not gone in yet */
};

/* A piece of a chunk fills a slot, and is one copy of the device. Several
 * threads move it, a share each. */
enum { TAKT_SHARES = 8 };

struct takt_step {
    takt_call host;   /* the same on the host's memory */
    takt_call packed; /* and as it is on the device */
    struct takt_device_call call;
    struct takt_mark mark;
};

struct takt_transfer {
    struct takt_device *device;
    struct takt_pool *pool;
    unsigned threads; /* at most */
    bool is_apart;    /* the in and out queues are used, not the computing one:
                       * for memory that no other call uses */
    struct takt_chunk
        chunk[TAKT_MAX_CHUNKS]; /* in and out, in that order each */
    unsigned chunks;
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

/* Cuts the chunks into pieces that fit a slot.
 * TAKT_ENODEV: a row is too long for one. */
takt_status takt__transfer_cut(struct takt_transfer *transfer);

/* Runs the transfer, and returns when all of it is done; with is_apart false,
 * when it is certain that it will be, in the order of the computing queue. Any
 * other status than TAKT_OK: takt__transfer_undone() says what came out. */
takt_status takt__transfer_run(struct takt_transfer *transfer);

/* Whether any of the output was written. */
bool takt__transfer_has_output(const struct takt_transfer *transfer);

/* Visits every stretch of rows of an out chunk that was not written. */
typedef takt_status takt_undone_visit(void *self,
                                      const struct takt_chunk *chunk,
                                      size_t first, size_t rows);
takt_status takt__transfer_undone(struct takt_transfer *transfer,
                                  takt_undone_visit *visit, void *self);

/* A small buffer: pinned memory of TAKT_SMALL_BYTES that kernels reach where it
 * is, for operands that are not worth staging. -1: all are in use. */
int takt__small_take(struct takt_device *device);
void takt__small_give(struct takt_device *device, int index);
struct takt_location takt__small_location(struct takt_device *device,
                                          int index);

#endif
