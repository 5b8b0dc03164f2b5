/* SPDX-License-Identifier: MIT */
/* map.h - the fastest expert for each size. */
#pragma once

#include <stdio.h>

#include <takt/takt.h>

#include "json.h"
#include "number.h"
#include "tune/family.h"

/* The experts at one size. */
struct map_point {
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
    struct map_point point[TAKT_FAMILY_STEPS];
    size_t count;
};

/* False: the op cannot be asked about. */
bool find_map_row(takt_ctx *ctx, const takt_op *op, takt_dtype dtype,
                  const struct takt_family *family, unsigned situation,
                  struct map_row *out);

/* Neighbouring sizes with one winner: points first to last. */
struct range {
    size_t first, last;
    size_t measured;                  /* of them */
    double next_speedup, moe_speedup; /* geometric means */
};

/* Cuts a row into ranges; returns how many. */
size_t find_ranges(const struct map_row *row,
                   struct range out[TAKT_FAMILY_STEPS]);

/* "256 .. 96Ki", the side that shapes are made of; "nx16nx16n": what a shape
 * is made of. */
struct phrase name_range(const struct map_row *row, const struct range *range);
void name_pattern(const struct takt_family *family, char *out, size_t size);

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

/* ---- map_chart.c ---- */

/* All ops that have the element type, for people, in at most 45 lines. */
void print_chart(takt_ctx *ctx, takt_dtype dtype, unsigned situation);
