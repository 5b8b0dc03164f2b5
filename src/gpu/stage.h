/* SPDX-License-Identifier: MIT */
/*
 * stage.h - runs a staged transfer through pinned slots.
 *
 * A device copies from pinned memory four times as fast as from any other, and
 * pinning the caller's memory takes longer than copying it. So several threads
 * copy into a ring of pinned slots that the device copies from, and out of
 * slots that it copies to.
 */
#ifndef TAKT_GPU_STAGE_H
#define TAKT_GPU_STAGE_H

#include "gpu/transfer.h"

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

#endif
