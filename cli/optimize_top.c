/* SPDX-License-Identifier: MIT */
/*
 * optimize_top.c - the few findings to begin with, as text.
 *
 * With a profile, code that takes time and is none of the ops stands among
 * them. Without one the list ends where nothing says that a change is worth it,
 * and the rest is counted; where it is empty, a product that a library runs
 * stands there, since `takt run` chooses where these run without a change of
 * the sources.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "findings.h"

/* Powers of two: one pass over 256 elements, in no loop, scores 8, a dot
 * product 12, and in two loops 20. A product of two matrices of 256 rows in no
 * loop scores 28: alone, that is none to look at where a library runs it. */
static const double least_score = 16, least_routed = 31;
/* What is a four-thousandth of the work of the first is not among them. */
static const double most_below = 12;

enum { most_aside = 2 }; /* where there is nothing else */

enum top_part { TOP_OPEN, TOP_LIBRARY };

struct top_list {
    const struct optimize_report *report;
    const struct kept_finding *shown[most_top];
    size_t count;  /* of these */
    size_t number; /* of all lines */
    size_t others; /* places of other code */
    double best;   /* score of the first */
};

/* What would stay where it is is not among the best, unless it takes time. */
static bool is_top(const struct top_list *list, const struct kept_finding *kept,
                   const struct advice *advice)
{
    if (kept->finding.is_test || !is_listed(kept))
        return false;
    if (list->report->evidence->files > 0)
        return kept->share > 0;
    const double most = kept->score + (kept->is_aside ? rank_aside : 0);
    if (list->count > 0 && (kept->score < list->best - most_below ||
                            (kept->is_aside && list->count == most_aside)))
        return false;
    return (kept->score >= least_score ||
            (list->best < 0 && most >= least_score)) &&
           (advice->is_conditional || advice->backend != TAKT_BACKEND_SCALAR);
}

static void print_heading(size_t number, bool is_by_time)
{
    if (number == 1)
        printf("\n%s\n", is_by_time ? "most time"
                                    : "most work, by sizes, loops and calls");
}

/* Code that takes time and is none of the ops. */
static void print_hot(size_t number, const struct hot_place *place)
{
    char path[longest_path], function[longest_symbol];

    print_heading(number, true);
    printf("  %zu. ", number);
    if (place->path != NULL && place->from > 0)
        printf("%s:%u-%u  ", clean_text(place->path, path, sizeof path),
               place->from, place->to);
    printf("%s(): none of the ops, %.1f%% of the time\n",
           clean_text(place->function, function, sizeof function),
           100 * place->share);
}

static void print_one_top(size_t number, const struct kept_finding *kept,
                          const struct advice *advice)
{
    const struct takt_finding *finding = &kept->finding;
    const struct phrase speedup = describe_speedup(advice);
    char path[longest_path], snippet[TAKT_SNIPPET];

    if (is_listed(kept))
        print_heading(number, kept->share > 0);
    printf("  %zu. %s:%u:%u  %s: %s%s\n", number,
           clean_text(finding->path, path, sizeof path), finding->line,
           finding->column, describe_found(finding, advice).at, advice->text,
           describe_evidence(kept).at);
    if (kept->standing != STANDING_OPEN && kept->share > 0)
        printf("     %s\n", standing_text(kept->standing));
    if (speedup.at[0] != '\0')
        printf("     %s\n", speedup.at);
    printf("     %s\n", clean_text(finding->snippet, snippet, sizeof snippet));
    if (advice->call[0] != '\0')
        printf("     in C: %s\n", advice->call);
}

/* Whether two findings are one to look at: the same op in one function; and,
 * where no profile tells them apart, as much of it in one file, or a copy in
 * another file. */
static bool is_alike(const struct kept_finding *a, const struct kept_finding *b)
{
    const bool is_timed = a->share > 0 || b->share > 0;
    const bool is_same_function =
        a->finding.function[0] != '\0' &&
        strcmp(a->finding.function, b->finding.function) == 0;

    if (strcmp(a->finding.name, b->finding.name) != 0)
        return false;
    if (strcmp(a->finding.path, b->finding.path) == 0)
        return is_same_function || (!is_timed && fabs(a->score - b->score) < 1);
    return !is_timed && is_same_function &&
           strcmp(a->finding.snippet, b->finding.snippet) == 0;
}

