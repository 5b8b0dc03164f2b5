/* SPDX-License-Identifier: MIT */
/*
 * optimize_depends.c - what a project depends on, by the files that say so:
 * Cargo.toml, pyproject.toml, setup.cfg, requirements*.txt, CMakeLists.txt.
 *
 * Those of its own folder, and of all that sources were found in or below: so
 * members of a workspace and projects in projects count, and what is vendored,
 * built or ignored does not.
 */
#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/name.h"
#include "optimize.h"
#include "project/read_file.h"
#include "project/toml.h"

enum { most_bytes = 4 << 20 };

/* A manifest while it is read. */
struct manifest_file {
    struct analysis *analysis;
    const char *file; /* from the project's folder on */
};

static void add(const struct manifest_file *manifest, const char *name,
                size_t name_length, const char *version, size_t version_length)
{
    struct analysis *out = manifest->analysis;
    char *file = out->dependency_count < most_dependencies
                     ? strdup(manifest->file)
                     : NULL;
    if (file == NULL) {
        out->left_out++;
        return;
    }
    struct dependency *it = &out->dependency[out->dependency_count++];
    it->file = file;
    snprintf(it->name, sizeof it->name, "%.*s", (int)name_length, name);
    snprintf(it->version, sizeof it->version, "%.*s", (int)version_length,
             version);
}

/* ---- TOML ---- */

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

/* What is in a table or an array; NULL: it is neither, or there is nothing. */
static const struct takt_toml_value *
first_in(const struct takt_toml_value *value, enum takt_toml_kind kind)
{
    return value != NULL && value->kind == kind ? value->first : NULL;
}

/* name = version, except for `but`, which may be NULL. */
static void add_table(const struct manifest_file *manifest,
                      const struct takt_toml_value *table, const char *but)
{
    for (const struct takt_toml_value *at = first_in(table, TAKT_TOML_TABLE);
         at; at = at->next) {
        const char *version = version_of(at);
        if (but == NULL || strcmp(at->key, but) != 0)
            add(manifest, at->key, strlen(at->key), version, strlen(version));
    }
}

static void add_crates(const struct manifest_file *manifest,
                       const struct takt_toml_value *table)
{
    static const char *const kinds[] = {"dependencies", "dev-dependencies",
                                        "build-dependencies"};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        add_table(manifest, takt__toml_get(table, kinds[i]), NULL);
}

static void add_cargo(const struct manifest_file *manifest,
                      const struct takt_toml_value *root)
{
    const struct takt_toml_value *targets = takt__toml_get(root, "target");

    add_crates(manifest, root);
    for (const struct takt_toml_value *at = first_in(targets, TAKT_TOML_TABLE);
         at; at = at->next)
        add_crates(manifest, at);
    add_crates(manifest, takt__toml_get(root, "workspace"));
}

/* "numpy[extra]>=1.20; python_version > '3'", as PEP 508 has it. Options, paths
 * and addresses, which name nothing, are passed over. */
static void add_requirement(const struct manifest_file *manifest,
                            const char *text, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    char line[256];

    snprintf(line, sizeof line, "%.*s", (int)length, text);
    line[strcspn(line, ";#\\\r\n")] = '\0';
    char *option = strstr(line, " --");
    if (option != NULL)
        *option = '\0';
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
    const bool has_version = strchr("<>=!~@(", *version) != NULL;
    if (name_length > 0 && *name != '-' && (has_version || *version == '\0'))
        add(manifest, name, name_length, version, version_length);
}

static void add_list(const struct manifest_file *manifest,
                     const struct takt_toml_value *list)
{
    for (const struct takt_toml_value *at = first_in(list, TAKT_TOML_ARRAY); at;
         at = at->next)
        if (at->kind == TAKT_TOML_STRING)
            add_requirement(manifest, at->string, at->string_length);
}

static void add_lists(const struct manifest_file *manifest,
                      const struct takt_toml_value *table)
{
    for (const struct takt_toml_value *at = first_in(table, TAKT_TOML_TABLE);
         at; at = at->next)
        add_list(manifest, at);
}

