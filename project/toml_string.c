/* SPDX-License-Identifier: MIT */
/*
 * toml_string.c - strings: first where they end, then what they say, which is
 * never longer than how it is written.
 */
#include "project/toml_lex.h"

#include <string.h>

#include "text/digit.h"
#include "text/utf8.h"

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
