/* SPDX-License-Identifier: MIT */
/* manifest.c - the table of profiles, and how it gets into a manifest. */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "project/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/new_file.h"
#include "base/say.h"
#include "project/diff.h"
#include "project/read_file.h"
#include "project/toml_edit.h"

enum { KEYS = 4, STRIP = 3, MOST_BACKUPS = 1000 };

static const char *const keys[KEYS] = {"opt-level", "lto", "codegen-units",
                                       "strip"};

/* NULL: the profile does not set this key. */
static const char *const literals[TAKT_PROFILES][KEYS] = {
    [TAKT_PROFILE_FAST] = {"2", "\"off\"", "16", NULL},
    [TAKT_PROFILE_BALANCED] = {"3", "\"thin\"", "4", NULL},
    [TAKT_PROFILE_AGGRESSIVE] = {"3", "\"fat\"", "1", "\"symbols\""}};

static struct takt_toml_setting setting(enum takt_profile profile, int key)
{
    static const char *const table[] = {"profile", "release"};

    return (struct takt_toml_setting){table, 2, keys[key],
                                      literals[profile][key]};
}

/* Whether the manifest has all that the aggressive profile sets. */
static takt_status is_aggressive(const struct takt_toml_text *text, bool *is_so,
                                 struct takt_toml_error *error)
{
    const struct takt_toml_setting any = setting(TAKT_PROFILE_AGGRESSIVE, 0);
    struct takt_toml *toml;
    const takt_status status =
        takt__toml_parse(text->bytes, text->length, &toml, error);

    *is_so = status == TAKT_OK;
    for (int i = 0; i < KEYS && *is_so; i++) {
        const struct takt_toml_value *table =
            takt__toml_table(takt__toml_root(toml), &any);
        *is_so = takt__toml_is(takt__toml_get(table, keys[i]),
                               literals[TAKT_PROFILE_AGGRESSIVE][i]);
    }
    takt__toml_destroy(toml);
    return status;
}

static takt_status edit(struct takt_toml_text *text, enum takt_profile profile,
                        struct takt_toml_error *error)
{
    bool has_our_strip;
    takt_status status = is_aggressive(text, &has_our_strip, error);

    if (status == TAKT_OK && has_our_strip &&
        literals[profile][STRIP] == NULL) {
        const struct takt_toml_setting strip =
            setting(TAKT_PROFILE_AGGRESSIVE, STRIP);
        status = takt__toml_remove(text, &strip, error);
    }
    for (int i = 0; i < KEYS && status == TAKT_OK; i++) {
        const struct takt_toml_setting one = setting(profile, i);
        if (one.literal != NULL)
            status = takt__toml_set(text, &one, error);
    }
    return status;
}

takt_status takt__manifest_set_profile(const char *name, const char *text,
                                       size_t length, enum takt_profile profile,
                                       char **out, size_t *out_length,
                                       takt_diag *diag)
{
    struct takt_toml_text edited = {malloc(length + 1), length};
    struct takt_toml_error error = {0};

    takt__say(diag, TAKT_OK, "%s", "");
    *out = NULL;
    *out_length = 0;
    if (edited.bytes == NULL)
        return takt__say(diag, TAKT_ENOMEM, "no memory");
    if (length > 0)
        memcpy(edited.bytes, text, length);
    edited.bytes[length] = '\0';
    const takt_status status = edit(&edited, profile, &error);
    if (status == TAKT_OK) {
        *out = edited.bytes;
        *out_length = edited.length;
        return TAKT_OK;
    }
    free(edited.bytes);
    return takt__toml_say(diag, status, name, &error);
}

bool takt__path_is_within(const char *folder, const char *path)
{
    const size_t length = strlen(folder);

    if (strcmp(folder, "/") == 0)
        return path[0] == '/';
    return strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || path[length] == '\0');
}

/* Finds the file that the manifest's links lead to, and where that is. */
static takt_status find_file(const char *within,
                             struct takt_manifest_change *change,
                             takt_diag *diag)
{
    char *folder = realpath(within, NULL);

    change->file = realpath(change->path, NULL);
    const int wrong = errno;
    const bool is_known = folder != NULL && change->file != NULL;
    if (is_known && !takt__path_is_within(folder, change->path))
        change->outside = change->path; /* the backup would be there */
    else if (is_known && !takt__path_is_within(folder, change->file))
        change->outside = change->file;
    free(folder);
    return is_known ? TAKT_OK
                    : takt__say(diag, TAKT_EIO, "%.300s: %s", change->path,
                                strerror(wrong));
}

static bool is_old_text(const struct takt_manifest_change *change,
                        const char *text, size_t length)
{
    return length == change->old_length &&
           memcmp(text, change->old_text, length) == 0;
}

