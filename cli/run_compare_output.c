/* SPDX-License-Identifier: MIT */
/*
 * run_compare_output.c - whether two outputs differ in their numbers alone.
 *
 * Another BLAS rounds in another way, so the last digits of results may differ.
 * That is not the same as a wrong result, and the largest difference says which
 * of the two it is.
 */
#include "run_compare_output.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { longest_number = 64 };

struct output_part {
    const char *at, *end;
};

static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '+' || c == '-' ||
           c == '_';
}

/* The next run of characters that a number could be made of; at least one
 * character. */
static struct output_part next_word(struct output_part *rest)
{
    struct output_part word = {rest->at, rest->at + 1};

    if (is_part(*rest->at))
        while (word.end < rest->end && is_part(*word.end))
            word.end++;
    rest->at = word.end;
    return word;
}

/* A number with a point or an exponent: a whole one is a count, and must be
 * the same. */
static bool read_real(struct output_part word, double *out)
{
    const size_t size = (size_t)(word.end - word.at);
    char copy[longest_number], *end;

    if (size >= sizeof copy)
        return false;
    memcpy(copy, word.at, size);
    copy[size] = '\0';
    if (strpbrk(copy, ".eE") == NULL || strpbrk(copy, "xX") != NULL)
        return false;
    *out = strtod(copy, &end);
    return end == copy + size && isfinite(*out);
}

static bool is_same_word(struct output_part a, struct output_part b)
{
    const size_t size = (size_t)(a.end - a.at);

    return size == (size_t)(b.end - b.at) && memcmp(a.at, b.at, size) == 0;
}

bool differ_in_numbers(const char *a, size_t a_size, const char *b,
                       size_t b_size, double *difference)
{
    struct output_part one = {a, a + a_size}, other = {b, b + b_size};
    double x, y;

    *difference = 0;
    while (one.at < one.end && other.at < other.end) {
        const struct output_part word = next_word(&one),
                                 mate = next_word(&other);
        if (is_same_word(word, mate))
            continue;
        if (!read_real(word, &x) || !read_real(mate, &y))
            return false;
        const double size = fmax(fabs(x), fabs(y));
        if (size > 0)
            *difference = fmax(*difference, fabs(x - y) / size);
    }
    return one.at == one.end && other.at == other.end;
}
