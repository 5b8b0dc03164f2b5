/* SPDX-License-Identifier: MIT */
/*
 * place.c - columns and snippets.
 */
#include "place.h"

#include <string.h>

#include "text/utf8.h"

unsigned takt__ruler_column(struct takt_ruler *ruler, size_t line_start,
                            size_t at)
{
    const bool has_mark =
        line_start == 0 && ruler->size >= 3 &&
        memcmp(ruler->text, "\xEF\xBB\xBF", 3) == 0; /* is no character */

    if (ruler->column == 0 || ruler->line_start != line_start ||
        ruler->at > at) {
        ruler->line_start = line_start;
        ruler->at = line_start + (has_mark ? 3 : 0);
        ruler->column = 1;
    }
    for (; ruler->at < at && ruler->at < ruler->size; ruler->at++) {
        const unsigned char byte = (unsigned char)ruler->text[ruler->at];
        ruler->column += (byte & 0xC0) != 0x80; /* begins a character ... */
        ruler->column += byte >= 0xF0;          /* ... that takes two units */
    }
    return ruler->column;
}

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7F;
}

void takt__snippet(struct takt_text text, char out[TAKT_SNIPPET])
{
    const char *newline = memchr(text.at, '\n', text.size);
    const char *end = newline != NULL ? newline : text.at + text.size;
    const char *at = text.at;
    size_t used = 0;

    while (at < end && is_blank(*at))
        at++;
    while (end > at && is_blank(end[-1]))
        end--;
    while (at < end) {
        const size_t size = takt__utf8_length(at, (size_t)(end - at));
        if (used + (size > 0 ? size : 1) >= TAKT_SNIPPET)
            break;
        if (size <= 1)
            out[used++] = size == 0 ? '?' : is_blank(*at) ? ' ' : *at;
        else
            memcpy(out + used, at, size), used += size;
        at += size > 0 ? size : 1;
    }
    out[used] = 0;
}