static void add_pyproject(const struct manifest_file *manifest,
                          const struct takt_toml_value *root)
{
    const struct takt_toml_value *project = takt__toml_get(root, "project");
    const struct takt_toml_value *poetry =
        takt__toml_get(takt__toml_get(root, "tool"), "poetry");
    const struct takt_toml_value *groups = takt__toml_get(poetry, "group");

    add_list(manifest, takt__toml_get(project, "dependencies"));
    add_lists(manifest, takt__toml_get(project, "optional-dependencies"));
    add_lists(manifest, takt__toml_get(root, "dependency-groups"));
    add_table(manifest, takt__toml_get(poetry, "dependencies"), "python");
    for (const struct takt_toml_value *at = first_in(groups, TAKT_TOML_TABLE);
         at; at = at->next)
        add_table(manifest, takt__toml_get(at, "dependencies"), "python");
}

/* ---- plain text ---- */

static void add_requirements(const struct manifest_file *manifest,
                             const char *text)
{
    for (size_t length; *text != '\0'; text += length + (text[length] != 0)) {
        length = strcspn(text, "\n");
        add_requirement(manifest, text, length);
    }
}

/* install_requires of [options]: on its line, and on those below it that are
 * indented. */
static void add_setup(const struct manifest_file *manifest, const char *text)
{
    static const char section[] = "[options]", key[] = "install_requires";
    bool is_section = false, is_list = false;

    for (size_t length; *text != '\0'; text += length + (text[length] != 0)) {
        length = strcspn(text, "\n");
        const size_t equals = strcspn(text, "=\n");
        if (*text == '[') {
            is_section = strncmp(text, section, sizeof section - 1) == 0;
            is_list = false;
        } else if (strchr(" \t\r\n#;", *text) == NULL) {
            is_list = is_section && equals < length &&
                      strncmp(text, key, sizeof key - 1) == 0;
            if (is_list)
                add_requirement(manifest, text + equals + 1,
                                length - equals - 1);
        } else if (is_list) {
            add_requirement(manifest, text, length);
        }
    }
}

/* Behind a comment of CMake: # to the end of the line, or #[==[ ... ]==]. */
static const char *skip_comment(const char *at)
{
    const size_t marks = at[1] == '[' ? strspn(at + 2, "=") : 0;
    char close[16];

    if (at[1] != '[' || at[2 + marks] != '[' || marks > sizeof close - 3)
        return at + strcspn(at, "\n");
    snprintf(close, sizeof close, "]%.*s]", (int)marks, at + 2);
    const char *end = strstr(at, close);
    return end != NULL ? end + marks + 2 : at + strlen(at);
}

/* find_package(Name version ...) at the beginning of a line, in any case. */
static void add_packages(const struct manifest_file *manifest, const char *at)
{
    static const char command[] = "find_package";

    while (*at != '\0') {
        at += strspn(at, " \t\r\n");
        const size_t length = strcspn(at, " \t\r\n(#");
        const char *name = at + length + strspn(at + length, " \t");
        if (takt__name_equal_n(at, length, command) && *name == '(') {
            name += 1 + strspn(name + 1, " \t\r\n");
            const size_t name_length = strcspn(name, " \t\r\n()#$");
            const char *version = name + name_length;
            version += strspn(version, " \t\r\n");
            if (name_length > 0 && name[name_length] != '$')
                add(manifest, name, name_length, version,
                    strspn(version, "0123456789."));
        }
        while (*at != '\0' && *at != '\n')
            at = *at == '#' ? skip_comment(at) : at + 1;
    }
}

/* ---- files ---- */

/* What may be read, and how. */
static const struct manifest_kind {
    const char *names;
    void (*take_toml)(const struct manifest_file *manifest,
                      const struct takt_toml_value *root);
    void (*take_text)(const struct manifest_file *manifest, const char *text);
} kinds[] = {{"Cargo.toml", add_cargo, NULL},
             {"pyproject.toml", add_pyproject, NULL},
             {"setup.cfg", NULL, add_setup},
             {"requirements*.txt", NULL, add_requirements},
             {"CMakeLists.txt", NULL, add_packages}};

static const struct manifest_kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (fnmatch(kinds[i].names, name, 0) == 0)
            return &kinds[i];
    return NULL;
}

static int is_manifest(const struct dirent *entry)
{
    return kind_of(entry->d_name) != NULL;
}

