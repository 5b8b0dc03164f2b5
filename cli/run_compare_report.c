/* SPDX-License-Identifier: MIT */
/* run_compare_report.c - what a comparison came to: for people, and for
 * programs as docs/formats/run-compare.md has it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "clean.h"
#include "json.h"
#include "number.h"
#include "run_compare.h"

enum { columns = 80 };

/* ---- words ---- */

static double percent(double share)
{
    return 100 * fabs(share);
}

/* What the interval of wall times says, as in "1.31 times as fast". */
struct compare_verdict {
    const char *word; /* "faster", "slower", "no difference shown", "unknown" */
    char text[120];
};

static void say_faster(const struct interval *wall, struct compare_verdict *out)
{
    const double words_from = 0.9;

    out->word = "faster";
    if (wall->ratio < words_from)
        snprintf(out->text, sizeof out->text,
                 "%.2f times as fast with Takt (%.2f to %.2f)", 1 / wall->ratio,
                 1 / wall->high, 1 / wall->low);
    else
        snprintf(out->text, sizeof out->text,
                 "faster with Takt: %.1f%% less time (%.1f to %.1f%%)",
                 percent(1 - wall->ratio), percent(1 - wall->high),
                 percent(1 - wall->low));
}

static void say_slower(const struct interval *wall, struct compare_verdict *out)
{
    const double words_from = 1.5;

    out->word = "slower";
    if (wall->ratio > words_from)
        snprintf(out->text, sizeof out->text,
                 "SLOWER with Takt: %.2f times as long (%.2f to %.2f)",
                 wall->ratio, wall->low, wall->high);
    else
        snprintf(out->text, sizeof out->text,
                 "%.1f%% SLOWER with Takt (%.1f to %.1f%%)",
                 percent(wall->ratio - 1), percent(wall->low - 1),
                 percent(wall->high - 1));
}

static struct compare_verdict verdict_of(const struct interval *wall)
{
    struct compare_verdict verdict = {.word = "unknown"};

    if (!isfinite(wall->low)) {
        snprintf(verdict.text, sizeof verdict.text,
                 "too few pairs for a 95%% interval: %d are needed",
                 compare_least);
    } else if (wall->high < 1) {
        say_faster(wall, &verdict);
    } else if (wall->low > 1) {
        say_slower(wall, &verdict);
    } else {
        verdict.word = "no difference shown";
        snprintf(verdict.text, sizeof verdict.text,
                 "no difference shown: between %.1f%% faster and %.1f%% slower",
                 percent(1 - wall->low), percent(wall->high - 1));
    }
    return verdict;
}

static const char *const end_keys[] = {"pairs",      "narrow", "most_pairs",
                                       "time_limit", "failed", "signal"};
static const char *const output_keys[] = {"same", "varies", "differs"};

/* ---- sums ---- */

/* What was claimed, as a share of what the program would have taken without
 * Takt; NAN: not known. */
static double claimed_share(const struct compare_run *run)
{
    return run->claimed_s / (run->wall_s + run->claimed_s);
}

/* Over the runs of which it is known. */
struct claim {
    size_t runs, right; /* right: whose interval has what was measured in it */
    double mean, least, most;
};

static bool is_right(const struct compare_run *run, double measured)
{
    const double error = run->claimed_error_s / (run->wall_s + run->claimed_s);

    return fabs(claimed_share(run) - measured) <= error;
}

static struct claim sum_claims(const struct run_comparison *comparison)
{
    struct claim claim = {.least = (double)INFINITY, .most = -(double)INFINITY};

    for (size_t i = 0; i < comparison->count; i++) {
        const double share = claimed_share(&comparison->pair[i].takt);
        if (!isfinite(share))
            continue;
        claim.runs++;
        claim.right +=
            is_right(&comparison->pair[i].takt, 1 - comparison->wall.ratio);
        claim.mean += (share - claim.mean) / (double)claim.runs;
        claim.least = fmin(claim.least, share);
        claim.most = fmax(claim.most, share);
    }
    return claim;
}

struct medians {
    double plain, takt;
};

