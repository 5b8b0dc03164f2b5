/* SPDX-License-Identifier: MIT */
/*
 * optimize_patch.c - `--patch`: findings as a unified diff, a hunk each, that
 * puts a call of libtakt before each loop. Only what is known to compute the
 * same has one (scan/c_family_rewrite.h); what does not compile has none.
 */
#define _XOPEN_SOURCE 700 /* realpath(), mkstemps() */
#define _DEFAULT_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clean.h"
#include "compile.h"
#include "patch_text.h"
#include "project/diff.h"

enum { most_in_file = 1000 };

struct patch_counts {
    size_t exact, patched, compiled, refused, unchecked;
};

/* ---- compiling ---- */

static void ignore_line(void *self, const char *line)
{
    (void)self;
    (void)line;
}

/* Whether a text compiles in the place of a file. */
static bool does_compile(const struct compile_command *command,
                         const char *real, const char *text, size_t size)
{
    const char *dot = strrchr(real, '.');
    const char *slash = strrchr(real, '/');
    char path[PATH_MAX], quote[PATH_MAX];
    const char *const more[] = {"-w", "-iquote", quote, NULL};

    if (dot == NULL || slash == NULL || strlen(dot) > 8)
        return false;
    snprintf(quote, sizeof quote, "%.*s", (int)(slash - real), real);
    snprintf(path, sizeof path, "/tmp/takt-patch-XXXXXX%s", dot);
    const int fd = mkstemps(path, (int)strlen(dot));
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out == NULL)
        return false;
    const bool is_written = fwrite(text, 1, size, out) == size;
    const bool is_right = fclose(out) == 0 && is_written &&
                          run_compiler(command, more, path, ignore_line, NULL);
    unlink(path);
    return is_right;
}

/* ---- a file ---- */

static bool is_wanted(const struct kept_finding *kept)
{
    return kept->finding.rewrite != NULL && !kept->finding.is_test &&
           kept->standing != STANDING_IGNORED &&
           kept->standing != STANDING_KNOWN &&
           kept->standing != STANDING_DEVICE &&
           kept->standing != STANDING_REMAINDER &&
           strstr(kept->finding.path, ".cu") == NULL;
}

static bool do_compile(const struct compile_command *command, const char *real,
                       const struct source_file *file,
                       const struct takt_finding *const *finding, size_t count)
{
    size_t size;
    char *text = rewrite_source(file, finding, count, &size);
    const bool is_right =
        text != NULL && does_compile(command, real, text, size);

    free(text);
    return is_right;
}

/* Drops those that make the file fail to compile. All together are tried
 * first. */
static size_t drop_failing(const struct compile_command *command,
                           const char *real, const struct source_file *file,
                           const struct takt_finding **finding, size_t count,
                           struct patch_counts *counts)
{
    size_t kept = 0;

    if (do_compile(command, real, file, finding, count)) {
        counts->compiled += count;
        return count;
    }
    if (!does_compile(command, real, file->text, file->size)) {
        counts->unchecked += count; /* nor does it as it is */
        return count;
    }
    for (size_t i = 0; i < count; i++)
        if (do_compile(command, real, file, &finding[i], 1))
            finding[kept++] = finding[i];
    counts->refused += count - kept;
    counts->compiled += kept;
    return kept;
}

static bool command_for(const struct optimize_report *report, const char *real,
                        struct compile_command *out)
{
    if (report->database != NULL &&
        find_compile_command(report->database, real, out))
        return true;
    if (report->compiler == NULL)
        return false;
    *out = *report->compiler;
    return true;
}

/* For `git apply` as it is; on a terminal, to be looked at. */
static void print_patch(const char *diff)
{
    if (isatty(STDOUT_FILENO))
        print_clean_lines(stdout, diff);
    else
        fputs(diff, stdout);
}

static void print_file(const struct optimize_report *report,
                       const struct takt_finding **finding, size_t count,
                       struct patch_counts *counts)
{
    const char *name = finding[0]->path;
    char path[2 * PATH_MAX], old_name[PATH_MAX + 8], new_name[PATH_MAX + 8];
    struct compile_command command;
    struct source_file file;
    size_t usable = 0, size;

    snprintf(path, sizeof path, "%s/%s", report->search->folder, name);
    char *real = realpath(path, NULL);
    if (real == NULL || !open_source(real, &file)) {
        free(real);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (is_on_own_lines(&file, finding[i]) &&
            (usable == 0 || finding[i]->line > finding[usable - 1]->end_line))
            finding[usable++] = finding[i];
    if (usable > 0 && command_for(report, real, &command))
        usable = drop_failing(&command, real, &file, finding, usable, counts);
    else
        counts->unchecked += usable;
    char *text =
        usable > 0 ? rewrite_source(&file, finding, usable, &size) : NULL;
    snprintf(old_name, sizeof old_name, "a/%.4000s", name);
    snprintf(new_name, sizeof new_name, "b/%.4000s", name);
    char *diff = text != NULL
                     ? takt__diff((struct takt_diff_side){old_name, file.text,
                                                          file.size},
                                  (struct takt_diff_side){new_name, text, size})
                     : NULL;
    if (diff != NULL) {
        print_patch(diff);
        counts->patched += usable;
    }
    free(diff);
    free(text);
    free(real);
    close_source(&file);
}

/* ---- all of them ---- */

static void pass_over(struct optimize_report *report,
                      const struct kept_finding *kept,
                      const struct advice *advice)
{
    (void)report;
    (void)kept;
    (void)advice;
}

static void end(struct optimize_report *report)
{
    const struct findings *findings = report->findings;
    const struct takt_finding *finding[most_in_file];
    struct patch_counts counts = {0};
    size_t next;

    for (size_t i = 0; i < findings->count; i = next) {
        const char *path = findings->at[i].finding.path;
        size_t count = 0;
        for (next = i;
             next < findings->count && findings->at[next].finding.path == path;
             next++) {
            const struct kept_finding *kept = &findings->at[next];
            counts.exact += kept->finding.certainty == TAKT_EXACT &&
                            (kept->finding.language == TAKT_SCAN_C ||
                             kept->finding.language == TAKT_SCAN_CPP);
            if (is_wanted(kept) && count < most_in_file)
                finding[count++] = &kept->finding;
        }
        if (count > 0)
            print_file(report, finding, count, &counts);
    }
    fflush(stdout);
    fprintf(stderr,
            "takt optimize: %zu of %zu exact findings in C and C++ have a "
            "patch; %zu were compiled, %zu were not checked, %zu did not "
            "compile and are left out\n",
            counts.patched, counts.exact, counts.compiled, counts.unchecked,
            counts.refused);
}

const struct report_form report_patch = {NULL, pass_over, end};
