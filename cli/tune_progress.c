/* SPDX-License-Identifier: MIT */
/* tune_progress.c - a bar for people, lines for logs, nothing for programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "number.h"
#include "tune.h"

enum { bar_width = 24 };
static const double line_every_s = 5;

/* The share of the work that is done, and the seconds that are left: as many
 * as it took so far for as much, and never more than the budget. */
static double share_done(const struct tune *tune, double *left_s)
{
    const double now = tune_now();
    const double elapsed = now - tune->start_s;
    const double by_work =
        tune->plan.expected_s > 0 ? tune->done_s / tune->plan.expected_s : 1;
    const double by_time = elapsed / (tune->deadline_s - tune->start_s);
    const double share = fmin(fmax(by_work, by_time), 1);

    *left_s = fmax(tune->deadline_s - now, 0);
    if (by_work > 0.02)
        *left_s = fmin(*left_s, elapsed * (1 - fmin(by_work, 1)) / by_work);
    return share;
}

static void draw_bar(double share, double left_s, const char *what)
{
    const int full = (int)(share * bar_width);
    char bar[bar_width + 1];

    memset(bar, '.', bar_width);
    memset(bar, '#', (size_t)full);
    bar[bar_width] = '\0';
    fprintf(stderr, "\r[%s] %3.0f%%  %3.0f s left  %-32.32s", bar, 100 * share,
            left_s, what);
}

static void show(struct tune *tune, const char *what)
{
    const double now = tune_now();
    double left_s;

    if (tune->is_json || now < tune->next_line_s)
        return;
    const double share = share_done(tune, &left_s);
    if (isatty(STDERR_FILENO)) {
        draw_bar(share, left_s, what);
        tune->next_line_s = now + 0.1;
    } else {
        fprintf(stderr, "takt tune: %.0f%%, about %.0f s left, %s\n",
                100 * share, left_s, what);
        tune->next_line_s = now + line_every_s;
    }
}

void show_progress(struct tune *tune, const struct cell_plan *cell)
{
    char shape[64], what[128];

    format_shape(&cell->shape, shape, sizeof shape);
    snprintf(what, sizeof what, "%s %s %s", cell->series->op->name,
             takt_dtype_name(cell->series->dtype), shape);
    show(tune, what);
}

void show_links(struct tune *tune, const char *expert)
{
    char what[64];

    snprintf(what, sizeof what, "moving operands to %s", expert);
    show(tune, what);
}

void show_waiting(struct tune *tune)
{
    show(tune, "waiting: others use the machine");
}

void hide_progress(const struct tune *tune)
{
    if (!tune->is_json && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%*s\r", 78, "");
}
