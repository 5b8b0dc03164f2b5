/* SPDX-License-Identifier: MIT */
/*
 * json.c - messages as OTLP writes them in JSON.
 *
 * That is protobuf's own mapping (64-bit integers are strings, and so are the
 * numbers that JSON does not have), but for ids, which are in hex, and enums,
 * which are numbers.
 */
#include "writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put(struct takt_otel_writer *w, const char *at, size_t size)
{
    takt__otel_bytes_append(w->out, at, size);
}

/* What stands before a value: a comma, and its name. */
static void lead(struct takt_otel_writer *w, const char *name)
{
    if (w->needs_comma)
        put(w, ",", 1);
    if (name != NULL) {
        put(w, "\"", 1);
        put(w, name, strlen(name));
        put(w, "\":", 2);
    }
    w->needs_comma = true;
}

static size_t begin(struct takt_otel_writer *w, unsigned number,
                    const char *name)
{
    (void)number;
    lead(w, name);
    put(w, "{", 1);
    w->needs_comma = false;
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
    lead(w, name);
    put(w, "[", 1);
    w->needs_comma = false;
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
        put(w, at + done, i - done);
        escape(w, c);
        done = i + 1;
    }
    put(w, at + done, size - done);
}

static size_t text_begin(struct takt_otel_writer *w, unsigned number,
                         const char *name)
{
    (void)number;
    lead(w, name);
    put(w, "\"", 1);
    return 0;
}

static void text_end(struct takt_otel_writer *w, size_t begun)
{
    (void)begun;
    put(w, "\"", 1);
}

static void text(struct takt_otel_writer *w, unsigned number, const char *name,
                 const char *at, size_t size)
{
    text_begin(w, number, name);
    takt__otel_piece(w, at, size);
    text_end(w, 0);
}

static struct takt_otel_begun pair(struct takt_otel_writer *w, unsigned number,
                                   const char *key, size_t size)
{
    begin(w, number, NULL);
    text(w, 1, "key", key, size);
    begin(w, 2, "value");
    return (struct takt_otel_begun){0};
}

static void id(struct takt_otel_writer *w, unsigned number, const char *name,
               const unsigned char *at, size_t size)
{
    static const char digit[] = "0123456789abcdef";

    text_begin(w, number, name);
    for (size_t i = 0; i < size; i++)
        put(w, (char[]){digit[at[i] >> 4], digit[at[i] & 15]}, 2);
    text_end(w, 0);
}

/* The fewest digits that read back as the same number. */
static void put_finite(struct takt_otel_writer *w, double value)
{
    char digits[64];
    bool has_point = false;

    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    /* The program's locale may have another point, of several bytes even. */
    for (const char *at = digits; *at != '\0'; at++) {
        if (strchr("0123456789+-e", *at) != NULL) {
            put(w, at, 1);
        } else if (!has_point) {
            put(w, ".", 1);
            has_point = true;
        }
    }
}

static void put_real(struct takt_otel_writer *w, double value)
{
    if (isnan(value))
        put(w, "\"NaN\"", 5);
    else if (isinf(value))
        put(w, value < 0 ? "\"-Infinity\"" : "\"Infinity\"",
            value < 0 ? 11 : 10);
    else
        put_finite(w, value);
}

static void number(struct takt_otel_writer *w, unsigned at, const char *name,
                   enum takt_otel_type type, uint64_t bits)
{
    const bool is_text = type == TAKT_OTEL_INTEGER || type == TAKT_OTEL_FIXED64;
    char digits[32];
    double value;

    (void)at;
    lead(w, name);
    if (type == TAKT_OTEL_BOOL) {
        put(w, bits ? "true" : "false", bits ? 4 : 5);
    } else if (type == TAKT_OTEL_REAL) {
        memcpy(&value, &bits, sizeof value);
        put_real(w, value);
    } else {
        snprintf(digits, sizeof digits,
                 is_text ? "\"%" PRIu64 "\"" : "%" PRIu64, bits);
        put(w, digits, strlen(digits));
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
        lead(w, NULL);
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
