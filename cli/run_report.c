/* SPDX-License-Identifier: MIT */
/* run_report.c - the report of `takt run`: for people, and for programs as
 * docs/formats/run-report.md has it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "json.h"
#include "number.h"
#include "run.h"
#include "workflow.h"

static const char *const why_words[TAKT_WHYS] = {
    "too small for it to matter",
    "routing was off, or not better for this kind of call",
    "so little was computed until then that a start would not have paid",
    "strides, overlaps or a stack that only the baseline library takes",
    "a routine or type that is passed on as it is",
    "called by the baseline library itself",
    "nothing to multiply: a size or a factor is 0",
    "wrong arguments: the baseline library complains about those",
    "libtakt could not be opened",
    "the process had no GPU",
    "the GPU was not open (yet)",
    "the GPU would have taken longer, moving the operands included",
    "the GPU failed or refused, and is left alone for a while",
    "a rule or a pin file decided",
    "another way was tried, to learn"};

/* ---- pieces ---- */

static struct number_text duration(double seconds)
{
    return seconds > 0 ? seconds_text(seconds) : (struct number_text){"0 s"};
}

/* "64-127", "16Ki-32Ki", "2Gi+". */
static const char *sizes(const struct run_row *row, char out[64])
{
    enum { last_plain = 13 };
    const uint64_t least = UINT64_C(1) << row->first_class;
    const uint64_t above = UINT64_C(2) << row->last_class;
    char from[32], to[32];

    if (row->last_class <= last_plain) {
        snprintf(from, sizeof from, "%" PRIu64, least);
        snprintf(to, sizeof to, "%" PRIu64, above - 1);
    } else {
        format_short((size_t)least, from, sizeof from);
        format_short((size_t)above, to, sizeof to);
    }
    if (row->last_class + 1 == TAKT_STATS_CLASSES)
        snprintf(out, 64, "%s+", from);
    else if (strcmp(from, to) == 0)
        snprintf(out, 64, "%s", from);
    else
        snprintf(out, 64, "%s-%s", from, to);
    return out;
}

/* ---- the head ---- */

static void print_words(FILE *out, char *const *words)
{
    fputs("\ntakt run:", out);
    for (; *words != NULL; words++) {
        fputc(' ', out);
        print_clean(out, *words);
    }
    fputc('\n', out);
}

static void print_ending(FILE *out, const struct ending *ending)
{
    fprintf(out, "  %s", duration(ending->wall_s).at);
    if (WIFSIGNALED(ending->status))
        fprintf(out, ", killed by signal %d", WTERMSIG(ending->status));
    else if (WEXITSTATUS(ending->status) != 0)
        fprintf(out, ", exit status %d", WEXITSTATUS(ending->status));
}

static void print_text(FILE *out, const char *label,
                       const struct takt_stats_text *text)
{
    if (stats_text(text) != NULL)
        print_line(out, "  %s: %s", label, stats_text(text));
}

static void print_surroundings(FILE *out, const struct takt_stats *stats)
{
    fprintf(out, "; %s %s called BLAS\n", count_text(stats->processes).at,
            stats->processes == 1 ? "process" : "processes");
    for (size_t i = 0; i < TAKT_STATS_LIBRARIES; i++)
        print_text(out, "baseline library", &stats->library[i]);
    print_text(out, "GPU", &stats->gpu);
    print_text(out, "trouble", &stats->trouble);
}

/* ---- where the time went ---- */

static void print_part(FILE *out, const char *what, double seconds,
                       double wall_s)
{
    if (seconds > 0)
        fprintf(out, "  %-38s %10s %7.1f%%\n", what, duration(seconds).at,
                100 * seconds / wall_s);
}

