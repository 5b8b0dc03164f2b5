/* SPDX-License-Identifier: MIT */
/* digit.h - the value of a digit, whatever the locale. */
#pragma once

/* Of 0-9, a-f and A-F; 16: it is none of these. */
static inline unsigned takt__digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}
