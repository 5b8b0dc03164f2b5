/* SPDX-License-Identifier: MIT */
/* decimal.h - numbers as text, whatever the locale; snprintf() takes most of
 * the time of what writes many of them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TAKT_DECIMAL_ROOM = 40 };

/* Both return the length; there is no NUL. */
size_t takt__decimal_count(uint64_t value, char out[TAKT_DECIMAL_ROOM]);

/* Of a finite value: the fewest digits, or 15, that read back as the same. */
size_t takt__decimal_real(double value, char out[TAKT_DECIMAL_ROOM]);
