/* SPDX-License-Identifier: MIT */
/*
 * otlp_read.h - reads what the exporter wrote, and aborts when it is not OTLP
 * in protobuf, or not JSON.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <takt/telemetry.h>

static void demand(bool condition)
{
    if (!condition)
        abort();
}

/* ---- protobuf, read back ---------------------------------------------------
 */

enum message {
    NONE, /* not a message: a number, or an id */
    TEXT,
    REQUEST_OF_SPANS,
    RESOURCE_SPANS,
    SCOPE_SPANS,
    SPAN,
    STATUS,
    REQUEST_OF_METRICS,
    RESOURCE_METRICS,
    SCOPE_METRICS,
    METRIC,
    SUM,
    HISTOGRAM,
    POINT,
    HISTOGRAM_POINT,
    RESOURCE,
    SCOPE,
    KEY_VALUE,
    ANY_VALUE,
    ARRAY
};

/* How a field comes; a size that is not 0 is the only one it may have. */
struct known {
    enum message in;
    unsigned number, wire;
    enum message is;
    size_t size;
};

static const struct known known[] = {
    {REQUEST_OF_SPANS, 1, 2, RESOURCE_SPANS, 0},
    {RESOURCE_SPANS, 1, 2, RESOURCE, 0},
    {RESOURCE_SPANS, 2, 2, SCOPE_SPANS, 0},
    {SCOPE_SPANS, 1, 2, SCOPE, 0},
    {SCOPE_SPANS, 2, 2, SPAN, 0},
    {SPAN, 1, 2, NONE, 16},
    {SPAN, 2, 2, NONE, 8},
    {SPAN, 3, 2, TEXT, 0},
    {SPAN, 4, 2, NONE, 8},
    {SPAN, 5, 2, TEXT, 0},
    {SPAN, 6, 0, NONE, 0},
    {SPAN, 7, 1, NONE, 0},
    {SPAN, 8, 1, NONE, 0},
    {SPAN, 9, 2, KEY_VALUE, 0},
    {SPAN, 15, 2, STATUS, 0},
    {SPAN, 16, 5, NONE, 0},
    {STATUS, 2, 2, TEXT, 0},
    {STATUS, 3, 0, NONE, 0},
    {REQUEST_OF_METRICS, 1, 2, RESOURCE_METRICS, 0},
    {RESOURCE_METRICS, 1, 2, RESOURCE, 0},
    {RESOURCE_METRICS, 2, 2, SCOPE_METRICS, 0},
    {SCOPE_METRICS, 1, 2, SCOPE, 0},
    {SCOPE_METRICS, 2, 2, METRIC, 0},
    {METRIC, 1, 2, TEXT, 0},
    {METRIC, 2, 2, TEXT, 0},
    {METRIC, 3, 2, TEXT, 0},
    {METRIC, 5, 2, SUM, 0}, /* a gauge: only has less */
    {METRIC, 7, 2, SUM, 0},
    {METRIC, 9, 2, HISTOGRAM, 0},
    {SUM, 1, 2, POINT, 0},
    {SUM, 2, 0, NONE, 0},
    {SUM, 3, 0, NONE, 0},
    {HISTOGRAM, 1, 2, HISTOGRAM_POINT, 0},
    {HISTOGRAM, 2, 0, NONE, 0},
    {POINT, 2, 1, NONE, 0},
    {POINT, 3, 1, NONE, 0},
    {POINT, 4, 1, NONE, 0},
    {POINT, 6, 1, NONE, 0},
    {POINT, 7, 2, KEY_VALUE, 0},
    {HISTOGRAM_POINT, 2, 1, NONE, 0},
    {HISTOGRAM_POINT, 3, 1, NONE, 0},
    {HISTOGRAM_POINT, 4, 1, NONE, 0},
    {HISTOGRAM_POINT, 5, 1, NONE, 0},
    {HISTOGRAM_POINT, 6, 2, NONE, 8 * (TAKT_DURATION_BOUNDS + 1)},
    {HISTOGRAM_POINT, 7, 2, NONE, 8 * TAKT_DURATION_BOUNDS},
    {HISTOGRAM_POINT, 9, 2, KEY_VALUE, 0},
    {HISTOGRAM_POINT, 11, 1, NONE, 0},
    {HISTOGRAM_POINT, 12, 1, NONE, 0},
    {RESOURCE, 1, 2, KEY_VALUE, 0},
    {SCOPE, 1, 2, TEXT, 0},
    {SCOPE, 2, 2, TEXT, 0},
    {KEY_VALUE, 1, 2, TEXT, 0},
    {KEY_VALUE, 2, 2, ANY_VALUE, 0},
    {ANY_VALUE, 1, 2, TEXT, 0},
    {ANY_VALUE, 2, 0, NONE, 0},
    {ANY_VALUE, 3, 0, NONE, 0},
    {ANY_VALUE, 4, 1, NONE, 0},
    {ANY_VALUE, 5, 2, ARRAY, 0},
    {ARRAY, 1, 2, ANY_VALUE, 0},
};

