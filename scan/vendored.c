/* SPDX-License-Identifier: MIT */
/*
 * vendored.c - which folders are not the project's own sources.
 */
#include "folder.h"

#include <string.h>

static bool is_listed(const char *const *list, const char *name)
{
    for (; *list != NULL; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t size = strlen(name), end_size = strlen(end);

    return size > end_size && strcmp(name + size - end_size, end) == 0;
}

bool takt__is_repository_name(const char *name)
{
    static const char *const list[] = {".git", ".hg", ".jj",
                                       ".svn", "CVS", NULL};

    return is_listed(list, name);
}

static bool is_below_sources(const char *path)
{
    return strncmp(path, "src/", 4) == 0 || strstr(path, "/src/") != NULL;
}

bool takt__is_vendored_name(const char *name, const char *path)
{
    static const char *const list[] = {
        /* what others wrote */
        "vendor", "vendored", "third_party", "third-party", "thirdparty",
        "3rdparty", "node_modules", "bower_components", "site-packages",
        "dist-packages", "Pods", ".cargo", ".rustup",
        /* what tools made */
        "_build", "__pycache__", "venv", ".venv", "virtualenv", ".tox", ".nox",
        ".eggs", ".mypy_cache", ".pytest_cache", ".ruff_cache",
        ".ipynb_checkpoints", ".cache", ".ccls-cache", ".gradle", ".direnv",
        ".idea", ".vscode", ".vs", "CMakeFiles", "bazel-bin", "bazel-out",
        "bazel-testlogs", NULL};
    /* These too, but sources have such names as well: distributions, targets of
     * a fit. Tools do not write among sources. */
    static const char *const output[] = {"target", "build", "dist", NULL};

    return is_listed(list, name) ||
           (is_listed(output, name) && !is_below_sources(path)) ||
           ends_with(name, ".egg-info") || ends_with(name, ".dist-info") ||
           strncmp(name, "cmake-build-", 12) == 0;
}

bool takt__is_vendored_folder(const struct takt_folder *folder)
{
    return takt__folder_has(folder, "CACHEDIR.TAG") ||
           takt__folder_has(folder, "CMakeCache.txt") ||
           takt__folder_has(folder, "pyvenv.cfg");
}
