/* SPDX-License-Identifier: MIT */
/* pairs.c - lists of "key=value", as W3C baggage has them. */
#include "pairs.h"

#include <stdlib.h>
#include <string.h>

#include "text/digit.h"

bool takt__otel_percent_decode(char *text)
{
    char *out = text;

    for (const char *in = text; *in != '\0'; in++, out++) {
        *out = *in;
        if (*in != '%')
            continue;
        const unsigned high = takt__digit(in[1]);
        const unsigned low = high < 16 ? takt__digit(in[2]) : 16;
        if (low > 15 || high + low == 0)
            return false;
        *out = (char)(unsigned char)(high * 16 + low);
        in += 2;
    }
    *out = '\0';
    return true;
}

/* A copy of [at, end) without the blanks around it. */
static char *copy_trimmed(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    char *copy = malloc((size_t)(end - at) + 1);
    if (copy != NULL) {
        memcpy(copy, at, (size_t)(end - at));
        copy[end - at] = '\0';
    }
    return copy;
}

static struct takt_otel_pair *find(const struct takt_otel_pairs *pairs,
                                   const char *key)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->pair[i].key, key) == 0)
            return &pairs->pair[i];
    return NULL;
}

/* Takes both strings over. False: no memory. */
static bool put(struct takt_otel_pairs *pairs, char *key, char *value)
{
    struct takt_otel_pair *pair = find(pairs, key);

    if (pair != NULL) {
        free(pair->value);
        free(key);
        pair->value = value;
        return true;
    }
    pair = realloc(pairs->pair, (pairs->count + 1) * sizeof *pair);
    if (pair == NULL) {
        free(key);
        free(value);
        return false;
    }
    pairs->pair = pair;
    pair[pairs->count++] = (struct takt_otel_pair){key, value};
    return true;
}

enum verdict { TAKEN, MALFORMED, NO_MEMORY };

static enum verdict read_member(const char *at, const char *end,
                                struct takt_otel_pairs *out)
{
    const char *equals = memchr(at, '=', (size_t)(end - at));

    if (equals == NULL)
        return MALFORMED;
    char *key = copy_trimmed(at, equals);
    char *value = copy_trimmed(equals + 1, end);
    if (key != NULL && value != NULL && takt__otel_percent_decode(key) &&
        takt__otel_percent_decode(value) && key[0] != '\0')
        return put(out, key, value) ? TAKEN : NO_MEMORY;
    const enum verdict verdict =
        key == NULL || value == NULL ? NO_MEMORY : MALFORMED;
    free(key);
    free(value);
    return verdict;
}

size_t takt__otel_pairs_read(const char *text, struct takt_otel_pairs *out)
{
    size_t malformed = 0;

    *out = (struct takt_otel_pairs){0};
    for (const char *at = text, *end; at != NULL; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, ",");
        if (at + strspn(at, " \t") >= end) /* nothing between two commas */
            continue;
        const enum verdict verdict = read_member(at, end, out);
        if (verdict == NO_MEMORY)
            return SIZE_MAX;
        malformed += verdict == MALFORMED;
    }
    return malformed;
}

char *takt__otel_pairs_take(struct takt_otel_pairs *pairs, const char *key)
{
    struct takt_otel_pair *pair = find(pairs, key);

    if (pair == NULL)
        return NULL;
    char *value = pair->value;
    free(pair->key);
    pairs->count--;
    memmove(pair, pair + 1,
            (size_t)(pairs->pair + pairs->count - pair) * sizeof *pair);
    return value;
}

void takt__otel_pairs_free(struct takt_otel_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->pair[i].key);
        free(pairs->pair[i].value);
    }
    free(pairs->pair);
    *pairs = (struct takt_otel_pairs){0};
}
