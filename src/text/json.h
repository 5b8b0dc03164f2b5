/* SPDX-License-Identifier: MIT */
/*
 * json.h - JSON that is read strictly, changed in part, and written again.
 *
 * What is not changed is written as it was read, but for the white space:
 * numbers and strings keep their spelling, members their order. For files that
 * other programs share with us.
 *
 * Threads: a document belongs to one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "text/region.h"

enum takt_json_kind {
    TAKT_JSON_NULL,
    TAKT_JSON_BOOL,
    TAKT_JSON_NUMBER,
    TAKT_JSON_STRING,
    TAKT_JSON_ARRAY,
    TAKT_JSON_OBJECT
};

struct takt_json_node {
    enum takt_json_kind kind;
    const char *name; /* of a member, decoded; NULL: it is none */
    const char *text; /* of a string, decoded; of a number, as written */
    const char *raw;  /* name and value as they are written: "a\u0062" */
    const char *raw_name;
    struct takt_json_node *first, *last, *next;
};

struct takt_json_document {
    struct takt_json_node *root; /* NULL: it was not JSON */
    struct takt_region region;   /* for all nodes and texts */
};

struct takt_json_trouble {
    size_t line, column; /* from 1; columns count bytes */
    const char *what;    /* "a value is missing", ...; NULL: no memory */
};

/* RFC 8259, and no more: UTF-8, no comments, nothing after the value; at most
 * 64 levels, and no \u0000. False: `trouble` says where and what. */
bool takt__json_read(const char *text, size_t size,
                     struct takt_json_document *out,
                     struct takt_json_trouble *trouble);
void takt__json_free(struct takt_json_document *document);

/* The member of that name; NULL: there is none, or it is no object. */
struct takt_json_node *takt__json_member(const struct takt_json_node *object,
                                         const char *name);

/* Whether no two members of an object have the same name. */
bool takt__json_has_unique(const struct takt_json_node *object,
                           const char *name);

/* Set a member to a string, to null (NULL), or to a value that is written as
 * `raw`; a member that is not there is added at the end. NULL: no memory. */
struct takt_json_node *takt__json_set(struct takt_json_document *document,
                                      struct takt_json_node *object,
                                      const char *name, const char *string);
struct takt_json_node *takt__json_set_raw(struct takt_json_document *document,
                                          struct takt_json_node *object,
                                          const char *name,
                                          enum takt_json_kind kind,
                                          const char *raw);

/* A node after the last one of its parent (NULL: the root). NULL: no memory. */
struct takt_json_node *takt__json_add(struct takt_json_document *document,
                                      struct takt_json_node *parent);

/* A string in quotes. Characters that a terminal should not get are escaped,
 * which a reader of JSON does not notice; each byte that is not UTF-8 becomes
 * `instead`. */
void takt__json_quote(FILE *stream, const char *text, const char *instead);

/* Indented by two blanks, with a line break at the end. */
void takt__json_write(FILE *stream, const struct takt_json_node *root);
