/* SPDX-License-Identifier: MIT */
#include "profile/json_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE_AHEAD = EOF - 1 };

struct takt_json_stream takt__json_stream(FILE *file)
{
    return (struct takt_json_stream){
        .file = file, .ahead = NONE_AHEAD, .wants_value = true};
}

static int peek(struct takt_json_stream *json)
{
    if (json->ahead == NONE_AHEAD)
        json->ahead = getc_unlocked(json->file);
    return json->ahead;
}

static int take(struct takt_json_stream *json)
{
    const int c = peek(json);

    json->ahead = NONE_AHEAD;
    json->offset += c != EOF;
    return c;
}

static enum takt_json_token fail(struct takt_json_stream *json,
                                 const char *wrong)
{
    if (json->wrong == NULL)
        json->wrong = wrong;
    return TAKT_TOKEN_ERROR;
}

static int skip_blanks(struct takt_json_stream *json)
{
    int c = peek(json);

    while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        take(json);
        c = peek(json);
    }
    return c;
}

/* ---- strings ---- */

static void put(struct takt_json_stream *json, size_t *length, int c)
{
    if (*length + 1 < sizeof json->text)
        json->text[(*length)++] = (char)c;
}

/* Four hex digits; -1: they are none. */
static long take_hex(struct takt_json_stream *json)
{
    long value = 0;

    for (int i = 0; i < 4; i++) {
        const int c = take(json);
        const int low = c | 32;
        if (c >= '0' && c <= '9')
            value = value * 16 + c - '0';
        else if (low >= 'a' && low <= 'f')
            value = value * 16 + low - 'a' + 10;
        else
            return -1;
    }
    return value;
}

/* As UTF-8; half of a pair is a question mark, which no name needs. */
static bool take_unicode(struct takt_json_stream *json, size_t *length)
{
    const long value = take_hex(json);

    if (value < 0)
        return false;
    if (value == 0 || (value >= 0xD800 && value < 0xE000)) {
        put(json, length, '?');
    } else if (value < 0x80) {
        put(json, length, (int)value);
    } else if (value < 0x800) {
        put(json, length, (int)(0xC0 | value >> 6));
        put(json, length, (int)(0x80 | (value & 63)));
    } else {
        put(json, length, (int)(0xE0 | value >> 12));
        put(json, length, (int)(0x80 | (value >> 6 & 63)));
        put(json, length, (int)(0x80 | (value & 63)));
    }
    return true;
}

static bool take_escape(struct takt_json_stream *json, size_t *length)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const int c = take(json);

    if (c == 'u')
        return take_unicode(json, length);
    const char *at = c > 0 ? strchr(from, c) : NULL;
    if (at == NULL)
        return false;
    put(json, length, to[at - from]);
    return true;
}

/* Behind the first quote. */
static bool take_string(struct takt_json_stream *json)
{
    size_t length = 0;

    for (;;) {
        const int c = take(json);
        if (c == '"')
            break;
        if (c == EOF || (c >= 0 && c < 32) ||
            (c == '\\' && !take_escape(json, &length)))
            return false;
        if (c != '\\')
            put(json, &length, c);
    }
    json->text[length] = '\0';
    return true;
}

/* ---- values ---- */

static enum takt_json_token take_word(struct takt_json_stream *json)
{
    static const char *const words[] = {"true", "false", "null"};
    size_t length = 0;

    for (int c = peek(json); c >= 'a' && c <= 'z' && length < 8; c = peek(json))
        json->text[length++] = (char)take(json);
    json->text[length] = '\0';
    for (int i = 0; i < 3; i++)
        if (strcmp(json->text, words[i]) == 0)
            return TAKT_TOKEN_WORD;
    return fail(json, "a value is missing");
}

static enum takt_json_token take_number(struct takt_json_stream *json)
{
    char digits[64], *end;
    size_t length = 0;

