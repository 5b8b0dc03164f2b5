/* SPDX-License-Identifier: MIT */
/*
 * transfer.h - a staged transfer: what goes to a device, is computed there and
 * comes back.
 *
 * It is a list of chunks that go in, steps that compute as soon as their chunks
 * have arrived, and chunks that come out of steps, all at once where the
 * hardware allows it.
 */
#ifndef TAKT_GPU_TRANSFER_H
#define TAKT_GPU_TRANSFER_H

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

#endif
