/* SPDX-License-Identifier: MIT */
/*
 * toml.h - reads TOML 1.0, and what 1.1 adds to it, and notes where
 * everything is written, so that one thing can be changed and the rest left as
 * it is, byte for byte (toml_edit.h).
 *
 * A parser of our own, because the grammars for editors accept what is no TOML:
 * keys that are set twice, tables that are opened twice, the 31st of February.
 *
 * Threads: a tree may be read by many at once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <takt/status.h>
#include <takt/store.h>

enum takt_toml_kind {
    TAKT_TOML_STRING,
    TAKT_TOML_INTEGER,
    TAKT_TOML_FLOAT,
    TAKT_TOML_BOOLEAN,
    TAKT_TOML_TIME, /* a date, a time, or both */
    TAKT_TOML_ARRAY,
    TAKT_TOML_TABLE
};

/* "string", "integer", "float", "boolean", "date or time", "array", "table". */
const char *takt__toml_kind_name(enum takt_toml_kind kind);

/* How something is written. */
enum takt_toml_form {
    TAKT_TOML_VALUE,   /* after a '=', or in an array: 3, [1, 2], {a = 1} */
    TAKT_TOML_HEADER,  /* a table by [a], or an array of tables by [[a]] */
    TAKT_TOML_IMPLIED, /* the table a, by [a.b] alone */
    TAKT_TOML_DOTTED,  /* the table a, by a.b = 1 */
    TAKT_TOML_ROOT     /* the whole file */
};

struct takt_toml_span {
    size_t from, to; /* offsets in the text; `to` is not part of it */
};

/* A value, and where it is written. Of a table that is written in several
 * parts, these are the positions of the first. */
struct takt_toml_value {
    enum takt_toml_kind kind;
    enum takt_toml_form form;
    const char *key; /* without quotes and escapes, and ended by a NUL, but it
                        may hold others; NULL: an element, or the root */
    size_t key_length;
    struct takt_toml_span name; /* its key as it is written, the last part */
    struct takt_toml_span text; /* a value as it is written; of a HEADER, from
                                   '[' to ']'; of a DOTTED table, all that is
                                   written before the next part: "a." */
    size_t statement_from;      /* where its key begins, with all parts */
    size_t end; /* of a table: of the last value in it; if there is none, that
                   of its header, or behind its '{' */

    int64_t integer;
    bool truth;
    const char *string; /* ended by a NUL, but it may hold others */
    size_t string_length;

    struct takt_toml_value *parent, *next; /* next: in the order of the file */
    struct takt_toml_value *first, *last;  /* what it holds */
};

/* Lines and columns count from 1; columns are characters. */
struct takt_toml_error {
    size_t line, column;
    char why[200];
};

struct takt_toml;

/* TAKT_ECORRUPT: it is not TOML; *error says where, and why.
 * TAKT_ENOMEM. On failure *out is NULL. The text is needed no more. */
takt_status takt__toml_parse(const char *text, size_t length,
                             struct takt_toml **out,
                             struct takt_toml_error *error);

/* Writes "file:line:column: why" for a text that is not TOML, and that there is
 * no memory where that was it. Returns `status`. */
takt_status takt__toml_say(takt_diag *diag, takt_status status,
                           const char *file,
                           const struct takt_toml_error *error);

void takt__toml_destroy(struct takt_toml *toml); /* NULL is allowed */

/* Borrowed until the tree is destroyed, as is everything in it. */
const struct takt_toml_value *takt__toml_root(const struct takt_toml *toml);

/* NULL: `table` is NULL or no table, or has no such key. */
const struct takt_toml_value *
takt__toml_get(const struct takt_toml_value *table, const char *key);

/* Fills in line and column of an offset. */
void takt__toml_locate(const char *text, size_t offset,
                       struct takt_toml_error *error);
