/* SPDX-License-Identifier: MIT */
/* json.c - a JSON writer without a tree. */
#include "json.h"

#include <stdarg.h>
#include <string.h>

#include "text/decimal.h"
#include "text/json.h"

struct json json_begin(FILE *stream)
{
    return (struct json){.stream = stream};
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

static void json_null(struct json *json, const char *key)
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

void json_raw(struct json *json, const char *key, const char *text,
              size_t length)
{
    lead(json, key);
    fwrite(text, 1, length, json->stream);
}

void json_number(struct json *json, const char *key, double value)
{
    char digits[TAKT_DECIMAL_ROOM];

    if (!isfinite(value)) {
        json_null(json, key);
        return;
    }
    lead(json, key);
    fwrite(digits, 1, takt__decimal_real(value, digits), json->stream);
}

void json_count(struct json *json, const char *key, uint64_t value)
{
    char digits[TAKT_DECIMAL_ROOM];

    lead(json, key);
    fwrite(digits, 1, takt__decimal_count(value, digits), json->stream);
}

static void json_shape(struct json *json, const char *key,
                       const takt_shape *shape)
{
    json_open(json, key, '[');
    for (unsigned i = 0; i < shape->rank; i++)
        json_count(json, NULL, shape->dim[i]);
    json_close(json, ']');
}

static void print_size(struct json *json, const char *key, size_t value)
{
    if (value == SIZE_MAX)
        json_null(json, key);
    else
        json_count(json, key, value);
}

/* The argument of the conversion at `at`; returns what follows it. */
static const char *print_value(struct json *json, const char *key,
                               const char *at, va_list *values)
{
    switch (*at) {
    case 's':
        json_string(json, key, va_arg(*values, const char *));
        break;
    case 'g':
        json_number(json, key, va_arg(*values, double));
        break;
    case 'd':
        lead(json, key);
        fputs(va_arg(*values, int) != 0 ? "true" : "false", json->stream);
        break;
    case 'p':
        json_shape(json, key, va_arg(*values, const void *));
        break;
    case 'u':
        json_count(json, key, va_arg(*values, unsigned));
        break;
    case 'z':
        print_size(json, key, va_arg(*values, size_t));
        at++;
        break;
    default: /* %ju */
        json_count(json, key, va_arg(*values, uintmax_t));
        at++;
    }
    return at + 1;
}

/* One token of a format: a key is kept for the value that follows it. Returns
 * what follows the token. */
static const char *print_token(struct json *json, const char *at, char key[64],
                               va_list *values)
{
    const size_t length = strcspn(at, ": ]}\n");
    const char *name = known_text(key);

    switch (*at) {
    case ' ':
        return at + 1;
    case '\n':
        fputc('\n', json->stream);
        return at + 1;
    case '}':
    case ']':
        json_close(json, *at);
        return at + 1;
    case '{':
    case '[':
        json_open(json, name, *at++);
        break;
    case '%':
        at = print_value(json, name, at + 1, values);
        break;
    default:
        if (at[length] == ':' && length < 64) {
            memcpy(key, at, length);
            key[length] = '\0';
            return at + length + 1;
        }
        lead(json, name);
        fwrite(at, 1, length, json->stream);
        at += length;
    }
    key[0] = '\0';
    return at;
}

void json_print(struct json *json, const char *format, ...)
{
    char key[64] = "";
    va_list values;

    va_start(values, format);
    while (*format != '\0')
        format = print_token(json, format, key, &values);
    va_end(values);
}

const char *known_text(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}
