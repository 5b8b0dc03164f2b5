/* SPDX-License-Identifier: MIT */
/* top_screen.c - what `takt top` shows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clean.h"
#include "json.h"
#include "number.h"
#include "top.h"

static const char *const order_names[top_orders] = {"calls", "busy", "latency",
                                                    "name"};

/* "12.3K", in six characters at most. */
static struct number_text rate_text(double rate)
{
    struct number_text out;
    const char *unit = "";

    if (rate >= 1e9)
        rate /= 1e9, unit = "G";
    else if (rate >= 1e6)
        rate /= 1e6, unit = "M";
    else if (rate >= 1e4)
        rate /= 1e3, unit = "K";
    snprintf(out.at, sizeof out.at, "%.*f%s", rate < 100 && *unit ? 1 : 0, rate,
             unit);
    return out;
}

/* In five characters at most. */
static struct number_text busy_text(double busy)
{
    struct number_text out;

    snprintf(out.at, sizeof out.at, "%.*f%%", busy < 0.0995 ? 1 : 0,
             100 * busy);
    return out;
}

/* In five at most: "+12%", "~0%" where nothing was shown. */
static struct number_text gain_text(const struct top_row *row)
{
    struct number_text out;

    if (isnan(row->gain_s))
        snprintf(out.at, sizeof out.at, "-");
    else if (fabs(row->gain_s) <= row->gain_error_s)
        snprintf(out.at, sizeof out.at, "~0%%");
    else
        snprintf(out.at, sizeof out.at, "%+.*f%%",
                 fabs(row->gain_share) < 0.0995 ? 1 : 0,
                 fmax(-999, 100 * row->gain_share));
    return out;
}

static double latency_s(const struct top_row *row)
{
    return row->calls_per_s > 0 ? row->busy / row->calls_per_s : 0;
}

/* How many bytes of a text are shown: no part of a character. */
static int shown_bytes(const struct top_view *view, const char *text)
{
    size_t length = strnlen(text, view->width);

    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    return (int)length;
}

/* A line of the screen: cut to its width, and the rest of it cleared. The line
 * break comes before all but the first: one after the last would scroll. */
static void put_line(FILE *out, const struct top_view *view, const char *code,
                     const char *text)
{
    const bool is_coloured = view->has_colour && code[0] != '\0';

    fprintf(out, "\r\n%s%s%s%.*s%s\033[K", is_coloured ? "\033[" : "",
            is_coloured ? code : "", is_coloured ? "m" : "",
            shown_bytes(view, text), text, is_coloured ? "\033[0m" : "");
}

static void put_first(FILE *out, const struct top_view *view, const char *text)
{
    fprintf(out, "\033[H%s%.*s%s\033[K", view->has_colour ? "\033[1m" : "",
            shown_bytes(view, text), text, view->has_colour ? "\033[0m" : "");
}

/* Names have what is left of a wide screen. */
static int name_width(const struct top_view *view)
{
    enum { least = 10, most = 40, of_others = 70 };
    const int width = (int)view->width - of_others;

    return width < least ? least : width < most ? width : most;
}

static struct phrase program_text(const struct top_row *row, int width)
{
    char name[41], detail[8], expert[14], user[64]; /* cut between characters */
    const double latency = latency_s(row);

    clean_text(row->name, name, (size_t)width + 1);
    clean_text(row->detail, detail, sizeof detail);
    clean_text(row->expert, expert, sizeof expert);
    if (row->has_ended)
        return phrase("%7llu %-*s has ended", (unsigned long long)row->pid,
                      width, name);
    if (row->user != NULL)
        return phrase("%7llu %-*s not readable: run 'takt top' as %s",
                      (unsigned long long)row->pid, width, name,
                      clean_text(row->user, user, sizeof user));
    return phrase("%7llu %-*s %7s %5s %8s %-7s %-13s %3.0f%% %5s %5llu",
                  (unsigned long long)row->pid, width, name,
                  rate_text(row->calls_per_s).at, busy_text(row->busy).at,
                  latency > 0 ? seconds_text(latency).at : "-", detail, expert,
                  row->busy > 0 ? 100 * row->gpu_busy / row->busy : 0,
                  gain_text(row).at, (unsigned long long)row->alarms);
}

static struct phrase op_text(const struct top_row *row)
{
    char name[21], detail[21];
    const double latency = latency_s(row);

    clean_text(row->name, name, sizeof name);
    clean_text(row->detail, detail, sizeof detail);
    return phrase("  %-20s %-20s %7s %6.1f%% %10s", name, detail,
                  rate_text(row->calls_per_s).at, 100 * row->busy,
                  latency > 0 ? seconds_text(latency).at : "-");
}

/* All programs, whatever is shown of them. */
static void put_sums(FILE *out, const struct top_model *model,
                     const struct top_view *view)
{
    const time_t now = time(NULL);
    struct tm when;
    char clock[16] = "";
    size_t count, running = 0;
    double calls = 0, busy = 0;
    struct top_row *rows = top_rows(model, 0, by_name, "", &count);

    for (size_t i = 0; rows != NULL && i < count; i++) {
        running += !rows[i].has_ended && rows[i].user == NULL;
        calls += rows[i].calls_per_s;
        busy += rows[i].busy;
    }
    free(rows);
    if (localtime_r(&now, &when) != NULL)
        strftime(clock, sizeof clock, "%H:%M:%S", &when);
    put_first(
        out, view,
        phrase("takt top  %s%s  %zu program%s, %s calls/s, %.1f%% of a core "
               "in calls",
               view->is_paused ? "PAUSED  " : "", clock, running,
               running == 1 ? "" : "s", rate_text(calls).at, 100 * busy)
            .at);
}

