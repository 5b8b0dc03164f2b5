/* SPDX-License-Identifier: MIT */
/*
 * stage.c - many threads, two rings of slots.
 *
 * To start a copy of the device takes several microseconds, so it copies pieces
 * of a megabyte; but a thread takes a hundred for a megabyte, so pieces are
 * moved in shares, which threads take one after another. The thread that takes
 * the first share of a piece that goes in waits until the device is done with
 * its slot; the one that moves the last share starts the device's copy, and the
 * steps that waited for it. The device fills the slots of what comes out as
 * soon as that is computed and slots are free; the caller's thread waits for
 * that. The others move what has come out first, then what is to go in.
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

/* Waits without sleeping: what is waited for is some thread's copy of a few
 * hundred kilobytes, or the device's of a megabyte. */
static bool spin(const struct takt_transfer *transfer, unsigned *spins)
{
    if (++*spins > 2000)
        sched_yield();
    else
        takt__pause();
    return !is_failed(transfer);
}

/* False: the transfer failed meanwhile. */
static bool await(const struct takt_transfer *transfer, _Atomic size_t *at,
                  size_t value)
{
    unsigned spins = 0;

    while (atomic_load_explicit(at, memory_order_acquire) != value)
        if (!spin(transfer, &spins))
            return false;
    return true;
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
    unsigned step =
        atomic_load_explicit(&transfer->launched, memory_order_relaxed);
    takt_status status = TAKT_OK;

    while (status == TAKT_OK && step < transfer->steps &&
           has_arrived(transfer, step)) {
        status = launch_step(transfer, step);
        if (status == TAKT_OK)
            atomic_store_explicit(&transfer->launched, ++step,
                                  memory_order_release);
    }
    return status;
}

/* One copy of the device, between a slot and where its piece is. */
static takt_status copy_piece(struct takt_device *device, enum takt_queue queue,
                              const struct takt_share *share)
{
    const struct takt_location there = takt__share_location(share);
    const bool is_out = share->chunk->is_out;
    const takt_status status = device->driver->copy(
        device, queue, is_out ? share->pinned : there,
        is_out ? there : share->pinned, takt__share_piece_bytes(share));

    return status == TAKT_OK
               ? device->driver->mark(device, queue, false, &share->slot->mark)
               : status;
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
    return status == TAKT_OK ? copy_piece(device, queue, share) : status;
}

/* Fetches what is computed, as far as there are slots. With the lock. */
static takt_status fetch_more(struct takt_transfer *transfer)
{
    const int launched = (int)atomic_load(&transfer->launched);
    size_t piece = atomic_load(&transfer->fetched);
    takt_status status = TAKT_OK;

    while (piece < transfer->pieces[1]) {
        const struct takt_share share =
            takt__share_at(transfer, true, piece * TAKT_SHARES);
        if (share.chunk->step >= launched ||
            atomic_load_explicit(&share.slot->turn, memory_order_acquire) !=
                piece)
            break;
        status = fetch(transfer, &share);
        if (status != TAKT_OK)
            break;
        atomic_store_explicit(&transfer->fetched, ++piece,
                              memory_order_release);
    }
    return status;
}

/* Other threads hold it for a few microseconds; to sleep and be woken takes
 * longer. */
static void lock_soon(struct takt_device *device)
{
    for (unsigned spins = 0; spins < 1000; spins++) {
        if (takt__trylock(&device->lock))
            return;
        takt__pause();
    }
    takt__lock(&device->lock);
}

static takt_status send(struct takt_transfer *transfer,
                        const struct takt_share *share)
{
    struct takt_device *device = transfer->device;
    const enum takt_queue queue =
        transfer->is_apart ? TAKT_QUEUE_IN : TAKT_QUEUE_COMPUTE;

    lock_soon(device);
    takt_status status = copy_piece(device, queue, share);
    if (++transfer->sent == transfer->pieces[0])
        transfer->sent_at = takt__ticks();
    if (status == TAKT_OK && --share->chunk->left == 0)
        status = launch_ready(transfer);
    if (status == TAKT_OK)
        status = fetch_more(transfer);
    takt__unlock(&device->lock);
    return status;
}

/* ---- shares -------------------------------------------------------------- */

/* Whether this was the last share of its piece. */
static bool is_last(const struct takt_share *share)
{
    return atomic_fetch_add_explicit(&share->slot->moved, 1,
                                     memory_order_acq_rel) +
               1 ==
           TAKT_SHARES;
}

static void pass_slot_on(const struct takt_share *share)
{
    atomic_store_explicit(&share->slot->turn, share->piece + TAKT_RING,
                          memory_order_release);
}

