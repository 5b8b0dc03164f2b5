/* SPDX-License-Identifier: MIT */
/* utf8.c - RFC 3629: neither longer than needed, nor half of a pair. */
#include "project/utf8.h"

size_t takt__utf8_length(const char *text, size_t left)
{
    const unsigned char *c = (const unsigned char *)text;

    if (c[0] < 0x80)
        return 1;
    if (c[0] < 0xC2 || c[0] > 0xF4)
        return 0;
    const size_t length = c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    if (left < length)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if (c[i] >> 6 != 2)
            return 0;
    }
    /* Longer than needed, half of a pair, or beyond the last one. */
    if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) ||
        (c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F))
        return 0;
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
