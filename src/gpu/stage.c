/* SPDX-License-Identifier: MIT */
/*
 * stage.c - many threads copy, one talks to the device.
 *
 * To start a copy of the device takes several microseconds, more if threads
 * take turns at it, so the caller's thread starts all of them. Pieces are moved
 * in shares, which threads take one after another. When a piece that goes in is
 * moved, the caller's thread has the device copy it, and begins the steps that
 * waited for it. It has the device fill slots with what comes out as soon as
 * that is computed, and waits for it. In between it moves shares like the
 * others: what has come out first, then what is to go in.
 */
#include "gpu/transfer.h"

#include <sched.h>

#include "base/clock.h"
#include "base/futex.h"
#include "gpu/times.h"

/* ---- moving -------------------------------------------------------------- */

static bool is_failed(const struct takt_transfer *transfer)
{
    return atomic_load_explicit(&transfer->status, memory_order_relaxed) !=
           TAKT_OK;
}

static void fail(struct takt_transfer *transfer, takt_status status)
{
    int none = TAKT_OK;
    atomic_compare_exchange_strong(&transfer->status, &none, (int)status);
}

/* Waits without sleeping: for some thread's copy, or the device's. */
static void spin(unsigned *spins)
{
    if (++*spins > 2000)
        sched_yield();
    else
        takt__pause();
}

/* ---- on the device ------------------------------------------------------- */

takt_status takt__queue_sync(struct takt_device *device, enum takt_queue queue)
{
    struct takt_mark mark = {NULL};

    takt__lock(&device->lock);
    takt_status status = device->driver->mark(device, queue, false, &mark);
    takt__unlock(&device->lock);
    if (status == TAKT_OK)
        status = device->driver->wait(device, &mark);
    takt__lock(&device->lock);
    device->driver->drop(device, &mark);
    takt__unlock(&device->lock);
    return status == TAKT_OK ? TAKT_OK : TAKT_ELOST;
}

/* Keeps a queue from going on before what is in another one is done. */
static takt_status order(struct takt_device *device, enum takt_queue first,
                         enum takt_queue then, struct takt_mark *mark)
{
    const takt_status status = device->driver->mark(device, first, false, mark);

    return status == TAKT_OK ? device->driver->follow(device, then, mark)
                             : status;
}

static bool has_arrived(const struct takt_transfer *transfer, unsigned step)
{
    for (unsigned i = 0; i < transfer->chunks; i++) {
        const struct takt_chunk *chunk = &transfer->chunk[i];
        if (!chunk->is_out && chunk->step <= (int)step && chunk->left > 0)
            return false;
    }
    return true;
}

static takt_status launch_step(struct takt_transfer *transfer, unsigned step)
{
    struct takt_device *device = transfer->device;
    const struct takt_driver *driver = device->driver;
    takt_status status = TAKT_OK;

    if (transfer->is_apart)
        status = order(device, TAKT_QUEUE_IN, TAKT_QUEUE_COMPUTE,
                       &device->stage.arrived);
    if (status == TAKT_OK)
        status = driver->compute(device, &transfer->step[step].call);
    /* What was begun must not be done again elsewhere. */
    if (status == TAKT_OK &&
        driver->mark(device, TAKT_QUEUE_COMPUTE, false,
                     &transfer->step[step].mark) != TAKT_OK)
        status = TAKT_ELOST;
    return status;
}

/* Starts the steps whose chunks have all gone in. With the lock. */
static takt_status launch_ready(struct takt_transfer *transfer)
{
    takt_status status = TAKT_OK;

    while (status == TAKT_OK && transfer->launched < transfer->steps &&
           has_arrived(transfer, transfer->launched)) {
        status = launch_step(transfer, transfer->launched);
        if (status == TAKT_OK)
            transfer->launched++;
    }
    return status;
}

/* One copy of the device, between the slot of a piece and where that is. */
static takt_status copy_piece(struct takt_device *device, enum takt_queue queue,
                              const struct takt_share *share, size_t bytes)
{
    const struct takt_location there = takt__share_location(share);
    const bool is_out = share->chunk->is_out;

    return device->driver->copy(device, queue, is_out ? share->pinned : there,
                                is_out ? there : share->pinned, bytes);
}

