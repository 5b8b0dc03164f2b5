/* SPDX-License-Identifier: MIT */
/*
 * utf8.h - characters in bytes from outside (RFC 3629).
 *
 * Overlong forms, surrogates and values above U+10FFFF are not UTF-8.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of bytes of the first character of `text`. `left`, at least 1, is
 * how many bytes may be read; SIZE_MAX for a string that a NUL ends. *is_whole:
 * false if it is not UTF-8; the result, at least 1, then counts the bytes that
 * could have begun a character. */
size_t takt__utf8_take(const char *text, size_t left, bool *is_whole);

/* The same; 0: it is not UTF-8. */
size_t takt__utf8_length(const char *text, size_t left);

/* Decodes the first character of a string that a NUL ends, and returns its
 * number of bytes; 0: it is not UTF-8. */
size_t takt__utf8_read(const char *text, uint32_t *character);

/* Encodes a character of at most 0x10FFFF, and returns its number of bytes: at
 * most 4. */
size_t takt__utf8_put(uint32_t character, char *out);

/* Whether all of a text is UTF-8. */
bool takt__is_utf8(const char *text, size_t size);

/* Whether a terminal should not get a character from outside: it is a control
 * character, invisible, or changes the order of others. */
bool takt__is_unsafe(uint32_t character);
