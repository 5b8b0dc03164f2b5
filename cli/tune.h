/* SPDX-License-Identifier: MIT */
/*
 * tune.h - what `takt tune` is made of, around takt_tune().
 *
 *     cmd_tune.c       the question, the context, signals, progress
 *     tune_report.c    what was measured and found, and what is wrong with it
 */
#pragma once

#include <stdbool.h>

#include <takt/takt.h>

struct tune {
    takt_ctx *ctx;
    takt_tune_options options;
    takt_tune_result result;
    bool is_json;
    int signal;         /* that ended it; 0: none */
    double start_s;     /* of the command */
    double next_line_s; /* of progress */
};

/* Says what was done, and pins (`pin` may be NULL); returns the exit status. */
int report_tune(const struct tune *tune, const char *pin);
