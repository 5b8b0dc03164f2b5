/* SPDX-License-Identifier: MIT */
/*
 * place.c - columns and snippets.
 */
#include "place.h"

#include <string.h>

size_t takt__utf8_size(const char *text, size_t size)
{
    static const unsigned char least_second[5] = {0x80, 0x80, 0x80, 0xA0, 0x90};
    const unsigned char *byte = (const unsigned char *)text;
    size_t wanted;

    if (byte[0] < 0x80)
        return 1;
    if (byte[0] < 0xC2 || byte[0] > 0xF4)
        return 0;
    wanted = byte[0] < 0xE0 ? 2 : byte[0] < 0xF0 ? 3 : 4;
    if (size < wanted)
        return 0;
    for (size_t i = 1; i < wanted; i++)
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
    /* Neither longer than needed, nor a surrogate, nor beyond the last. */
    if ((byte[0] == 0xE0 || byte[0] == 0xF0) && byte[1] < least_second[wanted])
        return 0;
    if ((byte[0] == 0xED && byte[1] > 0x9F) ||
        (byte[0] == 0xF4 && byte[1] > 0x8F))
        return 0;
    return wanted;
}

bool takt__is_utf8(const char *text, size_t size)
{
    size_t i = 0;

    while (i < size) {
        uint64_t eight;

        if (i + 8 <= size) {
            memcpy(&eight, text + i, 8);
            if ((eight & 0x8080808080808080u) == 0) {
                i += 8;
                continue;
            }
        }
        const size_t step = takt__utf8_size(text + i, size - i);
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}

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
        const size_t size = takt__utf8_size(at, (size_t)(end - at));
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
