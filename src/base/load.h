/* SPDX-License-Identifier: MIT */
/* load.h - shared libraries, for programs that can have them. */
#ifndef TAKT_BASE_LOAD_H
#define TAKT_BASE_LOAD_H

#include <stdbool.h>

/* Whether the program is linked with -static or -static-pie. Loading a library
 * into it would bring a second C library with it, which mostly crashes. */
bool takt__is_static(void);

/* As dlopen(), all symbols at once and for nobody else; dlerror() knows what
 * went wrong. NULL also in a static program, where it loads nothing. */
void *takt__load(const char *file);

#endif
