/* SPDX-License-Identifier: MIT */
/*
 * top_script.c - the script that an interpreter runs.
 *
 * Fifty programs that are all called python3.11 cannot be told apart. Their
 * command lines are in /proc; what they say is shown, and nothing is done with
 * it.
 */
#include <stdio.h>
#include <string.h>

#include "top.h"

static bool is_interpreter(const char *program)
{
    static const char *const names[] = {"python", "pypy", "octave", "julia"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(program, names[i], strlen(names[i])) == 0)
            return true;
    return strcmp(program, "R") == 0 || strcmp(program, "Rscript") == 0;
}

static bool is_one_of(const char *word, const char *const options[2])
{
    return strcmp(word, options[0]) == 0 || strcmp(word, options[1]) == 0;
}

/* The first word that is no option, or what follows -m; NULL: there is none, as
 * where the program is a text after -c or -e. */
static const char *script_in(const char *words, const char *end)
{
    static const char file[] = "--file=";
    static const char *const text[] = {"-c", "-e"}, *const valued[] = {"-W",
                                                                       "-X"};
    const char *at = words + strlen(words) + 1;
    bool is_value = false; /* the words may end before it comes */

    for (; at < end; at += strlen(at) + 1) {
        if (is_one_of(at, text) && !is_value)
            return NULL;
        if (strncmp(at, file, strlen(file)) == 0)
            return at + strlen(file);
        if (at[0] != '-' && !is_value)
            return at;
        is_value = !is_value && is_one_of(at, valued);
    }
    return NULL;
}

void top_find_script(uint64_t pid, const char *program, char out[64])
{
    char path[64], words[4096];

    snprintf(path, sizeof path, "/proc/%llu/cmdline", (unsigned long long)pid);
    FILE *file = is_interpreter(program) ? fopen(path, "re") : NULL;
    if (file == NULL)
        return;
    const size_t length = fread(words, 1, sizeof words - 1, file);
    fclose(file);
    words[length] = '\0';
    const char *script = script_in(words, words + length);
    if (script == NULL)
        return;
    const char *slash = strrchr(script, '/');
    snprintf(out, 64, "%s", slash != NULL ? slash + 1 : script);
}
