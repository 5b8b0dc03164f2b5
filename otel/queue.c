/* SPDX-License-Identifier: MIT */
/* queue.c - batches that wait. */
#include "channel_parts.h"

#include <stdlib.h>

static struct takt_otel_batch *begin(struct takt_otel_queue *queue,
                                     uint64_t now_ns)
{
    struct takt_otel_batch *batch = calloc(1, sizeof *batch);

    if (batch == NULL)
        return NULL;
    batch->number = ++queue->begun;
    batch->begun_ns = now_ns;
    if (queue->last != NULL)
        queue->last->next = batch;
    else
        queue->first = batch;
    queue->last = batch;
    return batch;
}

static bool fits(const struct takt_otel_queue *queue, size_t size,
                 unsigned count)
{
    return size <= queue->batch_bytes &&
           (queue->first == NULL ||
            (queue->spans + count <= queue->most_spans &&
             queue->bytes + size <= queue->most_bytes));
}

/* One byte more for the comma of JSON. */
static bool takes(const struct takt_otel_queue *queue,
                  const struct takt_otel_batch *batch, size_t size,
                  unsigned count)
{
    return batch != NULL && batch->spans + count <= queue->batch_spans &&
           batch->bytes.size + 1 + size <= queue->batch_bytes;
}

static bool append(struct takt_otel_bytes *bytes, enum takt_otel_format format,
                   const struct takt_otel_bytes *more)
{
    const size_t before = bytes->size;

    if (format == TAKT_OTEL_JSON && before > 0)
        takt__otel_bytes_append(bytes, ",", 1);
    takt__otel_bytes_append(bytes, more->at, more->size);
    if (!bytes->is_short)
        return true;
    bytes->size = before; /* what was there is sound */
    bytes->is_short = false;
    return false;
}

bool takt__otel_queue_put(struct takt_otel_queue *queue,
                          const struct takt_otel_bytes *spans, unsigned count,
                          bool is_last, uint64_t now_ns)
{
    struct takt_otel_batch *batch = queue->last;

    if (spans->is_short || (!is_last && !fits(queue, spans->size, count)))
        return false;
    if (!takes(queue, batch, spans->size, count))
        batch = begin(queue, now_ns);
    if (batch == NULL)
        return false;
    const size_t before = batch->bytes.size;
    if (!append(&batch->bytes, queue->format, spans))
        return false;
    batch->spans += count;
    queue->spans += count;
    queue->bytes += batch->bytes.size - before;
    return true;
}

bool takt__otel_queue_renew(struct takt_otel_queue *queue,
                            const struct takt_otel_bytes *request,
                            uint64_t now_ns)
{
    struct takt_otel_bytes bytes = {0};

    if (request->is_short)
        return false;
    takt__otel_bytes_append(&bytes, request->at, request->size);
    struct takt_otel_batch *batch = queue->first;
    if (!bytes.is_short && batch == NULL)
        batch = begin(queue, now_ns);
    if (bytes.is_short || batch == NULL) {
        takt__otel_bytes_free(&bytes);
        return false;
    }
    takt__otel_bytes_free(&batch->bytes);
    batch->bytes = bytes;
    queue->bytes = bytes.size;
    return true;
}

bool takt__otel_queue_is_full(const struct takt_otel_queue *queue)
{
    return queue->first != NULL && (queue->first != queue->last ||
                                    queue->first->spans >= queue->batch_spans);
}

struct takt_otel_batch *takt__otel_queue_take(struct takt_otel_queue *queue)
{
    struct takt_otel_batch *batch = queue->first;

    if (batch == NULL)
        return NULL;
    queue->first = batch->next;
    if (queue->first == NULL)
        queue->last = NULL;
    queue->spans -= batch->spans;
    queue->bytes -= batch->bytes.size;
    batch->next = NULL;
    return batch;
}

void takt__otel_batch_free(struct takt_otel_batch *batch)
{
    if (batch == NULL)
        return;
    takt__otel_bytes_free(&batch->bytes);
    free(batch);
}
