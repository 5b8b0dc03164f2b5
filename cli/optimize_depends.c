/* SPDX-License-Identifier: MIT */
/*
 * optimize_depends.c - what a project depends on, by the files in its folder
 * that say so: Cargo.toml, pyproject.toml, requirements.txt, CMakeLists.txt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "optimize_analysis.h"
#include "project/replace.h"
#include "project/toml.h"

enum { most_bytes = 4 << 20 };

static void add(struct analysis *out, const char *file, const char *name,
                size_t name_length, const char *version, size_t version_length)
{
    if (out->dependency_count == most_dependencies) {
        out->left_out++;
        return;
    }
    struct dependency *it = &out->dependency[out->dependency_count++];
    char raw[256];
    it->file = file;
    snprintf(raw, sizeof raw, "%.*s", (int)name_length, name);
    clean_text(raw, it->name, sizeof it->name);
    snprintf(raw, sizeof raw, "%.*s", (int)version_length, version);
    clean_text(raw, it->version, sizeof it->version);
}

/* ---- TOML -----------------------------------------------------------------
 */

/* "1.0", or what stands for it: { git = ... }, { workspace = true }. */
static const char *version_of(const struct takt_toml_value *value)
{
    static const char *const instead[] = {"path", "git", "workspace"};
    const struct takt_toml_value *version = takt__toml_get(value, "version");

    if (value->kind == TAKT_TOML_STRING)
        return value->string;
    if (version != NULL && version->kind == TAKT_TOML_STRING)
        return version->string;
    for (size_t i = 0; i < sizeof instead / sizeof instead[0]; i++)
        if (takt__toml_get(value, instead[i]) != NULL)
            return instead[i];
    return "";
}

static void add_table(struct analysis *out, const char *file,
                      const struct takt_toml_value *table)
{
    if (table == NULL || table->kind != TAKT_TOML_TABLE)
        return;
    for (const struct takt_toml_value *at = table->first; at; at = at->next) {
        const char *version = version_of(at);
        if (at->key != NULL && strcmp(at->key, "python") != 0)
            add(out, file, at->key, strlen(at->key), version, strlen(version));
    }
}

/* "numpy[extra]>=1.20; python_version > '3'", as PEP 508 has it. */
static void add_requirement(struct analysis *out, const char *file,
                            const char *text, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    char line[256];

    snprintf(line, sizeof line, "%.*s", (int)length, text);
    line[strcspn(line, ";#\r\n")] = '\0';
    const char *name = line + strspn(line, " \t");
    const size_t name_length = strspn(name, letters);
    const char *version = name + name_length;
    version += strspn(version, " \t");
    if (*version == '[')
        version += strcspn(version, "]") + (strchr(version, ']') != NULL);
    version += strspn(version, " \t");
    size_t version_length = strlen(version);
    while (version_length > 0 && (version[version_length - 1] == ' ' ||
                                  version[version_length - 1] == '\t'))
        version_length--;
    if (name_length > 0 && *name != '-')
        add(out, file, name, name_length, version, version_length);
}

static void add_cargo(struct analysis *out, const struct takt_toml_value *root)
{
    static const char file[] = "Cargo.toml";

    add_table(out, file, takt__toml_get(root, "dependencies"));
    add_table(out, file, takt__toml_get(root, "build-dependencies"));
    add_table(
        out, file,
        takt__toml_get(takt__toml_get(root, "workspace"), "dependencies"));
}

static void add_pyproject(struct analysis *out,
                          const struct takt_toml_value *root)
{
    static const char file[] = "pyproject.toml";
    const struct takt_toml_value *list =
        takt__toml_get(takt__toml_get(root, "project"), "dependencies");
    const struct takt_toml_value *poetry =
        takt__toml_get(takt__toml_get(root, "tool"), "poetry");

    if (list != NULL && list->kind == TAKT_TOML_ARRAY)
        for (const struct takt_toml_value *at = list->first; at; at = at->next)
            if (at->kind == TAKT_TOML_STRING)
                add_requirement(out, file, at->string, at->string_length);
    add_table(out, file, takt__toml_get(poetry, "dependencies"));
}

