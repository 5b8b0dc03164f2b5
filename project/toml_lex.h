/* SPDX-License-Identifier: MIT */
/*
 * toml_lex.h - the words of TOML: white space, keys, strings, numbers, dates.
 *
 * Each reader begins at lexer->at and leaves it behind what it has read. The
 * first that fails writes down where and why; nothing is read after that.
 */
#pragma once

#include "project/toml.h"
#include "text/region.h"

/* Where the parts of a tree are. */
struct takt_toml {
    struct takt_toml_value root;
    struct takt_region region;      /* for all values and strings */
    struct takt_toml_value **index; /* of keyed values; NULL: a free slot */
    size_t index_size, keyed;       /* size: 0 or a power of two */
};

struct takt_toml_lexer {
    const char *text;
    size_t length, at;
    struct takt_toml *toml;
    takt_status status; /* of what failed */
    size_t failed_at;
    char why[200];
};

/* Record a failure. Always false, so that it can be returned. */
bool takt__toml_fail(struct takt_toml_lexer *lexer, size_t at, const char *why);
bool takt__toml_no_memory(struct takt_toml_lexer *lexer);

/* The next byte, or '\0' at the end of the text: no NUL is in it. */
char takt__toml_peek(const struct takt_toml_lexer *lexer);

/* Whether `c` is next; then it is read. */
bool takt__toml_skip(struct takt_toml_lexer *lexer, char c);

/* Spaces and tabs. */
void takt__toml_skip_blanks(struct takt_toml_lexer *lexer);

/* These, comments and ends of lines. */
void takt__toml_skip_lines(struct takt_toml_lexer *lexer);

/* What may follow something on its line: blanks, a comment. Then the end of the
 * line, or of the text. */
bool takt__toml_end_line(struct takt_toml_lexer *lexer);

/* Whether the text is UTF-8 and has none of the characters that may be nowhere;
 * behind this a '\r' stands only before a '\n'. */
bool takt__toml_check_text(struct takt_toml_lexer *lexer);

struct takt_toml_part {
    const char *key;
    size_t key_length;
    struct takt_toml_span name;
};

enum { TAKT_TOML_MOST_PARTS = 80, TAKT_TOML_DEEPEST = 80 };

/* a."b".c; *count is at least 1. */
bool takt__toml_read_key(struct takt_toml_lexer *lexer,
                         struct takt_toml_part *part, size_t *count);

/* A string in any of its four forms. */
bool takt__toml_read_string(struct takt_toml_lexer *lexer, bool is_key,
                            const char **string, size_t *string_length);

/* true, false, a number, or a date or time. */
bool takt__toml_read_scalar(struct takt_toml_lexer *lexer,
                            struct takt_toml_value *value);
