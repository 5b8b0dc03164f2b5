/* SPDX-License-Identifier: MIT */
/* run_report_json.c - the report of `takt run` for programs, as
 * docs/formats/run-report.md has it. */
#include <inttypes.h>
#include <math.h>
#include <sys/wait.h>
#include <time.h>

#include "json.h"
#include "run.h"

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

    json_counts(json, "calls", row->calls, destination_keys, TAKT_DESTINATIONS);
    json_counts(json, "timed", row->timed, destination_keys, TAKT_DESTINATIONS);
    json_open(json, "measured_s", '{');
    for (size_t destination = 0; destination < TAKT_DESTINATIONS; destination++)
        json_number(json, destination_keys[destination],
                    row->measured_s[destination]);
    json_print(json,
               "} took_s:%g is_estimate:%d untimed:%ju transfer_s:%g "
               "wait_s:%g compared:%ju baseline_s:%g "
               "error_s:%g instead_s:%g without_s:%g gain_s:%g gain_share:%g",
               row->took_s, row->is_estimate, row->untimed, row->transfer_s,
               row->wait_s, row->compared, row->baseline_s, row->error_s,
               row->instead_s, is_compared ? without_s(row) : unknown,
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
               memory_keys[stats->result.history & 3]);
}

/* Where the wall time went, and what the whole run gained. */
static void json_run(struct json *json, const struct run_report *report)
{
    const struct run_tally *tally = &report->tally;
    const struct run_parts parts = parts_of(tally, report->ending.wall_s);
    const double gain_s = run_gain_s(tally);
    const double error_s = run_gain_error_s(tally);

    json_print(json,
               "threads:%g parts:{baseline_s:%g routed_cpu_s:%g "
               "routed_gpu_s:%g lapack_s:%g numpy_loops_s:%g transfers_s:%g "
               "waiting_s:%g "
               "opening_s:%g "
               "other_s:%g}",
               tally->threads, parts.baseline_s, parts.cpu_s, parts.gpu_s,
               parts.lapack_s, parts.loops_s, parts.transfer_s, parts.wait_s,
               parts.opening_s, parts.rest_s);
    json_print(json, "gain_s:%g gain_low_s:%g gain_high_s:%g", gain_s,
               gain_s - error_s, gain_s + error_s);
    json_print(json,
               "effect:{is_used:%d slices:%ju gain_s:%g error_s:%g "
               "baseline_s:%g covered_s:%g}",
               is_effect_known(tally), tally->effect.slices,
               tally->effect.gain_s, tally->effect.error_s,
               tally->effect.baseline_s, tally->effect.covered_s);
}

/* The first seconds, in slots. */
static void json_timeline(struct json *json, const struct run_report *report)
{
    static const char *const tracks[TAKT_TRACKS] = {
        "baseline_s", "routed_cpu_s", "routed_gpu_s", "lapack_s",
        "numpy_loops_s"};
    const double slot_s = TAKT_STATS_SLOT_NS / 1e9;
    const double slots = report->ending.wall_s / slot_s + 1;
    const size_t count =
        slots < TAKT_STATS_SLOTS ? (size_t)slots : TAKT_STATS_SLOTS;

    json_print(json, "timeline:{slot_s:%g", slot_s);
    for (int track = 0; track < TAKT_TRACKS; track++) {
        json_open(json, tracks[track], '[');
        for (size_t i = 0; i < count; i++)
            json_number(json, NULL,
                        (double)report->stats->timeline.ns[i][track] / 1e9);
        json_close(json, ']');
    }
    json_close(json, '}');
}

void print_run_json(FILE *out, const struct run_report *report)
{
    const int status = report->ending.status;
    struct json json = json_begin(out);

    json_print(&json, "{schema:3 command:[");
    for (char *const *word = report->program; *word != NULL; word++)
        json_string(&json, NULL, *word);
    json_print(&json, "] ended_unix_s:%g wall_s:%g", (double)time(NULL),
               report->ending.wall_s);
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
        json_run(&json, report);
        json_timeline(&json, report);
        json_print(&json, "total:{");
        json_sums(&json, &report->tally.total);
        json_print(&json, "} rows:[");
        for (size_t i = 0; i < report->tally.count; i++)
            json_row(&json, &report->tally.row[i]);
        json_close(&json, ']');
        print_loops_json(&json, report->stats, lapack_rows);
        print_loops_json(&json, report->stats, loop_rows);
    }
    json_print(&json, "}\n");
}