/* What the first share of a piece that goes in has to see to. */
static takt_status empty_slot(struct takt_transfer *transfer,
                              const struct takt_share *share)
{
    struct takt_device *device = transfer->device;
    struct takt_slot *slot = share->slot;

    if (!await(transfer, &slot->turn, share->piece))
        return TAKT_ENODEV;
    const takt_status status = device->driver->wait(device, &slot->mark);
    atomic_store_explicit(&slot->moved, 0, memory_order_relaxed);
    if (status == TAKT_OK)
        atomic_store_explicit(&slot->ready, share->piece + 1,
                              memory_order_release);
    return status;
}

static takt_status move_in(struct takt_transfer *transfer, size_t number)
{
    const struct takt_share share = takt__share_at(transfer, false, number);
    takt_status status = TAKT_OK;

    if (share.is_first)
        status = empty_slot(transfer, &share);
    else if (!await(transfer, &share.slot->ready, share.piece + 1))
        status = TAKT_ENODEV;
    if (status != TAKT_OK)
        return status;
    takt__share_move(&share);
    if (!is_last(&share))
        return TAKT_OK;
    status = send(transfer, &share);
    pass_slot_on(&share);
    return status;
}

static takt_status move_out(struct takt_transfer *transfer, size_t number)
{
    const struct takt_share share = takt__share_at(transfer, true, number);
    struct takt_device *device = transfer->device;

    takt__share_move(&share);
    if (!is_last(&share))
        return TAKT_OK;
    pass_slot_on(&share);
    lock_soon(device);
    const takt_status status = fetch_more(transfer);
    takt__unlock(&device->lock);
    if (status != TAKT_OK)
        fail(transfer, status); /* of later ones: this one is moved */
    return TAKT_OK;
}

/* Waits for the next piece that comes out. Asking the device whether it has,
 * from many threads, keeps it from hearing anything else. */
static takt_status await_piece(struct takt_transfer *transfer)
{
    struct takt_device *device = transfer->device;
    const size_t piece = atomic_load(&transfer->ready);
    const struct takt_share share =
        takt__share_at(transfer, true, piece * TAKT_SHARES);
    const takt_status status = device->driver->wait(device, &share.slot->mark);

    if (status != TAKT_OK)
        return status;
    if (piece == 0)
        transfer->came_at = takt__ticks();
    atomic_store_explicit(&share.slot->moved, 0, memory_order_relaxed);
    atomic_store_explicit(&transfer->ready, piece + 1, memory_order_release);
    return TAKT_OK;
}

/* Whether the device is filling a slot. */
static bool is_coming(const struct takt_transfer *transfer)
{
    return atomic_load(&transfer->ready) <
           atomic_load_explicit(&transfer->fetched, memory_order_acquire);
}

/* Takes the next share that has come out, or is to go in; false: none is. */
static bool take(struct takt_transfer *transfer, bool is_out, size_t *number)
{
    _Atomic size_t *next = &transfer->next[is_out];

    *number = atomic_load(next);
    while (*number / TAKT_SHARES <
           (is_out
                ? atomic_load_explicit(&transfer->ready, memory_order_acquire)
                : transfer->pieces[0]))
        if (atomic_compare_exchange_weak(next, number, *number + 1))
            return true;
    return false;
}

static bool is_all_taken(const struct takt_transfer *transfer)
{
    return atomic_load(&transfer->next[1]) >= transfer->pieces[1] * TAKT_SHARES;
}

static void move_shares(void *self, unsigned part, unsigned parts,
                        void *scratch)
{
    struct takt_transfer *transfer = self;
    unsigned spins = 0;
    size_t number;

    (void)parts;
    (void)scratch;
    while (!is_failed(transfer)) {
        takt_status status = TAKT_OK;
        if (part == 0 && is_coming(transfer)) {
            status = await_piece(transfer);
        } else if (take(transfer, true, &number)) {
            status = move_out(transfer, number);
        } else if (take(transfer, false, &number)) {
            status = move_in(transfer, number);
        } else if (is_all_taken(transfer)) {
            return;
        } else {
            spin(transfer, &spins);
            continue;
        }
        spins = 0;
        if (status != TAKT_OK)
            fail(transfer, status);
    }
}

/* ---- the transfer -------------------------------------------------------- */

/* The computing queue may still work on the memory that a transfer goes to. */
static takt_status begin(struct takt_transfer *transfer)
{
    struct takt_device *device = transfer->device;
    takt_status status = TAKT_OK;

    for (unsigned i = 0; i < TAKT_SLOTS; i++) {
        atomic_store(&device->stage.slot[i].turn, i % TAKT_RING);
        atomic_store(&device->stage.slot[i].ready, 0);
    }
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
    transfer->sent = 0;
    transfer->sent_at = transfer->came_at = 0;
    atomic_init(&transfer->next[0], 0);
    atomic_init(&transfer->next[1], 0);
    atomic_init(&transfer->launched, 0);
    atomic_init(&transfer->fetched, 0);
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
