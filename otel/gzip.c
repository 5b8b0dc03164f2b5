/* SPDX-License-Identifier: MIT */
/*
 * gzip.c - a request, made smaller. The fastest level: spans repeat themselves
 * so much that the others gain little.
 */
#include "writer.h"

#include <limits.h>
#include <zlib.h>

bool takt__otel_gzip(const unsigned char *at, size_t size,
                     struct takt_otel_bytes *out)
{
    enum { window_bits = 15, as_gzip = 16, memory = 8 };
    const size_t before = out->size;
    z_stream stream = {0};

    if (size > INT_MAX ||
        deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window_bits + as_gzip,
                     memory, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    const uLong bound = deflateBound(&stream, (uLong)size);
    unsigned char *room = takt__otel_room(out, bound);
    int result = Z_MEM_ERROR;
    if (room != NULL) {
        stream.next_in = (z_const Bytef *)at;
        stream.avail_in = (uInt)size;
        stream.next_out = room;
        stream.avail_out = (uInt)bound;
        result = deflate(&stream, Z_FINISH);
        out->size = before + stream.total_out;
    }
    deflateEnd(&stream);
    if (result != Z_STREAM_END)
        out->size = before;
    return result == Z_STREAM_END;
}
