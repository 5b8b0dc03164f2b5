/* SPDX-License-Identifier: MIT */
/*
 * protobuf.c - messages as protobuf writes them.
 *
 * A message within another has its length before it. One byte is left for
 * that; what turns out to be longer than 127 bytes is moved up when it ends.
 */
#define _DEFAULT_SOURCE /* htole64() */
#include "writer.h"

#include <endian.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

static inline size_t varint_size(uint64_t value)
{
    size_t size = 1;

    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
}

static unsigned char *put_varint(unsigned char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (unsigned char)(value | 0x80);
    *at++ = (unsigned char)value;
    return at;
}

/* Writes the tag, and leaves `size` bytes after it; NULL: no memory. */
static inline unsigned char *
put_tag(struct takt_otel_writer *w, unsigned number, unsigned wire, size_t size)
{
    const unsigned tag = number << 3 | wire;
    unsigned char *at = takt__otel_room(w->out, (tag < 0x80 ? 1 : 2) + size);

    return at == NULL ? NULL : put_varint(at, tag);
}

static size_t begin(struct takt_otel_writer *w, unsigned number,
                    const char *name)
{
    (void)name;
    put_tag(w, number, WIRE_BYTES, 1);
    return w->out->size;
}

/* What is longer than 127 bytes needs more of them for its length. */
static void end_long(struct takt_otel_writer *w, size_t begun, size_t length)
{
    const size_t more = varint_size(length) - 1;

    if (takt__otel_room(w->out, more) == NULL)
        return;
    memmove(w->out->at + begun + more, w->out->at + begun, length);
    put_varint(w->out->at + begun - 1, length);
}

static void end(struct takt_otel_writer *w, size_t begun)
{
    const size_t length = w->out->size - begun;

    if (w->out->is_short)
        return;
    if (length < 0x80)
        w->out->at[begun - 1] = (unsigned char)length;
    else
        end_long(w, begun, length);
}

/* A list has nothing around it, nor has a whole message. */
static void list(struct takt_otel_writer *w, const char *name)
{
    (void)w;
    (void)name;
}

static void nothing(struct takt_otel_writer *w)
{
    (void)w;
}

static void put_bytes(struct takt_otel_writer *w, unsigned number,
                      const void *bytes, size_t size)
{
    unsigned char *at =
        put_tag(w, number, WIRE_BYTES, varint_size(size) + size);

    if (at != NULL && size > 0)
        memcpy(put_varint(at, size), bytes, size);
    else if (at != NULL)
        *at = 0;
}

static void text(struct takt_otel_writer *w, unsigned number, const char *name,
                 const char *at, size_t size)
{
    size_t broken;

    if (takt__otel_utf8(at, size, &broken) == size) {
        put_bytes(w, number, at, size);
    } else {
        const size_t begun = begin(w, number, name);
        takt__otel_piece(w, at, size);
        end(w, begun);
    }
}

/* In one go where a length takes one byte, as those of Takt's own keys do. */
static struct takt_otel_begun pair(struct takt_otel_writer *w, unsigned number,
                                   const char *key, size_t size)
{
    struct takt_otel_begun begun;
    size_t broken;

    if (size < 0x80 && takt__otel_utf8(key, size, &broken) == size) {
        unsigned char *at = put_tag(w, number, WIRE_BYTES, size + 5);
        if (at != NULL) {
            at[1] = 1 << 3 | WIRE_BYTES;
            at[2] = (unsigned char)size;
            memcpy(at + 3, key, size);
            at[size + 3] = 2 << 3 | WIRE_BYTES;
        }
        return (struct takt_otel_begun){w->out->size - size - 4, w->out->size};
    }
    begun.message = begin(w, number, NULL);
    text(w, 1, "key", key, size);
    begun.value = begin(w, 2, "value");
    return begun;
}

static void id(struct takt_otel_writer *w, unsigned number, const char *name,
               const unsigned char *at, size_t size)
{
    (void)name;
    put_bytes(w, number, at, size);
}

static void number(struct takt_otel_writer *w, unsigned number,
                   const char *name, enum takt_otel_type type, uint64_t bits)
{
    const bool is_fixed = type >= TAKT_OTEL_REAL;
    const size_t size = !is_fixed                   ? varint_size(bits)
                        : type == TAKT_OTEL_FIXED32 ? 4
                                                    : 8;
    const unsigned wire = !is_fixed   ? WIRE_VARINT
                          : size == 4 ? WIRE_FIXED32
                                      : WIRE_FIXED64;
    unsigned char *at = put_tag(w, number, wire, size);

    (void)name;
    if (at == NULL)
        return;
    if (!is_fixed) {
        put_varint(at, bits);
        return;
    }
    bits = htole64(bits); /* the lower half comes first */
    memcpy(at, &bits, size);
}

static void numbers(struct takt_otel_writer *w, unsigned number,
                    const char *name, enum takt_otel_type type,
                    const void *values, size_t count)
{
    unsigned char *at =
        put_tag(w, number, WIRE_BYTES, varint_size(8 * count) + 8 * count);
    uint64_t bits;

    (void)name;
    (void)type;
    if (at == NULL)
        return;
    at = put_varint(at, 8 * count);
    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, (const char *)values + 8 * i, sizeof bits);
        bits = htole64(bits);
        memcpy(at + 8 * i, &bits, sizeof bits);
    }
}

static void written(struct takt_otel_writer *w, const unsigned char *at,
                    size_t size)
{
    takt__otel_bytes_append(w->out, at, size);
}

static void sound(struct takt_otel_writer *w, const char *at, size_t size)
{
    takt__otel_bytes_append(w->out, at, size);
}

const struct takt_otel_form takt__otel_protobuf = {
    .message = nothing,
    .message_end = nothing,
    .begin = begin,
    .end = end,
    .list = list,
    .list_end = nothing,
    .pair = pair,
    .text = text,
    .text_begin = begin,
    .sound = sound,
    .text_end = end,
    .id = id,
    .number = number,
    .numbers = numbers,
    .written = written,
};
