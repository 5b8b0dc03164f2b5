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

/* The version of these headers. */
#define TAKT_VERSION_MAJOR 0
#define TAKT_VERSION_MINOR 1
#define TAKT_VERSION_PATCH 0
#define TAKT_VERSION_STRING "0.1.0"

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
