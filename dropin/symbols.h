/* SPDX-License-Identifier: MIT */
/* symbols.h - where names are, and how wide the integers of a library are. */
#pragma once

#include <stdbool.h>

#include "baseline.h"

/* The file, and the begin, of the object that an address belongs to; NULL:
 * none. */
const char *takt__file_of(const void *address);
const void *takt__base_of(const void *address);

/* A function in `handle` or in what that needs; NULL: none but our own. */
void *takt__find_in(void *handle, const char *name);

/* The handle of a library that is loaded for this is never closed. One that was
 * loaded before (RTLD_NOLOAD) stays in the hands of the program. `file` may be
 * NULL: then there is none. */
void *takt__find_in_file(const char *file, int flags, const char *name);

/* named.c: a function of the library that the user names (TAKT_RUN_LIBRARY).
 * Not where the integers of the program's own, which may be NULL, are narrower
 * or wider: calls would crash. What is wrong is said once. */
void *takt__find_named(const char *name, const void *own,
                       const struct takt_naming *naming);

/* In the order in which objects were loaded, in which the program would look.
 */
void *takt__find_in_loaded(const char *name);

/* Whether a library that is loaded has integers of 64 bits. */
bool takt__has_wide_integers(const char *path,
                             const struct takt_naming *naming);
