/* SPDX-License-Identifier: MIT */
/*
 * tune_plan.c - what to measure, in which order.
 *
 * Time may run out at any moment, so what matters most comes first: a coarse
 * pass over everything, the ordinary layouts before the rare ones and cheap
 * cells before dear ones; then sizes in between, where the winner changes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune.h"

/* Phases, in their order. */
enum {
    phase_coarse,     /* ordinary layouts */
    phase_layouts,    /* others that are common */
    phase_dear,       /* of both, what takes long */
    phase_crossing,   /* between two sizes with different winners */
    phase_crossing_2, /* and closer */
    phase_between,    /* ordinary layouts, twice as dense */
    phase_rest,       /* with --full: everything else */
};

static const double dear_s = 0.04;
static const double catching_up = .7; /* of the ratio one size before */
static const double close = 1.15;     /* to the best: not decided */

/* ---- the race ----------------------------------------------------------- */

static unsigned next_known(const struct series *series, unsigned step, int way)
{
    for (unsigned at = step + (unsigned)way; at < most_steps;
         at += (unsigned)way)
        if (series->is_known[at])
            return at;
    return most_steps;
}

static bool is_behind(const struct series *series, unsigned step, size_t expert,
                      double behind)
{
    return step < most_steps && (double)series->ratio[step][expert] > behind;
}

bool is_out_of_race(const struct series *series, unsigned step, size_t expert,
                    double behind)
{
    const unsigned below = next_known(series, step, -1);
    const unsigned above = next_known(series, step, 1);

    if (!is_behind(series, below, expert, behind))
        return false;
    if (above < most_steps)
        return is_behind(series, above, expert, behind);
    const unsigned before = next_known(series, below, -1);
    /* Threads are far behind at small sizes and win at large ones. */
    return is_behind(series, before, expert, behind) &&
           (double)series->ratio[below][expert] >
               catching_up * (double)series->ratio[before][expert];
}

static size_t winner_at(const struct series *series, unsigned step)
{
    size_t best = most_experts;

    for (size_t i = 0; i < most_experts; i++)
        if (series->ratio[step][i] > 0 &&
            (best == most_experts ||
             series->ratio[step][i] < series->ratio[step][best]))
            best = i;
    return best;
}

static bool is_undecided(const struct series *series, unsigned step)
{
    unsigned near = 0;

    for (size_t i = 0; i < most_experts; i++)
        near += series->ratio[step][i] > 0 &&
                (double)series->ratio[step][i] < close;
    return near > 1;
}

bool is_near_crossover(const struct series *series, unsigned step)
{
    const unsigned below = next_known(series, step, -1);
    const unsigned above = next_known(series, step, 1);

    if (below >= most_steps || above >= most_steps)
        return false;
    return winner_at(series, below) != winner_at(series, above) ||
           (is_undecided(series, below) && is_undecided(series, above));
}

/* ---- cells -------------------------------------------------------------- */

static bool add_series(struct plan *plan, const takt_op *op, takt_dtype dtype,
                       const struct family *family)
{
    struct series *series = &plan->series[plan->series_count];

    *series =
        (struct series){.op = op,
                        .dtype = dtype,
                        .family = family,
                        .stride = family->high - family->low > 20 ? 4 : 2,
                        .ratio = calloc(most_steps, sizeof *series->ratio)};
    if (series->ratio == NULL)
        return false;
    plan->series_count++;
    return true;
}

static bool add_cell(struct plan *plan, const struct cell_plan *cell)
{
    if ((plan->count & (plan->count + 1)) == 0) {
        const size_t room = 2 * plan->count + 2;
        struct cell_plan *more = realloc(plan->cell, room * sizeof *more);
        if (more == NULL)
            return false;
        plan->cell = more;
    }
    plan->cell[plan->count++] = *cell;
    return true;
}

/* What measuring a cell takes, by what is expected of its experts. */
static double expect(struct tune *tune, const struct cell_plan *cell)
{
    static const double turn_s = 0.0015; /* warm-up, pauses, telling */
    takt_request request = {.op = cell->series->op,
                            .dtype = cell->series->dtype,
                            .shape = cell->shape,
                            .flags = cell->series->family->flags};
    takt_estimate all[most_experts];
    size_t count;
    double seconds = 0;

    if (takt_explain(tune->ctx, &request, all, most_experts, &count) != TAKT_OK)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (all[i].predicted_s < 4 * all[0].predicted_s)
            seconds += turn_s + 5 * all[i].predicted_s;
        else
            seconds += turn_s / 2;
    seconds += (double)tune->gpu_count * turn_s; /* with operands there */
    return seconds * (tune->pace.rounds + 1) / 2;
}

static unsigned phase_of(const struct series *series, unsigned step,
                         double expected_s)
{
    const unsigned from = step - series->family->low;
    const unsigned importance = series->family->importance;

    if (importance == 3)
        return phase_rest;
    if (from % series->stride == 0)
        return importance == 2       ? phase_between
               : expected_s > dear_s ? phase_dear
               : importance == 0     ? phase_coarse
                                     : phase_layouts;
    if (importance == 2)
        return phase_rest;
    return from % 2 == 0 && series->stride > 2 ? phase_crossing
                                               : phase_crossing_2;
}