takt_status takt__manifest_plan(const char *folder, const char *within,
                                enum takt_profile profile,
                                struct takt_manifest_change *change,
                                takt_diag *diag)
{
    *change = (struct takt_manifest_change){0};
    takt_status status = takt__manifest_find(folder, &change->path, diag);
    if (status == TAKT_OK)
        status = find_file(within, change, diag);
    if (status == TAKT_OK)
        status = takt__read_file(change->file, TAKT_MANIFEST_BYTES,
                                 &change->old_text, &change->old_length, diag);
    if (status == TAKT_OK)
        status = takt__manifest_set_profile(
            change->path, change->old_text, change->old_length, profile,
            &change->new_text, &change->new_length, diag);
    if (status != TAKT_OK)
        takt__manifest_change_fini(change);
    else
        change->is_needed =
            !is_old_text(change, change->new_text, change->new_length);
    return status;
}

char *takt__manifest_diff(const struct takt_manifest_change *change)
{
    return takt__diff((struct takt_diff_side){change->path, change->old_text,
                                              change->old_length},
                      (struct takt_diff_side){change->path, change->new_text,
                                              change->new_length});
}

/* Whether a backup is the text that `change` begins with, or was that before a
 * profile of ours was set in it. */
static bool is_backup_of(const char *path,
                         const struct takt_manifest_change *change)
{
    char *kept, *made;
    size_t kept_length, made_length;

    if (takt__read_file(path, TAKT_MANIFEST_BYTES, &kept, &kept_length, NULL) !=
        TAKT_OK)
        return false;
    bool is_so = is_old_text(change, kept, kept_length);
    for (int i = 0; i < TAKT_PROFILES && !is_so; i++) {
        if (takt__manifest_set_profile(path, kept, kept_length,
                                       (enum takt_profile)i, &made,
                                       &made_length, NULL) != TAKT_OK)
            break;
        is_so = is_old_text(change, made, made_length);
        free(made);
    }
    free(kept);
    return is_so;
}

/* Keeps the old text, unless it is kept already: then *backup stays NULL. */
static takt_status back_up(const struct takt_manifest_change *change,
                           char **backup, takt_diag *diag)
{
    const char *path = change->path;
    const size_t size = strlen(path) + sizeof ".bak.1000";
    char *name = malloc(size);
    takt_status status = TAKT_EEXIST;

    if (name == NULL)
        return takt__say(diag, TAKT_ENOMEM, "no memory");
    for (int i = 0; i < MOST_BACKUPS && status == TAKT_EEXIST; i++) {
        if (i == 0)
            snprintf(name, size, "%s.bak", path);
        else
            snprintf(name, size, "%s.bak.%d", path, i);
        status = takt__create_like(name, change->file, change->old_text,
                                   change->old_length, diag);
        if (status == TAKT_EEXIST && is_backup_of(name, change)) {
            free(name);
            return TAKT_OK;
        }
    }
    if (status == TAKT_OK) {
        *backup = name;
        return TAKT_OK;
    }
    free(name);
    return status != TAKT_EEXIST
               ? status
               : takt__say(diag, TAKT_EIO, "%.300s: has too many backups",
                           path);
}

static takt_status check_unchanged(const struct takt_manifest_change *change,
                                   takt_diag *diag)
{
    char *text;
    size_t length;
    takt_status status =
        takt__read_file(change->file, change->old_length, &text, &length, NULL);

    if (status == TAKT_ENOMEM)
        return takt__say(diag, status, "no memory");
    if (status != TAKT_OK || !is_old_text(change, text, length))
        status = takt__say(diag, TAKT_EIO,
                           "%.300s: was changed meanwhile; run this again",
                           change->path);
    free(text);
    return status;
}

static takt_status refuse_outside(const struct takt_manifest_change *change,
                                  takt_diag *diag)
{
    const char *path = change->outside;
    const int folder = (int)(strrchr(path, '/') - path);

    return takt__say(diag, TAKT_EINVAL,
                     "%.200s: is outside of the folder that was named, and is "
                     "left alone; to set the profile there: takt optimize "
                     "%.*s",
                     path, folder > 200 ? 200 : folder, path);
}

takt_status takt__manifest_write(const struct takt_manifest_change *change,
                                 char **backup, takt_diag *diag)
{
    struct takt_new_file file;
    char *made = NULL;

    takt__say(diag, TAKT_OK, "%s", "");
    if (backup != NULL)
        *backup = NULL;
    if (!change->is_needed)
        return TAKT_OK;
    if (change->outside != NULL)
        return refuse_outside(change, diag);
    takt_status status =
        takt__new_file_open(change->file, TAKT_NEW_FILE_NO_LINKS, &file, diag);
    if (status != TAKT_OK)
        return status;
    status =
        takt__new_file_write(&file, change->new_text, change->new_length, diag);
    if (status == TAKT_OK)
        status = back_up(change, &made, diag);
    if (status == TAKT_OK)
        status = check_unchanged(change, diag);
    if (status == TAKT_OK)
        status = takt__new_file_commit(&file, diag);
    takt__new_file_drop(&file);
    if (status != TAKT_OK && made != NULL)
        remove(made); /* nothing was changed that it would be needed for */
    if (status == TAKT_OK && backup != NULL)
        *backup = made;
    else
        free(made);
    return status;
}

void takt__manifest_change_fini(struct takt_manifest_change *change)
{
    free(change->path);
    free(change->file);
    free(change->old_text);
    free(change->new_text);
    *change = (struct takt_manifest_change){0};
}
