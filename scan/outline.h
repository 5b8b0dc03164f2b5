/* SPDX-License-Identifier: MIT */
/*
 * outline.h - for outlines (project.h) of languages with braces: steps through
 * a text without a parser.
 */
#pragma once

#include "project.h"

enum { TAKT_OUTLINE_LONGEST = 16384 }; /* a declaration, without bodies */

struct takt_outline {
    struct takt_project *project;
    const char *at, *end;
    /* Whether a { in a declaration begins the body of a function. */
    bool (*is_body)(const char *start, const char *brace);
    bool has_methods; /* all members count; else those that hold something, and
                         methods that return an element of it */
};

bool takt__outline_is_word(char sign);
/* The end of a line; those that \ ends are one with the next. */
const char *takt__outline_line_end(const char *at, const char *end);
/* Behind a comment, a string or a character; `at` itself if it is none. */
const char *takt__outline_behind_literal(const char *at, const char *end);
/* Behind the bracket that closes the one at `at`. */
const char *takt__outline_behind_bracket(const char *at, const char *end);
bool takt__outline_has_word(struct takt_text text, const char *word);
/* The last word that ends at or before `at`; empty: none. */
struct takt_text takt__outline_word_before(const char *start, const char *at);
/* The first word from `at` on; empty: none. */
struct takt_text takt__outline_word_after(const char *at, const char *end);
/* Declares a part of the text, without comments, and without bodies of
 * functions that are long or have loops. */
void takt__outline_declare(const struct takt_outline *in, const char *at,
                           const char *end);
