/* SPDX-License-Identifier: MIT */
/*
 * number.h - sizes, shapes and rates as people write them.
 *
 *     count   5  64K  2M  1.5M  1e6  4Ki     whole, at most SIZE_MAX
 *     shape   1024x512x256                   counts joined by x
 *     rate    32e9  32G  0.5                 finite and not negative
 *
 * K, M, G, T are powers of 1000; Ki, Mi, Gi, Ti of 1024. Case does not
 * matter. The whole text must be a number: no spaces, no signs.
 */
#pragma once

#include <takt/op.h>

/* Each returns NULL, or says what is wrong: "is not a number", ... and leaves
 * *out alone. */
const char *parse_count(const char *text, size_t *out);
const char *parse_shape(const char *text, takt_shape *out);
const char *parse_rate(const char *text, double *out);

/* "96", "1.5Ki", "16Mi": as it may be typed again; "1,000" when it is not a
 * multiple of half a power of 1024. */
void format_short(size_t count, char *out, size_t size);

/* Text by value, for one expression: printf("%s", count_text(n).at). */
struct number_text {
    char at[32];
};

struct shape_text {
    char at[256];
};

struct phrase {
    char at[1344];
};

/* What printf() would write, cut to what has room. */
struct phrase phrase(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* "1024x512x256"; of a vector, as format_short() writes it. */
struct shape_text shape_text(const takt_shape *shape);
struct shape_text short_shape(const takt_shape *shape);

/* "12,345", for people. */
struct number_text count_text(uint64_t count);

/* "12.3 us", with a unit that leaves at most three digits. */
struct number_text seconds_text(double seconds);

/* "1.5 GB", "20 TFLOP": value with a decimal prefix and a unit. */
struct number_text amount_text(double value, const char *unit);
