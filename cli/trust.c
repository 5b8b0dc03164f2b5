/* SPDX-License-Identifier: MIT */
/*
 * trust.c - asking before the commands of a project are run.
 *
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/new_file.h"
#include "base/sha256.h"
#include "project/read_file.h"
#include "workflow.h"

enum { most_bytes = 1 << 20, row_length = TAKT_SHA256_HEX };

/* A row of the file: the hash of the folder and the line, and a newline. */
static bool make_row(const struct shell_line *shell, char row[row_length + 1])
{
    struct takt_sha256 hash;
    char *folder = realpath(shell->folder, NULL);

    if (folder == NULL)
        return false;
    takt__sha256_init(&hash);
    takt__sha256_add(&hash, folder, strlen(folder) + 1);
    takt__sha256_add(&hash, shell->text, strlen(shell->text) + 1);
    takt__sha256_finish_hex(&hash, row);
    strcat(row, "\n");
    free(folder);
    return true;
}

/* ---- the file ---- */

static bool find_file(char path[PATH_MAX])
{
    const struct takt_config *config = takt__config();
    int length = 0;

    if (config->state_home != NULL && config->state_home[0] == '/')
        length =
            snprintf(path, PATH_MAX, "%s/takt/trusted", config->state_home);
    else if (config->home != NULL && config->home[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/.local/state/takt/trusted",
                          config->home);
    return length > 0 && length < PATH_MAX;
}

/* What is in it, to be freed; NULL: nothing that counts. What others may write
 * says nothing about the user. */
static char *read_rows(const char *path, size_t *length)
{
    struct stat facts;
    char *text = NULL;

    *length = 0;
    if (lstat(path, &facts) != 0 || !S_ISREG(facts.st_mode) ||
        facts.st_uid != geteuid() || (facts.st_mode & 022) != 0)
        return NULL;
    takt__read_file(path, most_bytes, &text, length, NULL);
    return text;
}

static bool is_remembered(const char *row)
{
    char path[PATH_MAX];
    size_t length;
    char *text = find_file(path) ? read_rows(path, &length) : NULL;
    const char *found = text != NULL ? strstr(text, row) : NULL;
    const bool is_row = found != NULL && (found == text || found[-1] == '\n');

    free(text);
    return is_row;
}

static void make_folders(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
}

static void remember(const struct command *command, const char *row)
{
    char path[PATH_MAX];
    takt_diag diag = {""};
    size_t length;

    if (!find_file(path)) {
        complain(command, "the answer is not kept: HOME is not set");
        return;
    }
    make_folders(path);
    const mode_t mask = umask(077);
    char *text = read_rows(path, &length);
    char *more = realloc(text, length + row_length + 1);
    if (more != NULL) {
        memcpy(more + length, row, row_length + 1);
        if (takt__write_whole(path, TAKT_NEW_FILE_NO_LINKS, more,
                              length + row_length, &diag) != TAKT_OK)
            complain(command, "the answer is not kept: %s", diag.text);
    }
    free(more != NULL ? more : text);
    umask(mask);
}

/* ---- the question ---- */

/* All of the line is shown: what was cut off could be what matters. */
static bool ask(const struct command *command, const struct shell_line *shell)
{
    char answer[16];

    fflush(stdout);
    fprintf(stderr, "takt %s: the shell is to run this line (", command->name);
    print_clean(stderr, shell->source);
    fputs(") with your rights, in ", stderr);
    print_clean(stderr, shell->folder);
    fputs(":\n\n    ", stderr);
    print_clean(stderr, shell->text);
    fputs("\n\nRun it, now and from now on? [y/N] ", stderr);
    return fgets(answer, sizeof answer, stdin) != NULL &&
           (answer[0] == 'y' || answer[0] == 'Y');
}

bool is_trusted(const struct command *command, const struct shell_line *shell)
{
    char row[row_length + 1];

    if (!make_row(shell, row)) {
        complain(command, "%s: %s", shell->folder, strerror(errno));
        return false;
    }
    if (is_remembered(row))
        return true;
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
        complain(command,
                 "nothing was run: the shell is to run '%s' (%s), and that "
                 "was not agreed to; add --trust if you trust the project",
                 shell->text, shell->source);
        return false;
    }
    if (!ask(command, shell)) {
        complain(command, "nothing was run");
        return false;
    }
    remember(command, row);
    return true;
}