/* Has the device fill a slot. With the lock. */
static takt_status fetch(struct takt_transfer *transfer,
                         const struct takt_share *share)
{
    struct takt_device *device = transfer->device;
    const enum takt_queue queue =
        transfer->is_apart ? TAKT_QUEUE_OUT : TAKT_QUEUE_COMPUTE;
    takt_status status = TAKT_OK;

    if (transfer->is_apart && share->chunk->step >= 0)
        status = device->driver->follow(
            device, queue, &transfer->step[share->chunk->step].mark);
    if (status == TAKT_OK)
        status =
            copy_piece(device, queue, share, takt__share_piece_bytes(share));
    return status == TAKT_OK
               ? device->driver->mark(device, queue, false, &share->slot->mark)
               : status;
}

/* Whether all shares of its piece are moved. */
static bool is_moved(const struct takt_share *share)
{
    return atomic_load_explicit(&share->slot->moved, memory_order_acquire) ==
           TAKT_SHARES;
}

static struct takt_share piece_at(struct takt_transfer *transfer, bool is_out,
                                  size_t piece)
{
    return takt__share_at(transfer, is_out, piece * TAKT_SHARES);
}

/* ---- of the caller's thread ---------------------------------------------- */

/* Whether the next piece that comes out is computed and has a free slot. */
static bool can_fetch(struct takt_transfer *transfer, struct takt_share *share)
{
    const size_t piece = transfer->fetched;

    if (piece == transfer->pieces[1])
        return false;
    *share = piece_at(transfer, true, piece);
    return share->chunk->step < (int)transfer->launched &&
           (piece < TAKT_RING || is_moved(share));
}

/* Fetches what is computed, as far as there are slots. With the lock. */
static takt_status fetch_more(struct takt_transfer *transfer)
{
    takt_status status = TAKT_OK;
    struct takt_share share;

    while (status == TAKT_OK && can_fetch(transfer, &share)) {
        atomic_store_explicit(&share.slot->moved, 0, memory_order_relaxed);
        status = fetch(transfer, &share);
        if (status == TAKT_OK)
            transfer->fetched++;
    }
    return status;
}

/* Whether a piece that goes in is in its slot. */
static bool can_send(struct takt_transfer *transfer, size_t piece,
                     struct takt_share *share)
{
    if (piece == atomic_load(&transfer->open))
        return false;
    *share = piece_at(transfer, false, piece);
    return is_moved(share);
}

/* How many pieces can go in as one copy: from the next one on, side by side
 * both in their slots and on the device, and so few that slots become free
 * before all are in use. */
static size_t sendable(struct takt_transfer *transfer,
                       const struct takt_share *first, size_t *bytes)
{
    struct takt_share next;
    size_t count = 1;

    *bytes = takt__share_piece_bytes(first);
    while (count < TAKT_RING / 4 &&
           can_send(transfer, first->piece + count, &next) &&
           next.chunk == first->chunk &&
           next.pinned.offset == first->pinned.offset + *bytes) {
        *bytes += takt__share_piece_bytes(&next);
        count++;
    }
    return count;
}

/* Sends what can go as one copy. With the lock. */
static takt_status send(struct takt_transfer *transfer,
                        const struct takt_share *first)
{
    struct takt_device *device = transfer->device;
    const enum takt_queue queue =
        transfer->is_apart ? TAKT_QUEUE_IN : TAKT_QUEUE_COMPUTE;
    size_t bytes;
    const size_t count = sendable(transfer, first, &bytes);
    takt_status status = copy_piece(device, queue, first, bytes);

    for (size_t i = 0; i < count && status == TAKT_OK; i++)
        status = device->driver->mark(
            device, queue, false,
            &piece_at(transfer, false, first->piece + i).slot->mark);
    transfer->sent += count;
    if (transfer->sent == transfer->pieces[0])
        transfer->sent_at = takt__ticks();
    first->chunk->left -= count;
    return status == TAKT_OK && first->chunk->left == 0 ? launch_ready(transfer)
                                                        : status;
}

/* Gives the device what there is to begin. */
static takt_status tell(struct takt_transfer *transfer)
{
    struct takt_device *device = transfer->device;
    struct takt_share share;
    takt_status status = TAKT_OK;

    if (!can_send(transfer, transfer->sent, &share) &&
        !can_fetch(transfer, &share))
        return TAKT_OK;
    takt__lock(&device->lock);
    if (can_send(transfer, transfer->sent, &share))
        status = send(transfer, &share);
    if (status == TAKT_OK)
        status = fetch_more(transfer);
    takt__unlock(&device->lock);
    return status;
}

