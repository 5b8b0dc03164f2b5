/* SPDX-License-Identifier: MIT */
/*
 * json.h - writing one JSON value to a stream, piece by piece.
 *
 * Commas and quoting are taken care of, whatever bytes a string has; NULL
 * strings and numbers that JSON does not have (NaN, infinities) become null.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include <takt/op.h>

struct json {
    FILE *stream;
    bool needs_comma; /* something stands before, at this level */
};

struct json json_begin(FILE *stream);

/* `key` is NULL inside an array and at the top. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, double value);
void json_count(struct json *json, const char *key, uint64_t value);

/* A value that is JSON already. */
void json_raw(struct json *json, const char *key, const char *text,
              size_t length);

/* Several of these at once, by a format whose arguments the compiler checks:
 *
 *     json_print(&json, "{op:%s rows:%zu mean:%g [%u %u] none:null}\n", ...);
 *
 * A key ends with a colon; blanks separate; brackets open and close; "\n" ends
 * the line. %s is a string, %g a number, %d a bool, %p a shape; %u, %zu and %ju
 * (uint64_t) are counts, of which a %zu of SIZE_MAX is null; a word that is not
 * a key is written as it is. */
void json_print(struct json *json, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Values that may be absent: null if the text is empty, if the number is less
 * than 0, or if it is not above 0. */
const char *known_text(const char *text);

static inline double known_number(double value)
{
    return value >= 0 ? value : (double)NAN;
}

static inline double positive_number(double value)
{
    return value > 0 ? value : (double)NAN;
}
