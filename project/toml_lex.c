/* SPDX-License-Identifier: MIT */
/*
 * toml_lex.c - white space, keys and strings; toml_scalar.c has the other
 * words.
 *
 * Of a string, first where it ends is found, then what it says, which is never
 * longer than how it is written.
 */
#include "project/toml_lex.h"

#include <stdio.h>
#include <string.h>

#include "text/digit.h"
#include "text/utf8.h"

bool takt__toml_fail(struct takt_toml_lexer *lexer, size_t at, const char *why)
{
    lexer->status = TAKT_ECORRUPT;
    lexer->failed_at = at;
    snprintf(lexer->why, sizeof lexer->why, "%s", why);
    return false;
}

bool takt__toml_no_memory(struct takt_toml_lexer *lexer)
{
    lexer->status = TAKT_ENOMEM;
    return false;
}

char takt__toml_peek(const struct takt_toml_lexer *lexer)
{
    return lexer->at < lexer->length ? lexer->text[lexer->at] : '\0';
}

bool takt__toml_skip(struct takt_toml_lexer *lexer, char c)
{
    if (lexer->at >= lexer->length || lexer->text[lexer->at] != c)
        return false;
    lexer->at++;
    return true;
}

void takt__toml_skip_blanks(struct takt_toml_lexer *lexer)
{
    while (takt__toml_skip(lexer, ' ') || takt__toml_skip(lexer, '\t'))
        ;
}

static void skip_comment(struct takt_toml_lexer *lexer)
{
    if (takt__toml_peek(lexer) != '#')
        return;
    while (lexer->at < lexer->length && lexer->text[lexer->at] != '\n')
        lexer->at++;
    if (lexer->text[lexer->at - 1] == '\r')
        lexer->at--;
}

static bool skip_newline(struct takt_toml_lexer *lexer)
{
    takt__toml_skip(lexer, '\r');
    return takt__toml_skip(lexer, '\n');
}

void takt__toml_skip_lines(struct takt_toml_lexer *lexer)
{
    do {
        takt__toml_skip_blanks(lexer);
        skip_comment(lexer);
    } while (skip_newline(lexer));
}

bool takt__toml_end_line(struct takt_toml_lexer *lexer)
{
    takt__toml_skip_blanks(lexer);
    skip_comment(lexer);
    if (lexer->at == lexer->length || skip_newline(lexer))
        return true;
    return takt__toml_fail(lexer, lexer->at,
                           "the line should end here, or a comment begin");
}

bool takt__toml_check_text(struct takt_toml_lexer *lexer)
{
    for (size_t at = 0, length; at < lexer->length; at += length) {
        const char c = lexer->text[at];
        const bool is_newline =
            c == '\r' && at + 1 < lexer->length && lexer->text[at + 1] == '\n';

        length = takt__utf8_length(lexer->text + at, lexer->length - at);
        if (length == 0)
            return takt__toml_fail(lexer, at, "this is not UTF-8");
        if (length == 1 && (c < ' ' || c == 0x7F) && c != '\t' && c != '\n' &&
            !is_newline)
            return takt__toml_fail(lexer, at, "a control character");
    }
    return true;
}

/* ---- strings ---- */

struct quotes {
    char mark;         /* '"', where '\\' has a meaning, or '\'' */
    bool is_multiline; /* three of them */
};

/* Behind the opening marks: where the closing ones begin. */
static bool find_end(struct takt_toml_lexer *lexer, struct quotes quotes,
                     size_t *end)
{
    const char *text = lexer->text;
    size_t at = lexer->at;

    for (; at < lexer->length; at++) {
        if (text[at] == '\n' && !quotes.is_multiline)
            break;
        if (text[at] == '\\' && quotes.mark == '"' && at + 1 < lexer->length &&
            text[at + 1] != '\n') {
            at++;
            continue;
        }
        if (text[at] != quotes.mark)
            continue;
        if (quotes.is_multiline &&
            (lexer->length - at < 3 || text[at + 1] != quotes.mark ||
             text[at + 2] != quotes.mark))
            continue;
        /* Up to two marks may stand right before the closing three. */
        for (int i = 0; quotes.is_multiline && i < 2; i++)
            at += at + 3 < lexer->length && text[at + 3] == quotes.mark;
        *end = at;
        return true;
    }
    return takt__toml_fail(lexer, lexer->at - 1, "this string does not end");
}

/* The character that `digits` hexadecimal digits name. */
static bool read_hex(struct takt_toml_lexer *lexer, int digits, uint32_t *c)
{
    const size_t from = lexer->at;

    *c = 0;
    for (int i = 0; i < digits; i++, lexer->at++) {
        const unsigned digit = takt__digit(takt__toml_peek(lexer));
        if (digit > 15)
            return takt__toml_fail(lexer, lexer->at,
                                   "a hexadecimal digit should be here");
        *c = *c << 4 | digit;
    }
    if (*c > 0x10FFFF || (*c >= 0xD800 && *c <= 0xDFFF))
        return takt__toml_fail(lexer, from, "there is no such character");
    return true;
}

