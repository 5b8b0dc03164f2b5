/* SPDX-License-Identifier: MIT */
/*
 * workspace.c - which manifest has the profiles of a package. The same steps as
 * Cargo's own: members play no part in them, as Cargo refuses to build
 * a package that is in a workspace's folders, and neither member nor excluded.
 */
#define _XOPEN_SOURCE 700 /* realpath() */

#include "project/manifest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "project/read_file.h"
#include "project/toml.h"

/* A manifest that is asked about its workspace. */
struct cargo_manifest {
    char path[PATH_MAX];
    char *text;
    struct takt_toml *toml;
    const struct takt_toml_value *workspace; /* NULL: it is no root */
    const struct takt_toml_value *pointer;   /* to the root; NULL: none */
};

static void close_manifest(struct cargo_manifest *manifest)
{
    takt__toml_destroy(manifest->toml);
    free(manifest->text);
    manifest->toml = NULL;
    manifest->text = NULL;
}

static takt_status refuse(const struct cargo_manifest *manifest,
                          const struct takt_toml_value *value,
                          const char *should_be, takt_diag *diag)
{
    struct takt_toml_error place;

    takt__toml_locate(manifest->text, value->name.from, &place);
    return takt__say(diag, TAKT_EINVAL, "%.300s:%zu:%zu: '%.80s' should be %s",
                     manifest->path, place.line, place.column, value->key,
                     should_be);
}

/* Whether a value is a string that can be a path. */
static bool is_path(const struct takt_toml_value *value)
{
    return value->kind == TAKT_TOML_STRING &&
           strlen(value->string) == value->string_length;
}

/* Whether a list of the workspace is what it should be. */
static takt_status check_paths(const struct cargo_manifest *manifest,
                               const char *key, takt_diag *diag)
{
    const struct takt_toml_value *list =
        takt__toml_get(manifest->workspace, key);
    bool is_list = list == NULL || list->kind == TAKT_TOML_ARRAY;

    for (const struct takt_toml_value *one = is_list && list ? list->first
                                                             : NULL;
         one != NULL && is_list; one = one->next)
        is_list = is_path(one);
    return is_list ? TAKT_OK : refuse(manifest, list, "a list of paths", diag);
}

static takt_status check(struct cargo_manifest *manifest, takt_diag *diag)
{
    const struct takt_toml_value *root = takt__toml_root(manifest->toml);
    const struct takt_toml_value *package = takt__toml_get(root, "package");

    if (package == NULL)
        package = takt__toml_get(root, "project"); /* as it was once called */
    manifest->workspace = takt__toml_get(root, "workspace");
    manifest->pointer = takt__toml_get(package, "workspace");
    if (manifest->pointer != NULL && !is_path(manifest->pointer))
        return refuse(manifest, manifest->pointer, "a path", diag);
    if (manifest->workspace == NULL)
        return TAKT_OK;
    if (manifest->workspace->kind != TAKT_TOML_TABLE)
        return refuse(manifest, manifest->workspace, "a table", diag);
    const takt_status status = check_paths(manifest, "members", diag);
    return status == TAKT_OK ? check_paths(manifest, "exclude", diag) : status;
}

/* Reads manifest->path. On failure there is nothing to close.
 * TAKT_ENOENT: there is no such file. */
static takt_status open_manifest(struct cargo_manifest *manifest,
                                 takt_diag *diag)
{
    struct takt_toml_error error;
    size_t length;

    manifest->toml = NULL;
    takt_status status = takt__read_file(manifest->path, TAKT_MANIFEST_BYTES,
                                         &manifest->text, &length, diag);
    if (status != TAKT_OK)
        return status;
    status = takt__toml_parse(manifest->text, length, &manifest->toml, &error);
    if (status != TAKT_OK)
        takt__toml_say(diag, status, manifest->path, &error);
    else
        status = check(manifest, diag);
    if (status != TAKT_OK)
        close_manifest(manifest);
    return status;
}

/* The next part of a path, without "." and empty ones; length 0: the end. */
static size_t next_part(const char **path, const char **part)
{
    size_t length;

    do {
        *path += strspn(*path, "/");
        length = strcspn(*path, "/");
        *part = *path;
        *path += length;
    } while (length == 1 && **part == '.');
    return length;
}

/* Whether `path` begins with all parts of `prefix`; *rest is behind them. */
static bool begins_with(const char *path, const char *prefix, const char **rest)
{
    const char *part, *wanted;

    for (size_t length; (length = next_part(&prefix, &wanted)) > 0;)
        if (next_part(&path, &part) != length ||
            memcmp(part, wanted, length) != 0)
            return false;
    *rest = path;
    return true;
}

/* Whether one of the paths in a list, which begin at `folder` unless they are
 * absolute, leads to `path` or to a folder that this is in. */
static bool is_listed(const struct takt_toml_value *list, const char *folder,
                      const char *path)
{
    const char *inside, *rest;

    for (const struct takt_toml_value *one = list ? list->first : NULL;
         one != NULL; one = one->next)
        if (one->string[0] == '/' ? begins_with(path, one->string, &rest)
                                  : begins_with(path, folder, &inside) &&
                                        begins_with(inside, one->string, &rest))
            return true;
    return false;
}