/* "     also in lines 240, 252" */
static void print_alike(const struct optimize_report *report,
                        const struct kept_finding *kept)
{
    const struct findings *findings = report->findings;
    unsigned count = 0;

    for (size_t i = 0; i < findings->count; i++) {
        const struct kept_finding *other = &findings->at[i];
        if (other == kept || !is_listed(other) || !is_alike(other, kept))
            continue;
        count++;
        if (count <= most_top)
            printf("%s%u", count == 1 ? "     also in line " : ", ",
                   other->finding.line);
    }
    if (count > 0)
        puts(count > most_top ? " ..." : "");
}

/* Whether it stands in the list already, or has its place with one that does:
 * what is found several times in a function takes one. */
static bool is_shown(const struct top_list *list,
                     const struct kept_finding *kept)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->shown[i] == kept || is_alike(list->shown[i], kept))
            return true;
    return false;
}

static void show_hot(struct top_list *list, double share)
{
    const struct hot_code *hot = &list->report->evidence->hot;

    while (list->number < most_top && list->others < hot->count &&
           hot->at[list->others].share > share)
        print_hot(++list->number, &hot->at[list->others++]);
}

static bool is_routed_product(const struct kept_finding *kept)
{
    static const char *const ops[] = {"matmul", "batched_matmul", "gemv"};
    const struct takt_finding *finding = &kept->finding;
    const bool is_routed = strstr(finding->pattern, "/blas") != NULL ||
                           (finding->language == TAKT_SCAN_PYTHON &&
                            strstr(finding->snippet, "torch") == NULL);

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(finding->op->name, ops[i]) == 0)
            return is_routed && kept->standing == STANDING_LIBRARY &&
                   kept->score >= least_routed && !finding->is_test &&
                   !kept->is_aside;
    return false;
}

/* As long as there are places. */
static void show_findings(struct top_list *list, enum top_part part)
{
    const struct optimize_report *report = list->report;
    const struct findings *findings = report->findings;
    const size_t most = part == TOP_OPEN ? most_top : 1;
    bool is_first = part != TOP_OPEN;

    for (size_t i = 0;
         i < findings->count && list->number < most_top && list->number < most;
         i++) {
        const struct kept_finding *kept = &findings->at[report->order[i]];
        const struct advice advice =
            advise(report->rules, &kept->finding, runs_now_of(kept));
        if (is_shown(list, kept) ||
            !(part == TOP_LIBRARY ? is_routed_product(kept)
                                  : is_top(list, kept, &advice)))
            continue;
        show_hot(list, kept->share);
        if (list->number == most_top)
            return;
        if (is_first)
            puts("\na product that a library runs: 'takt run -- PROGRAM' "
                 "chooses where");
        is_first = false;
        if (list->count == 0)
            list->best = kept->score;
        list->shown[list->count++] = kept;
        print_one_top(++list->number, kept, &advice);
        print_alike(report, kept);
    }
}

/* The list ends where nothing says that a change is worth it. */
static void print_rest(const struct top_list *list)
{
    const struct findings *findings = list->report->findings;
    uint64_t count = 0;

    for (size_t i = 0; i < findings->count; i++)
        count += is_listed(&findings->at[i]) &&
                 !findings->at[i].finding.is_test &&
                 !is_shown(list, &findings->at[i]);
    if (count > 0)
        printf("\n%s %s less work, or seem%s to run less often\n",
               count_text(count).at,
               list->count > 0 ? count == 1 ? "more is" : "more are"
               : count == 1    ? "is"
                               : "are",
               count == 1 ? "s" : "");
}

size_t print_top(const struct optimize_report *report)
{
    struct top_list list = {.report = report, .best = -1};

    if (report->order == NULL)
        return 0;
    show_findings(&list, TOP_OPEN);
    show_hot(&list, 0);
    if (report->evidence->files == 0 && list.number == 0)
        show_findings(&list, TOP_LIBRARY);
    if (report->evidence->files == 0)
        print_rest(&list);
    return list.count;
}
