/* SPDX-License-Identifier: MIT */
/* optimize_tally.c - findings counted by backend and standing, and the report
 * for people. */
#include <stdio.h>
#include <string.h>

#include "findings.h"

_Static_assert((int)STANDINGS <= (int)most_standings, "each has its count");

struct phrase describe_found(const struct takt_finding *finding,
                             const struct advice *advice)
{
    const bool is_sized = finding->size.shape.rank > 0;
    const char *source =
        is_sized ? takt__size_source_name(finding->size.source) : "";
    struct shape_text shape = {""};

    if (is_sized)
        shape = shape_text(&finding->size.shape);
    for (char *at = shape.at; *at != '\0'; at++) /* a size that is not known */
        if (*at == '0' && (at == shape.at || at[-1] == 'x') &&
            (at[1] == 'x' || at[1] == '\0'))
            *at = '?';
    return phrase("%s %s%s%s%s%s%s", finding->name,
                  takt_dtype_name(finding->is_dtype_known ? finding->dtype
                                                          : advice->dtype),
                  is_sized ? " " : "", shape.at, source[0] != '\0' ? " (" : "",
                  source, source[0] != '\0' ? ")" : "");
}

/* "scalar", "vectorised code on one thread", "the library that runs it" */
static const char *baseline_text(const struct advice *advice)
{
    if (strcmp(advice->baseline, "library") == 0)
        return "the library that runs it";
    return strcmp(advice->baseline, "vectorised") == 0
               ? "vectorised code on one thread"
               : "scalar";
}

struct phrase describe_speedup(const struct advice *advice)
{
    const double speedup = predicted_speedup(advice);

    if (!(speedup > 0))
        return phrase("%s", "");
    return phrase("predicted %.3g times as fast as %s with %s (%s instead of "
                  "%s)",
                  speedup, baseline_text(advice), advice->expert,
                  seconds_text(advice->best_s).at,
                  seconds_text(advice->baseline_s).at);
}

struct phrase describe_evidence(const struct kept_finding *kept)
{
    struct phrase sizes = {""};

    if (kept->share <= 0)
        return phrase("%s", "");
    if (kept->least > 0)
        sizes = phrase(", sizes %s to %s", count_text(kept->least).at,
                       kept->most > 0 ? count_text(kept->most).at : "any");
    if (kept->evidence == EVIDENCE_FUNCTION && kept->sharers > 1)
        return phrase(", about %.1f%% of the time: its part of that of %.60s()",
                      100 * kept->share, kept->finding.function);
    if (kept->evidence == EVIDENCE_OP)
        return phrase(", %.1f%% of the time%s%s", 100 * kept->share, sizes.at,
                      kept->sharers > 1 ? ", shared with others of its op"
                                        : "");
    return phrase(", %.1f%% of the time", 100 * kept->share);
}

void count_finding(struct finding_tally *tally, const struct kept_finding *kept,
                   const struct advice *advice)
{
    if (kept->finding.is_test) {
        tally->in_tests++;
        return;
    }
    tally->of[kept->standing]++;
    tally->conditional += advice->is_conditional;
    tally->gpu +=
        !advice->is_conditional && advice->backend == TAKT_BACKEND_GPU;
    tally->simd +=
        !advice->is_conditional && advice->backend == TAKT_BACKEND_SIMD;
    tally->scalar +=
        !advice->is_conditional && advice->backend == TAKT_BACKEND_SCALAR;
}

uint64_t tally_total(const struct finding_tally *tally)
{
    return tally->gpu + tally->simd + tally->scalar + tally->conditional;
}

/* ---- text ---- */

/* Why it is not listed without --all: "[ignored: three elements] ". */
static struct phrase describe_standing(const struct kept_finding *kept)
{
    if (kept->standing == STANDING_OPEN)
        return phrase("%s", kept->finding.is_test ? "[test] " : "");
    return phrase("%s[%s%s%s] ", kept->finding.is_test ? "[test] " : "",
                  standing_key(kept->standing),
                  kept->reason != NULL ? ": " : "",
                  kept->reason != NULL ? kept->reason : "");
}

static void print_finding(struct optimize_report *report,
                          const struct kept_finding *kept,
                          const struct advice *advice)
{
    const struct takt_finding *finding = &kept->finding;
    char path[longest_path], snippet[TAKT_SNIPPET], standing[400];
    const struct phrase speedup = describe_speedup(advice);

    if (!report->lists_all)
        return;
    printf("%s:%u:%u: %s%s: %s%s%s%s\n    %s\n",
           clean_text(finding->path, path, sizeof path), finding->line,
           finding->column,
           clean_text(describe_standing(kept).at, standing, sizeof standing),
           describe_found(finding, advice).at, advice->text,
           describe_evidence(kept).at, speedup.at[0] != '\0' ? ", " : "",
           speedup.at, clean_text(finding->snippet, snippet, sizeof snippet));
    if (advice->call[0] != '\0')
        printf("    %s\n", advice->call);
}

