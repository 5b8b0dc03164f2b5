/* SPDX-License-Identifier: MIT */
/* json.c - a JSON writer without a tree. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "text/json.h"

struct json json_begin(FILE *stream)
{
    return (struct json){.stream = stream};
}

void json_end(struct json *json)
{
    fputc('\n', json->stream);
}

static void quote(FILE *stream, const char *text)
{
    takt__json_quote(stream, text, "\\ufffd");
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