/* Which of the times of a run. */
static double time_of(const struct compare_run *run, bool is_cpu)
{
    return is_cpu ? run->cpu_s : run->wall_s;
}

static struct medians find_medians(const struct run_comparison *comparison,
                                   bool is_cpu)
{
    static double plain[compare_given], takt[compare_given];
    const size_t count = comparison->count;

    for (size_t i = 0; i < count; i++) {
        plain[i] = time_of(&comparison->pair[i].plain, is_cpu);
        takt[i] = time_of(&comparison->pair[i].takt, is_cpu);
    }
    return (struct medians){median_of(plain, count), median_of(takt, count)};
}

/* Processors that others used, in the median of the runs; NAN: not known. */
static double find_others(const struct run_comparison *comparison)
{
    static double others[2 * compare_given];
    size_t count = 0;

    for (size_t i = 0; i < comparison->count; i++) {
        const struct compare_pair *pair = &comparison->pair[i];
        if (isfinite(pair->plain.others))
            others[count++] = pair->plain.others;
        if (isfinite(pair->takt.others))
            others[count++] = pair->takt.others;
    }
    return median_of(others, count);
}

/* ---- for people ---- */

static struct number_text duration(double seconds)
{
    return isfinite(seconds) ? seconds_text(seconds)
                             : (struct number_text){"-"};
}

/* The command, cut to a line. */
static void print_command(FILE *out, char *const *words)
{
    char line[4 * columns] = "takt run --compare:", word[columns];
    size_t used = strlen(line);

    for (; *words != NULL && used < columns; words++)
        used += (size_t)snprintf(line + used, sizeof line - used, " %s",
                                 clean_text(*words, word, sizeof word));
    if (used > columns)
        strcpy(line + columns - 3, "...");
    fprintf(out, "%s\n", line);
}

static void print_store(FILE *out, const struct run_comparison *comparison)
{
    if (comparison->store[0] == '\0')
        fputs("  without a store: no run learns from another\n", out);
    else
        print_line(out, "  store: %s%s", comparison->store,
                   comparison->is_new_store ? " (new)" : "");
}

static void print_head(FILE *out, const struct run_comparison *comparison)
{
    static const char *const why[] = {"",
                                      ": the interval is narrow (+-2%)",
                                      ": no more are run, the interval is wide",
                                      ": the time was up, the interval is wide",
                                      ": then a run failed",
                                      ": then it was interrupted"};

    print_command(out, comparison->program);
    if (!comparison->is_first_done) {
        fputs("  there is nothing to compare\n", out);
        return;
    }
    fprintf(out, "  %zu %s in random order, %s%s\n", comparison->count,
            comparison->count == 1 ? "pair" : "pairs",
            duration(comparison->took_s).at, why[comparison->end]);
    print_store(out, comparison);
}

static void print_row(FILE *out, const char *name, struct medians medians,
                      const struct interval *interval)
{
    fprintf(out, "%-22s %10s %10s", name, duration(medians.plain).at,
            duration(medians.takt).at);
    if (isfinite(interval->ratio))
        fprintf(out, "   %6.3f", interval->ratio);
    if (isfinite(interval->low))
        fprintf(out, "   %.3f to %.3f", interval->low, interval->high);
    fputc('\n', out);
}

static void print_first(FILE *out, const struct compare_pair *first)
{
    const double unknown = (double)NAN;
    const struct medians wall = {first->plain.wall_s, first->takt.wall_s};
    const struct interval ratio = {wall.takt / wall.plain, unknown, unknown};

    print_row(out, "first pair, apart", wall, &ratio);
}

static void print_table(FILE *out, const struct run_comparison *comparison)
{
    fprintf(out, "\n%-22s %10s %10s   %6s   %s\n", "", "plain", "with Takt",
            "ratio", "95% interval");
    if (comparison->count > 0) {
        print_row(out, "wall time, median", find_medians(comparison, false),
                  &comparison->wall);
        print_row(out, "CPU time, median", find_medians(comparison, true),
                  &comparison->cpu);
    }
    print_first(out, &comparison->first);
}