/* Behind a '\\'. */
static bool read_escape(struct takt_toml_lexer *lexer, char *out,
                        size_t *written)
{
    static const char names[] = "btnfre\"\\", means[] = "\b\t\n\f\r\x1B\"\\";
    const char c = takt__toml_peek(lexer);
    const char *found = c != '\0' ? strchr(names, c) : NULL;
    const int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    uint32_t character;

    if (found == NULL && digits == 0)
        return takt__toml_fail(lexer, lexer->at - 1, "there is no such escape");
    lexer->at++;
    if (found != NULL) {
        out[(*written)++] = means[found - names];
        return true;
    }
    if (!read_hex(lexer, digits, &character))
        return false;
    *written += takt__utf8_put(character, out + *written);
    return true;
}

/* A '\\' at the end of a line takes that and all that is blank behind it. */
static bool skip_joint(struct takt_toml_lexer *lexer, size_t end)
{
    size_t at = lexer->at;
    bool is_joint = false;

    for (; at < end && strchr(" \t\r\n", lexer->text[at]) != NULL; at++)
        is_joint |= lexer->text[at] == '\n';
    if (is_joint)
        lexer->at = at;
    return is_joint;
}

static bool decode(struct takt_toml_lexer *lexer, struct quotes quotes,
                   size_t end, char *out, size_t *written)
{
    *written = 0;
    if (quotes.is_multiline) { /* the first line may be left empty */
        if (lexer->text[lexer->at] == '\r')
            lexer->at++;
        takt__toml_skip(lexer, '\n');
    }
    while (lexer->at < end) {
        const char c = lexer->text[lexer->at++];
        if (c == '\r') /* lines end as they do here */
            continue;
        if (c != '\\' || quotes.mark != '"') {
            out[(*written)++] = c;
            continue;
        }
        if (quotes.is_multiline && skip_joint(lexer, end))
            continue;
        if (!read_escape(lexer, out, written))
            return false;
    }
    return true;
}

bool takt__toml_read_string(struct takt_toml_lexer *lexer, bool is_key,
                            const char **string, size_t *string_length)
{
    const char mark = lexer->text[lexer->at];
    struct quotes quotes = {mark, false};
    size_t end = 0;

    if (lexer->length - lexer->at >= 3 && lexer->text[lexer->at + 1] == mark &&
        lexer->text[lexer->at + 2] == mark) {
        quotes.is_multiline = true;
        if (is_key)
            return takt__toml_fail(lexer, lexer->at,
                                   "a key cannot have three quotes");
    }
    lexer->at += quotes.is_multiline ? 3 : 1;
    if (!find_end(lexer, quotes, &end))
        return false;
    char *out = takt__region_take(&lexer->toml->region, end - lexer->at + 1);
    if (out == NULL)
        return takt__toml_no_memory(lexer);
    if (!decode(lexer, quotes, end, out, string_length))
        return false;
    *string = out;
    lexer->at = end + (quotes.is_multiline ? 3 : 1);
    return true;
}

/* ---- keys ---- */

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool read_bare(struct takt_toml_lexer *lexer,
                      struct takt_toml_part *part)
{
    const size_t from = lexer->at;

    while (is_bare(takt__toml_peek(lexer)))
        lexer->at++;
    if (lexer->at == from)
        return takt__toml_fail(lexer, from, "a key should be here");
    part->key_length = lexer->at - from;
    part->key = takt__region_copy(&lexer->toml->region, lexer->text + from,
                                  part->key_length);
    return part->key != NULL || takt__toml_no_memory(lexer);
}

bool takt__toml_read_key(struct takt_toml_lexer *lexer,
                         struct takt_toml_part *part, size_t *count)
{
    *count = 0;
    do {
        takt__toml_skip_blanks(lexer);
        if (*count == TAKT_TOML_MOST_PARTS)
            return takt__toml_fail(lexer, lexer->at, "too many dots in a key");
        const size_t from = lexer->at;
        const char c = takt__toml_peek(lexer);
        const bool is_read =
            c == '"' || c == '\''
                ? takt__toml_read_string(lexer, true, &part->key,
                                         &part->key_length)
                : read_bare(lexer, part);
        if (!is_read)
            return false;
        part->name = (struct takt_toml_span){from, lexer->at};
        part++;
        ++*count;
        takt__toml_skip_blanks(lexer);
    } while (takt__toml_skip(lexer, '.'));
    return true;
}
