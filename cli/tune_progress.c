/* SPDX-License-Identifier: MIT */
/* tune_progress.c - a bar for people, lines for logs, nothing for programs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "number.h"
#include "tune.h"

enum { bar_width = 24 };
static const double bar_every_s = 0.1, line_every_s = 5;

static void name_stage(const takt_tune_progress *progress, char *out,
                       size_t size)
{
    char shape[64];

    switch (progress->stage) {
    case TAKT_TUNE_TRANSFERS:
        snprintf(out, size, "moving operands to %s", progress->expert);
        break;
    case TAKT_TUNE_MEASURING:
        format_shape(&progress->shape, shape, sizeof shape);
        snprintf(out, size, "%s %s %s", progress->op->name,
                 takt_dtype_name(progress->dtype), shape);
        break;
    case TAKT_TUNE_STARTING:
    case TAKT_TUNE_WAITING:
        snprintf(out, size, "waiting: others use the machine");
        break;
    }
}

void show_progress(struct tune *tune, const takt_tune_progress *progress)
{
    const double now = (double)takt__now_ns() * 1e-9;
    const bool is_bar = isatty(STDERR_FILENO) != 0;
    char what[128], bar[bar_width + 1];

    if (tune->is_json || now < tune->next_line_s ||
        progress->stage == TAKT_TUNE_STARTING)
        return;
    name_stage(progress, what, sizeof what);
    memset(bar, '.', bar_width);
    memset(bar, '#', (size_t)(progress->done * bar_width));
    bar[bar_width] = '\0';
    if (is_bar)
        fprintf(stderr, "\r[%s] %3.0f%%  %3.0f s left  %-32.32s", bar,
                100 * progress->done, progress->left_s, what);
    else
        fprintf(stderr, "takt tune: %.0f%%, about %.0f s left, %s\n",
                100 * progress->done, progress->left_s, what);
    tune->next_line_s = now + (is_bar ? bar_every_s : line_every_s);
}

void hide_progress(const struct tune *tune)
{
    if (!tune->is_json && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%*s\r", 78, "");
}
