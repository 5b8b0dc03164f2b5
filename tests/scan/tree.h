/* SPDX-License-Identifier: MIT */
/*
 * tree.h - a folder to scan, and what a scan of it says, as text.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scan.h"
#include "support/tap.h"

struct tree {
    char path[128];
};

static inline void tree_make(struct tree *tree)
{
    snprintf(tree->path, sizeof tree->path, "/tmp/takt-scan-XXXXXX");
    REQUIRE(mkdtemp(tree->path) != NULL);
}

static inline void tree_remove(const struct tree *tree)
{
    const pid_t child = fork(); /* it knows how to get rid of deep folders */

    if (child == 0) {
        execlp("rm", "rm", "-rf", tree->path, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

static inline const char *tree_path(const struct tree *tree, const char *name)
{
    static char path[1024];

    snprintf(path, sizeof path, "%s/%s", tree->path, name);
    return path;
}

/* Folders on the way are made, too. */
static inline void tree_bytes(const struct tree *tree, const char *name,
                              const void *bytes, size_t size)
{
    char path[1024];

    snprintf(path, sizeof path, "%s", tree_path(tree, name));
    for (char *slash = path + strlen(tree->path) + 1;
         (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        REQUIRE(mkdir(path, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
    if (path[strlen(path) - 1] == '/')
        return;
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    REQUIRE(fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

/* A name that ends with a slash is a folder. */
static inline void tree_text(const struct tree *tree, const char *name,
                             const char *text)
{
    tree_bytes(tree, name, text, strlen(text));
}

/* What was said, one line each. */
struct account {
    char *text;
    size_t size, room;
    unsigned warnings, findings, most_findings; /* 0: any number */
    struct takt_scan_report report;
    takt_status status;
    takt_diag diag;
};

static inline void account_add(struct account *account, const char *format, ...)
{
    char line[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const size_t size = strlen(line);
    if (account->size + size + 1 > account->room) {
        account->room = (account->size + size + 1) * 2;
        account->text = realloc(account->text, account->room);
        REQUIRE(account->text != NULL);
    }
    memcpy(account->text + account->size, line, size + 1);
    account->size += size;
}

static inline void account_warning(void *self, const char *path,
                                   const char *why)
{
    struct account *account = self;

    account->warnings++;
    account_add(account, "%s %s\n", path, why);
}

static inline int account_finding(void *self,
                                  const struct takt_finding *finding)
{
    struct account *account = self;

    account_add(account, "%s:%u:%u-%u:%u %s %s in %s: %s\n", finding->path,
                finding->line, finding->column, finding->end_line,
                finding->end_column, finding->op->name, finding->pattern,
                finding->function, finding->snippet);
    return ++account->findings == account->most_findings;
}

static inline void account_of(struct account *account, const char *path,
                              struct takt_scan_options options)
{
    const unsigned most = account->most_findings;

    free(account->text);
    *account = (struct account){.most_findings = most};
    account_add(account, "%s", "");
    if (path != NULL) {
        options.path = &path;
        options.path_count = 1;
    }
    options.warn = account_warning;
    options.visit = account_finding;
    options.self = account;
    account->status = takt__scan(&options, &account->report, &account->diag);
}

static inline bool account_says(const struct account *account, const char *what)
{
    return strstr(account->text, what) != NULL;
}

static inline uint64_t account_files(const struct account *account)
{
    uint64_t files = 0;

    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++)
        files += account->report.of[i].files;
    return files;
}