    for (int c = peek(json); c > 0 && strchr("+-.0123456789eE", c) != NULL;
         c = peek(json)) {
        if (length < sizeof digits - 1)
            digits[length++] = (char)c;
        take(json);
    }
    digits[length] = '\0';
    json->number = strtod(digits, &end);
    if (*end != '\0' || length == 0 || !isfinite(json->number))
        return fail(json, "a number is wrong");
    return TAKT_TOKEN_NUMBER;
}

static enum takt_json_token open_value(struct takt_json_stream *json,
                                       bool is_object)
{
    take(json);
    if (json->depth == TAKT_STREAM_DEPTH)
        return fail(json, "it is nested too deeply");
    json->is_object[json->depth++] = is_object;
    json->wants_comma = false;
    json->wants_value = !is_object;
    return is_object ? TAKT_TOKEN_OBJECT : TAKT_TOKEN_ARRAY;
}

static enum takt_json_token take_value(struct takt_json_stream *json, int c)
{
    enum takt_json_token token;

    if (c == '{' || c == '[')
        return open_value(json, c == '{');
    json->wants_comma = true;
    json->wants_value = false;
    if (c == '"') {
        take(json);
        token = take_string(json) ? TAKT_TOKEN_STRING
                                  : fail(json, "a string is wrong");
    } else if (c == '-' || (c >= '0' && c <= '9')) {
        token = take_number(json);
    } else {
        token = take_word(json);
    }
    return token;
}

static enum takt_json_token close_value(struct takt_json_stream *json, int c)
{
    if (json->is_object[json->depth - 1] != (c == '}') ||
        (json->is_object[json->depth - 1] && json->wants_value))
        return fail(json, "a bracket does not fit");
    take(json);
    json->depth--;
    json->wants_comma = true;
    json->wants_value = false;
    return TAKT_TOKEN_CLOSE;
}

static enum takt_json_token take_name(struct takt_json_stream *json)
{
    if (take(json) != '"' || !take_string(json) || skip_blanks(json) != ':')
        return fail(json, "a name is missing");
    take(json);
    json->wants_value = true;
    return TAKT_TOKEN_NAME;
}

enum takt_json_token takt__json_next(struct takt_json_stream *json)
{
    int c = skip_blanks(json);

    if (json->wrong != NULL)
        return TAKT_TOKEN_ERROR;
    if (json->depth == 0 && !json->wants_value)
        return c == EOF ? TAKT_TOKEN_END
                        : fail(json, "something follows the value");
    if (c == EOF)
        return fail(json, "it ends too early");
    if (json->depth > 0 && (c == '}' || c == ']'))
        return close_value(json, c);
    if (json->wants_comma) {
        if (c != ',')
            return fail(json, "a comma is missing");
        take(json);
        c = skip_blanks(json);
        json->wants_comma = false;
        json->wants_value = !json->is_object[json->depth - 1];
    }
    return json->wants_value ? take_value(json, c) : take_name(json);
}

bool takt__json_skip(struct takt_json_stream *json, enum takt_json_token token)
{
    const unsigned depth = json->depth;

    if (token == TAKT_TOKEN_ERROR)
        return false;
    if (token != TAKT_TOKEN_OBJECT && token != TAKT_TOKEN_ARRAY)
        return true;
    while (json->depth >= depth)
        if (takt__json_next(json) == TAKT_TOKEN_ERROR)
            return false;
    return true;
}

bool takt__json_next_member(struct takt_json_stream *json)
{
    return takt__json_next(json) == TAKT_TOKEN_NAME;
}

bool takt__json_next_object(struct takt_json_stream *json,
                            struct takt_json_walk *walk)
{
    if (walk->status != TAKT_OK)
        return false;
    enum takt_json_token token = takt__json_next(json);
    if (!walk->has_begun && token != TAKT_TOKEN_ARRAY) {
        walk->status = takt__json_skip(json, token) ? TAKT_OK : TAKT_ECORRUPT;
        return false;
    }
    if (!walk->has_begun)
        token = takt__json_next(json);
    walk->has_begun = true;
    if (token != TAKT_TOKEN_OBJECT && token != TAKT_TOKEN_CLOSE)
        walk->status = TAKT_ECORRUPT;
    return token == TAKT_TOKEN_OBJECT;
}
