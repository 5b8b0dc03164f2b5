/* SPDX-License-Identifier: MIT */
/*
 * takt/version.h - the version.
 *
 *     printf("compiled with %s, running %s\n", TAKT_VERSION_STRING,
 *            takt_version());
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef TAKT_VERSION_H
#define TAKT_VERSION_H

#include <takt/export.h>

/* The version of these headers, which is in no other place: the build, the tool
 * and the packages take it from here. The first number is that of the shared
 * library, libtakt.so.0. */
#define TAKT_VERSION_MAJOR 0
#define TAKT_VERSION_MINOR 2
#define TAKT_VERSION_PATCH 0

/* The same as "major.minor.patch". */
#define TAKT_VERSION_QUOTE_(major, minor, patch) #major "." #minor "." #patch
#define TAKT_VERSION_TEXT_(...) TAKT_VERSION_QUOTE_(__VA_ARGS__)
#define TAKT_VERSION_STRING                                    \
    TAKT_VERSION_TEXT_(TAKT_VERSION_MAJOR, TAKT_VERSION_MINOR, \
                       TAKT_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is running, as "major.minor.patch"; the
 * macros above say which headers a program was compiled with. */
TAKT_API const char *takt_version(void);

#ifdef __cplusplus
}
#endif

#endif
