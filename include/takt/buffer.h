/* SPDX-License-Identifier: MIT */
/*
 * takt/buffer.h - memory that may be on the host and on GPUs.
 *
 * A buffer has an address, which every op of takt/ops.h and takt/call.h takes
 * like any other pointer, also with an offset. Takt tracks where copies are
 * valid, transfers only what is missing, and leaves a result where it was
 * computed until the host maps it: so a chain of ops stays on a GPU. The
 * program itself reads and writes a buffer between map and unmap only.
 *
 *     const float x[3] = {-1, 2, -3};
 *     takt_buffer *a, *b;
 *     void *host;
 *
 *     if (takt_buffer_create(NULL, sizeof x, x, &a) != TAKT_OK ||
 *         takt_buffer_create(NULL, sizeof x, NULL, &b) != TAKT_OK)
 *         return 1;
 *     if (takt_relu_f32(3, takt_buffer_address(a), takt_buffer_address(b)) !=
 *             TAKT_OK ||
 *         takt_buffer_map(b, TAKT_MAP_READ, &host) != TAKT_OK)
 *         return 1;
 *     printf("%g\n", ((const float *)host)[1]);
 *     takt_buffer_unmap(b);
 *     takt_buffer_destroy(b);
 *     takt_buffer_destroy(a);
 *
 * A call whose output is in a buffer may return before a GPU has finished it;
 * later calls of the same context wait for it, and so does map. On a machine
 * without a GPU a buffer is ordinary memory.
 *
 * Threads: as with any memory, a buffer that one thread writes is not used by
 *   another one at the same time. Everything else may be called from any
 *   thread.
 */
#ifndef TAKT_BUFFER_H
#define TAKT_BUFFER_H

#include <stddef.h>

#include <takt/context.h>
#include <takt/export.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A buffer. Opaque. */
typedef struct takt_buffer takt_buffer;

/* Makes a buffer for calls of one context. The context (NULL: the default one)
 * outlives it. It has so many bytes: a copy of the memory at `from`, or (NULL)
 * no contents. On failure *out is NULL.
 * TAKT_ENOMEM: no memory or no addresses. */
TAKT_API takt_status takt_buffer_create(takt_ctx *ctx, size_t bytes,
                                        const void *from, takt_buffer **out);
TAKT_API void takt_buffer_destroy(takt_buffer *buffer); /* NULL is allowed */

/* The address for calls, and the size. The address is aligned to 64 KiB and
 * constant as long as the buffer lives. */
TAKT_API void *takt_buffer_address(const takt_buffer *buffer);
TAKT_API size_t takt_buffer_bytes(const takt_buffer *buffer);

/* The access that takt_buffer_map() is asked for. */
#define TAKT_MAP_READ 1u
#define TAKT_MAP_WRITE 2u   /* copies elsewhere are no longer valid */
#define TAKT_MAP_DISCARD 4u /* with WRITE: the old contents are not needed */

/* Lets the host read or write a buffer: waits for calls that write it, and
 * transfers what is missing. *out is its address. Several may read at once, one
 * writes.
 * TAKT_EINVAL: no access asked for, or already mapped for another access.
 * TAKT_ELOST: its contents were on a GPU that is gone. */
TAKT_API takt_status takt_buffer_map(takt_buffer *buffer, unsigned access,
                                     void **out);

/* Ends the access that takt_buffer_map() began.
 * TAKT_EINVAL: it was not mapped. */
TAKT_API takt_status takt_buffer_unmap(takt_buffer *buffer);

/* Where copies of a buffer are valid, as text: "host", "cuda.0", "host cuda.0",
 * or "" while nothing was written to it. Cut off at `size`. */
TAKT_API void takt_buffer_residency(const takt_buffer *buffer, char *out,
                                    size_t size);

/* Waits for everything that calls of a context have begun. NULL is the default
 * context.
 * TAKT_ELOST: a GPU was lost; mapping a buffer that was only there fails. */
TAKT_API takt_status takt_sync(takt_ctx *ctx);

#ifdef __cplusplus
}
#endif

#endif
