/* SPDX-License-Identifier: MIT */
/*
 * run_loops.c - NumPy's own loops and calls of LAPACK in the report of
 * `takt run`: sums, rows, text and JSON.
 *
 * Both run in one of two ways: as without Takt (loops whole, LAPACK on the
 * threads that the program has), or otherwise (split; on fewer threads). Of
 * those that run as without Takt only some are timed; they stand for the others
 * of their size.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clean.h"
#include "json.h"
#include "number.h"
#include "run.h"

enum { whole, split };

/* Names of LAPACK, each routine's of s and d. */
static const char *const lapack_name[] = {
#define TAKT_LAPACK(stem_, ...) "s" #stem_, "d" #stem_,
#include "dropin/lapack.def"
};
enum { lapack_names = sizeof lapack_name / sizeof *lapack_name };

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
    row->whole_s += (double)cell->baseline_ns / 1e9;
    row->split_s += (double)cell->instead_ns / 1e9;
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

/* How the rows of a part of the report are named, and their members: the row,
 * as without Takt, otherwise. */
static const struct part {
    size_t rows;
    const char *head[3];
    const char *list, *name, *whole, *split, *whole_s, *split_s;
} parts[] = {
    [loop_rows] = {TAKT_STATS_LOOPS,
                   {"loop of NumPy", "length", "split"},
                   "loops",
                   "loop",
                   "whole",
                   "split",
                   "whole_s",
                   "split_s"},
    [lapack_rows] = {lapack_names,
                     {"routine of LAPACK", "size", "changed"},
                     "lapack",
                     "routine",
                     "unchanged",
                     "changed",
                     "unchanged_s",
                     "changed_s"},
};

/* The cells of a row and its name, which is NULL if it has none. */
static const struct takt_stats_loop_cell *
cells_of(const struct takt_stats *stats, enum loop_rows part, size_t i,
         const char **name)
{
    const struct takt_stats_loop *loop = &stats->loop[i];

    if (part == lapack_rows) {
        *name = lapack_name[i];
        return stats->lapack[i / 2][i % 2];
    }
    /* Any process may have written anything there. */
    *name = loop->name[0] != '\0' &&
                    memchr(loop->name, '\0', sizeof loop->name) != NULL
                ? loop->name
                : NULL;
    return loop->cell;
}

static bool has_calls(const struct takt_stats_loop_cell *cell)
{
    return cell->calls[whole] > 0 || cell->calls[split] > 0;
}

struct loop_row sum_loops(const struct takt_stats *stats, enum loop_rows part)
{
    struct loop_row sum = {0};
    const char *name;

    for (size_t i = 0; i < parts[part].rows; i++)
        for (size_t class = 0; class < TAKT_STATS_CLASSES; class ++)
            add_cell(&sum, &cells_of(stats, part, i, &name)[class]);
    return sum;
}

double loops_gain_s(const struct loop_row *row)
{
    return row->whole_s - row->split_s;
}

/* ---- text ---- */

static struct loop_row row_of(const char *name,
                              const struct takt_stats_loop_cell *cell)
{
    struct loop_row row = {.name = name, .first_class = TAKT_STATS_CLASSES};

    for (unsigned class = 0; class < TAKT_STATS_CLASSES; class ++) {
        if (!has_calls(&cell[class]))
            continue;
        add_cell(&row, &cell[class]);
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

static bool has_row(const struct loop_row *row)
{
    return row->name != NULL && row->first_class < TAKT_STATS_CLASSES;
}

/* The slowest first; and the sum of all. */
static void print_rows(FILE *out, struct loop_row *row, size_t count,
                       const char *const head[3])
{
    enum { most = 12 };
    struct loop_row others = {.name = "others"}, all = {.name = "all"};
    char sizes[80];

    if (count == 0)
        return;
    qsort(row, count, sizeof row[0], slower);
    fprintf(out, "\n%-19s %-11s %9s %7s %9s %20s\n", head[0], head[1], "calls",
            head[2], "took", "gain");
    for (size_t i = 0; i < count; i++) {
        add_row(&all, &row[i]);
        if (i >= most) {
            add_row(&others, &row[i]);
            continue;
        }
        write_sizes(&row[i], sizes, sizeof sizes);
        print_row(out, &row[i], sizes);
    }
    if (count > most)
        print_row(out, &others, "");
    if (count > 1)
        print_row(out, &all, "");
}

void print_loops_text(FILE *out, const struct takt_stats *stats,
                      enum loop_rows part)
{
    struct loop_row row[TAKT_STATS_LOOPS + lapack_names];
    const char *name;
    size_t count = 0;

    for (size_t i = 0; i < parts[part].rows; i++) {
        const struct takt_stats_loop_cell *cell =
            cells_of(stats, part, i, &name);
        row[count] = row_of(name, cell);
        count += has_row(&row[count]);
    }
    print_rows(out, row, count, parts[part].head);
}

/* ---- JSON ---- */

static void json_cell(struct json *json, const struct part *member,
                      const char *name, unsigned class,
                      const struct takt_stats_loop_cell *cell)
{
    const size_t least = (size_t)1 << class;
    const bool has_end = class + 1 < TAKT_STATS_CLASSES;
    struct loop_row row = {0};

    if (!has_calls(cell))
        return;
    add_cell(&row, cell);
    json_open(json, NULL, '{');
    json_string(json, member->name, name);
    json_print(json, "size_class:%u least:%zu most:%zu", class, least,
               has_end ? 2 * least - 1 : SIZE_MAX);
    json_count(json, member->whole, row.whole);
    json_count(json, member->split, row.split);
    json_number(json, member->whole_s, took_s(cell, whole));
    json_number(json, member->split_s, took_s(cell, split));
    json_print(json,
               "compared:%ju baseline_s:%g error_s:%g instead_s:%g gain_s:%g}",
               row.compared, row.whole_s, row.error_s, row.split_s,
               row.compared > 0 ? loops_gain_s(&row) : (double)NAN);
}

void print_loops_json(struct json *json, const struct takt_stats *stats,
                      enum loop_rows part)
{
    const char *name;

    json_open(json, parts[part].list, '[');
    for (size_t i = 0; i < parts[part].rows; i++) {
        const struct takt_stats_loop_cell *cell =
            cells_of(stats, part, i, &name);
        for (unsigned class = 0; class < TAKT_STATS_CLASSES; class ++)
            if (name != NULL)
                json_cell(json, &parts[part], name, class, &cell[class]);
    }
    json_close(json, ']');
}
