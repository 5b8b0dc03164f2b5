/* SPDX-License-Identifier: MIT */
/* share.c - how a journey is cut: lots into pieces, pieces into shares. */
#include "gpu/share.h"

#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/size.h"

enum { least_piece = 1 << 17, most_movers = 12 };

/* Threads beyond what the link can take only get in each other's way, and some
 * are left for the driver. */
static unsigned movers(unsigned threads, size_t bytes)
{
    const size_t useful = bytes / (2 * least_piece) + 1;
    unsigned count = (3 * threads + 3) / 4;

    count = count < most_movers ? count : most_movers;
    return count < useful ? count : (unsigned)useful;
}

takt_status takt__journey_cut(struct takt_journey *journey)
{
    size_t bytes = 0, piece = TAKT_SLOT_BYTES;

    for (unsigned i = 0; i < journey->lots; i++)
        bytes = takt__size_add(bytes, journey->lot[i].rows *
                                          journey->lot[i].row_bytes);
    /* Small journeys are cut finer: the device begins when a piece is there. */
    while (piece > least_piece && bytes / piece < 12)
        piece /= 2;
    journey->threads = movers(journey->threads, bytes);
    journey->pieces[0] = journey->pieces[1] = 0;
    for (unsigned i = 0; i < journey->lots; i++) {
        struct takt_lot *lot = &journey->lot[i];
        if (lot->row_bytes > TAKT_SLOT_BYTES)
            return TAKT_ENODEV;
        lot->rows_each = lot->row_bytes > piece ? 1 : piece / lot->row_bytes;
        lot->pieces = (lot->rows + lot->rows_each - 1) / lot->rows_each;
        lot->left = lot->pieces;
        journey->pieces[lot->is_out] += lot->pieces;
    }
    return TAKT_OK;
}

struct takt_share takt__share_at(struct takt_journey *journey, bool is_out,
                                 size_t number)
{
    struct takt_stage *stage = &journey->device->stage;
    const size_t piece = number / TAKT_SHARES, part = number % TAKT_SHARES;
    const size_t slot = piece % TAKT_RING + (is_out ? TAKT_RING : 0);
    struct takt_share share = {
        .lot = journey->lot,
        .piece = piece,
        .is_first = part == 0,
        .slot = &stage->slot[slot],
        .pinned = {.block = &stage->ring, .offset = slot * TAKT_SLOT_BYTES},
    };
    size_t in_lot = piece;

    for (; share.lot->is_out != is_out || in_lot >= share.lot->pieces;
         share.lot++)
        if (share.lot->is_out == is_out)
            in_lot -= share.lot->pieces;
    share.piece_first = in_lot * share.lot->rows_each;
    const size_t rest = share.lot->rows - share.piece_first;
    share.piece_rows =
        rest < share.lot->rows_each ? rest : share.lot->rows_each;
    share.first = share.piece_rows * part / TAKT_SHARES;
    share.rows = share.piece_rows * (part + 1) / TAKT_SHARES - share.first;
    return share;
}

size_t takt__share_piece_bytes(const struct takt_share *share)
{
    return share->piece_rows * share->lot->row_bytes;
}

struct takt_place takt__share_place(const struct takt_share *share)
{
    const struct takt_lot *lot = share->lot;

    return (struct takt_place){.block = lot->at.block,
                               .offset = lot->at.offset +
                                         share->piece_first * lot->row_bytes};
}

/* What comes out in bulk is written past the caches: the caller's memory is not
 * in them, and a line that is overwritten need not be read. (Measured: 16 GB/s
 * a thread instead of 7.) */
static void copy_past_caches(char *to, const char *from, size_t bytes)
{
#if defined(__x86_64__)
    enum { line = 64 };
    const size_t head = -(uintptr_t)to & 15;

    if (bytes >= line + head) {
        memcpy(to, from, head);
        to += head;
        from += head;
        bytes -= head;
        for (; bytes >= line; to += line, from += line, bytes -= line)
            for (size_t i = 0; i < line; i += 16)
                _mm_stream_si128(
                    (__m128i *)(void *)(to + i),
                    _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
        _mm_sfence();
    }
#endif
    memcpy(to, from, bytes);
}

void takt__share_move(const struct takt_share *share)
{
    enum { bulk = 1 << 20 };
    const struct takt_lot *lot = share->lot;
    char *host = lot->host + (share->piece_first + share->first) * lot->pitch;
    char *slot = (char *)share->pinned.block->host + share->pinned.offset +
                 share->first * lot->row_bytes;
    const bool is_whole = lot->pitch == lot->row_bytes;
    const bool is_bulk = lot->rows * lot->row_bytes >= bulk;
    const size_t rows = is_whole ? 1 : share->rows;
    const size_t bytes =
        is_whole ? share->rows * lot->row_bytes : lot->row_bytes;

    for (size_t i = 0; i < rows; i++, host += lot->pitch, slot += bytes)
        if (lot->is_out && is_bulk)
            copy_past_caches(host, slot, bytes);
        else
            memcpy(lot->is_out ? host : slot, lot->is_out ? slot : host, bytes);
}
