/* SPDX-License-Identifier: MIT */
/*
 * library.h - loads shared libraries at run time. Nothing else calls dlopen().
 */
#ifndef TAKT_BASE_LIBRARY_H
#define TAKT_BASE_LIBRARY_H

/* The handle of a library, with all its symbols resolved and none of them
 * visible to others. In a program with more rights than its user only an
 * absolute path is loaded, never a name that is searched for.
 * NULL: takt__library_problem() says why. */
void *takt__library_open(const char *file);

/* Why the last takt__library_open() of this thread failed; never NULL. Valid
 * until its next one. */
const char *takt__library_problem(void);

#endif
