/* SPDX-License-Identifier: MIT */
/* inside.h - what the attribution is made of, for the files of this folder. */
#pragma once

#include "energy/energy.h"
#include "energy/regression.h"

/* The terms of the regression: what is always there, the load of the processor
 * that is not Takt's, then calls of experts by what bounds them. */
enum { TAKT_TERM_IDLE = 0, TAKT_TERM_REST = 1, TAKT_TERM_FIRST = 2 };

/* Calls of an expert that are bound by the same. */
struct takt_energy_term {
    unsigned arm, bound, threads;
    int where;
    bool is_used;
};

struct takt_energy_window {
    uint64_t begin_ns, end_ns;
    double joules;
    double cpu_s; /* of all processes */
    double busy_s[TAKT_ENERGY_TERMS];
    unsigned share_pml; /* as the last reading had it */
    bool is_mixed;      /* there was more than there are terms for */
};

/* What is known of a counter. */
struct takt_energy_account {
    struct takt_energy_reading last;
    bool has_last, is_open, has_closed;
    uint64_t waiting_ns; /* since when a step is waited for; 0: it is not */
    /* The window that is open, and the one before it: a call that began in that
     * one may be heard of later. */
    struct takt_energy_window open, closed;
    uint64_t cpu_at_begin_ns;
    struct takt_regression sums;
    struct takt_coefficients solution;
    bool is_solved;
    double typical_w; /* how far windows are off, mostly; 0: not known */
    struct takt_energy_windows windows;
};

struct takt_energy {
    unsigned counters;
    struct takt_energy_counter counter[TAKT_ENERGY_COUNTERS];
    struct takt_energy_account *account; /* by counter */
    struct takt_energy_term term[TAKT_ENERGY_TERMS];
    FILE *log; /* NULL: none */
};

/* ---- window.c ------------------------------------------------------------ */

/* Whether a counter should be read. */
bool takt__account_is_due(const struct takt_energy_account *account,
                          const struct takt_energy_counter *counter,
                          uint64_t now_ns);

/* Follows a counter; true: a window was closed, and the one before it is to be
 * settled, which *settled then holds. */
bool takt__account_read(struct takt_energy_account *account,
                        const struct takt_energy_counter *counter,
                        const struct takt_energy_reading *reading,
                        struct takt_energy_window *settled);

/* Adds a use to the windows that it lies in. */
void takt__account_use(struct takt_energy_account *account, unsigned term,
                       const struct takt_energy_use *use);

/* ---- log.c --------------------------------------------------------------- */

void takt__log_counter(FILE *log, const struct takt_energy_counter *counter);
void takt__log_reading(FILE *log, unsigned counter,
                       const struct takt_energy_reading *reading);
void takt__log_use(FILE *log, const struct takt_energy_use *use);
