/* SPDX-License-Identifier: MIT */
/*
 * text.h - picking numbers and words out of what the kernel prints.
 *
 * Every text is NUL-terminated and none is trusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Cuts the next piece that ends with `end` (or with the text) off *cursor and
 * returns it, NUL-terminated in place; NULL when the text is used up. */
char *takt__text_cut(char **cursor, char end);

/* What follows "key", blanks, a colon and blanks; NULL for another line. */
const char *takt__text_value(const char *line, const char *key);

/* Reads an unsigned number at *cursor after blanks and moves behind it. In
 * base 16, a leading 0x is allowed. False, and nothing moved: no digit there,
 * or the number has more than 64 bits. */
bool takt__text_number(const char **cursor, unsigned base, uint64_t *out);

/* Whether `word` is one of those in `words`, separated by `separator`. */
bool takt__text_has_word(const char *words, const char *word, char separator);

/* Copies printable ASCII, with runs of blanks made one and none at the ends:
 * safe in a terminal, in a line of a fingerprint and in a file name. */
void takt__text_tidy(const char *text, char *out, size_t cap);
