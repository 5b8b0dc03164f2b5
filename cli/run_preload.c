/* SPDX-License-Identifier: MIT */
/*
 * run_preload.c - where libtakt-blas.so is.
 *
 * Beside takt, or where an installation or a build has it in relation to takt:
 * so that what was moved as a whole still finds itself.
 */
#define _GNU_SOURCE /* realpath() */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

static const char file_name[] = "libtakt-blas.so";

/* Where it may be, seen from the folder of takt; the last is for builds. */
static const char installed[] = "../" TAKT_LIBRARY_FOLDER;
static const char *const folders[] = {".", "../lib", installed, ".."};

/* To be freed; NULL: it is nowhere. */
static char *find_beside_takt(void)
{
    char self[PATH_MAX], path[PATH_MAX + 64];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length <= 0)
        return NULL;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", self, folders[i], file_name);
        char *found = realpath(path, NULL);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* An absolute path stays as it is: it may be a link, made because LD_PRELOAD
 * cannot have the real one. */
static char *find_named(const char *named)
{
    if (access(named, R_OK) != 0)
        return NULL;
    return named[0] == '/' ? strdup(named) : realpath(named, NULL);
}

static char *find_library(void)
{
    const char *named = getenv("TAKT_RUN_PRELOAD");
    const bool is_named = named != NULL && named[0] != '\0';
    char *found = is_named ? find_named(named) : find_beside_takt();

    if (found == NULL && is_named)
        fprintf(stderr, "takt run: TAKT_RUN_PRELOAD '%s': %s\n", named,
                strerror(errno));
    else if (found == NULL)
        fprintf(stderr,
                "takt run: %s is not where takt is, nor in ../lib or %s from "
                "there (TAKT_RUN_PRELOAD may name it)\n",
                file_name, installed);
    return found;
}

/* Whether the list begins with it already, as in a program of a program. */
static bool begins_with(const char *list, const char *path)
{
    const size_t length = strlen(path);

    return strncmp(list, path, length) == 0 &&
           (list[length] == '\0' || list[length] == ':' || list[length] == ' ');
}

/* The path, a colon if needed, and what was there before. */
static char *prepend(const char *path, const char *before)
{
    const size_t size = strlen(path) + strlen(before) + 2;
    char *value = malloc(size);

    if (value != NULL)
        snprintf(value, size, "%s%s%s", path, before[0] != '\0' ? ":" : "",
                 before);
    return value;
}

char *preload_value(void)
{
    const char *list = getenv("LD_PRELOAD");
    const char *before = list != NULL ? list : "";
    char *path = find_library();
    char *value = NULL;

    if (path == NULL)
        return NULL;
    if (strpbrk(path, " \t\n:$") != NULL)
        fprintf(stderr,
                "takt run: LD_PRELOAD cannot name '%s', which has a space, a "
                "colon or a dollar in it (TAKT_RUN_PRELOAD may name a link)\n",
                path);
    else if ((value = begins_with(before, path)
                          ? strdup(before)
                          : prepend(path, before)) == NULL)
        fprintf(stderr, "takt run: there is not enough memory\n");
    free(path);
    return value;
}