/* Whether the device is done with a slot; waits for that if it has to be. */
static bool is_done(struct takt_transfer *transfer,
                    const struct takt_share *share, bool is_waiting)
{
    struct takt_device *device = transfer->device;

    if (!is_waiting)
        return device->driver->is_past(device, &share->slot->mark);
    const takt_status status = device->driver->wait(device, &share->slot->mark);
    if (status != TAKT_OK)
        fail(transfer, status);
    return status == TAKT_OK;
}

/* Lets threads move the next piece that goes in, if its slot is free. */
static bool open_slot(struct takt_transfer *transfer, bool is_waiting)
{
    const size_t piece = atomic_load(&transfer->open);

    if (piece == transfer->pieces[0] || piece >= transfer->sent + TAKT_RING)
        return false;
    const struct takt_share share = piece_at(transfer, false, piece);
    if ((piece >= TAKT_RING || transfer->device->stage.is_filling) &&
        !is_done(transfer, &share, is_waiting))
        return false;
    atomic_store_explicit(&share.slot->moved, 0, memory_order_relaxed);
    atomic_store_explicit(&transfer->open, piece + 1, memory_order_release);
    return true;
}

/* Lets threads move the next piece that comes out, if it is there. */
static bool receive(struct takt_transfer *transfer, bool is_waiting)
{
    const size_t piece = atomic_load(&transfer->ready);

    if (piece == transfer->fetched)
        return false;
    const struct takt_share share = piece_at(transfer, true, piece);
    if (!is_done(transfer, &share, is_waiting))
        return false;
    if (piece == 0)
        transfer->came_at = takt__ticks();
    atomic_store_explicit(&transfer->ready, piece + 1, memory_order_release);
    return true;
}

/* ---- of all threads ------------------------------------------------------ */

/* Takes the next share that has come out, or is to go in; false: none is. */
static bool take(struct takt_transfer *transfer, bool is_out, size_t *number)
{
    _Atomic size_t *next = &transfer->next[is_out];
    _Atomic size_t *most = is_out ? &transfer->ready : &transfer->open;

    *number = atomic_load(next);
    while (*number / TAKT_SHARES <
           atomic_load_explicit(most, memory_order_acquire))
        if (atomic_compare_exchange_weak(next, number, *number + 1))
            return true;
    return false;
}

/* Takes a share and moves it; false: there is none now. */
static bool move_one(struct takt_transfer *transfer)
{
    size_t number;
    bool is_out = true;

    if (!take(transfer, true, &number)) {
        is_out = false;
        if (!take(transfer, false, &number))
            return false;
    }
    const struct takt_share share = takt__share_at(transfer, is_out, number);
    takt__share_move(&share);
    atomic_fetch_add_explicit(&share.slot->moved, 1, memory_order_acq_rel);
    return true;
}

static bool is_all_taken(const struct takt_transfer *transfer)
{
    for (int i = 0; i < 2; i++)
        if (atomic_load(&transfer->next[i]) < transfer->pieces[i] * TAKT_SHARES)
            return false;
    return true;
}

/* The caller's thread: waits for the device only if nothing else is to do. */
static void drive(struct takt_transfer *transfer)
{
    unsigned spins = 0;

    while (!is_failed(transfer)) {
        const takt_status status = tell(transfer);
        if (status != TAKT_OK)
            fail(transfer, status);
        else if (open_slot(transfer, false) || receive(transfer, false) ||
                 move_one(transfer))
            spins = 0;
        else if (transfer->sent == transfer->pieces[0] &&
                 is_all_taken(transfer))
            return;
        else if (transfer->sent < atomic_load(&transfer->open) ||
                 !(open_slot(transfer, true) || receive(transfer, true)))
            spin(&spins);
    }
}

static void move_shares(void *self, unsigned part, unsigned parts,
                        void *scratch)
{
    struct takt_transfer *transfer = self;
    unsigned spins = 0;

    (void)parts;
    (void)scratch;
    if (part == 0) {
        drive(transfer);
        return;
    }
    while (!is_failed(transfer) && !is_all_taken(transfer)) {
        if (move_one(transfer) || takt__transfer_populate(transfer))
            spins = 0;
        else
            spin(&spins);
    }
}