/* Of several processes or threads, parts may be longer than the whole. */
static void print_parts(FILE *out, const struct run_report *report)
{
    const struct run_row *total = &report->tally.total;
    const double wall_s = report->ending.wall_s;
    const double gpu_s = total->measured_s[TAKT_PATH_GPU];
    const double opening_s = report->tally.opening_s;
    const double rest_s = wall_s - total->took_s - opening_s;

    if (!(wall_s > 0))
        return;
    fputs("\nwhere the time went\n", out);
    print_part(out, "BLAS in the baseline library", passed_s(total), wall_s);
    print_part(out, "BLAS routed, on the CPU", routed_s(total) - gpu_s, wall_s);
    print_part(out, "BLAS routed, on a GPU with transfers", gpu_s, wall_s);
    print_part(out, "opening Takt", opening_s, wall_s);
    print_part(out, "everything else", rest_s, wall_s);
    if (rest_s < 0)
        fputs("  (calls of several threads or processes took longer together "
              "than the run)\n",
              out);
}

/* ---- the table ---- */

/* Where most of the routed calls ran. */
static const char *main_path(const struct run_row *row)
{
    size_t most = TAKT_PATH_SCALAR;

    for (size_t path = most; path < TAKT_PATHS; path++)
        if (row->calls[path] > row->calls[most])
            most = path;
    return row->calls[most] > 0 ? path_keys[most] : "-";
}

static void print_share(FILE *out, const struct run_row *row)
{
    const double routed = (double)calls_elsewhere(row);
    const double percent = 100 * routed / (double)all_calls(row);

    if (!(routed > 0))
        fprintf(out, " %7s", "-");
    else if (percent < 0.1)
        fprintf(out, " %7s", "<0.1%");
    else
        fprintf(out, " %6.1f%%", percent);
}

/* "~": some of the calls were not timed, and others stand for them. */
static void print_time(FILE *out, const struct run_row *row)
{
    char whole[40] = "-";

    if (all_calls(row) > row->untimed)
        snprintf(whole, sizeof whole, "%s%s", row->is_estimate ? "~" : "",
                 duration(row->took_s).at);
    fprintf(out, " %9s", whole);
}

/* "+8.6 s", "-3.1 ms". */
static void write_gain(double gain_s, char out[40])
{
    snprintf(out, 40, "%c%s", gain_s < 0 ? '-' : '+',
             duration(fabs(gain_s)).at);
}

/* With an interval of 95%. */
static void print_gain(FILE *out, const struct run_row *row)
{
    char gain[40], both[96] = "-";

    write_gain(gained_s(row), gain);
    if (row->compared > 0)
        snprintf(both, sizeof both, "%s +- %s", gain,
                 duration(2 * row->error_s).at);
    else if (calls_elsewhere(row) > 0)
        snprintf(both, sizeof both, "not measured");
    fprintf(out, " %20s\n", both);
}

static void print_row(FILE *out, const char *name, const char *size,
                      const struct run_row *row)
{
    fprintf(out, "%-7s %-12s %12s", name, size, count_text(all_calls(row)).at);
    print_share(out, row);
    fprintf(out, " %-6s", main_path(row));
    print_time(out, row);
    print_gain(out, row);
}

static void print_table(FILE *out, const struct run_tally *tally)
{
    char name[16], size[64];

    fprintf(out, "\n%-7s %-12s %12s %7s %-6s %9s %20s\n", "routine", "size",
            "calls", "routed", "to", "took", "gain");
    for (size_t i = 0; i < tally->count; i++) {
        const struct run_row *row = &tally->row[i];
        print_row(out, routine_name(row->routine, row->type, name),
                  sizes(row, size), row);
    }
    if (tally->count > 1)
        print_row(out, "all", "", &tally->total);
}

/* ---- what follows ---- */

/* What was found out about the program as a whole. */
static void print_result(FILE *out, const struct takt_stats_result *result)
{
    static const char *const memories[] = {
        NULL, "routing was no faster in earlier runs: it is tried late",
        "routing gained in earlier runs: calls were routed from the start",
        "a GPU gained in earlier runs: it was opened at the start"};
    const double ratio = (double)result->ratio / 1e6;
    const double error = (double)result->error / 1e6;

    if (result->memory > 0 && result->memory < 4)
        fprintf(out, "%s\n", memories[result->memory]);
    if (result->probes == 0)
        return;
    fprintf(out,
            "routed calls took %.2f (%.2f to %.2f) of the time of the baseline "
            "library:\n%s\n",
            ratio, fmax(ratio - 2 * error, 0), ratio + 2 * error,
            result->is_routed  ? "so calls are routed"
            : result->is_clear ? "so routing is off"
                               : "that is not clearly faster, so routing is "
                                 "off");
}

