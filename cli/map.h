/* SPDX-License-Identifier: MIT */
/* map.h - the fastest expert for each size. */
#pragma once

#include <stdio.h>

#include <takt/takt.h>

#include "json.h"
#include "tune/family.h"

/* The experts at one size. */
struct map_cell {
    unsigned step;
    char expert[TAKT_EXPERT_NAME_MAX];
    char next[TAKT_EXPERT_NAME_MAX]; /* empty: there is no other */
    char moe[TAKT_EXPERT_NAME_MAX];  /* that of the moe rule */
    double seconds;
    double next_speedup; /* times as fast as the next; 0: not known */
    double moe_speedup;
    double samples;
};

/* The sizes of one op in one layout. */
struct map_row {
    const takt_op *op;
    takt_dtype dtype;
    const struct takt_family *family;
    unsigned situation;
    bool is_told_apart; /* from the same on a GPU, or on the host */
    struct map_cell cell[TAKT_FAMILY_STEPS];
    size_t count;
};

/* False: the op cannot be asked about. */
bool find_map_row(takt_ctx *ctx, const takt_op *op, takt_dtype dtype,
                  const struct takt_family *family, unsigned situation,
                  struct map_row *out);

/* The letters of the charts: what each stands for. */
enum { most_letters = 26 };
struct legend {
    char expert[most_letters][TAKT_EXPERT_NAME_MAX];
    size_t count;
};

void print_map_row_text(const struct map_row *row, struct legend *legend);
void print_map_row_csv(const struct map_row *row);
void print_map_row_json(struct json *json, const struct map_row *row);
void print_legend(const struct legend *legend);
