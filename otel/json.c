/* SPDX-License-Identifier: MIT */
/*
 * json.c - messages as OTLP writes them in JSON.
 *
 * That is protobuf's own mapping (64-bit integers are strings, and so are the
 * numbers that JSON does not have), but for ids, which are in hex, and enums,
 * which are numbers.
 */
#include "writer.h"

#include <math.h>
#include <stdio.h>

#include "text/decimal.h"

/* Inline, so that single characters are stored and not copied. */
static inline void put(struct takt_otel_writer *w, const char *at, size_t size)
{
    unsigned char *to = takt__otel_room(w->out, size);

    if (to != NULL)
        memcpy(to, at, size);
}

/* What stands before a value: a comma, its name, and what opens it ('\0':
 * nothing does). */
static void lead(struct takt_otel_writer *w, const char *name, char opening)
{
    const size_t length = name != NULL ? strlen(name) : 0;
    const size_t most = length + sizeof ",\"\":{" - 1;
    unsigned char *start = takt__otel_room(w->out, most), *at = start;

    if (start == NULL)
        return;
    *at = ',';
    at += w->needs_comma;
    if (name != NULL) {
        *at++ = '"';
        memcpy(at, name, length);
        memcpy(at + length, "\":", 2);
        at += length + 2;
    }
    *at = (unsigned char)opening;
    at += opening != '\0';
    w->out->size -= most - (size_t)(at - start);
    w->needs_comma = opening != '{' && opening != '[';
}

static size_t begin(struct takt_otel_writer *w, unsigned number,
                    const char *name)
{
    (void)number;
    lead(w, name, '{');
    return 0;
}

static void end(struct takt_otel_writer *w, size_t begun)
{
    (void)begun;
    put(w, "}", 1);
    w->needs_comma = true;
}

static void message(struct takt_otel_writer *w)
{
    begin(w, 0, NULL);
}

static void message_end(struct takt_otel_writer *w)
{
    put(w, "}\n", 2);
}

static void list(struct takt_otel_writer *w, const char *name)
{
    lead(w, name, '[');
}

static void list_end(struct takt_otel_writer *w)
{
    put(w, "]", 1);
    w->needs_comma = true;
}

static void escape(struct takt_otel_writer *w, unsigned char c)
{
    char code[8];

    if (c == '"' || c == '\\')
        put(w, (char[]){'\\', (char)c}, 2);
    else
        put(w, code, (size_t)snprintf(code, sizeof code, "\\u%04x", c));
}

/* Well-formed UTF-8. */
static void put_sound(struct takt_otel_writer *w, const char *at, size_t size)
{
    size_t done = 0;

    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)at[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        if (i > done)
            put(w, at + done, i - done);
        escape(w, c);
        done = i + 1;
    }
    if (size > done)
        put(w, at + done, size - done);
}

static size_t text_begin(struct takt_otel_writer *w, unsigned number,
                         const char *name)
{
    (void)number;
    lead(w, name, '"');
    return 0;
}

static void text_end(struct takt_otel_writer *w, size_t begun)
{
    (void)begun;
    put(w, "\"", 1);
}

/* Nearly all text is ASCII without escapes: it is tested while it is copied,
 * and taken back where it is something else. */
static void put_text(struct takt_otel_writer *w, const char *at, size_t size)
{
    unsigned char *to = size > 0 ? takt__otel_room(w->out, size) : NULL;
    bool is_plain = true;

    if (to == NULL)
        return;
    for (size_t i = 0; i < size; i++) {
        to[i] = (unsigned char)at[i];
        is_plain &= to[i] - 0x20u < 0x60 && to[i] != '"' && to[i] != '\\';
    }
    if (!is_plain) {
        w->out->size -= size;
        takt__otel_piece(w, at, size);
    }
}

static void text(struct takt_otel_writer *w, unsigned number, const char *name,
                 const char *at, size_t size)
{
    text_begin(w, number, name);
    put_text(w, at, size);
    text_end(w, 0);
}

static struct takt_otel_begun pair(struct takt_otel_writer *w, unsigned number,
                                   const char *key, size_t size)
{
    begin(w, number, NULL);
    put(w, "\"key\":\"", 7);
    put_text(w, key, size);
    put(w, "\",\"value\":{", 11);
    w->needs_comma = false;
    return (struct takt_otel_begun){0};
}

/* Of at most 16 bytes. */
static void id(struct takt_otel_writer *w, unsigned number, const char *name,
               const unsigned char *at, size_t size)
{
    static const char digit[] = "0123456789abcdef";
    char digits[32];

    for (size_t i = 0; i < size; i++) {
        digits[2 * i] = digit[at[i] >> 4];
        digits[2 * i + 1] = digit[at[i] & 15];
    }
    text_begin(w, number, name);
    put(w, digits, 2 * size);
    text_end(w, 0);
}

static void put_real(struct takt_otel_writer *w, double value)
{
    char digits[TAKT_DECIMAL_ROOM];

    if (isnan(value))
        put(w, "\"NaN\"", 5);
    else if (isinf(value))
        put(w, value < 0 ? "\"-Infinity\"" : "\"Infinity\"",
            value < 0 ? 11 : 10);
    else
        put(w, digits, takt__decimal_real(value, digits));
}

static void number(struct takt_otel_writer *w, unsigned at, const char *name,
                   enum takt_otel_type type, uint64_t bits)
{
    const bool is_text = type == TAKT_OTEL_INTEGER || type == TAKT_OTEL_FIXED64;
    char digits[TAKT_DECIMAL_ROOM];
    double value;

    (void)at;
    lead(w, name, is_text ? '"' : '\0');
    if (type == TAKT_OTEL_BOOL) {
        put(w, bits ? "true" : "false", bits ? 4 : 5);
    } else if (type == TAKT_OTEL_REAL) {
        memcpy(&value, &bits, sizeof value);
        put_real(w, value);
    } else {
        put(w, digits, takt__decimal_count(bits, digits));
        if (is_text)
            put(w, "\"", 1);
    }
}

static void numbers(struct takt_otel_writer *w, unsigned at, const char *name,
                    enum takt_otel_type type, const void *values, size_t count)
{
    uint64_t bits;

    list(w, name);
    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, (const char *)values + 8 * i, sizeof bits);
        number(w, at, NULL, type, bits);
    }
    list_end(w);
}

static void written(struct takt_otel_writer *w, const unsigned char *at,
                    size_t size)
{
    if (size > 0) {
        lead(w, NULL, '\0');
        takt__otel_bytes_append(w->out, at, size);
    }
}

const struct takt_otel_form takt__otel_json = {
    .message = message,
    .message_end = message_end,
    .begin = begin,
    .end = end,
    .list = list,
    .list_end = list_end,
    .pair = pair,
    .text = text,
    .text_begin = text_begin,
    .sound = put_sound,
    .text_end = text_end,
    .id = id,
    .number = number,
    .numbers = numbers,
    .written = written,
};
