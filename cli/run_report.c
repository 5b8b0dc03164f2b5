/* SPDX-License-Identifier: MIT */
/* run_report.c - the report of `takt run`, for people: 80 columns, and only the
 * lines that say something about this run. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "clean.h"
#include "number.h"
#include "run.h"

static const char *const why_words[TAKT_WHYS] = {
    "too small for it to matter",
    "routing was not shown to be faster, or it was a control call",
    "Takt was not open yet: calls had taken too little time",
    "strides, overlaps or a stack that only the baseline library takes",
    "a routine or type that Takt does not route",
    "called by the baseline library itself",
    "nothing to multiply: a size or a factor is 0",
    "wrong arguments: the baseline library complains about those",
    "libtakt could not be opened",
    "the process had no GPU",
    "the GPU was not open (yet)",
    "the GPU would have taken longer, moving the operands included",
    "the GPU failed or refused, and is not used for a while",
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

/* A long command, such as a script after -c, is cut. */
static void print_words(FILE *out, char *const *words)
{
    enum { most = 70 };
    char line[4 * most + 1] = "", clean[4 * sizeof line];
    size_t used = 0;

    for (; *words != NULL && used < sizeof line - 1; words++) {
        snprintf(line + used, sizeof line - used, " %s", *words);
        used = strlen(line);
    }
    clean_text(line, clean, sizeof clean);
    const size_t length = strlen(clean);
    size_t end = length;
    if (length > most) {
        end = most - strlen("...");
        while (end > 0 && ((unsigned char)clean[end] & 0xc0) == 0x80)
            end--; /* not in the middle of a character */
    }
    fprintf(out, "\ntakt run:%.*s%s\n", (int)end, clean,
            end < length ? "..." : "");
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

/* What would be "0.0%" is left out. */
static bool is_shown(double seconds, double wall_s)
{
    return seconds >= 0.0005 * wall_s;
}

static void print_part(FILE *out, const char *what, double seconds,
                       double wall_s)
{
    if (is_shown(seconds, wall_s))
        fprintf(out, "  %-38s %10s %7.1f%%\n", what, duration(seconds).at,
                100 * seconds / wall_s);
}

static void print_parts(FILE *out, const struct run_report *report)
{
    const double wall_s = report->ending.wall_s;
    const double threads = report->tally.threads;
    const struct run_parts parts = parts_of(&report->tally, wall_s);

    if (!(wall_s > 0))
        return;
    fputs("\nwhere the time went\n", out);
    print_part(out, "BLAS in the baseline library", parts.baseline_s, wall_s);
    print_part(out, "BLAS routed, on the CPU", parts.cpu_s, wall_s);
    print_part(out, "BLAS routed, on the GPU", parts.gpu_s, wall_s);
    print_part(out, "LAPACK", parts.lapack_s, wall_s);
    print_part(out, "NumPy's loops, but for short ones", parts.loops_s, wall_s);
    print_part(out, "moving operands to and from the GPU", parts.transfer_s,
               wall_s);
    print_part(out, "waiting for the GPU", parts.wait_s, wall_s);
    print_part(out, "opening Takt", parts.opening_s, wall_s);
    print_part(out, "everything else", parts.rest_s, wall_s);
    if (threads >= 1.05)
        fprintf(
            out,
            "  %.1f threads called BLAS at once: the parts are their mean, the "
            "table their sum\n",
            threads);
}

/* ---- the table ---- */

/* Where most of the routed calls ran. */
static const char *main_place(const struct run_row *row)
{
    const uint64_t elsewhere = calls_elsewhere(row);

    return elsewhere == 0                                     ? "-"
           : row->calls[TAKT_DESTINATION_GPU] > elsewhere / 2 ? "gpu"
                                                              : "cpu";
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
    fprintf(out, " %-6s", main_place(row));
    print_time(out, row);
    print_gain(out, row);
}

/* What took next to no time, and was not routed: NumPy calls a dot product of
 * two elements when it is imported. */
static bool is_minor(const struct run_row *row, const struct run_row *total)
{
    return calls_elsewhere(row) == 0 && row->took_s < 0.001 * total->took_s;
}

static void print_table(FILE *out, const struct run_tally *tally)
{
    char name[16], size[64];
    struct run_row minor = {0};
    size_t shown = 0;

    fprintf(out, "\n%-7s %-12s %12s %7s %-6s %9s %20s\n", "routine", "size",
            "calls", "routed", "to", "took", "gain");
    for (size_t i = 0; i < tally->count; i++) {
        const struct run_row *row = &tally->row[i];
        if (is_minor(row, &tally->total)) {
            tally_add(&minor, row);
            continue;
        }
        print_row(out, routine_name(row->routine, row->type, name),
                  sizes(row, size), row);
        shown++;
    }
    if (shown == 1 && is_minor(&minor, &tally->total))
        return;
    if (all_calls(&minor) > 0)
        print_row(out, "others", "", &minor);
    print_row(out, "all", "", &tally->total);
}

/* ---- what follows ---- */

/* What was found out about the program as a whole. */
static void print_result(FILE *out, const struct takt_stats_result *result)
{
    static const char *const histories[] = {
        NULL, "routing was no faster in earlier runs: it is tried late",
        "routing gained in earlier runs: calls were routed from the start",
        "a GPU gained in earlier runs: it was opened at the start"};
    const double ratio = (double)result->ratio / 1e6;
    const double error = (double)result->error / 1e6;

    if (result->history > 0 && result->history < 4)
        fprintf(out, "%s\n", histories[result->history]);
    if (result->probes == 0)
        return;
    fprintf(out,
            "routing was compared with the baseline library in turns of this "
            "run: calls took\n%.2f (%.2f to %.2f) of the time, %s\n",
            ratio, fmax(ratio - 2 * error, 0), ratio + 2 * error,
            result->is_routed  ? "so they are routed"
            : result->is_clear ? "so routing is off"
                               : "not clearly less, so routing is off");
}

/* Of the run: in wall time, with a 95% interval. */
static void print_run_gain(FILE *out, const struct run_report *report)
{
    const double gain_s = run_gain_s(&report->tally);
    const double error_s = run_gain_error_s(&report->tally);
    const double without_s = report->ending.wall_s + gain_s;
    char gain[40];

    write_gain(gain_s, gain);
    if (fabs(gain_s) <= error_s)
        fprintf(out,
                "no gain or loss was shown: %s +- %s, measured in this "
                "run\n",
                gain, duration(error_s).at);
    else
        fprintf(out,
                "%s %s +- %s, %.1f%% of the run without Takt; measured in this "
                "run\n",
                gain_s >= 0 ? "gained" : "LOST", gain + 1, duration(error_s).at,
                without_s > 0 ? 100 * fabs(gain_s) / without_s : 0);
}

/* What the gain of the run is made of. */
static void print_basis(FILE *out, const struct run_tally *tally)
{
    const struct run_row *total = &tally->total;

    if (is_effect_known(tally))
        fprintf(out,
                "the effect on the whole program, by %s %s in which Takt was "
                "off\n",
                count_text(tally->effect.slices).at,
                tally->effect.slices == 1 ? "slice" : "slices");
    else if (total->compared > 0 && total->compared < calls_elsewhere(total))
        fprintf(out,
                "%s routed calls are not in it: the baseline library ran none "
                "of their kind\n",
                count_text(calls_elsewhere(total) - total->compared).at);
}

/* As in dropin/switchback.c. */
static const double tried_after_s = 0.4;

static void print_verdict(FILE *out, const struct run_report *report)
{
    const struct run_tally *tally = &report->tally;
    const struct run_row *total = &tally->total;
    const double opening_s = tally->opening_s / tally->threads;
    const uint64_t elsewhere =
        calls_elsewhere(total) + tally->loops.split + tally->lapack.split;
    const bool is_compared =
        is_effect_known(tally) ||
        total->compared + tally->loops.compared + tally->lapack.compared > 0;

    fputc('\n', out);
    if (is_compared && !isnan(run_gain_s(tally)))
        print_run_gain(out, report);
    else if (elsewhere > 0)
        fputs("the gain was not measured: the baseline library ran no such "
              "calls\n",
              out);
    else if (isnan(run_gain_s(tally)))
        fputs("the gain was not measured: there was no time to compare with, "
              "without Takt\n",
              out);
    else
        fputs("every call ran in the baseline library: nothing was gained\n",
              out);
    if (opening_s > 0 &&
        (is_compared || is_shown(opening_s, report->ending.wall_s)))
        fprintf(out, "opening Takt took %s%s\n", duration(opening_s).at,
                is_compared ? ", which is taken off" : "");
    print_basis(out, tally);
    if (calls_elsewhere(total) == 0 && report->stats->result.probes == 0 &&
        total->why[TAKT_WHY_SETTLED] > 0 && total->took_s < tried_after_s)
        fprintf(out,
                "routing is tried when calls that can be routed have taken "
                "%.1f s in all\n",
                tried_after_s);
    print_result(out, &report->stats->result);
}

static void print_marks(FILE *out, const struct run_row *total)
{
    if (total->compared > 0)
        fputs("gain: against calls of the same kind that ran in the baseline "
              "library\n",
              out);
    if (total->is_estimate)
        fputs("~: estimated, since not every call in the baseline library is "
              "timed\n",
              out);
    if (total->untimed > all_calls(total) / 100)
        fprintf(out,
                "%s calls were not timed, nor others of their size: what they "
                "took is not known\n",
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

/* Whether so many of the calls with a reason that they matter. What is wrong
 * always does. */
static bool is_major(size_t why, uint64_t calls, uint64_t all)
{
    return why == TAKT_WHY_WRONG || why == TAKT_WHY_NO_ROUTER ||
           why == TAKT_WHY_LOST || calls > all / 100;
}

/* Reasons from `first` on, before `end`. */
static void print_reasons(FILE *out, const struct run_row *total,
                          const char *title, size_t first, size_t end)
{
    uint64_t all = 0;

    for (size_t why = first; why < end; why++)
        all += total->why[why];
    if (all > 0)
        fprintf(out, "\n%s\n", title);
    for (size_t why = first; why < end; why++)
        if (total->why[why] > 0 && is_major(why, total->why[why], all))
            fprintf(out, "  %11s  %s\n", count_text(total->why[why]).at,
                    why_words[why]);
}

/* Where there is no GPU, it is not said why none was used. */
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
    if (report->tally.count == 0 && report->tally.lapack.took_s == 0) {
        print_nothing(out, report->left_alone);
        return;
    }
    print_parts(out, report);
    print_table(out, &report->tally);
    print_loops_text(out, report->stats, lapack_rows);
    print_loops_text(out, report->stats, loop_rows);
    print_verdict(out, report);
    print_marks(out, total);
    print_whys(out, report);
}
