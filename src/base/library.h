/* SPDX-License-Identifier: MIT */
/*
 * library.h - loads shared libraries at run time. Nothing else calls dlopen().
 */
#pragma once

#include <stdbool.h>
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

/* Whether the program is linked with -static or -static-pie. Loading a library
 * into it would bring a second C library with it, which mostly crashes. */
bool takt__is_static(void);
