/* SPDX-License-Identifier: MIT */
/*
 * clean.h - text of others for terminals.
 *
 * File names, source lines, names in files and messages that quote them can
 * hold characters that move a cursor, change the order of letters or show
 * nothing. These are shown as escapes: \n, \x1b, \u202e; so are bytes that are
 * not UTF-8. A tab becomes a space.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Colour is for terminals, unless NO_COLOR is set. */
bool wants_colour(FILE *stream);

/* Text with escapes, cut to `size` bytes. Returns `out`. */
const char *clean_text(const char *text, char *out, size_t size);

/* Prints all of it with escapes; the second keeps the ends of lines. */
void print_clean(FILE *stream, const char *text);
void print_clean_lines(FILE *stream, const char *text);

/* Prints one line with escapes, and ends it. It is cut at 8 KiB. */
void print_line(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
