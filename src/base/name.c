/* SPDX-License-Identifier: MIT */
/*
 * name.c - comparing names without case, and finding the one that was meant.
 *
 * The distance is Damerau's with adjacent swaps (optimal string alignment):
 * it needs the two previous rows of the table and nothing else.
 */
#include "base/name.h"

#include <stdint.h>
#include <string.h>

enum { longest = 63 };

char takt__lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool takt__name_equal_n(const char *a, size_t length, const char *b)
{
    for (size_t i = 0; i < length; i++)
        if (b[i] == '\0' || takt__lower(a[i]) != takt__lower(b[i]))
            return false;
    return b[length] == '\0';
}

bool takt__name_equal(const char *a, const char *b)
{
    return takt__name_equal_n(a, strlen(a), b);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool swapped(const char *a, size_t i, const char *b, size_t j)
{
    return i > 1 && j > 1 && takt__lower(a[i - 1]) == takt__lower(b[j - 2]) &&
           takt__lower(a[i - 2]) == takt__lower(b[j - 1]);
}

size_t takt__name_distance(const char *a, const char *b)
{
    const size_t rows = strlen(a);
    const size_t columns = strlen(b);
    size_t table[3][longest + 1];

    if (rows > longest || columns > longest)
        return SIZE_MAX;

    for (size_t j = 0; j <= columns; j++)
        table[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t *row = table[i % 3];
        const size_t *above = table[(i + 2) % 3];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            const bool same = takt__lower(a[i - 1]) == takt__lower(b[j - 1]);
            row[j] = smaller(above[j - 1] + !same,
                             smaller(above[j], row[j - 1]) + 1);
            if (swapped(a, i, b, j))
                row[j] = smaller(row[j], table[(i + 1) % 3][j - 2] + 1);
        }
    }
    return table[rows % 3][columns];
}

bool takt__name_near(const char *typed, const char *name, size_t distance)
{
    const size_t length = smaller(strlen(typed), strlen(name));
    return distance <= 2 && distance * 3 <= length + 2;
}
