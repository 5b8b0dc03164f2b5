/* SPDX-License-Identifier: MIT */
/* text.c - picking numbers and words out of what the kernel prints. */
#include "hw/text.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *text)
{
    while (is_blank(*text))
        text++;
    return text;
}

char *takt__text_cut(char **cursor, char end)
{
    char *piece = *cursor;
    if (*piece == '\0')
        return NULL;

    char *stop = strchr(piece, end);
    if (stop == NULL) {
        *cursor = piece + strlen(piece);
    } else {
        *stop = '\0';
        *cursor = stop + 1;
    }
    return piece;
}

const char *takt__text_value(const char *line, const char *key)
{
    const size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return NULL;
    const char *colon = skip_blanks(line + length);
    return *colon == ':' ? skip_blanks(colon + 1) : NULL;
}

/* 16 for what is no digit in any base here. */
static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

bool takt__text_number(const char **cursor, unsigned base, uint64_t *out)
{
    const char *at = skip_blanks(*cursor);
    uint64_t number = 0;

    if (base == 16 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        at += 2;
    const char *first = at;
    for (; digit_of(*at) < base; at++) {
        const unsigned digit = digit_of(*at);
        if (number > (UINT64_MAX - digit) / base)
            return false;
        number = number * base + digit;
    }
    if (at == first)
        return false;
    *out = number;
    *cursor = at;
    return true;
}

bool takt__text_has_word(const char *words, const char *word, char separator)
{
    const size_t length = strlen(word);

    for (const char *at = words; at != NULL; at = strchr(at, separator)) {
        at += *at == separator;
        if (strncmp(at, word, length) == 0 &&
            (at[length] == separator || at[length] == '\0'))
            return true;
    }
    return false;
}

void takt__text_tidy(const char *text, char *out, size_t cap)
{
    size_t length = 0;
    bool is_gap = false;

    for (; *text != '\0' && length + 1 < cap; text++) {
        if (*text <= ' ' || *text > '~') {
            is_gap = length > 0;
            continue;
        }
        if (is_gap && length + 2 < cap)
            out[length++] = ' ';
        is_gap = false;
        out[length++] = *text;
    }
    out[length] = '\0';
}
