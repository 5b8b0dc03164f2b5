/* SPDX-License-Identifier: MIT */
/*
 * run_compare.h - `takt run --compare`: a program with and without Takt, in
 * pairs of runs in random order.
 *
 *     run_compare.c           which run comes next, and when it is enough
 *     run_compare_child.c     one run: its input, output, signals and times
 *     run_compare_stats.c     medians, and the interval of a ratio
 *     run_compare_output.c    whether the program printed the same
 *     run_compare_report.c    what came of it, for people and for programs
 */
#pragma once

#include "base/sha256.h"
#include "run.h"
#include "run_compare_stats.h"

enum {
    compare_most = 25,  /* pairs, where no number is given */
    compare_limit = 600 /* seconds, after which no further pair begins */
};

struct compare_wish {
    const struct launch *launch; /* with Takt */
    const char *store;           /* "": none */
    size_t pairs;                /* 0: until the interval is narrow */
    bool shows_output;           /* of the program, on stderr */
    bool is_json;
    FILE *out;
};

/* Runs, compares and prints. Returns the exit status of takt; *signal_number is
 * the signal that interrupted it, or 0. */
int run_compared(const struct compare_wish *wish, int *signal_number);

/* ---- run_compare_child.c ---- */

enum { shown_bytes = 1024, kept_bytes = 1 << 16 };

struct compare_run {
    int status; /* as waitpid() has it */
    double wall_s, cpu_s;
    double others; /* processors that others used meanwhile; NAN: not known */
    uint64_t output_bytes;
    char output[TAKT_SHA256_HEX]; /* the digest of what it printed */
    /* With Takt: */
    uint64_t calls, elsewhere; /* of BLAS */
    double claimed_s;          /* the gain of the report; NAN: not known */
    double claimed_error_s;    /* half of its 95% interval */
};

/* How to run it, and what is kept of the last run. */
struct compare_child {
    int input;         /* rewound for each run */
    off_t input_start; /* -1: it cannot be rewound, and need not be */
    bool shows_output;
    struct signals before;
    int signal;     /* that interrupted a run; 0: none */
    int stopped_by; /* the program stopped; 0: it did not */
    char *head;     /* the first kept_bytes of stdout, owned */
    size_t head_size;
    char tail[shown_bytes]; /* the last bytes of stderr */
    size_t tail_size;
};

/* Standard input, for every run the same: a pipe is read to its end. On failure
 * says what is wrong in one line and returns false. */
bool compare_open(struct compare_child *out, bool shows_output);
void compare_close(struct compare_child *child);

/* False: it could not be run; says so, and *code is the exit status. */
bool compare_child_run(struct compare_child *child, const struct launch *launch,
                       struct compare_run *out, int *code);

/* ---- run_compare_report.c ---- */

enum compare_end {
    COMPARE_PAIRS,  /* all that were wanted */
    COMPARE_NARROW, /* the interval was narrow enough */
    COMPARE_MOST,   /* it was not after compare_most pairs */
    COMPARE_LATE,   /* it was not after compare_limit seconds */
    COMPARE_FAILED, /* a run failed */
    COMPARE_SIGNAL  /* a signal interrupted it */
};

/* What was printed by the program. */
enum compare_text {
    OUTPUT_SAME,
    OUTPUT_VARIES, /* without Takt, too */
    OUTPUT_DIFFERS /* only with Takt */
};

struct compare_pair {
    struct compare_run plain, takt;
    bool is_takt_first;
};

struct run_comparison {
    char *const *program;
    const char *store;
    bool is_new_store;
    struct compare_pair first; /* apart from the others: nothing is warm */
    const struct compare_pair *pair;
    size_t count;
    enum compare_end end;
    bool is_first_done; /* else there is nothing to compare */
    double took_s;
    struct interval wall, cpu;
    enum compare_text output;
    bool differs_in_text;     /* and not in numbers alone */
    double number_difference; /* the largest, as a share of the larger one */
    /* Of COMPARE_FAILED: */
    bool has_takt_failed;
    int failed_status, stopped_by;
    const char *error; /* the end of what it wrote to stderr */
};

void print_compare_text(FILE *out, const struct run_comparison *comparison);
void print_compare_json(FILE *out, const struct run_comparison *comparison);