static void print_verdict(FILE *out, const struct run_report *report)
{
    const struct run_row *total = &report->tally.total;
    const double gain_s = gained_s(total);
    const double percent = 100 * fabs(gain_s) / report->ending.wall_s;

    fputc('\n', out);
    if (total->compared > 0)
        fprintf(out, "%s %s +- %s, %.1f%% of the run, measured in this run\n",
                gain_s >= 0 ? "gained" : "LOST", duration(fabs(gain_s)).at,
                duration(2 * total->error_s).at, percent);
    else if (calls_elsewhere(total) > 0)
        fputs("the gain was not measured: the baseline library ran no such "
              "calls\n",
              out);
    else
        fputs("every call ran in the baseline library: nothing was gained, "
              "nothing lost\n",
              out);
    if (total->compared > 0 && total->compared < calls_elsewhere(total))
        fprintf(out,
                "%s routed calls are not in it: the baseline library ran none "
                "of their kind\n",
                count_text(calls_elsewhere(total) - total->compared).at);
    print_result(out, &report->stats->result);
}

static void print_marks(FILE *out, const struct run_row *total)
{
    if (total->compared > 0)
        fputs("gain: against calls of the same kind that ran in the baseline "
              "library\n",
              out);
    if (total->is_estimate)
        fputs("~: estimated; not every call in the baseline library is timed\n",
              out);
    if (total->untimed > 0)
        fprintf(out,
                "%s calls were not timed, nor others like them: they are "
                "in no time\n",
                count_text(total->untimed).at);
}

static void print_judged(FILE *out, const struct run_row *total)
{
    if (total->judged > 0)
        fprintf(out,
                "  for %s of them the GPU was expected to take %s, their "
                "own way %s\n",
                count_text(total->judged).at, duration(total->gpu_s).at,
                duration(total->own_s).at);
}

/* Reasons from `first` on, before `end`. */
static void print_reasons(FILE *out, const struct run_row *total,
                          const char *title, size_t first, size_t end)
{
    bool is_first = true;

    for (size_t why = first; why < end; why++) {
        if (total->why[why] == 0)
            continue;
        if (is_first)
            fprintf(out, "\n%s\n", title);
        is_first = false;
        fprintf(out, "  %11s  %s\n", count_text(total->why[why]).at,
                why_words[why]);
    }
}

/* Where there is no GPU, nobody asks why it was not used. */
static void print_whys(FILE *out, const struct run_report *report)
{
    const struct run_row *total = &report->tally.total;

    print_reasons(out, total, "why calls were passed through", 0,
                  TAKT_WHY_NO_GPU);
    if (stats_text(&report->stats->gpu) == NULL)
        return;
    print_reasons(out, total, "why calls did not run on the GPU",
                  TAKT_WHY_NO_GPU, TAKT_WHYS);
    print_judged(out, total);
}

static void print_nothing(FILE *out, const char *left_alone)
{
    if (left_alone != NULL) {
        fputc('\n', out);
        print_line(out, "nothing was routed: the program %s", left_alone);
        return;
    }
    fputs("\nno call of BLAS was seen. This is so if the program\n"
          "  - calls no BLAS, or has one linked into it\n"
          "  - brings one that it does not call by name, as PyTorch's wheels "
          "do with MKL\n"
          "  - computes in a child that is static, setuid or started without "
          "LD_PRELOAD\n",
          out);
}

void print_run_text(FILE *out, struct run_report *report)
{
    const struct run_row *total = &report->tally.total;

    print_words(out, report->program);
    print_ending(out, &report->ending);
    if (report->stats == NULL) {
        fputs("\n\nthe program has damaged what was counted: there is nothing "
              "to report\n",
              out);
        return;
    }
    print_surroundings(out, report->stats);
    tally_merge(&report->tally);
    if (report->tally.count == 0) {
        print_nothing(out, report->left_alone);
        return;
    }
    print_parts(out, report);
    print_table(out, &report->tally);
    print_verdict(out, report);
    print_marks(out, total);
    print_whys(out, report);
}

