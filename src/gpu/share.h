/* SPDX-License-Identifier: MIT */
/*
 * share.h - how a transfer is cut: chunks into pieces, pieces into what one
 * thread moves at a time.
 */
#ifndef TAKT_GPU_SHARE_H
#define TAKT_GPU_SHARE_H

#include "gpu/transfer.h"

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

#endif