/* Which rows are on the screen. */
struct top_window {
    size_t first, room, count;
};

static void put_head(FILE *out, const struct top_view *view,
                     const struct top_window *window)
{
    const bool has_filter = view->filter[0] != '\0' || view->is_typing;
    struct phrase what =
        phrase("sorted by %s%s%s", order_names[view->order],
               has_filter ? "; names with " : "", view->filter);

    if (view->pid != 0)
        what = phrase("process %llu, by op and expert; sorted by %s",
                      (unsigned long long)view->pid, order_names[view->order]);
    if (window->count > window->room)
        what = phrase("%s; %zu to %zu of %zu", what.at, window->first + 1,
                      window->first + window->room, window->count);
    put_line(out, view, "2", what.at);
    put_line(
        out, view, "7",
        view->pid != 0
            ? "  OP                   EXPERT               CALLS/S    BUSY "
              "   LATENCY"
            : phrase("    PID %-*s CALLS/S  BUSY  LATENCY BUSIEST EXPERT"
                     "         GPU  GAIN DRIFT",
                     name_width(view), "PROGRAM")
                  .at);
}

static void put_help(FILE *out, const struct top_view *view)
{
    put_line(out, view, "2",
             view->is_typing
                 ? "type a part of a name, Enter ends"
                 : "q quit  p pause  s sort  / filter  arrows select  Enter "
                   "open  Esc back");
}

uint64_t draw_screen(FILE *out, const struct top_model *model,
                     struct top_view *view)
{
    enum { head_lines = 3, foot_lines = 1 };
    const size_t room = view->height > head_lines + foot_lines + 1
                            ? view->height - head_lines - foot_lines
                            : 1;
    uint64_t selected = 0;
    size_t count;
    struct top_row *rows = top_rows(model, view->pid, view->order,
                                    view->pid == 0 ? view->filter : "", &count);

    if (view->selected >= count)
        view->selected = count > 0 ? count - 1 : 0;
    const size_t first = view->selected >= room ? view->selected - room + 1 : 0;
    put_sums(out, model, view);
    put_head(out, view, &(struct top_window){first, room, count});
    for (size_t i = first; i < first + room; i++) {
        if (rows != NULL && i < count) {
            put_line(out, view, i == view->selected ? "48;5;153;38;5;16" : "",
                     view->pid == 0
                         ? program_text(&rows[i], name_width(view)).at
                         : op_text(&rows[i]).at);
        } else {
            put_line(out, view, "2",
                     i == 0 ? "no program that uses Takt has made calls yet"
                            : "");
        }
    }
    if (rows != NULL && count > 0 && rows[view->selected].user == NULL)
        selected = rows[view->selected].pid;
    free(rows);
    put_help(out, view);
    fputs("\033[J", out);
    return selected;
}

/* NULL: it is none. */
static const char *script_of(const struct top_row *row)
{
    return row->name != row->program ? row->name : NULL;
}

static void print_program(struct json *json, const struct top_model *model,
                          const struct top_row *row)
{
    size_t count;
    struct top_row *ops = top_rows(model, row->pid, by_busy, "", &count);

    json_print(json,
               "{pid:%ju program:%s script:%s has_ended:%d calls_per_s:%g "
               "busy:%g gpu_busy:%g latency_s:%g trials_per_s:%g "
               "drift_alarms:%ju gain_s:%g gain_error_s:%g gain_share:%g ops:[",
               row->pid, row->program, script_of(row), row->has_ended,
               row->calls_per_s, row->busy, row->gpu_busy,
               positive_number(latency_s(row)), row->trials_per_s, row->alarms,
               row->gain_s, row->gain_error_s, row->gain_share);
    for (size_t i = 0; ops != NULL && i < count; i++)
        json_print(json,
                   "{op:%s expert:%s calls_per_s:%g busy:%g latency_s:%g}",
                   ops[i].name, ops[i].detail, ops[i].calls_per_s, ops[i].busy,
                   positive_number(latency_s(&ops[i])));
    json_print(json, "]}");
    free(ops);
}

void print_top_json(FILE *out, const struct top_model *model)
{
    struct json json = json_begin(out);
    size_t count;
    struct top_row *rows = top_rows(model, 0, by_name, "", &count);

    json_print(&json, "{schema:1 unix_s:%g programs:[", (double)time(NULL));
    for (size_t i = 0; rows != NULL && i < count; i++)
        if (rows[i].user == NULL)
            print_program(&json, model, &rows[i]);
    json_print(&json, "] not_readable:[");
    for (size_t i = 0; rows != NULL && i < count; i++)
        if (rows[i].user != NULL)
            json_print(&json, "{pid:%ju program:%s script:%s user:%s}",
                       rows[i].pid, rows[i].program, script_of(&rows[i]),
                       rows[i].user);
    free(rows);
    json_print(&json, "]}\n");
    fflush(out);
}
