/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ignore.c - any bytes, read as a .gitignore file and as a path.
 *
 * The text ends at the first zero byte, and what follows is the path. Whatever
 * the rules are, an answer comes, and rules that are given twice say the same.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "ignore.h"

static void demand(bool condition)
{
    if (!condition)
        abort();
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static int ask(const char *text, size_t size, struct takt_span path)
{
    struct takt_ignore ignore;

    demand(takt__ignore_read(&ignore, text, size));
    const int folder = takt__ignore_verdict(&ignore, path, true);
    const int file = takt__ignore_verdict(&ignore, path, false);
    takt__ignore_clear(&ignore);
    return 3 * sign(folder) + sign(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const char *text = (const char *)bytes;
    const char *end = length > 0 ? memchr(text, '\0', length) : NULL;
    const size_t size = end != NULL ? (size_t)(end - text) : length;
    const struct takt_span path = {end != NULL ? end + 1 : "a/b",
                                   end != NULL ? length - size - 1 : 3};

    if (size > 4096 || path.size > 1024)
        return 0;
    const int answer = ask(text, size, path);
    if (size > 0 && text[0] == '\xef') /* a byte order mark is at the start */
        return 0;
    char *twice = malloc(2 * size + 2);
    demand(twice != NULL);
    memcpy(twice, text, size);
    twice[size] = '\n';
    memcpy(twice + size + 1, text, size);
    demand(ask(twice, 2 * size + 1, path) == answer);
    free(twice);
    return 0;
}
