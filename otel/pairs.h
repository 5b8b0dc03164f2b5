/* SPDX-License-Identifier: MIT */
/* pairs.h - lists of "key=value", as W3C baggage has them. */
#pragma once

#include "encode.h"

/* Reads "key=value,key2=value2": blanks around both are left out, both are
 * percent-decoded, the last value of a key counts. Returns how many members
 * were not understood and left out; SIZE_MAX: no memory. *out is set and to be
 * freed in any case. */
size_t takt__otel_pairs_read(const char *text, struct takt_otel_pairs *out);
void takt__otel_pairs_free(struct takt_otel_pairs *pairs);

/* Takes a pair out and gives its value, which the caller frees; NULL: there is
 * none. */
char *takt__otel_pairs_take(struct takt_otel_pairs *pairs, const char *key);

/* Decodes "%41" to "A" in place. False: it is malformed, or holds a NUL. */
bool takt__otel_percent_decode(char *text);
