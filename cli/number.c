/* SPDX-License-Identifier: MIT */
/*
 * number.c - reading numbers exactly, whatever the locale says.
 *
 * A count is kept as digits times a power of ten times a power of 1024 until
 * the end, so that 1.5M is 1500000 and not nearly so.
 */
#include "number.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char not_a_number[] = "is not a number";
static const char too_large[] = "is too large";
static const char not_whole[] = "is not a whole number";

/* A decimal number: digits * 10^exponent * 1024^kibis. */
struct decimal {
    uint64_t digits;
    bool overflow; /* more digits than fit; they were not all zero */
    long exponent;
    unsigned kibis;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Trailing zeros only raise the exponent, so 1000...0 stays exact. */
static void add_digit(struct decimal *d, unsigned digit, unsigned *zeros)
{
    if (digit == 0) {
        ++*zeros;
        return;
    }
    for (; *zeros > 0; --*zeros)
        if (__builtin_mul_overflow(d->digits, 10, &d->digits))
            d->overflow = true;
    if (__builtin_mul_overflow(d->digits, 10, &d->digits) ||
        __builtin_add_overflow(d->digits, digit, &d->digits))
        d->overflow = true;
}

/* Digits with at most one point; returns where they end, NULL if none. */
static const char *read_digits(const char *at, struct decimal *d)
{
    bool any = false, point = false;
    unsigned zeros = 0;
    long places = 0;

    for (; is_digit(*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        any = true;
        places += point;
        add_digit(d, (unsigned)(*at - '0'), &zeros);
    }
    d->exponent = (long)zeros - places;
    return any ? at : NULL;
}

static const char *read_exponent(const char *at, struct decimal *d)
{
    if ((*at != 'e' && *at != 'E') || at[1] == '\0')
        return at;
    const bool negative = at[1] == '-';
    const char *digit = at + 1 + (at[1] == '-' || at[1] == '+');
    long exponent = 0;

    if (!is_digit(*digit))
        return at;
    for (; is_digit(*digit); digit++)
        if (exponent < 100000)
            exponent = exponent * 10 + (*digit - '0');
    d->exponent += negative ? -exponent : exponent;
    return digit;
}

static const char *read_suffix(const char *at, struct decimal *d)
{
    static const char suffixes[] = "kmgt";
    const char *found = *at == '\0' ? NULL : strchr(suffixes, *at | 0x20);

    if (found == NULL)
        return at;
    const unsigned power = (unsigned)(found - suffixes) + 1;
    if (at[1] == 'i' || at[1] == 'I') {
        d->kibis = power;
        return at + 2;
    }
    d->exponent += 3 * (long)power;
    return at + 1;
}

/* Reads all of text[0..length). */
static const char *read_decimal(const char *text, size_t length,
                                struct decimal *out)
{
    char copy[64];

    if (length == 0)
        return "is empty";
    if (length >= sizeof copy)
        return "is too long for a number";
    memcpy(copy, text, length);
    copy[length] = '\0';
    *out = (struct decimal){0};
    const char *at = read_digits(copy, out);
    if (at == NULL)
        return copy[0] == '-' ? "is negative or not a number" : not_a_number;
    at = read_exponent(at, out);
    at = read_suffix(at, out);
    if (*at != '\0')
        return is_digit(*at) || *at == '.' || *at == 'e' || *at == 'E'
                   ? not_a_number
                   : "has an unknown suffix (K, M, G, T, Ki, Mi, Gi, Ti)";
    return NULL;
}

static const char *count_of(struct decimal d, size_t *out)
{
    uint64_t value = d.digits;

    if (value == 0 && !d.overflow) {
        *out = 0;
        return NULL;
    }
    if (d.overflow || d.exponent > 20)
        return too_large;
    for (; d.kibis > 0; d.kibis--)
        if (__builtin_mul_overflow(value, 1024, &value))
            return too_large;
    for (; d.exponent < 0; d.exponent++) {
        if (value % 10 != 0)
            return not_whole;
        value /= 10;
    }
    for (; d.exponent > 0; d.exponent--)
        if (__builtin_mul_overflow(value, 10, &value))
            return too_large;
    if (value > SIZE_MAX)
        return too_large;
    *out = (size_t)value;
    return NULL;
}

static const char *read_count(const char *text, size_t length, size_t *out)
{
    struct decimal d;
    const char *wrong = read_decimal(text, length, &d);

    return wrong != NULL ? wrong : count_of(d, out);
}

const char *parse_count(const char *text, size_t *out)
{
    return read_count(text, strlen(text), out);
}

const char *parse_rate(const char *text, double *out)
{
    struct decimal d;
    const char *wrong = read_decimal(text, strlen(text), &d);

    if (wrong != NULL)
        return wrong;
    if (d.overflow)
        return "has too many digits";
    if (d.exponent > DBL_MAX_10_EXP)
        return too_large;
    /* One rounding for everyday values: both factors are then exact. */
    double value = (double)d.digits * pow(1024, d.kibis);
    value = d.exponent >= 0 ? value * pow(10, (double)d.exponent)
                            : value / pow(10, (double)-d.exponent);
    if (!isfinite(value))
        return too_large;
    *out = value;
    return NULL;
}

const char *parse_shape(const char *text, takt_shape *out)
{
    takt_shape shape = {0};

    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, "xX");
        if (shape.rank == TAKT_SHAPE_MAX_RANK)
            return "has too many sizes";
        const char *wrong = read_count(at, length, &shape.dim[shape.rank]);
        if (wrong != NULL)
            return length == 0 && *text != '\0' ? "has an empty size" : wrong;
        shape.rank++;
        at += length;
        if (*at == '\0')
            break;
    }
    *out = shape;
    return NULL;
}

