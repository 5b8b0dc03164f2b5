/* SPDX-License-Identifier: MIT */
/*
 * answer.c - what collectors answer, in protobuf.
 *
 * These bytes are not trusted. Nothing is read beyond them; fields that are not
 * known, or of another type than expected, are passed over; what is not
 * protobuf as it is written today (groups, numbers of more than 64 bits, fields
 * without a number) makes the whole answer none.
 */
#include <string.h>

#include "writer.h"

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct answer_bytes {
    const unsigned char *at;
    size_t size;
};

struct field {
    uint64_t number;
    enum wire wire;
    uint64_t value;            /* of a VARINT */
    struct answer_bytes bytes; /* of BYTES */
};

static bool take_varint(struct answer_bytes *from, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && from->size > 0; shift += 7) {
        const unsigned char byte = *from->at++;
        from->size--;
        if (shift == 63 && byte > 1)
            return false;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool take_bytes(struct answer_bytes *from, uint64_t size,
                       struct answer_bytes *out)
{
    if (size > from->size)
        return false;
    *out = (struct answer_bytes){from->at, (size_t)size};
    from->at += size;
    from->size -= (size_t)size;
    return true;
}

/* False: that is no field. */
static bool take_field(struct answer_bytes *from, struct field *field)
{
    uint64_t tag, length;

    if (!take_varint(from, &tag) || tag > UINT32_MAX || tag >> 3 == 0)
        return false;
    field->number = tag >> 3;
    field->wire = (enum wire)(tag & 7);
    switch (field->wire) {
    case VARINT:
        return take_varint(from, &field->value);
    case FIXED64:
        return take_bytes(from, 8, &field->bytes);
    case FIXED32:
        return take_bytes(from, 4, &field->bytes);
    case BYTES:
        return take_varint(from, &length) &&
               take_bytes(from, length, &field->bytes);
    }
    return false;
}

static bool is_bytes(const struct field *field, uint64_t number)
{
    return field->number == number && field->wire == BYTES;
}

static bool is_varint(const struct field *field, uint64_t number)
{
    return field->number == number && field->wire == VARINT;
}

/* ---- partial success ----------------------------------------------------- */

/* Whole characters only, as many as fit, and nothing that moves a cursor. */
static void copy_message(struct answer_bytes from, char *to, size_t room)
{
    const char *at = (const char *)from.at;
    size_t used = 0, broken;

    while (from.size > 0) {
        const size_t sound = takt__otel_utf8(at, from.size, &broken);
        size_t fits = sound < room - 1 - used ? sound : room - 1 - used;

        while (fits > 0 && fits < sound && ((unsigned char)at[fits] >> 6) == 2)
            fits--;
        for (size_t i = 0; i < fits; i++)
            to[used++] =
                (unsigned char)at[i] < 0x20 || at[i] == 0x7F ? ' ' : at[i];
        if (fits < sound || (broken > 0 && room - 1 - used < 3))
            break;
        if (broken > 0) {
            memcpy(to + used, TAKT_OTEL_REPLACEMENT, 3);
            used += 3;
        }
        at += sound + broken;
        from.size -= sound + broken;
    }
    to[used] = '\0';
}

static bool read_partial(struct answer_bytes from, struct takt_otel_answer *out)
{
    struct field field;

    while (from.size > 0) {
        if (!take_field(&from, &field))
            return false;
        if (is_varint(&field, 1))
            out->rejected = field.value <= INT64_MAX ? (int64_t)field.value : 0;
        else if (is_bytes(&field, 2))
            copy_message(field.bytes, out->message, sizeof out->message);
    }
    return true;
}

bool takt__otel_answer(const unsigned char *at, size_t size,
                       struct takt_otel_answer *out)
{
    struct answer_bytes from = {at, size};
    struct field field;

    memset(out, 0, sizeof *out);
    while (from.size > 0) {
        if (!take_field(&from, &field) ||
            (is_bytes(&field, 1) && !read_partial(field.bytes, out))) {
            memset(out, 0, sizeof *out);
            return false;
        }
    }
    return true;
}

/* ---- when to try again --------------------------------------------------- */

/* google.protobuf.Duration, from zero on. */
static bool read_duration(struct answer_bytes from, double *seconds)
{
    /* Ten thousand years: the most that the type allows. */
    const uint64_t most = UINT64_C(315576000000);
    uint64_t whole = 0, nanos = 0;
    struct field field;

    while (from.size > 0) {
        if (!take_field(&from, &field))
            return false;
        if (is_varint(&field, 1))
            whole = field.value;
        else if (is_varint(&field, 2))
            nanos = field.value;
    }
    if (whole > most || nanos > 999999999)
        return false;
    *seconds = (double)whole + (double)nanos * 1e-9;
    return true;
}

/* google.rpc.RetryInfo. */
static bool read_retry(struct answer_bytes from, double *seconds)
{
    struct field field;

    while (from.size > 0)
        if (!take_field(&from, &field) ||
            (is_bytes(&field, 1) && !read_duration(field.bytes, seconds)))
            return false;
    return true;
}

/* Whatever stands before the last slash, the type is what follows it. */
static bool is_retry(struct answer_bytes url)
{
    static const char type[] = "/google.rpc.RetryInfo";
    const size_t size = sizeof type - 1;

    return url.size >= size &&
           memcmp(url.at + url.size - size, type, size) == 0;
}

/* google.protobuf.Any; what is in it of another type is not looked at. */
static bool read_detail(struct answer_bytes from, double *seconds)
{
    struct answer_bytes url = {NULL, 0}, value = {NULL, 0};
    struct field field;

    while (from.size > 0) {
        if (!take_field(&from, &field))
            return false;
        if (is_bytes(&field, 1))
            url = field.bytes;
        else if (is_bytes(&field, 2))
            value = field.bytes;
    }
    return !is_retry(url) || read_retry(value, seconds);
}

double takt__otel_retry_delay_s(const unsigned char *at, size_t size)
{
    struct answer_bytes from = {at, size};
    struct field field;
    double seconds = -1;

    while (from.size > 0)
        if (!take_field(&from, &field) ||
            (is_bytes(&field, 3) && !read_detail(field.bytes, &seconds)))
            return -1;
    return seconds;
}