static unsigned last_phase(enum effort effort)
{
    switch (effort) {
    case effort_quick:
        return phase_crossing;
    case effort_usual:
        return phase_between;
    case effort_full:
        break;
    }
    return phase_rest;
}

static bool fits(const struct tune *tune, const struct series *series,
                 const takt_shape *shape)
{
    takt_work work;

    return takt_op_work(series->op, series->dtype, shape, &work) == TAKT_OK &&
           work.bytes <= tune->pace.most_bytes;
}

static bool add_step(struct tune *tune, struct series *series, unsigned step,
                     bool is_again)
{
    struct cell_plan cell = {.series = series,
                             .step = step,
                             .shape = family_shape(series->family, step)};

    if (!fits(tune, series, &cell.shape))
        return true;
    cell.expected_s = expect(tune, &cell);
    cell.phase = phase_of(series, step, cell.expected_s);
    cell.needs_reason =
        cell.phase == phase_crossing || cell.phase == phase_crossing_2;
    if (is_again) { /* what was not worth it near a crossover comes later */
        if (!cell.needs_reason)
            return true;
        cell.phase =
            cell.phase == phase_crossing && series->family->importance == 0
                ? phase_between
                : phase_rest;
        cell.needs_reason = false;
    }
    return cell.phase > last_phase(tune->effort) ||
           add_cell(&tune->plan, &cell);
}

static bool add_steps(struct tune *tune, struct series *series)
{
    for (unsigned step = series->family->low; step <= series->family->high;
         step++)
        if (!add_step(tune, series, step, false) ||
            !add_step(tune, series, step, true))
            return false;
    return true;
}

/* Sizes that somebody named: in the series of the first family. Their steps
 * are those of the nearest work. */
static bool add_shapes(struct tune *tune, struct series *series,
                       const struct plan_wish *wish)
{
    for (size_t i = 0; i < wish->shape_count; i++) {
        const takt_shape *shape = &wish->shape[i];
        takt_work work;
        if (shape->rank < series->op->rank_min ||
            takt_op_check_shape(series->op, shape) != TAKT_OK ||
            takt_op_work(series->op, series->dtype, shape, &work) != TAKT_OK)
            continue;
        struct cell_plan cell = {
            .series = series,
            .shape = *shape,
            .step = family_step_for(series->family, series->op, series->dtype,
                                    &work),
        };
        cell.expected_s = expect(tune, &cell);
        if (fits(tune, series, shape) && !add_cell(&tune->plan, &cell))
            return false;
    }
    return true;
}

static bool add_op(struct tune *tune, const struct plan_wish *wish,
                   const takt_op *op, takt_dtype dtype)
{
    const struct family *family;

    for (size_t i = 0; (family = family_at(op, i)) != NULL; i++) {
        if (!add_series(&tune->plan, op, dtype, family))
            return false;
        struct series *series = &tune->plan.series[tune->plan.series_count - 1];
        if (wish->shape == NULL ? !add_steps(tune, series)
                                : !add_shapes(tune, series, wish))
            return false;
        if (wish->shape != NULL)
            break;
    }
    return true;
}

/* f32 before f64, ops as they were given, sizes upwards: an expert that falls
 * behind is then out of the race early. */
static int by_phase(const void *a, const void *b)
{
    const struct cell_plan *x = a, *y = b;

    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    if (x->series->dtype != y->series->dtype)
        return x->series->dtype < y->series->dtype ? -1 : 1;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static size_t count_series(const struct plan_wish *wish)
{
    size_t count = 0;

    for (size_t i = 0; i < wish->op_count; i++)
        for (size_t f = 0; family_at(wish->op[i], f) != NULL; f++)
            count++;
    return 2 * count;
}

bool make_plan(struct tune *tune, const struct plan_wish *wish)
{
    struct plan *plan = &tune->plan;

    plan->series = calloc(count_series(wish) + 1, sizeof *plan->series);
    if (plan->series == NULL)
        return false;
    for (size_t i = 0; i < wish->op_count; i++)
        for (int dtype = TAKT_F32; dtype <= TAKT_F64; dtype++)
            if (wish->dtype[dtype] && (wish->op[i]->dtypes >> dtype & 1) != 0 &&
                !add_op(tune, wish, wish->op[i], (takt_dtype)dtype))
                return false;
    if (plan->count > 0)
        qsort(plan->cell, plan->count, sizeof plan->cell[0], by_phase);
    for (size_t i = 0; i < plan->count; i++)
        if (!plan->cell[i].needs_reason)
            plan->expected_s += plan->cell[i].expected_s;
    return true;
}

void free_plan(struct plan *plan)
{
    for (size_t i = 0; i < plan->series_count; i++)
        free(plan->series[i].ratio);
    free(plan->series);
    free(plan->cell);
}
