/* SPDX-License-Identifier: MIT */
/* toml_lex.c - white space and keys; toml_string.c and toml_scalar.c have the
 * other words. */
#include "project/toml_lex.h"

#include <stdio.h>
#include <string.h>

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