static void print_counts(const struct optimize_report *report)
{
    const struct finding_tally *tally = &report->tally;
    const struct takt_scan_report *found = &report->search->report;
    uint64_t lines = 0;

    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++)
        lines += found->of[i].lines;
    printf("%s%s; %s lines, %.2f s\n", report->lists_all ? "\n" : "",
           describe_languages(found).at, count_text(lines).at, found->seconds);
    printf("\n%s finding%s outside of tests", count_text(tally_total(tally)).at,
           tally_total(tally) == 1 ? "" : "s");
    if (tally->in_tests > 0)
        printf(", %s in tests", count_text(tally->in_tests).at);
    printf("\n  GPU %ju, SIMD %ju, Scalar %ju, by size %ju\n", tally->gpu,
           tally->simd, tally->scalar, tally->conditional);
    for (int i = STANDING_OPEN + 1; i < STANDINGS; i++)
        if (tally->of[i] > 0)
            printf("  %s %s\n", count_text(tally->of[i]).at,
                   standing_text((enum standing)i));
    if (tally->unchanged > 0)
        printf("  %s in lines that did not change, left out\n",
               count_text(tally->unchanged).at);
}

static void print_evidence(const struct optimize_report *report)
{
    const struct evidence_summary *evidence = report->evidence;
    const struct compiled_summary *compiled = report->compiled;

    if (compiled->asked + compiled->unknown + compiled->failed > 0)
        printf(
            "\nthe compiler reported on %zu files; %zu have no command, %zu do "
            "not compile\n",
            compiled->asked, compiled->unknown, compiled->failed);

    if (evidence->files > 0)
        printf(
            "\nthe profile%s (%s): %.1f%% of the time in findings, %.1f%% in "
            "other code of the project, %.1f%% elsewhere\n",
            evidence->files > 1 ? "s" : "", evidence->formats,
            100 * evidence->found, 100 * evidence->own,
            100 * evidence->elsewhere);
}

static void print_profile(const struct optimize_report *report)
{
    const struct profile_outcome *profile = report->profile;
    char path[longest_path];

    if (profile == NULL || !profile->is_cargo)
        return;
    printf("\n%s: [profile.release] %s %s\n",
           clean_text(profile->path, path, sizeof path),
           !profile->is_changed       ? "is already"
           : report->workflow->is_dry ? "would be set to"
                                      : "was set to",
           profile->profile);
    if (profile->kept.text[0] != '\0')
        printf("  %s: kept as it is\n",
               clean_text(profile->kept.text, path, sizeof path));
    if (profile->backup[0] != '\0')
        printf("  the old one is %s\n",
               clean_text(profile->backup, path, sizeof path));
    if (report->workflow->is_dry && profile->diff != NULL)
        print_clean_lines(stdout, profile->diff);
}

/* Whether profiles knew the function alone of some of them. */
static bool is_by_function(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->at[i].evidence == EVIDENCE_FUNCTION &&
            findings->at[i].sharers > 1)
            return true;
    return false;
}

static void print_next(const struct optimize_report *report, size_t shown)
{
    const char *folder = report->workflow->folder;
    const struct finding_tally *tally = &report->tally;

    puts("\nnext");
    if (tally_total(tally) > 0 && !report->rules->is_tuned)
        puts("  'takt tune' measures this machine, so that speedups can be "
             "predicted");
    if (tally_total(tally) > shown && !report->lists_all)
        print_line(stdout,
                   "  'takt optimize --dry-run --all %s' lists every finding",
                   folder);
    if (strstr(report->evidence->formats, "perf script") != NULL &&
        is_by_function(report->findings))
        puts("  'perf script -F +srcline' tells lines, where functions have "
             "several findings");
    if (shown > 0 && report->evidence->files == 0)
        puts("  --profile-data FILE puts what takes most time first");
    if (tally_total(tally) > 0 && !report->rules->enable_gpu)
        puts("  --enable-gpu tells what belongs on a GPU");
    if (report->workflow->is_dry)
        print_line(stdout, "  'takt optimize %s' does it: nothing was written",
                   folder);
    else
        print_line(stdout,
                   "  'takt validate%s %s' checks on this machine what was "
                   "recommended, and runs the tests",
                   report->rules->enable_gpu ? " --enable-gpu" : "", folder);
}

static void end(struct optimize_report *report)
{
    print_counts(report);
    print_evidence(report);
    const size_t shown = print_top(report);
    print_profile(report);
    print_next(report, shown);
}

const struct report_form report_text = {NULL, print_finding, end};
