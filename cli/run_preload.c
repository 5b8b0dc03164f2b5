/* SPDX-License-Identifier: MIT */
/*
 * run_preload.c - where libtakt-blas.so is.
 *
 * In the folder of takt, or where an installation or a build has it in relation
 * to takt: so that what was moved as a whole still finds itself.
 */
#define _GNU_SOURCE /* realpath() */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "run.h"

static const char file_name[] = "libtakt-blas.so";

/* Where it may be, seen from the folder of takt; the last is for builds. */
static const char installed[] = "../" TAKT_LIBRARY_FOLDER;
static const char *const folders[] = {".", "../lib", installed, ".."};

/* The file of this program. Where there is no /proc (chroot), it is what the
 * kernel was asked to run. */
static bool find_self(char self[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);

    if (length > 0) {
        self[length] = '\0';
        return self[0] == '/'; /* else it is out of reach, from here */
    }
    const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    return name != NULL && realpath(name, self) != NULL;
}

char *find_beside_takt(const char *name)
{
    char self[PATH_MAX], path[PATH_MAX + 64];

    if (!find_self(self))
        return NULL;
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", self, folders[i], name);
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
    struct stat facts;

    if (stat(named, &facts) != 0 || access(named, R_OK) != 0)
        return NULL;
    if (!S_ISREG(facts.st_mode)) {
        errno = EINVAL;
        return NULL;
    }
    return named[0] == '/' ? strdup(named) : realpath(named, NULL);
}

char *find_preload_library(char reason[reason_size])
{
    const char *named = getenv("TAKT_RUN_PRELOAD");
    const bool is_named = named != NULL && named[0] != '\0';
    char *found = is_named ? find_named(named) : find_beside_takt(file_name);

    if (found == NULL && is_named)
        snprintf(reason, reason_size, "TAKT_RUN_PRELOAD '%.200s': %s", named,
                 strerror(errno));
    else if (found == NULL)
        snprintf(reason, reason_size,
                 "%s is not where takt is, nor in ../lib or %s from there "
                 "(TAKT_RUN_PRELOAD may name it)",
                 file_name, installed);
    else if (strpbrk(found, " \t\n:$") != NULL)
        snprintf(reason, reason_size,
                 "LD_PRELOAD cannot name '%.300s', which has a space, a colon "
                 "or a dollar in it (TAKT_RUN_PRELOAD may name a link)",
                 found);
    else
        return found;
    free(found);
    return NULL;
}

/* Whether the list begins with it already, as in a program of a program. */
static bool begins_with(const char *list, const char *path)
{
    const size_t length = strlen(path);

    return strncmp(list, path, length) == 0 &&
           (list[length] == '\0' || list[length] == ':' || list[length] == ' ');
}

/* With a colon between them, if neither is empty. */
static char *join(const char *first, const char *second)
{
    const size_t size = strlen(first) + strlen(second) + 2;
    const bool has_both = first[0] != '\0' && second[0] != '\0';
    char *value = malloc(size);

    if (value != NULL)
        snprintf(value, size, "%s%s%s", first, has_both ? ":" : "", second);
    return value;
}

char *preload_value(void)
{
    const char *list = getenv("LD_PRELOAD");
    const char *before = list != NULL ? list : "";
    char reason[reason_size];
    char *path = find_preload_library(reason);

    if (path == NULL) {
        complain(&cmd_run, "%s", reason);
        return NULL;
    }
    if (!is_preload_library(path)) {
        complain(&cmd_run, "'%s' is not libtakt-blas.so (TAKT_RUN_PRELOAD)",
                 path);
        free(path);
        return NULL;
    }
    char *value =
        begins_with(before, path) ? strdup(before) : join(path, before);
    if (value == NULL)
        complain(&cmd_run, "there is not enough memory");
    free(path);
    return value;
}

char *address_sanitizer_value(void)
{
    static const char option[] = "verify_asan_link_order";
    const char *given = getenv(ADDRESS_SANITIZER_VARIABLE);
    const char *before = given != NULL ? given : "";

    char *value = strstr(before, option) != NULL
                      ? strdup(before)
                      : join(before, "verify_asan_link_order=0");

    if (value == NULL)
        complain(&cmd_run, "there is not enough memory");
    return value;
}