static bool take_toml(const struct manifest_file *manifest,
                      const struct manifest_kind *kind, const char *text,
                      size_t length, char *error, size_t size)
{
    struct takt_toml_error trouble = {.why = "no memory"};
    struct takt_toml *toml;
    const takt_status status = takt__toml_parse(text, length, &toml, &trouble);

    if (status == TAKT_OK)
        kind->take_toml(manifest, takt__toml_root(toml));
    else
        snprintf(error, size, "%s:%zu:%zu: %s", manifest->file, trouble.line,
                 trouble.column, trouble.why);
    takt__toml_destroy(toml);
    return status == TAKT_OK;
}

static bool read_manifest(const struct manifest_file *manifest,
                          const char *root, const struct manifest_kind *kind,
                          char *error, size_t size)
{
    char path[2 * longest_path], *text;
    takt_diag diag = {""};
    size_t length;
    bool is_read = true;

    snprintf(path, sizeof path, "%s/%s", root, manifest->file);
    const takt_status status =
        takt__read_file(path, most_bytes, &text, &length, &diag);
    if (status != TAKT_OK && status != TAKT_ENOENT) {
        snprintf(error, size, "%s",
                 diag.text[0] != '\0' ? diag.text : takt_status_text(status));
        return false;
    }
    if (text != NULL && kind->take_toml != NULL)
        is_read = take_toml(manifest, kind, text, length, error, size);
    else if (text != NULL) /* as far as it is text, and behind its mark */
        kind->take_text(manifest,
                        text + (strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0));
    free(text);
    return is_read;
}

/* All manifests of a folder, by name. In the project's own, one that is broken
 * ends it; further down it may be there to be broken. */
static bool read_folder(const char *root, const char *folder,
                        struct analysis *out, char *error, size_t size)
{
    char path[2 * longest_path], file[longest_path];
    struct dirent **entry = NULL;
    const bool is_own = folder[0] == '\0';
    bool is_read = true;

    snprintf(path, sizeof path, "%s/%s", root, folder);
    const int count = scandir(path, &entry, is_manifest, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entry[i]->d_name;
        snprintf(file, sizeof file, "%s%s%s", folder, is_own ? "" : "/", name);
        if (is_read && !read_manifest(&(struct manifest_file){out, file}, root,
                                      kind_of(name), error, size)) {
            is_read = !is_own;
            if (!is_own)
                search_warn(&out->search, error);
        }
        free(entry[i]);
    }
    free(entry);
    return is_read;
}

bool find_dependencies(const char *root, struct analysis *out, char *error,
                       size_t size)
{
    return read_folder(root, "", out, error, size);
}

bool find_inner_dependencies(const char *root, struct analysis *out,
                             char *error, size_t size)
{
    for (size_t i = 0; i < out->folder_count; i++)
        if (out->folder[i][0] != '\0')
            read_folder(root, out->folder[i], out, error, size);
    if (out->is_folder_lost)
        snprintf(error, size, "no memory for the folders");
    return !out->is_folder_lost;
}

/* ---- folders ---- */

/* Where a folder is among those that were noted, or would be. */
static size_t place_of(const struct analysis *analysis, const char *path,
                       size_t length, bool *is_there)
{
    size_t low = 0, high = analysis->folder_count;

    *is_there = false;
    while (low < high && !*is_there) {
        const size_t middle = (low + high) / 2;
        const char *folder = analysis->folder[middle];
        int order = strncmp(folder, path, length);
        if (order == 0)
            order = folder[length] != '\0';
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
        *is_there = order == 0;
    }
    return high;
}

static bool insert_folder(struct analysis *analysis, size_t place,
                          const char *path, size_t length)
{
    char *copy = strndup(path, length);
    if (copy == NULL || !takt__grow(&analysis->folder, &analysis->folder_room,
                                    analysis->folder_count + 1, sizeof copy)) {
        free(copy);
        return false;
    }
    memmove(&analysis->folder[place + 1], &analysis->folder[place],
            (analysis->folder_count - place) * sizeof copy);
    analysis->folder[place] = copy;
    analysis->folder_count++;
    return true;
}

void note_folder(struct analysis *analysis, const char *path)
{
    size_t length = strlen(path);
    bool is_there = false;

    pthread_mutex_lock(&analysis->folders_lock);
    while (length > 0 && !is_there) { /* where it is, those above it are */
        while (length > 0 && path[--length] != '/')
            ;
        const size_t place = place_of(analysis, path, length, &is_there);
        if (!is_there && !insert_folder(analysis, place, path, length)) {
            analysis->is_folder_lost = true;
            break;
        }
    }
    pthread_mutex_unlock(&analysis->folders_lock);
}
