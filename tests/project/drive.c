/* SPDX-License-Identifier: MIT */
/*
 * drive.c - what scripts need of project/:
 *
 *     drive root FOLDER            the manifest that has the profiles
 *     drive diff FOLDER PROFILE    what would be changed
 *     drive set FOLDER PROFILE     changes it
 *     drive raise FOLDER PROFILE   changes it, and lowers nothing
 *     drive toml                   standard input, as JSON
 *
 * Exit status 1: it failed, and standard error says why.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "project/manifest.h"
#include "project/toml_json.h"

static int print_toml(void)
{
    static char text[1 << 20];
    const size_t length = fread(text, 1, sizeof text, stdin);
    struct takt_toml_error error;
    struct takt_toml *toml;

    if (takt__toml_parse(text, length, &toml, &error) != TAKT_OK) {
        fprintf(stderr, "%zu:%zu: %s\n", error.line, error.column, error.why);
        return 1;
    }
    print_toml_value(stdout, takt__toml_root(toml), text);
    putchar('\n');
    takt__toml_destroy(toml);
    return 0;
}

static int fail(const takt_diag *diag)
{
    fprintf(stderr, "%s\n", diag->text[0] != '\0' ? diag->text : "no manifest");
    return 1;
}

static int print_root(const char *folder)
{
    takt_diag diag;
    char *path;

    if (takt__manifest_find(folder, &path, &diag) != TAKT_OK)
        return fail(&diag);
    puts(path);
    free(path);
    return 0;
}

static int change(const char *folder, const char *name, bool is_written,
                  bool is_asked)
{
    struct takt_manifest_change planned;
    struct takt_profile_wish wish = {.is_asked = is_asked};
    takt_diag diag;
    char *text = NULL;

    if (!takt__profile_parse(name, &wish.profile))
        return 2;
    if (takt__manifest_plan(folder, "/", wish, &planned, &diag) != TAKT_OK)
        return fail(&diag);
    takt_status status = TAKT_OK;
    if (is_written)
        status = takt__manifest_write(&planned, &text, &diag);
    else
        text = takt__manifest_diff(&planned);
    if (status == TAKT_OK && is_written)
        printf("%s\n%s\n", planned.is_needed ? "changed" : "unchanged",
               text != NULL ? text : "");
    else if (status == TAKT_OK && text != NULL)
        fputs(text, stdout);
    free(text);
    takt__manifest_change_fini(&planned);
    return status == TAKT_OK ? 0 : fail(&diag);
}

int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "toml") == 0)
        return print_toml();
    if (count == 3 && strcmp(words[1], "root") == 0)
        return print_root(words[2]);
    if (count == 4 && strcmp(words[1], "diff") == 0)
        return change(words[2], words[3], false, true);
    if (count == 4 && strcmp(words[1], "set") == 0)
        return change(words[2], words[3], true, true);
    if (count == 4 && strcmp(words[1], "raise") == 0)
        return change(words[2], words[3], true, false);
    fputs("usage: drive root|diff|set|raise FOLDER [PROFILE], or drive toml\n",
          stderr);
    return 2;
}
