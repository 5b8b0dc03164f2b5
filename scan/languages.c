/* SPDX-License-Identifier: MIT */
/*
 * languages.c - the languages, their names, and which one a file is in.
 */
#include "languages.h"

#include <string.h>

static const struct takt_language *const all[TAKT_SCAN_LANGUAGES + 1] = {
#ifndef TAKT_WITHOUT_C
    [TAKT_SCAN_C] = &takt__language_c,
#endif
#ifndef TAKT_WITHOUT_CPP
    [TAKT_SCAN_CPP] = &takt__language_cpp,
#endif
#ifndef TAKT_WITHOUT_PYTHON
    [TAKT_SCAN_PYTHON] = &takt__language_python,
#endif
#ifndef TAKT_WITHOUT_RUST
    [TAKT_SCAN_RUST] = &takt__language_rust,
#endif
    [TAKT_SCAN_LANGUAGES] = NULL, /* there may be none */
};

const struct takt_language *takt__language(enum takt_scan_language id)
{
    return all[id];
}

const struct takt_language *takt__language_of(const char *name)
{
    const char *dot = strrchr(name, '.');

    if (dot == NULL || dot == name)
        return NULL;
    for (size_t i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        if (all[i] == NULL)
            continue;
        for (size_t k = 0; all[i]->extensions[k] != NULL; k++)
            if (strcmp(dot, all[i]->extensions[k]) == 0)
                return all[i];
    }
    return NULL;
}

static bool is_header(const char *name)
{
    const size_t size = strlen(name);

    return size > 2 && strcmp(name + size - 2, ".h") == 0;
}

static bool starts_with(const char *line, size_t size, const char *word)
{
    const size_t length = strlen(word);

    return size >= length && memcmp(line, word, length) == 0;
}

/* A line that C does not have. */
static bool is_cpp_line(const char *line, size_t size)
{
    static const char *const word[] = {
        "class ",           "namespace ",       "template<",
        "template <",       "public:",          "private:",
        "protected:",       "using namespace ", "constexpr ",
        "#include <cmath>", "#include <vector>"};

    while (size > 0 && (*line == ' ' || *line == '\t'))
        line++, size--;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (starts_with(line, size, word[i]))
            return true;
    return false;
}

static bool is_cpp(const char *text, size_t size)
{
    const char *end = text + size;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline != NULL ? newline : end;
        if (is_cpp_line(text, (size_t)(stop - text)))
            return true;
        text = stop + 1;
    }
    return false;
}

const struct takt_language *
takt__language_in(const struct takt_language *by_name, const char *name,
                  const char *text, size_t size)
{
    if (by_name->id == TAKT_SCAN_C && all[TAKT_SCAN_CPP] != NULL &&
        is_header(name) && is_cpp(text, size))
        return all[TAKT_SCAN_CPP];
    return by_name;
}

bool takt__language_may_be(const struct takt_language *by_name,
                           const char *name, unsigned languages)
{
    if (by_name == NULL || languages == 0 ||
        (languages & 1u << by_name->id) != 0)
        return by_name != NULL;
    return by_name->id == TAKT_SCAN_C && is_header(name) &&
           (languages & 1u << TAKT_SCAN_CPP) != 0;
}

const char *takt__language_key(enum takt_scan_language id)
{
    static const char *const key[TAKT_SCAN_LANGUAGES] = {
        [TAKT_SCAN_C] = "c",
        [TAKT_SCAN_CPP] = "cpp",
        [TAKT_SCAN_PYTHON] = "python",
        [TAKT_SCAN_RUST] = "rust",
    };
    return key[id];
}
