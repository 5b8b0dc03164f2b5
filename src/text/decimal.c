/* SPDX-License-Identifier: MIT */
#include "text/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last `count` digits, with zeros in front. */
static void put_digits(uint64_t value, size_t count, char *out)
{
    for (; count > 0; value /= 10)
        out[--count] = (char)('0' + value % 10);
}

size_t takt__decimal_count(uint64_t value, char out[TAKT_DECIMAL_ROOM])
{
    size_t length = 1;

    for (uint64_t rest = value; rest >= 10; rest /= 10)
        length++;
    put_digits(value, length, out);
    return length;
}

/* Powers of ten that a double holds exactly. */
static const double power[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { most_places = sizeof power / sizeof *power - 1 };

/* Where 15 digits are enough. Both sides of a division are exact, so that it
 * rounds as a reader does. 0: they are not. */
static size_t put_short(double value, char *out)
{
    int places = 15;
    char *at = out;

    while (places < most_places && value * power[places + 1] < 1e15)
        places++;
    while (places > 0 && value * power[places] >= 1e15)
        places--;
    uint64_t digits = (uint64_t)(value * power[places] + 0.5);
    if ((double)digits / power[places] != value)
        return 0;
    for (; places > 0 && digits % 10 == 0; digits /= 10)
        places--;
    uint64_t whole = digits;
    for (int i = 0; i < places; i++)
        whole /= 10;
    at += takt__decimal_count(whole, at);
    if (places > 0) {
        *at++ = '.';
        put_digits(digits, (size_t)places, at);
        at += places;
    }
    return (size_t)(at - out);
}

/* By the C library. A locale may have another point, of several bytes even. */
static size_t put_long(double value, int precision, char *out)
{
    char text[64];
    size_t length = 0;
    bool has_point = false;

    for (; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (precision == 17 || strtod(text, NULL) == value)
            break;
    }
    for (const char *at = text; *at != '\0'; at++) {
        const bool is_digit = strchr("0123456789+-e", *at) != NULL;
        if (!is_digit && has_point)
            continue;
        has_point |= !is_digit;
        out[length++] = is_digit ? *at : '.';
    }
    return length;
}

size_t takt__decimal_real(double value, char out[TAKT_DECIMAL_ROOM])
{
    const double size = fabs(value);
    const size_t sign = signbit(value) ? 1 : 0;
    const bool is_usual = size >= 1e-7 && size < 1e15;
    size_t length = 0;

    out[0] = '-';
    if (is_usual || size == 0)
        length = put_short(size, out + sign);
    if (length == 0)
        length = put_long(size, is_usual ? 16 : 15, out + sign);
    return length + sign;
}
