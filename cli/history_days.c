/* SPDX-License-Identifier: MIT */
/*
 * history_days.c - what was learned on each day.
 *
 * The store has sums of each day and writer (docs/formats/history.md), which
 * are no rows of a context: they are read from its text.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "history.h"
#include "number.h"

static const int64_t day_s = 86400;

/* The columns of a line that matter. */
enum {
    machine,
    op = 4,
    expert = 6,
    bin = 9,
    n = 12,
    mean,
    m2,
    calls = 18,
    seconds,
    last_unix_s,
    columns
};

/* The lines of one machine, added up. */
struct day_lines {
    const char *machine;
    int64_t last; /* day that may be */
    struct days *days;
};

/* ---- reading ---- */

/* Takes a line apart; false: it has too few columns. */
static bool split(char *line, const char *out[columns])
{
    char *at = line;

    at[strcspn(at, "\r\n")] = '\0';
    for (int i = 0; i < columns; i++) {
        if (at == NULL)
            return false;
        out[i] = at;
        at = strchr(at, '\t');
        if (at != NULL)
            *at++ = '\0';
    }
    return at == NULL;
}

static void add_ratios(struct day *day, double count, double log_mean,
                       double squares)
{
    const double all = day->comparisons + count;
    const double apart = log_mean - day->log_mean;

    if (!(count > 0))
        return;
    day->squares += squares + apart * apart * day->comparisons * count / all;
    day->log_mean += apart * count / all;
    day->comparisons = all;
}

static void add_line(struct day *day, const char *const text[columns])
{
    const double count = strtod(text[calls], NULL);
    const double took_s = strtod(text[seconds], NULL);

    if (strcmp(text[expert], "calls") == 0) {
        day->samples += strtod(text[n], NULL);
        day->calls += count;
        day->called_s += took_s;
    } else if (strcmp(text[expert], "trials") == 0) {
        day->trials += count;
        day->trials_s += took_s;
    } else if (strcmp(text[expert], "budget") == 0) {
        day->budget_s += took_s;
    } else if (strcmp(text[expert], "changes") == 0) {
        day->changes += count;
    } else if (strcmp(text[expert], "gain") == 0) {
        add_ratios(day, strtod(text[n], NULL), /* of ln(ns) */
                   strtod(text[mean], NULL) - log(1e9), strtod(text[m2], NULL));
    }
}

/* Of several writers the newest days count: one that stopped writing keeps its
 * old ones. A day to come is of a clock that was wrong; it would make all
 * others too old. */
static void read_line(void *self, char *line)
{
    struct day_lines *lines = self;
    const char *text[columns];

    if (!split(line, text) || strcmp(text[op], "takt:day") != 0 ||
        strcmp(text[machine], lines->machine) != 0)
        return;
    const int64_t number = strtoll(text[last_unix_s], NULL, 10) / day_s;
    if (number <= 0 || number > lines->last ||
        number % most_days != strtoll(text[bin], NULL, 10))
        return;
    struct day *day = &lines->days->day[number % most_days];
    if (number > day->number)
        *day = (struct day){.number = number};
    if (number == day->number)
        add_line(day, text);
}

static int by_number(const void *a, const void *b)
{
    const struct day *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

bool read_days(takt_ctx *ctx, const char *store, struct days *out)
{
    struct day_lines lines = {.machine = takt_ctx_machine(ctx)->hw_fingerprint,
                              .last = (int64_t)time(NULL) / day_s + 1,
                              .days = out};
    size_t first = 0;

    *out = (struct days){0};
    const bool is_read = visit_lines(store, read_line, &lines);
    qsort(out->day, most_days, sizeof out->day[0], by_number);
    const int64_t last = out->day[most_days - 1].number;
    while (first < most_days && (out->day[first].number == 0 ||
                                 out->day[first].number <= last - most_days))
        first++;
    out->count = most_days - first;
    memmove(out->day, out->day + first, out->count * sizeof out->day[0]);
    return is_read;
}

/* ---- printing ---- */

struct date {
    char at[16];
};

static struct date date_of(const struct day *day)
{
    const time_t when = (time_t)(day->number * day_s);
    struct date out = {""};
    struct tm parts;

    if (gmtime_r(&when, &parts) != NULL)
        strftime(out.at, sizeof out.at, "%Y-%m-%d", &parts);
    return out;
}

/* What is gained if calls take that share of the baseline's time. */
static double gain_share(const struct day *day, double log_ratio)
{
    return day->comparisons > 0 ? 1 - exp(log_ratio) : (double)NAN;
}

static struct number_text number_of(double value)
{
    return count_text((uint64_t)fmin(value, 1e18));
}

static void print_day(const struct day *day)
{
    char gain[16] = "-";

    if (day->comparisons > 0)
        snprintf(gain, sizeof gain, "%+.1f%%",
                 100 * gain_share(day, day->log_mean));
    printf("%-10s %8s %11s %8s %6s %8s %8s %7s %6s\n", date_of(day).at,
           number_of(day->samples).at, number_of(day->calls).at,
           day->called_s > 0 ? seconds_text(day->called_s).at : "-",
           number_of(day->trials).at,
           day->trials_s > 0 ? seconds_text(day->trials_s).at : "-",
           day->budget_s > 0 ? seconds_text(day->budget_s).at : "-",
           number_of(day->changes).at, gain);
}

static void print_day_json(struct json *json, const struct day *day)
{
    const double wide = day->comparisons >= 2 && day->squares > 0
                            ? 2 * sqrt(day->squares / (day->comparisons - 1))
                            : (double)NAN;

    json_print(json,
               "{day:%s samples:%g calls:%g called_s:%g trials:%g trials_s:%g "
               "budget_s:%g changes:%g comparisons:%g gain_share:%g "
               "gain_low_share:%g gain_high_share:%g}",
               date_of(day).at, day->samples, day->calls, day->called_s,
               day->trials, day->trials_s, day->budget_s, day->changes,
               day->comparisons, gain_share(day, day->log_mean),
               gain_share(day, day->log_mean + wide),
               gain_share(day, day->log_mean - wide));
}

void print_days_json(struct json *json, const struct days *days)
{
    for (size_t i = 0; i < days->count; i++)
        print_day_json(json, &days->day[i]);
}

static void print_text(const struct days *days)
{
    printf("%-10s %8s %11s %8s %6s %8s %8s %7s %6s\n", "day (UTC)", "samples",
           "calls", "took", "trials", "extra", "budget", "changes", "gain");
    for (size_t i = 0; i < days->count; i++)
        print_day(&days->day[i]);
    puts("extra: what trials took beyond the best expert; budget: what they "
         "might take\nchanges: of an expert's speed; gain: of programs under "
         "'takt run', measured");
}

bool print_days(takt_ctx *ctx, const char *store, bool is_json)
{
    struct json json = json_begin(stdout);
    struct days days;

    if (!read_days(ctx, store, &days))
        return false;
    if (is_json) {
        json_open(&json, NULL, '[');
        print_days_json(&json, &days);
        json_print(&json, "]\n");
    } else if (days.count > 0) {
        print_text(&days);
    } else {
        puts("nothing yet: programs that use Takt and 'takt tune' fill it");
    }
    return true;
}
