/* SPDX-License-Identifier: MIT */
/* cmd_analyze.c - `takt analyze`: what is in a project. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "optimize.h"

/* ---- the phase ---- */

static void visit_file(void *self, const char *path,
                       enum takt_scan_language language, const char *text,
                       size_t size)
{
    note_folder(self, path);
    count_imports(self, language, text, size);
}

int analyze(const struct invocation *invocation, struct workflow *workflow,
            struct analysis *out)
{
    char error[512];
    const int code = workflow_begin(workflow, TAKT_PHASE_ANALYSIS);

    *out = (struct analysis){.search = {.invocation = invocation,
                                        .folder = workflow->folder,
                                        .file = visit_file,
                                        .self = out},
                             .folders_lock = PTHREAD_MUTEX_INITIALIZER};
    if (code != EXIT_DONE)
        return code;
    const bool is_done =
        find_dependencies(workflow->folder, out, error, sizeof error) &&
        search_sources(&out->search, error, sizeof error) &&
        find_inner_dependencies(workflow->folder, out, error, sizeof error);
    return workflow_end(workflow, TAKT_PHASE_ANALYSIS, is_done ? NULL : error);
}

void free_analysis(struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->dependency_count; i++)
        free(analysis->dependency[i].file);
    for (size_t i = 0; i < analysis->folder_count; i++)
        free(analysis->folder[i]);
    free(analysis->folder);
    free(analysis);
}

/* ---- text ---- */

static void print_languages(const struct takt_scan_report *report)
{
    printf("%-10s %10s %12s %10s %10s %10s\n", "language", "files", "lines",
           "size", "findings", "in tests");
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        const struct takt_scan_counts *of = &report->of[i];
        if (of->files == 0)
            continue;
        printf("%-10s %10s %12s %10s %10ju %10ju\n",
               takt__scan_language_name((enum takt_scan_language)i),
               count_text(of->files).at, count_text(of->lines).at,
               amount_text((double)of->bytes, "B").at, of->findings,
               of->test_findings);
    }
}

static void print_troubles(const struct takt_scan_report *report)
{
    const struct {
        const char *what;
        uint64_t count;
    } rows[] = {{"ignored, vendored or built", report->ignored},
                {"unreadable", report->unreadable},
                {"binary", report->binary},
                {"too large", report->too_large},
                {"not UTF-8", report->not_utf8},
                {"given up", report->gave_up},
                {"links that were not followed", report->linked}};
    bool is_first = true;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].count > 0) {
            printf("%s%ju %s", is_first ? "passed over: " : ", ", rows[i].count,
                   rows[i].what);
            is_first = false;
        }
    if (!is_first)
        putchar('\n');
}

static void print_dependencies(const struct analysis *analysis)
{
    const char *file = NULL;
    char clean[longest_path];

    for (size_t i = 0; i < analysis->dependency_count; i++) {
        const struct dependency *it = &analysis->dependency[i];
        if (file == NULL || strcmp(file, it->file) != 0)
            printf("%s%s:", file == NULL ? "\ndependencies\n  " : "\n  ",
                   clean_text(it->file, clean, sizeof clean));
        else
            putchar(',');
        file = it->file;
        putchar(' ');
        print_clean(stdout, it->name);
        if (it->version[0] != '\0')
            putchar(' ');
        print_clean(stdout, it->version);
    }
    if (analysis->left_out > 0)
        printf(", and %ju more", analysis->left_out);
    if (file != NULL)
        putchar('\n');
}

static void print_frameworks(const struct analysis *analysis)
{
    bool is_first = true;
    const char *name;

    for (size_t i = 0; (name = framework_at(i)) != NULL; i++) {
        const uint64_t files = analysis->framework_files[i];
        if (files == 0)
            continue;
        printf("%s%s (%ju file%s)", is_first ? "\nframeworks\n  " : ", ", name,
               files, files > 1 ? "s" : "");
        is_first = false;
    }
    if (!is_first)
        putchar('\n');
}

