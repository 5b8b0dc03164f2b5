/* SPDX-License-Identifier: MIT */
/* run_files.c - whether the files that options of `takt run` name can be used.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <takt/store.h>

#include "run.h"

static const char *plain_file(const char *path)
{
    struct stat facts;

    if (stat(path, &facts) != 0)
        return strerror(errno);
    return S_ISREG(facts.st_mode) ? NULL : "not a plain file";
}

const char *can_read(const char *path)
{
    return access(path, R_OK) != 0 ? strerror(errno) : plain_file(path);
}

const char *can_load(const char *path)
{
    const char *wrong = can_read(path);

    return wrong != NULL || is_of_this_machine(path)
               ? wrong
               : "not a library of this machine";
}

static const char *can_write(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');

    if (access(path, W_OK) == 0)
        return plain_file(path);
    if (errno != ENOENT)
        return strerror(errno);
    snprintf(folder, sizeof folder, "%.*s",
             slash != NULL ? (int)(slash - path) + 1 : 1,
             slash != NULL ? path : ".");
    return access(folder, W_OK) == 0 ? NULL : strerror(errno);
}

/* Empty: none. One that can only be read still helps: the library says in a
 * line that what is learned is not kept. */
const char *can_store(const char *path)
{
    return path[0] == '\0' || can_read(path) == NULL ? NULL : can_write(path);
}

bool is_socket(const char *path)
{
    return strncmp(path, "unix:", 5) == 0;
}

const char *can_trace(const char *path)
{
    return is_socket(path) ? NULL : can_write(path);
}

void find_store(const char *named, char *out, size_t size)
{
    out[0] = '\0';
    if (named != NULL)
        snprintf(out, size, "%s", named);
    else
        takt_store_path(out, size);
}