static void print_cpu(FILE *out, const struct interval *cpu)
{
    if (cpu->high < 1)
        fprintf(out, "less CPU time: %.1f%%\n", percent(1 - cpu->ratio));
    else if (cpu->low > 1)
        fprintf(out, "more CPU time: %.1f%%\n", percent(cpu->ratio - 1));
}

/* The report of the runs beside what was measured. */
static void print_claim(FILE *out, const struct run_comparison *comparison)
{
    const struct claim claim = sum_claims(comparison);

    if (claim.runs == 0)
        return;
    fprintf(out,
            "the reports of the runs claim %+.1f%% (%+.1f to %+.1f%%); "
            "measured %+.1f%%:\n  within the intervals of %zu of %zu reports\n",
            100 * claim.mean, 100 * claim.least, 100 * claim.most,
            100 * (1 - comparison->wall.ratio), claim.right, claim.runs);
}

/* Judgement: a desktop at rest needs less. */
static void print_others(FILE *out, double others)
{
    static const double many = 0.2;

    if (others >= many)
        fprintf(
            out,
            "other programs used %.1f processors of this machine meanwhile: "
            "measure again when they are done\n",
            others);
}

static void print_calls(FILE *out, const struct compare_run *run)
{
    if (run->calls == 0)
        fputs("no call of BLAS was seen that is large enough to be routed\n",
              out);
    else
        fprintf(out,
                "%s large calls of BLAS in the last run, %.1f%% of them "
                "routed\n",
                count_text(run->calls).at,
                100 * ((double)run->elsewhere / (double)run->calls));
}

static void print_difference(FILE *out, const struct run_comparison *comparison)
{
    if (comparison->differs_in_text)
        fputs("  and not in the digits of numbers alone\n", out);
    else
        fprintf(out, "  in numbers alone, by at most %.1e of their size\n",
                comparison->number_difference);
}

static void print_output(FILE *out, const struct run_comparison *comparison)
{
    switch (comparison->output) {
    case OUTPUT_SAME:
        fprintf(out, "every run printed the same: %s bytes\n",
                count_text(comparison->first.plain.output_bytes).at);
        return;
    case OUTPUT_VARIES:
        fputs("its output differs from run to run, without Takt too\n", out);
        break;
    case OUTPUT_DIFFERS:
        fputs("its output DIFFERS, and only with Takt\n", out);
        break;
    }
    print_difference(out, comparison);
}

static void print_failure(FILE *out, const struct run_comparison *comparison)
{
    const int status = comparison->failed_status;
    const bool is_alone = comparison->has_takt_failed;

    fprintf(out, "\nthe program FAILED %s: ",
            is_alone ? "with Takt, and not without" : "without Takt");
    if (comparison->stopped_by != 0)
        fprintf(out,
                "it wanted the terminal (signal %d), which it cannot have\n",
                comparison->stopped_by);
    else if (WIFSIGNALED(status))
        fprintf(out, "signal %d\n", WTERMSIG(status));
    else
        fprintf(out, "exit status %d\n", WEXITSTATUS(status));
    if (comparison->error[0] != '\0') {
        fputs("the end of its standard error:\n", out);
        print_clean_lines(out, comparison->error);
        if (comparison->error[strlen(comparison->error) - 1] != '\n')
            fputc('\n', out);
    }
}

void print_compare_text(FILE *out, const struct run_comparison *comparison)
{
    print_head(out, comparison);
    if (comparison->is_first_done) {
        print_table(out, comparison);
        fprintf(out, "\n%s\n", verdict_of(&comparison->wall).text);
        print_cpu(out, &comparison->cpu);
        print_claim(out, comparison);
        print_others(out, find_others(comparison));
        print_calls(out, comparison->count > 0
                             ? &comparison->pair[comparison->count - 1].takt
                             : &comparison->first.takt);
        print_output(out, comparison);
    }
    if (comparison->end == COMPARE_FAILED)
        print_failure(out, comparison);
}

/* ---- JSON ---- */

