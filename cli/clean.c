/* SPDX-License-Identifier: MIT */
/* clean.c - escapes for what a terminal should not get from others. */
#include "clean.h"

#include <stdarg.h>
#include <string.h>

#include "project/utf8.h"

enum { longest_escape = 10 }; /* "\U000e0001" */

/* Controls; Unicode's marks and embeddings of direction, what has no width, and
 * separators of lines; tags and selectors, which show nothing. */
static const struct {
    uint32_t first, last;
} unsafe[] = {{0x0, 0x1f},      {0x7f, 0x9f},       {0xad, 0xad},
              {0x61c, 0x61c},   {0x180e, 0x180e},   {0x200b, 0x200f},
              {0x2028, 0x202e}, {0x2060, 0x206f},   {0xfeff, 0xfeff},
              {0xfff9, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

bool is_unsafe(uint32_t character)
{
    for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++)
        if (character >= unsafe[i].first && character <= unsafe[i].last)
            return true;
    return false;
}

size_t read_character(const char *text, uint32_t *character)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const size_t length = takt__utf8_length(text, SIZE_MAX);

    *character = (unsigned char)text[0] & masks[length];
    for (size_t i = 1; i < length; i++)
        *character = *character << 6 | ((unsigned char)text[i] & 0x3f);
    return length;
}

/* Writes the first character of `text`, and a NUL; returns how many bytes of
 * `text` that was. */
static size_t take_one(const char *text, char out[longest_escape + 1])
{
    uint32_t character;
    const size_t length = read_character(text, &character);

    if (length == 0)
        snprintf(out, longest_escape + 1, "\\x%02x", (unsigned char)text[0]);
    else if (character == '\t')
        strcpy(out, " ");
    else if (character == '\n')
        strcpy(out, "\\n");
    else if (!is_unsafe(character))
        snprintf(out, longest_escape + 1, "%.*s", (int)length, text);
    else
        snprintf(out, longest_escape + 1,
                 character < 0x100     ? "\\x%02x"
                 : character < 0x10000 ? "\\u%04x"
                                       : "\\U%08x",
                 (unsigned)character);
    return length == 0 ? 1 : length;
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