/* ---- plain text -----------------------------------------------------------
 */

static void add_requirements(struct analysis *out, const char *text,
                             size_t size)
{
    for (const char *at = text; at < text + size;) {
        const size_t length = strcspn(at, "\n");
        add_requirement(out, "requirements.txt", at, length);
        at += length + 1;
    }
}

/* find_package(Name version ...), in any case, not behind a #. */
static void add_packages(struct analysis *out, const char *text, size_t size)
{
    static const char command[] = "find_package";
    static const char ends[] = " \t\r\n()";

    for (const char *at = text; at < text + size; at++) {
        if (*at == '#')
            at += strcspn(at, "\n");
        const size_t length = sizeof command - 1;
        if ((at > text && strchr(" \t\r\n)", at[-1]) == NULL) ||
            (size_t)(text + size - at) <= length ||
            !takt__name_equal_n(at, length, command))
            continue;
        const char *name = at + length;
        name += strspn(name, " \t");
        if (*name++ != '(')
            continue;
        name += strspn(name, " \t\r\n");
        const size_t name_length = strcspn(name, ends);
        const char *version = name + name_length;
        version += strspn(version, " \t\r\n");
        const size_t digits = strspn(version, "0123456789.");
        if (name_length > 0)
            add(out, "CMakeLists.txt", name, name_length, version, digits);
    }
}

/* ---- files ----------------------------------------------------------------
 */

/* The text of a file, or NULL where there is none. False: it cannot be read. */
static bool read_text(const char *folder, const char *name, char **text,
                      size_t *size, char *error, size_t error_size)
{
    char path[longest_path + 64];
    takt_diag diag = {""};

    *text = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const takt_status status =
        takt__read_file(path, most_bytes, text, size, &diag);
    if (status == TAKT_OK || status == TAKT_ENOENT)
        return true;
    snprintf(error, error_size, "%s",
             diag.text[0] != '\0' ? diag.text : takt_status_text(status));
    return false;
}

static bool read_toml(const char *folder, const char *name,
                      struct analysis *out,
                      void (*take)(struct analysis *out,
                                   const struct takt_toml_value *root),
                      char *error, size_t error_size)
{
    struct takt_toml_error trouble = {.why = "no memory"};
    struct takt_toml *toml;
    char *text;
    size_t size;

    if (!read_text(folder, name, &text, &size, error, error_size))
        return false;
    if (text == NULL)
        return true;
    const takt_status status = takt__toml_parse(text, size, &toml, &trouble);
    if (status == TAKT_OK)
        take(out, takt__toml_root(toml));
    else
        snprintf(error, error_size, "%s:%zu:%zu: %s", name, trouble.line,
                 trouble.column, trouble.why);
    takt__toml_destroy(toml);
    free(text);
    return status == TAKT_OK;
}

static bool
read_plain(const char *folder, const char *name, struct analysis *out,
           void (*take)(struct analysis *out, const char *text, size_t size),
           char *error, size_t error_size)
{
    char *text;
    size_t size;

    if (!read_text(folder, name, &text, &size, error, error_size))
        return false;
    if (text != NULL)
        take(out, text, strlen(text)); /* as far as it is text */
    free(text);
    return true;
}

bool find_dependencies(const char *folder, struct analysis *out, char *error,
                       size_t size)
{
    return read_toml(folder, "Cargo.toml", out, add_cargo, error, size) &&
           read_toml(folder, "pyproject.toml", out, add_pyproject, error,
                     size) &&
           read_plain(folder, "requirements.txt", out, add_requirements, error,
                      size) &&
           read_plain(folder, "CMakeLists.txt", out, add_packages, error, size);
}
