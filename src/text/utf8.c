/* SPDX-License-Identifier: MIT */
/* utf8.c - one decoder for the library, the tool, the scanner and projects. */
#include "text/utf8.h"

#include <string.h>

size_t takt__utf8_take(const char *text, size_t left, bool *is_whole)
{
    const unsigned char *byte = (const unsigned char *)text;
    const unsigned char lead = byte[0];
    /* What the second byte may be: no overlong form, no surrogate, nothing
     * above U+10FFFF. */
    unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    size_t length = 1;

    *is_whole = lead < 0x80;
    if (lead < 0xC2 || lead > 0xF4)
        return 1;
    const size_t whole = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    while (length < whole && length < left && byte[length] >= low &&
           byte[length] <= high) {
        length++;
        low = 0x80;
        high = 0xBF;
    }
    *is_whole = length == whole;
    return length;
}

size_t takt__utf8_length(const char *text, size_t left)
{
    bool is_whole;
    const size_t length = takt__utf8_take(text, left, &is_whole);

    return is_whole ? length : 0;
}

size_t takt__utf8_read(const char *text, uint32_t *character)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const size_t length = takt__utf8_length(text, SIZE_MAX);

    *character = (unsigned char)text[0] & masks[length];
    for (size_t i = 1; i < length; i++)
        *character = *character << 6 | ((unsigned char)text[i] & 0x3f);
    return length;
}

size_t takt__utf8_put(uint32_t character, char *out)
{
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    const size_t length = character < 0x80      ? 1
                          : character < 0x800   ? 2
                          : character < 0x10000 ? 3
                                                : 4;

    for (size_t i = length - 1; i > 0; i--, character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3F));
    out[0] = (char)(lead[length] | character);
    return length;
}

bool takt__is_utf8(const char *text, size_t size)
{
    for (size_t i = 0, step; i < size; i += step) {
        uint64_t eight = UINT64_MAX;

        if (i + 8 <= size)
            memcpy(&eight, text + i, 8);
        step = (eight & 0x8080808080808080u) == 0
                   ? 8
                   : takt__utf8_length(text + i, size - i);
        if (step == 0)
            return false;
    }
    return true;
}

bool takt__is_unsafe(uint32_t character)
{
    /* Controls; marks and embeddings of direction; separators of lines; and
     * what Unicode has shown as nothing (Default_Ignorable_Code_Point): fillers
     * that pass as letters, characters without a width, tags and selectors. */
    static const struct {
        uint32_t first, last;
    } unsafe[] = {{0x0, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},
                  {0x34f, 0x34f},    {0x61c, 0x61c},     {0x115f, 0x1160},
                  {0x17b4, 0x17b5},  {0x180b, 0x180f},   {0x200b, 0x200f},
                  {0x2028, 0x202e},  {0x2060, 0x206f},   {0x3164, 0x3164},
                  {0xfe00, 0xfe0f},  {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
                  {0xfff0, 0xfffb},  {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
                  {0xe0000, 0xe0fff}};

    for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++)
        if (character >= unsafe[i].first && character <= unsafe[i].last)
            return true;
    return false;
}
