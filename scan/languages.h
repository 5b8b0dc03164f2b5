/* SPDX-License-Identifier: MIT */
/*
 * languages.h - the languages of this build.
 */
#pragma once

#include "language.h"

/* NULL: this build does not have it. */
const struct takt_language *takt__language(enum takt_scan_language id);

/* By the end of the file's name; NULL: none that we know. */
const struct takt_language *takt__language_of(const char *name);

/* What it turns out to be: a header (.h) may be C or C++. */
const struct takt_language *
takt__language_in(const struct takt_language *by_name, const char *name,
                  const char *text, size_t size);

/* Whether files of that name may be in one of the languages of a set, in bits
 * as takt_scan_options has them. */
bool takt__language_may_be(const struct takt_language *by_name,
                           const char *name, unsigned languages);

/* "c", "cpp", "python" or "rust": as in the names of patterns. */
const char *takt__language_key(enum takt_scan_language id);
