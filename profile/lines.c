/* SPDX-License-Identifier: MIT */
#include "profile/lines.h"

#include <string.h>

static void take(struct takt_lines *lines, int c)
{
    if (lines->length == sizeof lines->text - 1) {
        if (!lines->keeps_end)
            return;
        const size_t half = sizeof lines->text / 2;
        lines->length -= half;
        memmove(lines->text, lines->text + half, lines->length);
    }
    lines->text[lines->length++] = (char)(c == 0 ? ' ' : c);
}

bool takt__lines_next(struct takt_lines *lines)
{
    int c = getc_unlocked(lines->file);

    lines->length = 0;
    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n'; c = getc_unlocked(lines->file))
        take(lines, c);
    if (lines->length > 0 && lines->text[lines->length - 1] == '\r')
        lines->length--;
    lines->text[lines->length] = '\0';
    return true;
}
