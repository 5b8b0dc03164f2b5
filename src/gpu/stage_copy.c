/* SPDX-License-Identifier: MIT */
/* stage_copy.c - how a transfer is cut (chunks into pieces, pieces into shares)
 * and copied into pinned memory and out of it. */
#define _GNU_SOURCE /* madvise() */
#include "gpu/transfer.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/size.h"

enum { most_movers = 12, enough = 1 << 19 };

/* Threads beyond what the link can take only get in each other's way, and some
 * are left for the driver. To wake one takes 20 to 60 microseconds, in which
 * those that are awake copy a megabyte. */
static unsigned movers(unsigned threads, size_t bytes)
{
    const size_t useful = 2 + bytes / enough;
    unsigned count = (3 * threads + 3) / 4;

    count = count < most_movers ? count : most_movers;
    return count < useful ? count : (unsigned)useful;
}

/* Of a transfer of so many bytes one way. The device begins when it has a
 * piece, but each one takes the driver some microseconds; and it is best if no
 * slot has to be used twice. */
static size_t piece_of(size_t bytes, bool is_out)
{
    const size_t least = is_out ? 1 << 17 : 1 << 18;
    const size_t enough_pieces = is_out ? 4 : TAKT_RING;
    size_t piece = TAKT_SLOT_BYTES;

    while (piece > least && bytes / piece < enough_pieces)
        piece /= 2;
    return piece;
}

takt_status takt__transfer_cut(struct takt_transfer *transfer)
{
    size_t bytes[2] = {0, 0};

    for (unsigned i = 0; i < transfer->chunks; i++) {
        const struct takt_chunk *chunk = &transfer->chunk[i];
        bytes[chunk->is_out] = takt__size_add(bytes[chunk->is_out],
                                              chunk->rows * chunk->row_bytes);
    }
    transfer->threads =
        movers(transfer->threads, takt__size_add(bytes[0], bytes[1]));
    transfer->pieces[0] = transfer->pieces[1] = 0;
    for (int i = 0; i < 2; i++)
        transfer->piece_bytes[i] = piece_of(bytes[i], i == 1);
    for (unsigned i = 0; i < transfer->chunks; i++) {
        const struct takt_chunk *chunk = &transfer->chunk[i];
        if (chunk->row_bytes > TAKT_SLOT_BYTES)
            return TAKT_ENODEV;
        while (transfer->piece_bytes[chunk->is_out] < chunk->row_bytes)
            transfer->piece_bytes[chunk->is_out] *= 2;
    }
    for (unsigned i = 0; i < transfer->chunks; i++) {
        struct takt_chunk *chunk = &transfer->chunk[i];
        const size_t piece = transfer->piece_bytes[chunk->is_out];
        chunk->rows_each = piece / chunk->row_bytes;
        chunk->pieces = (chunk->rows + chunk->rows_each - 1) / chunk->rows_each;
        chunk->left = chunk->pieces;
        transfer->pieces[chunk->is_out] += chunk->pieces;
    }
    return TAKT_OK;
}

/* Slots lie as close as pieces are long, so that pieces that follow each other
 * can be one copy. */
static size_t ring_offset(const struct takt_transfer *transfer, bool is_out,
                          size_t slot)
{
    const size_t first = is_out ? TAKT_RING : 0;

    return first * TAKT_SLOT_BYTES +
           (slot - first) * transfer->piece_bytes[is_out];
}

struct takt_share takt__share_at(struct takt_transfer *transfer, bool is_out,
                                 size_t number)
{
    struct takt_stage *stage = &transfer->device->stage;
    const size_t piece = number / TAKT_SHARES, part = number % TAKT_SHARES;
    const size_t slot = piece % TAKT_RING + (is_out ? TAKT_RING : 0);
    struct takt_share share = {
        .chunk = transfer->chunk,
        .piece = piece,
        .is_first = part == 0,
        .slot = &stage->slot[slot],
        .pinned = {.block = &stage->ring},
    };
    size_t in_chunk = piece;

    for (; share.chunk->is_out != is_out || in_chunk >= share.chunk->pieces;
         share.chunk++)
        if (share.chunk->is_out == is_out)
            in_chunk -= share.chunk->pieces;
    share.piece_first = in_chunk * share.chunk->rows_each;
    share.pinned.offset = ring_offset(transfer, is_out, slot);
    const size_t rest = share.chunk->rows - share.piece_first;
    share.piece_rows =
        rest < share.chunk->rows_each ? rest : share.chunk->rows_each;
    share.first = share.piece_rows * part / TAKT_SHARES;
    share.rows = share.piece_rows * (part + 1) / TAKT_SHARES - share.first;
    return share;
}

size_t takt__share_piece_bytes(const struct takt_share *share)
{
    return share->piece_rows * share->chunk->row_bytes;
}

struct takt_location takt__share_location(const struct takt_share *share)
{
    const struct takt_chunk *chunk = share->chunk;

    return (struct takt_location){
        .block = chunk->at.block,
        .offset = chunk->at.offset + share->piece_first * chunk->row_bytes};
}

/* What comes out in bulk is written past the caches: the caller's memory is not
 * in them, and a line that is overwritten need not be read. (Measured: 16 GB/s
 * a thread instead of 7. Where it is in the caches: 5.5 instead of 15 to 21.)
 */
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
    enum { bulk = 4 << 20 };
    const struct takt_chunk *chunk = share->chunk;
    char *host =
        chunk->host + (share->piece_first + share->first) * chunk->pitch;
    char *slot = (char *)share->pinned.block->host + share->pinned.offset +
                 share->first * chunk->row_bytes;
    const bool is_whole = chunk->pitch == chunk->row_bytes;
    const bool is_bulk = chunk->rows * chunk->row_bytes >= bulk;
    const size_t rows = is_whole ? 1 : share->rows;
    const size_t bytes =
        is_whole ? share->rows * chunk->row_bytes : chunk->row_bytes;

    for (size_t i = 0; i < rows; i++, host += chunk->pitch, slot += bytes)
        if (chunk->is_out && is_bulk)
            copy_past_caches(host, slot, bytes);
        else
            memcpy(chunk->is_out ? host : slot, chunk->is_out ? slot : host,
                   bytes);
}

/* ---- memory of the output ------------------------------------------------ */

bool takt__transfer_populate(struct takt_transfer *transfer)
{
    enum { worth_it = 4 << 20, stretch = 2 << 20, as_if_written = 23 };
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t out = (uintptr_t)transfer->out;
    const uintptr_t first = (out + page - 1) / page * page;
    const uintptr_t end = (out + transfer->out_bytes) / page * page;
    /* Stretches begin where large pages do. */
    const size_t before = first / stretch;
    const size_t count = (end + stretch - 1) / stretch - before;

    if (transfer->out_bytes < worth_it ||
        atomic_load(&transfer->populated) >= count)
        return false;
    const uintptr_t from =
        (before + atomic_fetch_add(&transfer->populated, 1)) * stretch;
    const uintptr_t low = from > first ? from : first;
    const uintptr_t high = from + stretch < end ? from + stretch : end;
    /* Kernels before 5.14 do not know it. */
    if (low < high && madvise((void *)low, high - low, as_if_written) != 0)
        atomic_store(&transfer->populated, count);
    return true;
}
