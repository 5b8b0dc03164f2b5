/* SPDX-License-Identifier: MIT */
/*
 * tune.h - what `takt tune` is made of, around takt_tune().
 *
 *     cmd_tune.c       the question, the context, signals, progress
 *     tune_facts.c     sentences about what was found
 *     tune_report.c    what was measured, and what is wrong with it
 */
#ifndef TAKT_CLI_TUNE_H
#define TAKT_CLI_TUNE_H

#include <stdbool.h>
#include <stddef.h>

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

enum { most_told = 3, most_facts = 2 * most_told + 1, longest_fact = 240 };

/* Sentences about what was found; returns how many. */
size_t find_facts(const struct tune *tune,
                  char facts[most_facts][longest_fact]);

/* Says what was done, and pins (`pin` may be NULL); returns the exit status. */
int report_tune(const struct tune *tune, const char *pin);

#endif
