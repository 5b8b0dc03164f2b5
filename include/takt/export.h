/* SPDX-License-Identifier: MIT */
/*
 * takt/export.h - marks what the shared library shows to its users.
 */
#ifndef TAKT_EXPORT_H
#define TAKT_EXPORT_H

#if defined(__GNUC__)
#define TAKT_API __attribute__((visibility("default")))
#else
#define TAKT_API
#endif

#endif