/* Written otherwise than the library's own, on purpose. */
static void demand_utf8(const uint8_t *at, size_t size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

    for (size_t i = 0; i < size;) {
        const unsigned length = at[i] < 0x80             ? 1
                                : (at[i] & 0xE0) == 0xC0 ? 2
                                : (at[i] & 0xF0) == 0xE0 ? 3
                                                         : 4;
        uint32_t code = length == 1 ? at[i] : at[i] & (0x7Fu >> length);

        demand(length < 4 || (at[i] & 0xF8) == 0xF0);
        demand(i + length <= size);
        for (unsigned k = 1; k < length; k++) {
            demand((at[i + k] & 0xC0) == 0x80);
            code = code << 6 | (at[i + k] & 0x3Fu);
        }
        demand(code >= least[length] && code <= 0x10FFFF);
        demand(code < 0xD800 || code > 0xDFFF);
        i += length;
    }
}

static uint64_t read_varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        demand(*at < end && shift < 64);
        const uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            demand(byte != 0 || shift == 0); /* no longer than needed */
            return value;
        }
    }
}

static const struct known *find_known(enum message in, uint64_t tag)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].in == in && known[i].number == tag >> 3 &&
            known[i].wire == (tag & 7))
            return &known[i];
    abort();
}

/* How many bytes follow; of a varint none, because it has been read then. */
static uint64_t read_head(unsigned wire, const uint8_t **at, const uint8_t *end)
{
    if (wire == 1 || wire == 5)
        return wire == 1 ? 8 : 4;
    const uint64_t value = read_varint(at, end);
    return wire == 2 ? value : 0;
}

/* How many KeyValues are in it. */
static inline size_t read_message(enum message in, const uint8_t *at,
                                  size_t size)
{
    const uint8_t *end = size > 0 ? at + size : at;
    size_t count = in == KEY_VALUE;

    while (at < end) {
        const struct known *field = find_known(in, read_varint(&at, end));
        const uint64_t head = read_head(field->wire, &at, end);
        demand(head <= (uint64_t)(end - at));
        demand(field->size == 0 || field->size == head);
        if (field->is == TEXT)
            demand_utf8(at, (size_t)head);
        else if (field->is != NONE)
            count += read_message(field->is, at, (size_t)head);
        at += head;
    }
    return count;
}

/* ---- JSON, read back ------------------------------------------------------*/

struct json {
    const uint8_t *at, *end;
    size_t keys; /* fields that are called "key" */
};

static void expect(struct json *json, const char *text)
{
    const size_t size = strlen(text);

    demand((size_t)(json->end - json->at) >= size);
    demand(memcmp(json->at, text, size) == 0);
    json->at += size;
}

static uint8_t peek(const struct json *json)
{
    demand(json->at < json->end);
    return *json->at;
}

static void read_string(struct json *json)
{
    const uint8_t *begin = json->at + 1;

    expect(json, "\"");
    while (peek(json) != '"') {
        demand(peek(json) >= 0x20);
        if (*json->at++ != '\\')
            continue;
        if (peek(json) == 'u')
            expect(json, "u00");
        else
            demand(peek(json) == '"' || peek(json) == '\\');
        json->at++;
    }
    demand_utf8(begin, (size_t)(json->at - begin));
    json->at++;
}

static void read_digits(struct json *json)
{
    demand(peek(json) >= '0' && peek(json) <= '9');
    while (peek(json) >= '0' && peek(json) <= '9')
        json->at++;
}

static void read_number(struct json *json)
{
    if (peek(json) == '-')
        json->at++;
    read_digits(json);
    if (peek(json) == '.') {
        json->at++;
        read_digits(json);
    }
    if (peek(json) == 'e') {
        json->at++;
        if (peek(json) == '+' || peek(json) == '-')
            json->at++;
        read_digits(json);
    }
}

static inline void read_value(struct json *json);

/* What is between brackets, names and all. */
static void read_members(struct json *json, uint8_t end, bool has_names)
{
    json->at++;
    for (bool is_first = true; peek(json) != end; is_first = false) {
        if (!is_first)
            expect(json, ",");
        if (has_names) {
            json->keys += json->end - json->at > 6 &&
                          memcmp(json->at, "\"key\":", 6) == 0;
            read_string(json);
            expect(json, ":");
        }
        read_value(json);
    }
    json->at++;
}

static inline void read_value(struct json *json)
{
    switch (peek(json)) {
    case '{':
        read_members(json, '}', true);
        break;
    case '[':
        read_members(json, ']', false);
        break;
    case '"':
        read_string(json);
        break;
    case 't':
        expect(json, "true");
        break;
    case 'f':
        expect(json, "false");
        break;
    default:
        read_number(json);
    }
}
