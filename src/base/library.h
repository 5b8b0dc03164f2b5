/* SPDX-License-Identifier: MIT */
/*
 * library.h - loads shared libraries at run time. Nothing else calls dlopen().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

/* False: a path to what is not a file. The loader would wait for the writer of
 * a pipe, for ever. */
static inline bool takt__library_may_be(const char *file)
{
    struct stat facts;

    return strchr(file, '/') == NULL || stat(file, &facts) != 0 ||
           S_ISREG(facts.st_mode);
}

/* The handle of a library, with all its symbols resolved and none of them
 * visible to others. A static program loads none. One with more rights than its
 * user loads absolute paths alone, never a name that is searched for.
 * NULL: takt__library_problem() says why. */
void *takt__library_open(const char *file);

/* Why the last takt__library_open() of this thread failed; never NULL. Valid
 * until its next one. */
const char *takt__library_problem(void);

/* Puts the address of a function into the pointer at `function`; false: there
 * is none (or no library), and the pointer is NULL. */
bool takt__library_find(void *library, const char *name, void *function);

/* The same for pointers in a struct: `out`. The name of the first function that
 * there is not; NULL: all were found. */
struct takt_library_symbol {
    const char *name;
    size_t offset; /* of the pointer */
};
const char *takt__library_find_all(void *library,
                                   const struct takt_library_symbol *symbol,
                                   size_t count, void *out);

/* Whether the program is linked with -static or -static-pie. Loading a library
 * into it would bring a second C library with it, which mostly crashes. */
bool takt__is_static(void);
