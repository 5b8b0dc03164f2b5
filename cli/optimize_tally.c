/* SPDX-License-Identifier: MIT */
/*
 * optimize_tally.c - findings counted by backend, the best of them, and the
 * report for people.
 *
 * The best are those that are predicted to save most time in a call.
 * Where nothing was measured, and after those that were, it is the ones that do
 * most work in a call; where the size is not known, as if it were a typical
 * one.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimize.h"
#include "tune/family.h"

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

struct phrase describe_speedup(const struct advice *advice)
{
    const double speedup = predicted_speedup(advice);

    if (!(speedup > 0))
        return phrase("%s", "");
    return phrase(
        "predicted %.3g times as fast as scalar with %s (%s instead of %s)",
        speedup, advice->expert, seconds_text(advice->best_s).at,
        seconds_text(advice->scalar_s).at);
}

static double work_of(const takt_op *op, const struct advice *advice)
{
    const struct takt_family *family = takt__family_at(op, 0);
    takt_shape shape = advice->shape;
    takt_work work;

    if (shape.rank == 0 && family != NULL)
        shape = takt__family_shape(family, (family->low + family->high) / 2);
    if (shape.rank > 0 &&
        takt_op_work(op, advice->dtype, &shape, &work) == TAKT_OK)
        return work.flops + work.bytes / 4;
    return shape.rank > 0 ? (double)takt_op_elements(op, &shape) : 0;
}

/* Seconds that are saved, or a negative number that still tells apart. */
static double rank_of(const struct takt_finding *finding,
                      const struct advice *advice)
{
    if (predicted_speedup(advice) > 1)
        return advice->scalar_s - advice->best_s;
    return log2(work_of(finding->op, advice) + 1) - 1e6;
}

static void keep_best(struct finding_tally *tally,
                      const struct takt_finding *finding,
                      const struct advice *advice)
{
    const double rank = rank_of(finding, advice);
    struct top_finding *top = tally->top;
    size_t at = tally->top_count;
    char path[longest_path];

    while (at > 0 && top[at - 1].rank < rank)
        at--;
    if (at == most_top)
        return;
    if (tally->top_count < most_top)
        tally->top_count++;
    memmove(&top[at + 1], &top[at],
            (tally->top_count - at - 1) * sizeof top[0]);
    top[at] = (struct top_finding){.advice = *advice, .rank = rank};
    snprintf(top[at].place, sizeof top[at].place, "%.480s:%u:%u",
             clean_text(finding->path, path, sizeof path), finding->line,
             finding->column);
    top[at].what = describe_found(finding, advice);
    clean_text(finding->snippet, top[at].snippet, sizeof top[at].snippet);
}

void count_finding(struct finding_tally *tally,
                   const struct takt_finding *finding,
                   const struct advice *advice)
{
    if (finding->is_test) {
        tally->in_tests++;
        return;
    }
    tally->conditional += advice->is_conditional;
    tally->gpu +=
        !advice->is_conditional && advice->backend == TAKT_BACKEND_GPU;
    tally->simd +=
        !advice->is_conditional && advice->backend == TAKT_BACKEND_SIMD;
    tally->scalar +=
        !advice->is_conditional && advice->backend == TAKT_BACKEND_SCALAR;
    /* What would stay where it is is not among the best. */
    if (advice->is_conditional || advice->backend != TAKT_BACKEND_SCALAR)
        keep_best(tally, finding, advice);
}

uint64_t tally_total(const struct finding_tally *tally)
{
    return tally->gpu + tally->simd + tally->scalar + tally->conditional;
}

/* ---- text ---- */

static void print_finding(struct optimize_report *report,
                          const struct takt_finding *finding,
                          const struct advice *advice)
{
    char path[longest_path], snippet[TAKT_SNIPPET];
    const struct phrase speedup = describe_speedup(advice);

    if (!report->lists_all)
        return;
    printf("%s:%u:%u: %s%s: %s%s%s\n    %s\n",
           clean_text(finding->path, path, sizeof path), finding->line,
           finding->column, finding->is_test ? "[test] " : "",
           describe_found(finding, advice).at, advice->text,
           speedup.at[0] != '\0' ? ", " : "", speedup.at,
           clean_text(finding->snippet, snippet, sizeof snippet));
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
}

static void print_top(const struct optimize_report *report)
{
    const struct finding_tally *tally = &report->tally;
    const bool has_speedups =
        tally->top_count > 0 && predicted_speedup(&tally->top[0].advice) > 1;

    if (tally->top_count == 0)
        return;
    printf("\n%s\n", has_speedups ? "largest predicted speedups over scalar"
                                  : "most work (no speedup was predicted)");
    for (size_t i = 0; i < tally->top_count; i++) {
        const struct top_finding *top = &tally->top[i];
        const struct phrase speedup = describe_speedup(&top->advice);
        printf("  %zu. %s  %s: %s\n", i + 1, top->place, top->what.at,
               top->advice.text);
        if (speedup.at[0] != '\0')
            printf("     %s\n", speedup.at);
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
    if (profile->kept.text[0] != '\0')
        printf("  %s: kept as it is\n",
               clean_text(profile->kept.text, path, sizeof path));
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
        puts("  'takt tune' measures this machine, so that speedups can be "
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

static void end(struct optimize_report *report)
{
    print_counts(report);
    print_top(report);
    print_profile(report);
    print_next(report);
}

const struct report_form report_text = {NULL, print_finding, end};
