/* SPDX-License-Identifier: MIT */
/*
 * transfer.h - a staged transfer: what goes to a device, is computed there and
 * comes back.
 *
 * It is a list of chunks that go in, steps that compute as soon as their chunks
 * have arrived, and chunks that come out of steps, all at once where the
 * hardware allows it.
 */
#pragma once

#include "gpu/device.h"
#include "op/operands.h"
#include "pool/pool.h"

enum { TAKT_MAX_CHUNKS = 96, TAKT_MAX_STEPS = 32 };

/* Rows of the host's memory, `pitch` bytes apart; no gaps on the device. */
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

    size_t piece_bytes[2];  /* at most: a power of two up to a slot */
    size_t pieces[2];       /* that go in, that come out */
    _Atomic size_t next[2]; /* share to move */
    _Atomic size_t open;    /* pieces that go in and have a free slot */
    _Atomic size_t ready;   /* pieces that have come out */
    char *out;              /* what comes out, on the host; NULL: nothing */
    size_t out_bytes;
    _Atomic size_t populated; /* stretches of it that a thread has taken */
    _Atomic int status; /* a takt_status: the first that was not TAKT_OK */

    /* Of the caller's thread. */
    unsigned launched; /* steps */
    size_t fetched;    /* pieces that come out, or have */
    size_t sent;       /* pieces that went in */
    uint64_t sent_at;  /* ticks: when the last of them was sent */
    uint64_t came_at;  /* when the first piece had come out */
};

/* ---- plan.c -------------------------------------------------------------- */

/* Plans the transfer of an admitted call. Operand i is in resident[i], or,
 * where that has no block, on the host; then it goes to `block`, of which *used
 * says how much is needed: the caller allocates that much afterwards. Products
 * are cut if their output is on the host, other calls only if all operands are.
 * TAKT_ENODEV: it cannot be staged. */
takt_status takt__plan(const takt_call *call,
                       const struct takt_location *resident,
                       const struct takt_block *block,
                       struct takt_transfer *transfer, size_t *used);

/* ---- stage_copy.c ------------------------------------------------------- */

/* Cuts the chunks into pieces that fit a slot.
 * TAKT_ENODEV: a row is too long for one. */
takt_status takt__transfer_cut(struct takt_transfer *transfer);

/* A share of a piece: rows [first, first + rows) of the piece's. */
struct takt_share {
    struct takt_chunk *chunk;
    size_t piece; /* number of it */
    size_t piece_first, piece_rows;
    size_t first, rows;
    bool is_first;
    struct takt_slot *slot;
    struct takt_location pinned; /* of the piece */
};

/* Slots for pieces that go in, and as many for those that come out. */
enum { TAKT_RING = TAKT_SLOTS / 2 };

/* The share of that number among those that go in or come out. */
struct takt_share takt__share_at(struct takt_transfer *transfer, bool is_out,
                                 size_t number);

/* Of its piece: the bytes, and where it is on the device. */
size_t takt__share_piece_bytes(const struct takt_share *share);
struct takt_location takt__share_location(const struct takt_share *share);

/* Copies it between the rows of the host and the slot. */
void takt__share_move(const struct takt_share *share);

/* Has the kernel provide the memory of a stretch of the output, as if that were
 * written: a large one is often new, and to clear it takes as long as to move
 * it. For threads that have nothing to move yet. False: nothing is left. */
bool takt__transfer_populate(struct takt_transfer *transfer);

/* ---- stage.c --------------------------------------------------------------
 *
 * A device copies from pinned memory four times as fast as from any other, and
 * pinning the caller's memory takes longer than copying it. So several threads
 * copy into a ring of pinned slots that the device copies from, and out of
 * slots that it copies to.
 */

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

/* Waits for everything that was begun in a queue. TAKT_ELOST: it will never be
 * done. */
takt_status takt__queue_sync(struct takt_device *device, enum takt_queue queue);
