/* SPDX-License-Identifier: MIT */
/* json.c - a JSON writer without a tree. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "clean.h"

struct json json_begin(FILE *stream)
{
    return (struct json){.stream = stream};
}

void json_end(struct json *json)
{
    fputc('\n', json->stream);
}

static void escape(FILE *stream, uint32_t character)
{
    if (character < 0x10000) {
        fprintf(stream, "\\u%04x", (unsigned)character);
        return;
    }
    character -= 0x10000; /* two halves, as UTF-16 has them */
    fprintf(stream, "\\u%04x\\u%04x", 0xd800 + (unsigned)(character >> 10),
            0xdc00 + (unsigned)(character & 0x3ff));
}

/* What is not UTF-8 becomes U+FFFD; what a terminal should not get is escaped,
 * which a reader of JSON does not see. */
static void quote(FILE *stream, const char *text)
{
    uint32_t character;

    fputc('"', stream);
    while (*text != '\0') {
        const size_t length = read_character(text, &character);
        if (length == 0)
            fputs("\\ufffd", stream);
        else if (character == '"' || character == '\\')
            fprintf(stream, "\\%c", (char)character);
        else if (is_unsafe(character))
            escape(stream, character);
        else
            fwrite(text, 1, length, stream);
        text += length == 0 ? 1 : length;
    }
    fputc('"', stream);
}

static void lead(struct json *json, const char *key)
{
    if (json->needs_comma)
        fputs(", ", json->stream);
    json->needs_comma = true;
    if (key != NULL) {
        quote(json->stream, key);
        fputs(": ", json->stream);
    }
}

void json_open(struct json *json, const char *key, char bracket)
{
    lead(json, key);
    fputc(bracket, json->stream);
    json->needs_comma = false;
}

void json_close(struct json *json, char bracket)
{
    fputc(bracket, json->stream);
    json->needs_comma = true;
}

void json_null(struct json *json, const char *key)
{
    lead(json, key);
    fputs("null", json->stream);
}

void json_string(struct json *json, const char *key, const char *value)
{
    if (value == NULL) {
        json_null(json, key);
        return;
    }
    lead(json, key);
    quote(json->stream, value);
}

/* The shortest text that reads back as the same double. */
void json_number(struct json *json, const char *key, double value)
{
    char text[32];

    if (!isfinite(value)) {
        json_null(json, key);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    lead(json, key);
    fputs(text, json->stream);
}

void json_count(struct json *json, const char *key, uint64_t value)
{
    lead(json, key);
    fprintf(json->stream, "%" PRIu64, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
    lead(json, key);
    fputs(value ? "true" : "false", json->stream);
}
