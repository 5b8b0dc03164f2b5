/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - memory that may be on the host and on devices, with a note of
 * where its copies are valid.
 *
 * Only what is missing is moved, and only when it is needed: a result
 * stays where it was made.
 *
 * Threads: may be called from any thread; the caller does not write a buffer
 * that others use, as with any memory.
 */
#pragma once

#include "gpu/arena.h"
#include "gpu/copies.h"
#include "gpu/perform.h"

takt_status takt__buffer_create(struct takt_devices *devices, size_t bytes,
                                const void *from, struct takt_buffer **out);
void takt__buffer_destroy(struct takt_buffer *buffer); /* NULL is allowed */

/* The public functions of takt/buffer.h. */
takt_status takt__buffer_map(struct takt_buffer *buffer, unsigned access);
takt_status takt__buffer_unmap(struct takt_buffer *buffer);

/* ---- calls --------------------------------------------------------------- */

/* An operand of a call: where it is in a buffer, if it is in one. */
struct takt_operand {
    struct takt_buffer *buffer; /* NULL: a plain pointer, or none */
    size_t offset, bytes;
    bool is_read, is_written;
    bool is_whole; /* all of the buffer is written */
};

struct takt_operand_list {
    struct takt_operand of[TAKT_OPERANDS];
};

/* Looks up the operands of an admitted call. `count` says how many are in
 * buffers.
 * TAKT_EINVAL: one of them reaches beyond its buffer, is mapped, or belongs to
 *   other devices. TAKT_ELOST: what it reads is lost. */
takt_status takt__operands_find(struct takt_devices *devices,
                                const takt_call *call,
                                struct takt_operand_list *out, unsigned *count);

/* What would have to be moved for a call to run on a device, or (-1) on the
 * host; and how likely it is that a later call will use it there again. */
struct takt_move {
    size_t bytes;
    bool is_in; /* to the device; else from one */
    bool is_pinned;
    unsigned device;
    double reuse; /* 0 to 1 */
};
enum { TAKT_MAX_MOVES = TAKT_OPERANDS + 1 };
unsigned takt__operands_moves(const struct takt_operand_list *operands,
                              int device, struct takt_move out[TAKT_MAX_MOVES]);

/* Brings the operands to the host, and says afterwards that it has written its
 * output. */
takt_status takt__operands_to_host(struct takt_devices *devices,
                                   struct takt_operand_list *operands);
void takt__operands_made_on_host(struct takt_devices *devices,
                                 struct takt_operand_list *operands);

/* Runs a call on a device that was entered, with what is missing brought there
 * first. Out of memory, it makes room once. */
takt_status takt__operands_perform(struct takt_device *device,
                                   struct takt_operand_list *operands,
                                   struct takt_device_job *job);
