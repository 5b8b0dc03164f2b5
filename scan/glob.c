/* SPDX-License-Identifier: MIT */
/*
 * glob.c - matching that takes no more than the product of the lengths, however
 * many stars somebody writes: when something does not fit, only the last star
 * needs to take more, since it could take whatever earlier ones could.
 */
#include "glob.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

static bool is_of_class(struct takt_span name, unsigned char c)
{
    static const struct {
        const char *name;
        int (*holds)(int);
    } class[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank},
                 {"cntrl", iscntrl}, {"digit", isdigit}, {"graph", isgraph},
                 {"lower", islower}, {"print", isprint}, {"punct", ispunct},
                 {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};

    for (size_t i = 0; i < sizeof class / sizeof *class; i++)
        if (strlen(class[i].name) == name.size &&
            memcmp(class[i].name, name.at, name.size) == 0)
            return class[i].holds(c) != 0;
    return false;
}

/* The end of "[:name:]" at `from`; 0: there is none. */
static size_t class_end(struct takt_span pattern, size_t from)
{
    if (from + 1 >= pattern.size || pattern.at[from] != '[' ||
        pattern.at[from + 1] != ':')
        return 0;
    for (size_t i = from + 2; i + 1 < pattern.size; i++)
        if (pattern.at[i] == ':' && pattern.at[i + 1] == ']')
            return i + 2;
    return 0;
}

/* A character of a set, which may be escaped; *at is moved behind it. */
static bool take_member(struct takt_span pattern, size_t *at,
                        unsigned char *out)
{
    if (*at < pattern.size && pattern.at[*at] == '\\')
        ++*at;
    if (*at >= pattern.size)
        return false;
    *out = (unsigned char)pattern.at[(*at)++];
    return true;
}

/* A set that starts behind its [; what is behind its ], or 0: no fit. */
static size_t fit_set(struct takt_span pattern, size_t at, unsigned char c)
{
    bool is_in = false, is_negated = false;

    if (at < pattern.size && (pattern.at[at] == '!' || pattern.at[at] == '^')) {
        is_negated = true;
        at++;
    }
    for (size_t first = at; at < pattern.size; first = SIZE_MAX) {
        unsigned char low, high;
        if (pattern.at[at] == ']' && at != first)
            return is_in != is_negated ? at + 1 : 0;
        const size_t end = class_end(pattern, at);
        if (end != 0) {
            is_in |= is_of_class(
                (struct takt_span){pattern.at + at + 2, end - at - 4}, c);
            at = end;
            continue;
        }
        if (!take_member(pattern, &at, &low))
            return 0;
        high = low;
        if (at + 1 < pattern.size && pattern.at[at] == '-' &&
            pattern.at[at + 1] != ']') {
            at++;
            if (!take_member(pattern, &at, &high))
                return 0;
        }
        is_in |= low <= c && c <= high;
    }
    return 0;
}

/* Fits what is at `at`, which is no star, to a character; where the pattern
 * goes on, or 0: no fit. */
static size_t fit_one(struct takt_span pattern, size_t at, char c)
{
    if (at >= pattern.size)
        return 0;
    switch (pattern.at[at]) {
    case '?':
        return at + 1;
    case '[':
        return fit_set(pattern, at + 1, (unsigned char)c);
    case '\\':
        return at + 1 < pattern.size && pattern.at[at + 1] == c ? at + 2 : 0;
    default:
        return pattern.at[at] == c ? at + 1 : 0;
    }
}

bool takt__glob_name(struct takt_span pattern, struct takt_span name)
{
    size_t p = 0, n = 0;
    size_t behind_star = SIZE_MAX, taken = 0;

    while (n < name.size) {
        if (p < pattern.size && pattern.at[p] == '*') {
            behind_star = ++p;
            taken = n;
            continue;
        }
        const size_t next = fit_one(pattern, p, name.at[n]);
        if (next != 0) {
            p = next;
            n++;
        } else if (behind_star != SIZE_MAX) {
            p = behind_star;
            n = ++taken;
        } else
            return false;
    }
    while (p < pattern.size && pattern.at[p] == '*')
        p++;
    return p == pattern.size;
}

/* The name at `at`; *next: where the one after it starts. */
static struct takt_span name_at(struct takt_span path, size_t at, size_t *next)
{
    const char *slash = memchr(path.at + at, '/', path.size - at);
    const size_t end = slash != NULL ? (size_t)(slash - path.at) : path.size;

    *next = end + (slash != NULL);
    return (struct takt_span){path.at + at, end - at};
}

bool takt__glob_path(struct takt_span pattern, struct takt_span path)
{
    size_t p = 0, n = 0, next_p, next_n;
    size_t behind_stars = SIZE_MAX, taken = 0;

    while (n < path.size) {
        const struct takt_span name = name_at(path, n, &next_n);
        if (p < pattern.size) {
            const struct takt_span want = name_at(pattern, p, &next_p);
            if (want.size == 2 && memcmp(want.at, "**", 2) == 0) {
                if (next_p >= pattern.size)
                    return true;
                behind_stars = p = next_p;
                taken = n;
                continue;
            }
            if (takt__glob_name(want, name)) {
                p = next_p;
                n = next_n;
                continue;
            }
        }
        if (behind_stars == SIZE_MAX)
            return false;
        name_at(path, taken, &next_n);
        n = taken = next_n;
        p = behind_stars;
    }
    return p >= pattern.size;
}
