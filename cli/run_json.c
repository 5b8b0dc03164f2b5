/* SPDX-License-Identifier: MIT */
/* run_json.c - the report of `takt run` for programs: see
 * docs/formats/run-report.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "json.h"
#include "run.h"
#include "workflow.h"

enum { schema = 1 };

static void json_counts(struct json *json, const char *key,
                        const uint64_t *count, const char *const *keys,
                        size_t size)
{
    json_open(json, key, '{');
    for (size_t i = 0; i < size; i++)
        json_count(json, keys[i], count[i]);
    json_close(json, '}');
}

static void json_sums(struct json *json, const struct tally_row *row)
{
    const bool is_compared = row->compared > 0;

    json_counts(json, "calls", row->calls, path_keys, TAKT_PATHS);
    json_counts(json, "timed", row->timed, path_keys, TAKT_PATHS);
    json_open(json, "measured_s", '{');
    for (size_t path = 0; path < TAKT_PATHS; path++)
        json_number(json, path_keys[path], row->measured_s[path]);
    json_close(json, '}');
    json_number(json, "took_s", row->took_s);
    json_bool(json, "is_estimate", row->is_estimate);
    json_count(json, "untimed", row->untimed);
    json_count(json, "compared", row->compared);
    json_number(json, "plain_s", row->baseline_s);
    json_number(json, "instead_s", row->instead_s);
    json_number(json, "predicted_s",
                is_compared ? predicted_s(row) : (double)NAN);
    json_number(json, "gain_s", is_compared ? gained_s(row) : (double)NAN);
    json_number(json, "gain_share",
                is_compared ? gained_share(row) : (double)NAN);
    json_counts(json, "why", row->why, why_keys, TAKT_WHYS);
    json_count(json, "judged", row->judged);
    json_number(json, "gpu_s", row->gpu_s);
    json_number(json, "own_s", row->own_s);
}

static void json_row(struct json *json, const struct tally_row *row)
{
    const uint64_t least = UINT64_C(1) << row->first_class;
    char name[16];

    json_open(json, NULL, '{');
    json_string(json, "routine", routine_name(row->routine, row->type, name));
    json_count(json, "size_class", row->first_class);
    json_count(json, "least", least);
    if (row->last_class + 1 < TAKT_STATS_CLASSES)
        json_count(json, "most", 2 * least - 1);
    else
        json_null(json, "most");
    json_sums(json, row);
    json_close(json, '}');
}

static void json_words(struct json *json, const char *key, char *const *words)
{
    json_open(json, key, '[');
    for (; *words != NULL; words++)
        json_string(json, NULL, *words);
    json_close(json, ']');
}

static void json_text(struct json *json, const char *key,
                      const struct takt_stats_text *text)
{
    json_string(json, key, stats_text(text));
}

static void json_end_of(struct json *json, int status)
{
    if (WIFSIGNALED(status)) {
        json_null(json, "exit_status");
        json_count(json, "signal", (uint64_t)WTERMSIG(status));
    } else {
        json_count(json, "exit_status", (uint64_t)WEXITSTATUS(status));
        json_null(json, "signal");
    }
}

static void json_stats(struct json *json, const struct takt_stats *stats)
{

    json_count(json, "processes", stats->processes);
    json_count(json, "routers", stats->routers);
    json_open(json, "libraries", '[');
    for (size_t i = 0; i < TAKT_STATS_LIBRARIES; i++)
        if (stats_text(&stats->library[i]) != NULL)
            json_string(json, NULL, stats_text(&stats->library[i]));
    json_close(json, ']');
    json_text(json, "gpu", &stats->gpu);
    json_text(json, "trouble", &stats->trouble);
}

void print_run_json(FILE *out, const struct run_report *report)
{
    struct json json = json_begin(out);

    json_open(&json, NULL, '{');
    json_count(&json, "schema", schema);
    json_words(&json, "command", report->program);
    json_number(&json, "wall_s", report->ending.wall_s);
    json_end_of(&json, report->ending.status);
    json_string(&json, "left_alone", report->left_alone);
    json_bool(&json, "is_damaged", report->stats == NULL);
    if (report->stats != NULL) {
        json_stats(&json, report->stats);
        json_open(&json, "total", '{');
        json_sums(&json, &report->tally.total);
        json_close(&json, '}');
        json_open(&json, "rows", '[');
        for (size_t i = 0; i < report->tally.count; i++)
            json_row(&json, &report->tally.row[i]);
        json_close(&json, ']');
    }
    json_close(&json, '}');
    json_end(&json);
}
