/* SPDX-License-Identifier: MIT */
/* clean.c - escapes for what a terminal should not get from others. */
#include "clean.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/utf8.h"

enum { longest_escape = 10 }; /* "\U000e0001" */

/* Writes the first character of `text`, and a NUL; returns how many bytes of
 * `text` that was. */
static size_t take_one(const char *text, char out[longest_escape + 1])
{
    uint32_t character;
    const size_t length = takt__utf8_read(text, &character);

    if (length == 0)
        snprintf(out, longest_escape + 1, "\\x%02x", (unsigned char)text[0]);
    else if (character == '\t')
        strcpy(out, " ");
    else if (character == '\n')
        strcpy(out, "\\n");
    else if (!takt__is_unsafe(character))
        snprintf(out, longest_escape + 1, "%.*s", (int)length, text);
    else
        snprintf(out, longest_escape + 1,
                 character < 0x100     ? "\\x%02x"
                 : character < 0x10000 ? "\\u%04x"
                                       : "\\U%08x",
                 (unsigned)character);
    return length == 0 ? 1 : length;
}

bool wants_colour(FILE *stream)
{
    const char *no = getenv("NO_COLOR");
    return isatty(fileno(stream)) == 1 && (no == NULL || no[0] == '\0');
}

const char *clean_text(const char *text, char *out, size_t size)
{
    char one[longest_escape + 1];
    size_t used = 0;

    while (*text != '\0') {
        text += take_one(text, one);
        const size_t length = strlen(one);
        if (used + length >= size)
            break;
        memcpy(out + used, one, length);
        used += length;
    }
    out[used] = '\0';
    return out;
}

void print_clean(FILE *stream, const char *text)
{
    char one[longest_escape + 1];

    while (*text != '\0') {
        text += take_one(text, one);
        fputs(one, stream);
    }
}

void print_clean_lines(FILE *stream, const char *text)
{
    char one[longest_escape + 1];

    while (*text != '\0') {
        const bool is_end = *text == '\n';
        text += take_one(text, one);
        fputs(is_end ? "\n" : one, stream);
    }
}

void print_line(FILE *stream, const char *format, ...)
{
    char line[8192];
    va_list values;

    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    print_clean(stream, line);
    fputc('\n', stream);
}