static void print_text(const struct workflow *workflow,
                       const struct analysis *analysis)
{
    const struct takt_scan_report *report = &analysis->search.report;
    const struct phrase languages = describe_languages(report);

    if (strncmp(languages.at, "no ", 3) == 0)
        puts(languages.at);
    else
        print_languages(report);
    print_troubles(report);
    print_dependencies(analysis);
    print_frameworks(analysis);
    putchar('\n');
    print_line(stdout, "next: takt optimize %s", workflow->folder);
}

/* ---- JSON ---- */

static void print_languages_json(struct json *json,
                                 const struct takt_scan_report *report)
{
    json_open(json, "languages", '[');
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++) {
        const struct takt_scan_counts *of = &report->of[i];
        if (of->files == 0)
            continue;
        json_print(json,
                   "{language:%s files:%ju lines:%ju bytes:%ju parsed:%ju "
                   "parsed_partly:%ju findings:%ju test_findings:%ju}",
                   takt__scan_language_name((enum takt_scan_language)i),
                   of->files, of->lines, of->bytes, of->parsed, of->partly,
                   of->findings, of->test_findings);
    }
    json_print(json,
               "] passed_over:{ignored:%ju unreadable:%ju binary:%ju "
               "too_large:%ju not_utf8:%ju gave_up:%ju linked:%ju}",
               report->ignored, report->unreadable, report->binary,
               report->too_large, report->not_utf8, report->gave_up,
               report->linked);
}

static void print_json(const struct workflow *workflow,
                       const struct analysis *analysis)
{
    struct json json = json_begin(stdout);
    const char *name;

    json_print(&json, "{project:%s", workflow->folder);
    print_languages_json(&json, &analysis->search.report);
    json_open(&json, "dependencies", '[');
    for (size_t i = 0; i < analysis->dependency_count; i++) {
        const struct dependency *it = &analysis->dependency[i];
        json_print(&json, "{name:%s version:%s file:%s}", it->name,
                   known_text(it->version), it->file);
    }
    json_print(&json, "] dependencies_left_out:%ju frameworks:[",
               analysis->left_out);
    for (size_t i = 0; (name = framework_at(i)) != NULL; i++)
        if (analysis->framework_files[i] > 0)
            json_print(&json, "{name:%s files:%ju}", name,
                       analysis->framework_files[i]);
    json_print(&json, "] seconds:%g}\n", analysis->search.report.seconds);
}

/* ---- the command ---- */

static int run(const struct invocation *invocation)
{
    struct workflow workflow;
    struct analysis *analysis = calloc(1, sizeof *analysis);

    if (analysis == NULL)
        return complain(invocation->command, "no memory");
    int code = check_languages(invocation)
                   ? workflow_open(invocation, WORKFLOW_CHANGES, &workflow)
                   : EXIT_USAGE;
    if (code == EXIT_DONE) {
        code = analyze(invocation, &workflow, analysis);
        if (code == EXIT_DONE && option_given(invocation, "json"))
            print_json(&workflow, analysis);
        else if (code == EXIT_DONE)
            print_text(&workflow, analysis);
        workflow_close(&workflow);
    }
    free_analysis(analysis);
    return code;
}

const struct command cmd_analyze = {
    .name = "analyze",
    .operands = "[DIR]",
    .summary = "say what is in a code base",
    .description =
        "Counts the Rust, Python, C and C++ sources of a project, reads what "
        "it depends on and tells which frameworks its sources import. "
        "Dependencies are those that Cargo.toml, pyproject.toml, setup.cfg, "
        "requirements*.txt and CMakeLists.txt name, in its folder and in those "
        "that sources are in or below. It is the first phase: run again, it "
        "makes those after it stale.",
    .max_operands = 1,
    .options = {SEARCH_OPTIONS, {"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt analyze", "takt analyze --languages rust,python app",
                 "takt analyze --json app"},
    .run = run,
};
