/* SPDX-License-Identifier: MIT */
/* optimize_text.c - findings for people: how many, the best, what to do. */
#include <stdio.h>
#include <string.h>

#include "number.h"
#include "optimize.h"

static void print_finding(struct optimize_report *report,
                          const struct takt_finding *finding,
                          const struct advice *advice)
{
    char path[longest_path], what[160], gain[160], snippet[TAKT_SNIPPET];

    if (!report->lists_all)
        return;
    format_found(finding, advice, what, sizeof what);
    format_gain(advice, gain, sizeof gain);
    printf("%s:%u:%u: %s%s: %s%s%s\n    %s\n",
           clean_text(finding->path, path, sizeof path), finding->line,
           finding->column, finding->is_test ? "[test] " : "", what,
           advice->text, gain[0] != '\0' ? ", " : "", gain,
           clean_text(finding->snippet, snippet, sizeof snippet));
    if (advice->call[0] != '\0')
        printf("    %s\n", advice->call);
}

static void print_counts(const struct optimize_report *report)
{
    const struct finding_tally *tally = &report->tally;
    const struct takt_scan_report *found = &report->search->report;
    uint64_t lines = 0;
    char languages[160];

    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++)
        lines += found->of[i].lines;
    format_languages(found, languages, sizeof languages);
    printf("%s%s; %s lines, %.2f s\n", report->lists_all ? "\n" : "", languages,
           count_text(lines).at, found->seconds);
    printf("\n%s finding%s outside of tests", count_text(tally_total(tally)).at,
           tally_total(tally) == 1 ? "" : "s");
    if (tally->in_tests > 0)
        printf(", %s in tests", count_text(tally->in_tests).at);
    printf("\n  GPU %ju, SIMD %ju, Scalar %ju, by size %ju\n", tally->gpu,
           tally->simd, tally->scalar, tally->conditional);
}

static void print_top(const struct optimize_report *report)
{
    const struct finding_tally *tally = &report->tally;
    const bool has_gains =
        tally->top_count > 0 && predicted_gain(&tally->top[0].advice) > 1;

    if (tally->top_count == 0)
        return;
    printf("\n%s\n", has_gains ? "largest predicted gains"
                               : "most work (no gain was predicted)");
    for (size_t i = 0; i < tally->top_count; i++) {
        const struct top_finding *top = &tally->top[i];
        char gain[160];
        format_gain(&top->advice, gain, sizeof gain);
        printf("  %zu. %s  %s: %s\n", i + 1, top->place, top->what,
               top->advice.text);
        if (gain[0] != '\0')
            printf("     %s\n", gain);
        printf("     %s\n", top->snippet);
        if (top->advice.call[0] != '\0')
            printf("     in C: %s\n", top->advice.call);
    }
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
    if (profile->backup[0] != '\0')
        printf("  the old one is %s\n",
               clean_text(profile->backup, path, sizeof path));
    if (report->workflow->is_dry && profile->diff != NULL)
        print_clean_lines(stdout, profile->diff);
}

static void print_next(const struct optimize_report *report)
{
    const char *folder = report->workflow->folder;
    const struct finding_tally *tally = &report->tally;

    puts("\nnext");
    if (tally_total(tally) > 0 && !report->rules->is_tuned)
        puts("  'takt tune' measures this machine, so that gains can be "
             "predicted");
    if (tally_total(tally) > tally->top_count && !report->lists_all)
        print_line(stdout,
                   "  'takt optimize --dry-run --all %s' lists every finding",
                   folder);
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

static void begin(struct optimize_report *report)
{
    (void)report;
}

static void end(struct optimize_report *report)
{
    print_counts(report);
    print_top(report);
    print_profile(report);
    print_next(report);
}

const struct report_form report_text = {begin, print_finding, end};
