/* SPDX-License-Identifier: MIT */
/*
 * json_stream.h - JSON token by token, from a file of any size, in memory of a
 * fixed size: strings that are longer than the room for them are cut.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <takt/status.h>

enum takt_json_token {
    TAKT_TOKEN_END, /* of the file, after a whole value */
    TAKT_TOKEN_ERROR,
    TAKT_TOKEN_OBJECT, /* { */
    TAKT_TOKEN_ARRAY,  /* [ */
    TAKT_TOKEN_CLOSE,  /* } or ] */
    TAKT_TOKEN_NAME,   /* of a member: text */
    TAKT_TOKEN_STRING, /* text */
    TAKT_TOKEN_NUMBER, /* number */
    TAKT_TOKEN_WORD    /* true, false, null: text */
};

enum { TAKT_STREAM_DEPTH = 64, TAKT_STREAM_TEXT = 4096 };

struct takt_json_stream {
    FILE *file;
    uint64_t offset; /* of the next byte, from 0 */
    int ahead;       /* a byte that was read; EOF - 1: none */
    unsigned depth;
    bool is_object[TAKT_STREAM_DEPTH];
    bool wants_comma, wants_value;
    char text[TAKT_STREAM_TEXT];
    double number;
    const char *wrong; /* after TAKT_TOKEN_ERROR */
};

struct takt_json_stream takt__json_stream(FILE *file);

/* The next token. After an error it stays one. */
enum takt_json_token takt__json_next(struct takt_json_stream *json);

/* Passes over a value whose first token was `token`. False: an error. */
bool takt__json_skip(struct takt_json_stream *json, enum takt_json_token token);

/* The next member of an object: its name is json->text until the next token.
 * False: there is none left, or an error. */
bool takt__json_next_member(struct takt_json_stream *json);

/* The objects of an array, which is the next value; another value is skipped:
 *
 *     struct takt_json_walk walk = {0};
 *     while (takt__json_next_object(json, &walk))
 *         walk.status = ...; // reads the object, or ends the walk
 *     return walk.status;
 */
struct takt_json_walk {
    bool has_begun;
    takt_status status; /* TAKT_ECORRUPT: it is no such array */
};

bool takt__json_next_object(struct takt_json_stream *json,
                            struct takt_json_walk *walk);