struct phrase phrase(const char *format, ...)
{
    struct phrase out;
    va_list values;

    va_start(values, format);
    vsnprintf(out.at, sizeof out.at, format, values);
    va_end(values);
    return out;
}

struct shape_text shape_text(const takt_shape *shape)
{
    struct shape_text out = {""};

    for (unsigned i = 0; i < shape->rank; i++)
        snprintf(out.at + strlen(out.at), 24, "%s%zu", i == 0 ? "" : "x",
                 shape->dim[i]);
    return out;
}

struct number_text count_text(uint64_t count)
{
    struct number_text out;
    char plain[24];
    const int length = snprintf(plain, sizeof plain, "%ju", (uintmax_t)count);
    size_t used = 0;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.at[used++] = ',';
        out.at[used++] = plain[i];
    }
    out.at[used] = '\0';
    return out;
}

void format_short(size_t count, char *out, size_t size)
{
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti"};
    double value = (double)count;
    size_t i = 0;

    while (value >= 1024 && i + 1 < sizeof suffixes / sizeof suffixes[0]) {
        value /= 1024;
        i++;
    }
    if (i == 0 || value * 2 != (double)(size_t)(value * 2))
        snprintf(out, size, "%s", count_text(count).at);
    else
        snprintf(out, size, "%.4g%s", value, suffixes[i]);
}

struct shape_text short_shape(const takt_shape *shape)
{
    struct shape_text out = shape_text(shape);

    if (shape->rank == 1)
        format_short(shape->dim[0], out.at, sizeof out.at);
    return out;
}

struct number_text amount_text(double value, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    struct number_text out;
    size_t i = 0;

    while (value >= 999.5 && i + 1 < sizeof prefixes / sizeof prefixes[0]) {
        value /= 1000;
        i++;
    }
    snprintf(out.at, sizeof out.at, "%.3g %s%s", value, prefixes[i], unit);
    return out;
}

struct number_text seconds_text(double seconds)
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    struct number_text out;
    size_t unit = 0;

    while (seconds < 0.9995 && unit < 3) {
        seconds *= 1000;
        unit++;
    }
    snprintf(out.at, sizeof out.at, "%.3g %s", seconds, units[unit]);
    return out;
}
