/* SPDX-License-Identifier: MIT */
/*
 * run_tally.c - what a tree of processes counted, added up.
 *
 * Of the calls that were passed through only some are timed.
 * They stand for the others of their routine and class; the sum is then an
 * estimate. A process that was killed may have counted a call and not its time,
 * so no number is taken to fit another one.
 */
#include <stdlib.h>
#include <string.h>

#include "run.h"

const char *const way_keys[TAKT_WAYS] = {"straight", "plain", "scalar", "simd",
                                         "gpu"};

const char *const why_keys[TAKT_WHYS] = {
    "small",     "settled", "starting", "form",   "routine", "nested", "wrong",
    "no_router", "no_gpu",  "asleep",   "slower", "lost",    "policy", "tried"};

static const char *const routine_stems[TAKT_ROUTINES] = {
    "gemm", "symm", "syrk", "syr2k", "trmm", "trsm", "gemv",
    "ger",  "axpy", "dot",  "scal",  "nrm2", "asum", "amax"};

const char *routine_name(unsigned routine, unsigned letter, char out[16])
{
    static const char *const plain[TAKT_LETTERS] = {"s", "d", "c", "z"};
    static const char *const real[TAKT_LETTERS] = {"s", "d", "sc", "dz"};
    const bool gives_real = routine == TAKT_NRM2 || routine == TAKT_ASUM;

    snprintf(out, 16, "%s%s%s", routine == TAKT_IAMAX ? "i" : "",
             gives_real ? real[letter] : plain[letter], routine_stems[routine]);
    return out;
}

/* ---- sums ---- */

/* Damage may have made any number of one. */
static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t all_calls(const struct run_row *row)
{
    uint64_t sum = 0;

    for (size_t way = 0; way < TAKT_WAYS; way++)
        sum = plus(sum, row->calls[way]);
    return sum;
}

uint64_t calls_elsewhere(const struct run_row *row)
{
    return plus(row->calls[TAKT_WAY_SCALAR],
                plus(row->calls[TAKT_WAY_SIMD], row->calls[TAKT_WAY_GPU]));
}

double gained_s(const struct run_row *row)
{
    return row->plain_s - row->instead_s;
}

double predicted_s(const struct run_row *row)
{
    /* Less than nothing comes of a call that was compared and not timed. */
    const double predicted = row->took_s + gained_s(row);
    return predicted > row->plain_s ? predicted : row->plain_s;
}

double gained_share(const struct run_row *row)
{
    const double predicted = predicted_s(row);
    return predicted > 0 ? gained_s(row) / predicted : 0;
}

static void add_way(struct run_row *row, const struct takt_board_cell *cell,
                    size_t way)
{
    const uint64_t calls = cell->calls[way], timed = cell->timed[way];
    const double measured_s = (double)cell->ns[way] / 1e9;

    row->calls[way] = calls;
    row->timed[way] = timed;
    row->measured_s[way] = measured_s;
    if (timed == 0) {
        row->untimed = plus(row->untimed, calls);
    } else if (timed < calls) {
        row->took_s += measured_s * ((double)calls / (double)timed);
        row->is_estimate = true;
    } else {
        row->took_s += measured_s;
    }
}

static struct run_row row_of(const struct takt_board_cell *cell)
{
    struct run_row row = {.compared = cell->compared,
                          .plain_s = (double)cell->plain_ns / 1e9,
                          .instead_s = (double)cell->instead_ns / 1e9,
                          .judged = cell->judged,
                          .gpu_s = (double)cell->gpu_ns / 1e9,
                          .own_s = (double)cell->own_ns / 1e9};

    for (size_t way = 0; way < TAKT_WAYS; way++)
        add_way(&row, cell, way);
    for (size_t why = 0; why < TAKT_WHYS; why++)
        row.why[why] = cell->why[why];
    return row;
}

static void add_row(struct run_row *sum, const struct run_row *row)
{
    for (size_t way = 0; way < TAKT_WAYS; way++) {
        sum->calls[way] = plus(sum->calls[way], row->calls[way]);
        sum->timed[way] = plus(sum->timed[way], row->timed[way]);
        sum->measured_s[way] += row->measured_s[way];
    }
    for (size_t why = 0; why < TAKT_WHYS; why++)
        sum->why[why] = plus(sum->why[why], row->why[why]);
    sum->took_s += row->took_s;
    sum->is_estimate |= row->is_estimate;
    sum->untimed = plus(sum->untimed, row->untimed);
    sum->compared = plus(sum->compared, row->compared);
    sum->plain_s += row->plain_s;
    sum->instead_s += row->instead_s;
    sum->judged = plus(sum->judged, row->judged);
    sum->gpu_s += row->gpu_s;
    sum->own_s += row->own_s;
}

/* ---- rows ---- */

/* Most cells are empty. */
static bool has_calls(const struct takt_board_cell *cell)
{
    for (size_t way = 0; way < TAKT_WAYS; way++)
        if (cell->calls[way] > 0)
            return true;
    return false;
}

bool tally_board(const struct takt_board *board, struct run_tally *out)
{
    enum { most = TAKT_ROUTINES * TAKT_LETTERS * TAKT_BOARD_CLASSES };

    *out = (struct run_tally){.row = calloc(most, sizeof *out->row)};
    if (out->row == NULL)
        return false;
    for (unsigned i = 0; i < most; i++) {
        const unsigned class = i % TAKT_BOARD_CLASSES;
        const unsigned letter = i / TAKT_BOARD_CLASSES % TAKT_LETTERS;
        const unsigned routine = i / TAKT_BOARD_CLASSES / TAKT_LETTERS;
        const struct takt_board_cell *cell =
            &board->cell[routine][letter][class];
        if (!has_calls(cell))
            continue;
        struct run_row row = row_of(cell);
        row.routine = routine;
        row.letter = letter;
        row.first_class = row.last_class = class;
        out->row[out->count++] = row;
        add_row(&out->total, &row);
    }
    return true;
}

void tally_drop(struct run_tally *tally)
{
    free(tally->row);
    *tally = (struct run_tally){0};
}

static bool is_straight(const struct run_row *row)
{
    return row->calls[TAKT_WAY_STRAIGHT] == all_calls(row);
}

void tally_merge(struct run_tally *tally)
{
    size_t kept = 0;

    for (size_t i = 0; i < tally->count; i++) {
        const struct run_row row = tally->row[i];
        struct run_row *last = kept > 0 ? &tally->row[kept - 1] : NULL;
        if (last != NULL && last->routine == row.routine &&
            last->letter == row.letter && is_straight(last) &&
            is_straight(&row)) {
            add_row(last, &row);
            last->last_class = row.last_class;
        } else {
            tally->row[kept++] = row;
        }
    }
    tally->count = kept;
}
