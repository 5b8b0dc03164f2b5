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
#include "project/profile_value.h"
#include "project/read_file.h"
#include "project/toml_edit.h"

enum { MOST_BACKUPS = 1000 };

/* NULL: the profile does not set this key. */
static const char *const literals[TAKT_PROFILES][TAKT_PROFILE_KEYS] = {
    [TAKT_PROFILE_FAST] = {"2", "\"off\"", "16", NULL},
    [TAKT_PROFILE_BALANCED] = {"3", "\"thin\"", "4", NULL},
    [TAKT_PROFILE_AGGRESSIVE] = {"3", "\"fat\"", "1", "\"symbols\""}};

/* The same, as takt__profile_rank() has them. */
static const int ranks[TAKT_PROFILES][TAKT_PROFILE_KEYS] = {
    [TAKT_PROFILE_FAST] = {2, 0, -16, 0},
    [TAKT_PROFILE_BALANCED] = {3, 2, -4, 0},
    [TAKT_PROFILE_AGGRESSIVE] = {3, 3, -1, 2}};

/* What is to be done with a key. */
enum verdict { VERDICT_SET, VERDICT_SAME, VERDICT_KEEP };

static struct takt_toml_setting setting(enum takt_profile profile, int key)
{
    static const char *const table[] = {"profile", "release"};

    return (struct takt_toml_setting){
        table, 2, takt__profile_key_name((enum takt_profile_key)key),
        literals[profile][key]};
}

static const struct takt_toml_value *release_of(const struct takt_toml *toml)
{
    const struct takt_toml_setting any = setting(TAKT_PROFILE_FAST, 0);

    return takt__toml_table(takt__toml_root(toml), &any);
}

/* Whether the manifest has all that the aggressive profile sets. */
static bool is_aggressive(const struct takt_toml *toml)
{
    for (int i = 0; i < TAKT_PROFILE_KEYS; i++) {
        const struct takt_toml_setting one =
            setting(TAKT_PROFILE_AGGRESSIVE, i);
        if (!takt__toml_is(takt__toml_get(release_of(toml), one.key),
                           one.literal))
            return false;
    }
    return true;
}

static bool is_table(const struct takt_toml_value *value)
{
    return value != NULL && value->kind == TAKT_TOML_TABLE;
}

static enum verdict judge(const struct takt_toml *toml,
                          struct takt_profile_wish wish,
                          enum takt_profile_key key)
{
    const struct takt_toml_value *release = release_of(toml);
    const struct takt_toml_value *value =
        takt__toml_get(release, takt__profile_key_name(key));
    const int have = takt__profile_rank(key, value);
    const int want = ranks[wish.profile][key];
    const bool keeps_debug =
        key == TAKT_KEY_STRIP &&
        takt__profile_has_debug(takt__toml_get(release, "debug"));

    if (literals[wish.profile][key] == NULL)
        return VERDICT_SAME;
    if (is_table(value))
        return VERDICT_SET; /* which is refused, by its place */
    if (have == want && (value != NULL || (release != NULL && !wish.is_asked)))
        return VERDICT_SAME; /* by Cargo's default, where it is not written */
    if (keeps_debug)
        return VERDICT_KEEP;
    if (wish.is_asked)
        return VERDICT_SET;
    if (have == TAKT_RANK_UNKNOWN || have > want)
        return VERDICT_KEEP;
    return key == TAKT_KEY_STRIP && value != NULL ? VERDICT_KEEP : VERDICT_SET;
}

/* Adds "lto = true" to what is kept. */
static void note_kept(struct takt_kept_values *kept, const char *text,
                      const struct takt_toml *toml, enum takt_profile_key key)
{
    const char *name = takt__profile_key_name(key);
    const struct takt_toml_value *value =
        takt__toml_get(release_of(toml), name);
    const size_t used = strlen(kept->text);

    if (value == NULL && key == TAKT_KEY_STRIP) {
        value = takt__toml_get(release_of(toml), "debug");
        name = "debug";
    }
    if (value != NULL)
        snprintf(kept->text + used, sizeof kept->text - used, "%s%s = %.*s",
                 used > 0 ? ", " : "", name,
                 (int)(value->text.to - value->text.from),
                 text + value->text.from);
}

/* What is to be set, by the text as it is now. */
static takt_status look(const struct takt_toml_text *text,
                        struct takt_profile_wish wish,
                        bool is_set[TAKT_PROFILE_KEYS], bool *loses_strip,
                        struct takt_kept_values *kept,
                        struct takt_toml_error *error)
{
    struct takt_toml *toml;
    const takt_status status =
        takt__toml_parse(text->bytes, text->length, &toml, error);

    kept->text[0] = '\0';
    if (status != TAKT_OK)
        return status;
    *loses_strip = wish.is_asked && is_aggressive(toml) &&
                   literals[wish.profile][TAKT_KEY_STRIP] == NULL;
    for (int i = 0; i < TAKT_PROFILE_KEYS; i++) {
        const enum verdict verdict =
            judge(toml, wish, (enum takt_profile_key)i);
        is_set[i] = verdict == VERDICT_SET;
        if (verdict == VERDICT_KEEP)
            note_kept(kept, text->bytes, toml, (enum takt_profile_key)i);
    }
    takt__toml_destroy(toml);
    return TAKT_OK;
}

static takt_status edit(struct takt_toml_text *text,
                        struct takt_profile_wish wish,
                        struct takt_kept_values *kept,
                        struct takt_toml_error *error)
{
    bool is_set[TAKT_PROFILE_KEYS] = {false}, loses_strip = false;
    takt_status status = look(text, wish, is_set, &loses_strip, kept, error);

    if (status == TAKT_OK && loses_strip) {
        const struct takt_toml_setting strip =
            setting(TAKT_PROFILE_AGGRESSIVE, TAKT_KEY_STRIP);
        status = takt__toml_remove(text, &strip, error);
    }
    for (int i = 0; i < TAKT_PROFILE_KEYS && status == TAKT_OK; i++) {
        const struct takt_toml_setting one = setting(wish.profile, i);
        if (is_set[i])
            status = takt__toml_set(text, &one, error);
    }
    return status;
}

takt_status takt__manifest_set_profile(const char *name, const char *text,
                                       size_t length,
                                       struct takt_profile_wish wish,
                                       char **out, size_t *out_length,
                                       struct takt_kept_values *kept,
                                       takt_diag *diag)
{
    struct takt_kept_values unused;
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
    const takt_status status =
        edit(&edited, wish, kept != NULL ? kept : &unused, &error);
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
                                struct takt_profile_wish wish,
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
            change->path, change->old_text, change->old_length, wish,
            &change->new_text, &change->new_length, &change->kept, diag);
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
    for (int i = 0; i < 2 * TAKT_PROFILES && !is_so; i++) {
        const struct takt_profile_wish wish = {(enum takt_profile)(i / 2),
                                               i % 2 != 0};
        if (takt__manifest_set_profile(path, kept, kept_length, wish, &made,
                                       &made_length, NULL, NULL) != TAKT_OK)
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