/* Cuts a path to the folder that it is in; false: that was the last. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL || path[1] == '\0')
        return false;
    slash[slash == path] = '\0';
    return true;
}

static bool excludes(const struct cargo_manifest *root, const char *path)
{
    char folder[PATH_MAX];

    strcpy(folder, root->path);
    go_up(folder);
    return is_listed(takt__toml_get(root->workspace, "exclude"), folder,
                     path) &&
           !is_listed(takt__toml_get(root->workspace, "members"), folder, path);
}

static takt_status set_path(struct cargo_manifest *manifest, const char *folder,
                            takt_diag *diag)
{
    const char *slash = folder[0] == '/' && folder[1] == '\0' ? "" : "/";

    if (snprintf(manifest->path, sizeof manifest->path, "%s%sCargo.toml",
                 folder, slash) < (int)sizeof manifest->path)
        return TAKT_OK;
    return takt__say(diag, TAKT_EIO, "%.300s: %s", folder,
                     strerror(ENAMETOOLONG));
}

/* Follows package.workspace, by which a package names the folder of its root.
 * Leaves the root's path in the manifest, which it closes. */
static takt_status follow_pointer(struct cargo_manifest *manifest,
                                  takt_diag *diag)
{
    char folder[PATH_MAX], joined[2 * PATH_MAX], real[PATH_MAX];
    const char *pointer = manifest->pointer->string;

    strcpy(folder, manifest->path);
    go_up(folder);
    const int length =
        pointer[0] == '/'
            ? snprintf(joined, sizeof joined, "%s", pointer)
            : snprintf(joined, sizeof joined, "%s/%s", folder, pointer);
    const bool is_there =
        length < (int)sizeof joined && realpath(joined, real) != NULL;
    takt_status status =
        is_there
            ? TAKT_OK
            : refuse(manifest, manifest->pointer,
                     "the folder of a workspace, which is not there", diag);
    close_manifest(manifest);
    if (status == TAKT_OK)
        status = set_path(manifest, real, diag);
    if (status == TAKT_OK)
        status = open_manifest(manifest, diag);
    if (status == TAKT_ENOENT || (status == TAKT_OK && !manifest->workspace))
        status = takt__say(diag, TAKT_EINVAL,
                           "%.300s: should be the root of a workspace, and has "
                           "no [workspace]",
                           manifest->path);
    close_manifest(manifest);
    return status;
}

/* Whether an open manifest, of the package itself or above it, says where the
 * root is; then manifest->path is that. Closes it. */
static takt_status ask(struct cargo_manifest *manifest, const char *package,
                       bool *is_found, takt_diag *diag)
{
    *is_found = true;
    if (manifest->workspace == NULL && manifest->pointer != NULL)
        return follow_pointer(manifest, diag);
    *is_found =
        manifest->workspace != NULL &&
        (strcmp(manifest->path, package) == 0 || !excludes(manifest, package));
    close_manifest(manifest);
    return TAKT_OK;
}

/* Looks for the root from `folder` upwards, which this cuts. If there is none,
 * the package is its own. */
static takt_status find(char *folder, struct cargo_manifest *manifest,
                        takt_diag *diag)
{
    char package[PATH_MAX];
    bool is_found;

    takt_status status = set_path(manifest, folder, diag);
    if (status != TAKT_OK)
        return status;
    strcpy(package, manifest->path);
    status = open_manifest(manifest, diag);
    while (status == TAKT_OK || status == TAKT_ENOENT) {
        if (status == TAKT_ENOENT && strcmp(manifest->path, package) == 0)
            return TAKT_ENOENT;
        is_found = false;
        if (status == TAKT_OK)
            status = ask(manifest, package, &is_found, diag);
        if (is_found)
            return status;
        if (!go_up(folder)) {
            strcpy(manifest->path, package);
            return TAKT_OK;
        }
        status = set_path(manifest, folder, diag);
        if (status == TAKT_OK)
            status = open_manifest(manifest, diag);
    }
    return status;
}

takt_status takt__manifest_find(const char *folder, char **path,
                                takt_diag *diag)
{
    char real[PATH_MAX];
    struct cargo_manifest *manifest = malloc(sizeof *manifest);

    *path = NULL;
    takt__say(diag, TAKT_OK, "%s", "");
    if (manifest == NULL)
        return takt__say(diag, TAKT_ENOMEM, "no memory");
    takt_status status = TAKT_OK;
    if (realpath(folder, real) == NULL)
        status =
            takt__say(diag, TAKT_EIO, "%.300s: %s", folder, strerror(errno));
    if (status == TAKT_OK)
        status = find(real, manifest, diag);
    if (status == TAKT_OK) {
        *path = strdup(manifest->path);
        if (*path == NULL)
            status = takt__say(diag, TAKT_ENOMEM, "no memory");
    }
    free(manifest);
    return status;
}