/* ---- the transfer -------------------------------------------------------- */

/* The computing queue may still work on the memory that a transfer goes to. */
static takt_status begin(struct takt_transfer *transfer)
{
    struct takt_device *device = transfer->device;
    takt_status status = TAKT_OK;

    takt__lock(&device->lock);
    if (transfer->is_apart)
        status = order(device, TAKT_QUEUE_COMPUTE, TAKT_QUEUE_IN,
                       &device->stage.before);
    if (status == TAKT_OK)
        status = launch_ready(transfer);
    if (status == TAKT_OK)
        status = fetch_more(transfer);
    takt__unlock(&device->lock);
    return status;
}

/* After a failure, copies may be under way behind which there is no mark. */
static takt_status drain(struct takt_device *device)
{
    takt_status status = TAKT_OK;

    for (int queue = 0; queue < TAKT_QUEUES && status == TAKT_OK; queue++)
        status = takt__queue_sync(device, (enum takt_queue)queue);
    return status;
}

/* Nothing may be under way in memory that is about to be given back. */
static takt_status finish(struct takt_transfer *transfer)
{
    struct takt_device *device = transfer->device;
    const takt_status failed = (takt_status)atomic_load(&transfer->status);
    takt_status status = TAKT_OK;

    for (unsigned i = 0; i < transfer->steps; i++) {
        struct takt_mark *mark = &transfer->step[i].mark;
        if (transfer->is_apart && mark->point != NULL) {
            const takt_status waited = device->driver->wait(device, mark);
            status = status == TAKT_OK ? waited : status;
        }
        takt__lock(&device->lock);
        device->driver->drop(device, mark);
        takt__unlock(&device->lock);
    }
    device->stage.is_filling = !transfer->is_apart && transfer->pieces[0] > 0;
    if (failed == TAKT_OK)
        return status;
    return drain(device) == TAKT_OK ? failed : TAKT_ELOST;
}

/* All but the time in which the device computed, with everything there and
 * nothing coming out yet. */
static void count_moved(const struct takt_transfer *transfer, uint64_t began)
{
    const uint64_t end = takt__ticks();
    const uint64_t sent = transfer->pieces[0] > 0 ? transfer->sent_at : began;
    const uint64_t came = transfer->pieces[1] > 0 ? transfer->came_at : end;
    const bool has_computed = transfer->steps > 0 && sent != 0 && came > sent;

    takt__device_times.moved += end - began - (has_computed ? came - sent : 0);
}

takt_status takt__transfer_run(struct takt_transfer *transfer)
{
    struct takt_stage *stage = &transfer->device->stage;

    takt__device_lock(&stage->lock);
    const uint64_t began = takt__ticks();
    transfer->sent = transfer->fetched = 0;
    transfer->launched = 0;
    transfer->sent_at = transfer->came_at = 0;
    atomic_init(&transfer->next[0], 0);
    atomic_init(&transfer->next[1], 0);
    atomic_init(&transfer->open, 0);
    atomic_init(&transfer->ready, 0);
    atomic_init(&transfer->status, (int)begin(transfer));
    if (is_failed(transfer))
        ;
    else if (transfer->threads > 1)
        takt__pool_run(transfer->pool, transfer->threads, 0, move_shares,
                       transfer);
    else
        move_shares(transfer, 0, 1, NULL);
    const takt_status status = finish(transfer);
    takt__unlock(&stage->lock);
    count_moved(transfer, began);
    return status;
}

/* ---- after a failure ----------------------------------------------------- */

/* A share that came out and was taken is moved, whatever happens elsewhere. */
bool takt__transfer_has_output(const struct takt_transfer *transfer)
{
    return atomic_load(&transfer->next[1]) > 0;
}

takt_status takt__transfer_undone(struct takt_transfer *transfer,
                                  takt_undone_visit *visit, void *self)
{
    takt_status status = TAKT_OK;

    for (size_t i = atomic_load(&transfer->next[1]);
         i < transfer->pieces[1] * TAKT_SHARES && status == TAKT_OK; i++) {
        const struct takt_share share = takt__share_at(transfer, true, i);
        if (share.rows > 0)
            status = visit(self, share.chunk, share.piece_first + share.first,
                           share.rows);
    }
    return status;
}
