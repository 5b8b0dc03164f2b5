/* SPDX-License-Identifier: MIT */
/*
 * run_loops.c - NumPy's own loops in the report of `takt run`: sums, rows, text
 * and JSON.
 *
 * Of loops that run whole only some are timed; they stand for the others of
 * their length.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "number.h"
#include "run.h"
#include "workflow.h"

enum { whole, split };

/* ---- sums ---- */

static double took_s(const struct takt_stats_loop_cell *cell, int side)
{
    const double timed = (double)cell->timed[side];
    const double calls = (double)cell->calls[side];

    return timed > 0 ? (double)cell->ns[side] / 1e9 *
                           (calls > timed ? calls / timed : 1)
                     : 0;
}

static void add_cell(struct loop_row *row,
                     const struct takt_stats_loop_cell *cell)
{
    row->whole += cell->calls[whole];
    row->split += cell->calls[split];
    row->took_s += took_s(cell, whole) + took_s(cell, split);
    row->compared += cell->compared;
    row->whole_s += (double)cell->whole_ns / 1e9;
    row->split_s += (double)cell->split_ns / 1e9;
    row->error_s += (double)cell->error_ns / 1e9;
}

static void add_row(struct loop_row *sum, const struct loop_row *row)
{
    sum->whole += row->whole;
    sum->split += row->split;
    sum->took_s += row->took_s;
    sum->compared += row->compared;
    sum->whole_s += row->whole_s;
    sum->split_s += row->split_s;
    sum->error_s += row->error_s;
}

/* Any process may have written anything there. */
static const char *name_of(const struct takt_stats_loop *loop)
{
    return loop->name[0] != '\0' &&
                   memchr(loop->name, '\0', sizeof loop->name) != NULL
               ? loop->name
               : NULL;
}

static bool has_calls(const struct takt_stats_loop_cell *cell)
{
    return cell->calls[whole] > 0 || cell->calls[split] > 0;
}

struct loop_row sum_loops(const struct takt_stats *stats)
{
    struct loop_row sum = {0};

    for (size_t i = 0; i < TAKT_STATS_LOOPS; i++)
        for (size_t class = 0; class < TAKT_STATS_CLASSES; class ++)
            add_cell(&sum, &stats->loop[i].cell[class]);
    return sum;
}

double loops_gain_s(const struct loop_row *row)
{
    return row->whole_s - row->split_s;
}

/* ---- text ---- */

static struct loop_row row_of(const struct takt_stats_loop *loop)
{
    struct loop_row row = {.name = name_of(loop),
                           .first_class = TAKT_STATS_CLASSES};

    for (unsigned class = 0; class < TAKT_STATS_CLASSES; class ++) {
        if (!has_calls(&loop->cell[class]))
            continue;
        add_cell(&row, &loop->cell[class]);
        if (class < row.first_class)
            row.first_class = class;
        row.last_class = class;
    }
    return row;
}

static void print_row(FILE *out, const struct loop_row *row, const char *sizes)
{
    const double all = (double)row->whole + (double)row->split;
    const double gain_s = loops_gain_s(row);
    char clean[4 * TAKT_STATS_LOOP_NAME + 1], gain[80] = "-", share[16] = "-";

    clean_text(row->name, clean, sizeof clean);
    if (row->split > 0)
        snprintf(share, sizeof share, "%.1f%%", 100 * (double)row->split / all);
    if (row->compared > 0)
        snprintf(gain, sizeof gain, "%c%s +- %s", gain_s < 0 ? '-' : '+',
                 seconds_text(fabs(gain_s)).at,
                 seconds_text(2 * row->error_s).at);
    fprintf(out, "%-19.19s %-11s %9s %7s %9s %20s\n", clean, sizes,
            count_text(row->whole + row->split).at, share,
            seconds_text(row->took_s).at, gain);
}

static int slower(const void *a, const void *b)
{
    const struct loop_row *const x = a, *const y = b;

    return (x->took_s < y->took_s) - (x->took_s > y->took_s);
}

static void write_sizes(const struct loop_row *row, char *out, size_t size)
{
    char from[32], to[32];

    format_short((size_t)1 << row->first_class, from, sizeof from);
    format_short((size_t)2 << row->last_class, to, sizeof to);
    snprintf(out, size, "%s-%s", from, to);
}

void print_loops_text(FILE *out, const struct takt_stats *stats)
{
    enum { most = 12 };
    struct loop_row row[TAKT_STATS_LOOPS], others = {.name = "others"},
                                           all = {.name = "all"};
    size_t count = 0;
    char sizes[80];

    for (size_t i = 0; i < TAKT_STATS_LOOPS; i++) {
        row[count] = row_of(&stats->loop[i]);
        add_row(&all, &row[count]);
        count += row[count].name != NULL &&
                 row[count].first_class < TAKT_STATS_CLASSES;
    }
    if (count == 0)
        return;
    qsort(row, count, sizeof row[0], slower);
    fprintf(out, "\n%-19s %-11s %9s %7s %9s %20s\n", "loop of NumPy", "length",
            "calls", "split", "took", "gain");
    for (size_t i = 0; i < count && i < most; i++) {
        write_sizes(&row[i], sizes, sizeof sizes);
        print_row(out, &row[i], sizes);
    }
    for (size_t i = most; i < count; i++)
        add_row(&others, &row[i]);
    if (count > most)
        print_row(out, &others, "");
    if (count > 1)
        print_row(out, &all, "");
}

/* ---- JSON ---- */

static void json_cell(struct json *json, const char *name, unsigned class,
                      const struct takt_stats_loop_cell *cell)
{
    const size_t least = (size_t)1 << class;
    const bool has_end = class + 1 < TAKT_STATS_CLASSES;
    struct loop_row row = {0};

    add_cell(&row, cell);
    json_print(json,
               "{loop:%s size_class:%u least:%zu most:%zu whole:%ju split:%ju "
               "whole_s:%g split_s:%g compared:%ju baseline_s:%g error_s:%g "
               "instead_s:%g gain_s:%g}",
               name, class, least, has_end ? 2 * least - 1 : SIZE_MAX,
               row.whole, row.split, took_s(cell, whole), took_s(cell, split),
               row.compared, row.whole_s, row.error_s, row.split_s,
               row.compared > 0 ? loops_gain_s(&row) : (double)NAN);
}

void print_loops_json(struct json *json, const struct takt_stats *stats)
{
    json_print(json, "loops:[");
    for (size_t i = 0; i < TAKT_STATS_LOOPS; i++) {
        const struct takt_stats_loop *loop = &stats->loop[i];
        for (unsigned class = 0; class < TAKT_STATS_CLASSES; class ++)
            if (name_of(loop) != NULL && has_calls(&loop->cell[class]))
                json_cell(json, loop->name, class, &loop->cell[class]);
    }
    json_print(json, "]");
}
