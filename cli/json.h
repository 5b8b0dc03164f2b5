/* SPDX-License-Identifier: MIT */
/*
 * json.h - writing one JSON value to a stream, piece by piece.
 *
 * Commas and quoting are taken care of, whatever bytes a string has; NULL
 * strings and numbers that JSON does not have (NaN, infinities) become null.
 */
#ifndef TAKT_CLI_JSON_H
#define TAKT_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *stream;
    bool needs_comma; /* something stands before, at this level */
};

struct json json_begin(FILE *stream);
void json_end(struct json *json); /* ends the line */

/* `key` is NULL inside an array and at the top. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, double value);
void json_count(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
