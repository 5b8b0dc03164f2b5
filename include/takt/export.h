/* SPDX-License-Identifier: MIT */
/*
 * takt/export.h - marks what the shared library shows to its users, and what
 * they should no longer use.
 */
#ifndef TAKT_EXPORT_H
#define TAKT_EXPORT_H

#if defined(__GNUC__)
#define TAKT_API __attribute__((visibility("default")))
#else
#define TAKT_API
#endif

#if defined(__GNUC__) && !defined(TAKT_NO_DEPRECATED)
/* Before a function, a type or an enumerator that has a better one: a program
 * that uses it still works, and its compiler says `message`, which names the
 * better one and the version that removes this one. A program that defines
 * TAKT_NO_DEPRECATED before it includes a header hears nothing. */
#define TAKT_DEPRECATED(message) __attribute__((deprecated(message)))
#else
#define TAKT_DEPRECATED(message)
#endif

#endif