static void json_times(struct json *json, const char *key,
                       const struct run_comparison *comparison, bool is_cpu)
{
    const struct interval *ratio =
        is_cpu ? &comparison->cpu : &comparison->wall;
    const struct medians median = find_medians(comparison, is_cpu);

    json_open(json, key, '{');
    json_print(json, "plain_s:%g takt_s:%g ratio:%g low:%g high:%g}",
               median.plain, median.takt, ratio->ratio, ratio->low,
               ratio->high);
}

static void json_run(struct json *json, const char *key,
                     const struct compare_run *run, bool is_takt)
{
    json_open(json, key, '{');
    json_print(json,
               "wall_s:%g cpu_s:%g others:%g output_bytes:%ju output_sha256:%s",
               run->wall_s, run->cpu_s, run->others,
               (uintmax_t)run->output_bytes, run->output);
    if (is_takt)
        json_print(
            json,
            "calls:%ju elsewhere:%ju claimed_gain_s:%g "
            "claimed_error_s:%g",
            (uintmax_t)run->calls, (uintmax_t)run->elsewhere, run->claimed_s,
            isfinite(run->claimed_s) ? run->claimed_error_s : (double)NAN);
    json_close(json, '}');
}

static void json_pair(struct json *json, const char *key,
                      const struct compare_pair *pair)
{
    json_open(json, key, '{');
    json_print(json, "takt_first:%d", pair->is_takt_first);
    json_run(json, "plain", &pair->plain, false);
    json_run(json, "takt", &pair->takt, true);
    json_close(json, '}');
}

static void json_claim(struct json *json,
                       const struct run_comparison *comparison)
{
    const struct claim claim = sum_claims(comparison);

    if (claim.runs == 0)
        json_print(json, "claimed:null");
    else
        json_print(
            json, "claimed:{runs:%zu share:%g least:%g most:%g right:%zu}",
            claim.runs, claim.mean, claim.least, claim.most, claim.right);
    json_print(json, "measured_share:%g", 1 - comparison->wall.ratio);
}

static void json_failure(struct json *json,
                         const struct run_comparison *comparison)
{
    const int status = comparison->failed_status;
    char error[2 * shown_bytes];

    if (comparison->end != COMPARE_FAILED) {
        json_print(json, "failure:null");
        return;
    }
    json_print(json, "failure:{with_takt:%d", comparison->has_takt_failed);
    if (WIFSIGNALED(status))
        json_print(json, "exit_status:null signal:%u",
                   (unsigned)WTERMSIG(status));
    else
        json_print(json, "exit_status:%u signal:null",
                   (unsigned)WEXITSTATUS(status));
    json_print(json, "stderr:%s}",
               clean_text(comparison->error, error, sizeof error));
}

static void json_output(struct json *json,
                        const struct run_comparison *comparison)
{
    const bool is_same = comparison->output == OUTPUT_SAME;
    const bool is_numbers = !is_same && !comparison->differs_in_text;

    json_print(json, "output:{runs:%s number_difference:%g}",
               output_keys[comparison->output],
               is_numbers ? comparison->number_difference : (double)NAN);
}

void print_compare_json(FILE *out, const struct run_comparison *comparison)
{
    struct json json = json_begin(out);

    json_print(&json, "{schema:1 command:[");
    for (char *const *word = comparison->program; *word != NULL; word++)
        json_string(&json, NULL, *word);
    json_print(&json, "] store:%s store_is_new:%d pairs:%zu end:%s took_s:%g",
               known_text(comparison->store), comparison->is_new_store,
               comparison->count, end_keys[comparison->end],
               comparison->took_s);
    json_times(&json, "wall", comparison, false);
    json_times(&json, "cpu", comparison, true);
    json_print(&json, "verdict:%s text:%s", verdict_of(&comparison->wall).word,
               verdict_of(&comparison->wall).text);
    json_claim(&json, comparison);
    json_print(&json, "others:%g", find_others(comparison));
    json_output(&json, comparison);
    json_failure(&json, comparison);
    if (comparison->is_first_done)
        json_pair(&json, "first", &comparison->first);
    else
        json_print(&json, "first:null");
    json_open(&json, "runs", '[');
    for (size_t i = 0; i < comparison->count; i++)
        json_pair(&json, NULL, &comparison->pair[i]);
    json_print(&json, "]}\n");
}
