/* SPDX-License-Identifier: MIT */
/*
 * optimize_search.c - the scanner as the commands use it: options, warnings,
 * and a line of progress on a terminal.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/name.h"
#include "optimize.h"

enum { most_warnings = 20 };
static const uint64_t progress_after_ns = 500000000,
                      progress_every_ns = 100000000;

/* ---- languages ---- */

static const struct {
    const char *word;
    enum takt_scan_language language;
} words[] = {{"rust", TAKT_SCAN_RUST},
             {"python", TAKT_SCAN_PYTHON},
             {"c", TAKT_SCAN_C},
             {"cpp", TAKT_SCAN_CPP},
             {"c++", TAKT_SCAN_CPP}};

/* The bits of the languages in a list; 0: a word is not one, and *wrong. */
static unsigned read_languages(const char *list, const char **wrong)
{
    unsigned bits = 0;

    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        unsigned bit = 0;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (takt__name_equal_n(at, length, words[i].word))
                bit = 1u << words[i].language;
        if (bit == 0) {
            *wrong = at;
            return 0;
        }
        bits |= bit;
        at += length;
        if (*at == '\0')
            return bits;
    }
}

bool check_languages(const struct invocation *invocation)
{
    const char *list = option_value(invocation, "languages");
    const char *wrong;

    if (list == NULL || read_languages(list, &wrong) != 0)
        return true;
    return reject(invocation->command,
                  "--languages '%.*s' is not one of rust, python, c, cpp",
                  (int)strcspn(wrong, ","), wrong);
}

struct phrase describe_languages(const struct takt_scan_report *report)
{
    struct phrase all = {""};

    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        const uint64_t files = report->of[i].files;
        if (files > 0)
            all = phrase("%s%s%s %s file%s", all.at,
                         all.at[0] != '\0' ? ", " : "",
                         takt__scan_language_name((enum takt_scan_language)i),
                         count_text(files).at, files > 1 ? "s" : "");
    }
    return all.at[0] != '\0' ? all
                             : phrase("no sources in Rust, Python, C or C++");
}

/* ---- while it goes on ---- */

/* What is below the folder, without its name. */
static const char *relative(const struct search *search, const char *path)
{
    const size_t length = strlen(search->folder);

    if (strncmp(path, search->folder, length) == 0 && length > 0) {
        const char *rest = path + length;
        if (*rest == '/' || rest[-1] == '/')
            path = rest;
        while (*path == '/')
            path++;
    }
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

static void hide_progress(const struct search *search)
{
    if (search->shows_progress)
        fprintf(stderr, "\r%*s\r", 60, "");
}

void search_warn(struct search *search, const char *line)
{
    const uint64_t before = search->warnings++;

    if (before > most_warnings)
        return;
    hide_progress(search);
    complain(search->invocation->command, "%s",
             before < most_warnings
                 ? line
                 : "more files could not be read or understood");
}

static void warn(void *self, const char *path, const char *why)
{
    char line[longest_path];

    snprintf(line, sizeof line, "%s: %s", relative(self, path), why);
    search_warn(self, line);
}

static void show_progress(void *self, uint64_t files, uint64_t bytes)
{
    struct search *search = self;
    const uint64_t now = takt__now_ns();

    if (!search->shows_progress || now < search->next_ns)
        return;
    search->next_ns = now + progress_every_ns;
    fprintf(stderr, "\rtakt %s: %s files, %-20s",
            search->invocation->command->name, count_text((size_t)files).at,
            amount_text((double)bytes, "B").at);
}

static int visit(void *self, const struct takt_finding *finding)
{
    struct search *search = self;
    struct takt_finding here = *finding;

    here.path = relative(search, finding->path);
    return search->visit == NULL ? 0 : search->visit(search->self, &here);
}

static void visit_file(void *self, const char *path,
                       enum takt_scan_language language, const char *text,
                       size_t size)
{
    struct search *search = self;

    search->file(search->self, relative(search, path), language, text, size);
}

bool search_sources(struct search *search, char *error, size_t size)
{
    const char *list = option_value(search->invocation, "languages");
    const char *wrong;
    takt_diag diag = {""};
    const struct takt_scan_options options = {
        .path = &search->folder,
        .path_count = 1,
        .languages = list == NULL ? 0 : read_languages(list, &wrong),
        .with_ignored = option_given(search->invocation, "with-ignored"),
        .with_vendored = option_given(search->invocation, "with-vendored"),
        .warn = warn,
        .progress = show_progress,
        .visit = visit,
        .file = search->file == NULL ? NULL : visit_file,
        .self = search};

    search->shows_progress = isatty(STDERR_FILENO) == 1;
    search->next_ns = takt__now_ns() + progress_after_ns;
    const takt_status status = takt__scan(&options, &search->report, &diag);
    hide_progress(search);
    if (status == TAKT_OK)
        return true;
    snprintf(error, size, "the sources cannot be searched: %s",
             diag.text[0] != '\0' ? diag.text : takt_status_text(status));
    return false;
}
