/* SPDX-License-Identifier: MIT */
/* utf8.h - characters in the bytes of others. */
#ifndef TAKT_PROJECT_UTF8_H
#define TAKT_PROJECT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* How many bytes the first character of `text` has, of which `left`, at least
 * one, may be looked at (of a text that a NUL ends, SIZE_MAX); 0: it is not
 * UTF-8. */
size_t takt__utf8_length(const char *text, size_t left);

/* Writes a character of at most 0x10FFFF, and returns how many bytes it has: at
 * most 4. */
size_t takt__utf8_put(uint32_t character, char *out);

#endif