/* ---- JSON ---- */

static void json_counts(struct json *json, const char *key,
                        const uint64_t *count, const char *const *keys,
                        size_t size)
{
    json_open(json, key, '{');
    for (size_t i = 0; i < size; i++)
        json_count(json, keys[i], count[i]);
    json_close(json, '}');
}

static void json_sums(struct json *json, const struct run_row *row)
{
    const bool is_compared = row->compared > 0;
    const double unknown = (double)NAN; /* null */

    json_counts(json, "calls", row->calls, path_keys, TAKT_PATHS);
    json_counts(json, "timed", row->timed, path_keys, TAKT_PATHS);
    json_open(json, "measured_s", '{');
    for (size_t path = 0; path < TAKT_PATHS; path++)
        json_number(json, path_keys[path], row->measured_s[path]);
    json_print(json,
               "} took_s:%g is_estimate:%d untimed:%ju compared:%ju plain_s:%g "
               "error_s:%g instead_s:%g without_s:%g gain_s:%g gain_share:%g",
               row->took_s, row->is_estimate, row->untimed, row->compared,
               row->baseline_s, row->error_s, row->instead_s,
               is_compared ? without_s(row) : unknown,
               is_compared ? gained_s(row) : unknown,
               is_compared ? gained_share(row) : unknown);
    json_counts(json, "why", row->why, why_keys, TAKT_WHYS);
    json_print(json, "judged:%ju gpu_s:%g own_s:%g", row->judged, row->gpu_s,
               row->own_s);
}

static void json_row(struct json *json, const struct run_row *row)
{
    const size_t least = (size_t)1 << row->first_class;
    const bool has_end = row->last_class + 1 < TAKT_STATS_CLASSES;
    char name[16];

    json_print(json, "{routine:%s size_class:%u least:%zu most:%zu",
               routine_name(row->routine, row->type, name), row->first_class,
               least, has_end ? 2 * least - 1 : SIZE_MAX);
    json_sums(json, row);
    json_close(json, '}');
}

static const char *const memory_keys[] = {NULL, "baseline", "routed", "gpu"};

static void json_stats(struct json *json, const struct takt_stats *stats)
{
    json_print(json, "processes:%ju routers:%ju libraries:[", stats->processes,
               stats->routers);
    for (size_t i = 0; i < TAKT_STATS_LIBRARIES; i++)
        if (stats_text(&stats->library[i]) != NULL)
            json_string(json, NULL, stats_text(&stats->library[i]));
    json_print(json, "] gpu:%s trouble:%s opening_s:%g",
               stats_text(&stats->gpu), stats_text(&stats->trouble),
               (double)stats->result.own_ns / 1e9);
    json_print(json,
               "comparison:{probes:%ju ratio:%g error:%g is_routed:%d "
               "is_clear:%d memory:%s}",
               stats->result.probes, (double)stats->result.ratio / 1e6,
               (double)stats->result.error / 1e6, stats->result.is_routed != 0,
               stats->result.is_clear != 0,
               memory_keys[stats->result.memory & 3]);
}

void print_run_json(FILE *out, const struct run_report *report)
{
    const int status = report->ending.status;
    struct json json = json_begin(out);

    json_print(&json, "{schema:2 command:[");
    for (char *const *word = report->program; *word != NULL; word++)
        json_string(&json, NULL, *word);
    json_print(&json, "] wall_s:%g", report->ending.wall_s);
    if (WIFSIGNALED(status))
        json_print(&json, "exit_status:null signal:%u",
                   (unsigned)WTERMSIG(status));
    else
        json_print(&json, "exit_status:%u signal:null",
                   (unsigned)WEXITSTATUS(status));
    json_print(&json, "left_alone:%s is_damaged:%d", report->left_alone,
               report->stats == NULL);
    if (report->stats != NULL) {
        json_stats(&json, report->stats);
        json_print(&json, "total:{");
        json_sums(&json, &report->tally.total);
        json_print(&json, "} rows:[");
        for (size_t i = 0; i < report->tally.count; i++)
            json_row(&json, &report->tally.row[i]);
        json_close(&json, ']');
    }
    json_print(&json, "}\n");
}
