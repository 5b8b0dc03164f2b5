/* SPDX-License-Identifier: MIT */
/*
 * plan.c - what to measure, in which order, and how much of it.
 *
 * Time may run out at any moment, so what matters most comes first: a coarse
 * pass over everything, common layouts before rare ones and cheap cells before
 * expensive ones; then sizes in between, where the best expert changes.
 */
#include <math.h>
#include <stdlib.h>

#include "tune/inside.h"
#include "tune/operands.h"

/* Phases, in their order. */
enum {
    phase_coarse,     /* the most common layouts */
    phase_layouts,    /* others that are common */
    phase_second,     /* both, in a second round */
    phase_expensive,  /* of both, what takes long */
    phase_again,      /* all of these, in another round */
    phase_crossing,   /* between two sizes with different best experts */
    phase_crossing_2, /* and closer */
    phase_between,    /* the most common layouts, twice as dense */
    phase_rest,       /* everything else */
};

static const double expensive_s = 0.01; /* calls of all experts, one each */
static const double catching_up = .7;   /* of the ratio one size before */
static const double close = 1.15;       /* to the best: not decided */

/* ---- how much ---- */

/* A tenth of the memory of the machine is not missed. */
struct takt_tune_limits takt__tune_limits(takt_tune_effort effort,
                                          const takt_machine *machine)
{
    /* clang-format off */
    static const struct takt_tune_limits efforts[] = {
        [TAKT_TUNE_USUAL] = {55, 25, 5, phase_between, 4, 3, 0.2, 0x1p28, true},
        [TAKT_TUNE_QUICK] = {4.3, 3, 1, phase_crossing, 2, 2, 0.02, 0x1p24, false},
        [TAKT_TUNE_FULL] = {3600, 0, 5, phase_rest, 8, 6, 5, 0x1p30, true},
    };
    /* clang-format on */
    const double tenth = (double)machine->memory_bytes / 10;
    struct takt_tune_limits limits = efforts[effort];

    if (tenth > 0)
        limits.most_bytes = fmin(limits.most_bytes, tenth);
    return limits;
}

double takt__tune_enough(const struct takt_tuning *tuning, double call_s,
                         bool is_gpu)
{
    const double enough = tuning->limits.enough;
    const double share = takt__tune_is_long(call_s)    ? floor(enough / 3)
                         : takt__tune_is_short(call_s) ? enough
                                                       : floor(2 * enough / 3);

    return fmax(is_gpu ? TAKT_TUNE_LEAST_OF_GPU : 1, share);
}

/* ---- which experts ---- */

static unsigned next_known(const struct takt_tune_series *series, unsigned step,
                           int way)
{
    for (unsigned at = step + (unsigned)way; at < TAKT_FAMILY_STEPS;
         at += (unsigned)way)
        if (series->is_known[at])
            return at;
    return TAKT_FAMILY_STEPS;
}

static bool is_behind(const struct takt_tune_series *series, unsigned step,
                      size_t expert, double behind)
{
    return step < TAKT_FAMILY_STEPS &&
           (double)series->ratio[step][expert] > behind;
}

bool takt__tune_is_beaten(const struct takt_tune_series *series, unsigned step,
                          size_t expert, double behind)
{
    const unsigned below = next_known(series, step, -1);
    const unsigned above = next_known(series, step, 1);

    if (!is_behind(series, below, expert, behind))
        return false;
    if (above < TAKT_FAMILY_STEPS)
        return is_behind(series, above, expert, behind);
    const unsigned before = next_known(series, below, -1);
    /* Threads are far behind at small sizes and win at large ones. */
    return is_behind(series, before, expert, behind) &&
           (double)series->ratio[below][expert] >
               catching_up * (double)series->ratio[before][expert];
}

static size_t best_at(const struct takt_tune_series *series, unsigned step)
{
    size_t best = TAKT_TUNE_EXPERTS;

    for (size_t i = 0; i < TAKT_TUNE_EXPERTS; i++)
        if (series->ratio[step][i] > 0 &&
            (best == TAKT_TUNE_EXPERTS ||
             series->ratio[step][i] < series->ratio[step][best]))
            best = i;
    return best;
}

static bool is_undecided(const struct takt_tune_series *series, unsigned step)
{
    unsigned near = 0;

    for (size_t i = 0; i < TAKT_TUNE_EXPERTS; i++)
        near += series->ratio[step][i] > 0 &&
                (double)series->ratio[step][i] < close;
    return near > 1;
}

bool takt__tune_is_crossing(const struct takt_tune_series *series,
                            unsigned step)
{
    const unsigned below = next_known(series, step, -1);
    const unsigned above = next_known(series, step, 1);

    if (below >= TAKT_FAMILY_STEPS || above >= TAKT_FAMILY_STEPS)
        return false;
    return best_at(series, below) != best_at(series, above) ||
           (is_undecided(series, below) && is_undecided(series, above));
}

/* ---- cells ---- */

takt_request takt__tune_request(const struct takt_tune_cell *cell,
                                unsigned situation)
{
    return (takt_request){.op = cell->series->op,
                          .dtype = cell->series->dtype,
                          .shape = cell->shape,
                          .flags = cell->series->family->flags,
                          .situation = situation};
}

/* What measuring a cell takes, by what is expected of its experts. */
static void expect(const struct takt_tuning *tuning,
                   struct takt_tune_cell *cell)
{
    static const double turn_s = 0.0015; /* warm-up, pauses, recording */
    const takt_request request = takt__tune_request(cell, 0);
    takt_estimate all[TAKT_TUNE_EXPERTS] = {{.size = sizeof all[0]}};
    size_t count;
    double turns = (double)tuning->gpu_count; /* with operands there */

    if (takt_explain(tuning->ctx, &request, all, TAKT_TUNE_EXPERTS, &count) !=
        TAKT_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        const bool is_near = all[i].predicted_s < 4 * all[0].predicted_s;
        turns += is_near ? 1 : 0.5;
        cell->calls_s += is_near ? all[i].predicted_s : 0;
    }
    cell->expected_s = turns * turn_s + 5 * cell->calls_s;
}

/* Adds a cell unless it takes a greater effort. */
static bool add_cell(struct takt_tuning *tuning,
                     const struct takt_tune_cell *cell)
{
    struct takt_tune_plan *plan = &tuning->plan;

    if (cell->phase > tuning->limits.last_phase)
        return true;
    if ((plan->count & (plan->count + 1)) == 0) {
        const size_t capacity = 2 * plan->count + 2;
        struct takt_tune_cell *more =
            realloc(plan->cell, capacity * sizeof *more);
        if (more == NULL)
            return false;
        plan->cell = more;
    }
    plan->cell[plan->count++] = *cell;
    if (!cell->needs_crossing)
        plan->expected_s += cell->expected_s;
    return true;
}

/* Adds a cell with its rounds apart. Machines are slow for a second at a time:
 * samples of one moment would all be wrong together. A second sample of what is
 * called often says more than a first one of what takes long: large calls are
 * known from smaller ones. */
static bool add_rounds(struct takt_tuning *tuning,
                       const struct takt_tune_cell *cell)
{
    struct takt_tune_cell next = *cell;

    next.rounds = 1;
    for (; next.round < tuning->limits.rounds; next.round++) {
        if (!add_cell(tuning, &next))
            return false;
        next.phase = next.phase < phase_second ? phase_second : phase_again;
    }
    return true;
}

static unsigned phase_of(const struct takt_tune_cell *cell)
{
    const struct takt_tune_series *series = cell->series;
    const unsigned from = cell->step - series->family->low;
    const unsigned importance = series->family->importance;

    if (importance == 3)
        return phase_rest;
    if (from % series->stride == 0)
        return importance == 2               ? phase_between
               : cell->calls_s > expensive_s ? phase_expensive
               : importance == 0             ? phase_coarse
                                             : phase_layouts;
    if (importance == 2)
        return phase_rest;
    return from % 2 == 0 && series->stride > 2 ? phase_crossing
                                               : phase_crossing_2;
}

static bool is_too_large(const struct takt_tuning *tuning,
                         const struct takt_tune_cell *cell, takt_work *work)
{
    return takt_op_work(cell->series->op, cell->series->dtype, &cell->shape,
                        work) != TAKT_OK ||
           work->bytes > tuning->limits.most_bytes;
}

static bool add_step(struct takt_tuning *tuning,
                     struct takt_tune_series *series, unsigned step)
{
    struct takt_tune_cell cell = {.series = series,
                                  .step = step,
                                  .rounds = tuning->limits.rounds,
                                  .shape =
                                      takt__family_shape(series->family, step)};
    takt_work work;

    if (phase_of(&cell) > tuning->limits.last_phase ||
        is_too_large(tuning, &cell, &work))
        return true;
    expect(tuning, &cell);
    cell.phase = phase_of(&cell); /* by what it costs, too */
    cell.needs_crossing =
        cell.phase == phase_crossing || cell.phase == phase_crossing_2;
    if (cell.phase < phase_again)
        return add_rounds(tuning, &cell);
    if (!add_cell(tuning, &cell))
        return false;
    if (!cell.needs_crossing)
        return true;
    /* Where the best expert does not change, it comes later. */
    cell.phase = cell.phase == phase_crossing && series->family->importance == 0
                     ? phase_between
                     : phase_rest;
    cell.needs_crossing = false;
    return add_cell(tuning, &cell);
}

static bool add_steps(struct takt_tuning *tuning,
                      struct takt_tune_series *series)
{
    for (unsigned step = series->family->low; step <= series->family->high;
         step++)
        if (!add_step(tuning, series, step))
            return false;
    return true;
}

/* Sizes that the caller names: in the series of the first family. Their steps
 * are those of the nearest work. */
static bool add_shapes(struct takt_tuning *tuning,
                       struct takt_tune_series *series)
{
    for (size_t i = 0; i < tuning->options.shape_count; i++) {
        struct takt_tune_cell cell = {.series = series,
                                      .shape = tuning->options.shapes[i]};
        takt_work work;
        if (!takt__can_be_timed(series->op, &cell.shape) ||
            is_too_large(tuning, &cell, &work))
            continue;
        cell.step = takt__family_step_for(series->family, series->op,
                                          series->dtype, &work);
        expect(tuning, &cell);
        if (!add_rounds(tuning, &cell))
            return false;
    }
    return true;
}

static bool add_series(struct takt_tuning *tuning, const takt_op *op,
                       takt_dtype dtype, const struct takt_family *family)
{
    struct takt_tune_plan *plan = &tuning->plan;
    struct takt_tune_series *series = &plan->series[plan->series_count];

    *series = (struct takt_tune_series){
        .op = op,
        .dtype = dtype,
        .family = family,
        .stride = family->high - family->low > 20 ? 4 : 2,
        .ratio = calloc(TAKT_FAMILY_STEPS, sizeof *series->ratio)};
    if (series->ratio == NULL)
        return false;
    plan->series_count++;
    return tuning->options.shapes != NULL ? add_shapes(tuning, series)
                                          : add_steps(tuning, series);
}

static bool add_op(struct takt_tuning *tuning, const takt_op *op,
                   takt_dtype dtype)
{
    const size_t most = tuning->options.shapes != NULL ? 1 : SIZE_MAX;
    const struct takt_family *family;

    for (size_t i = 0; i < most && (family = takt__family_at(op, i)) != NULL;
         i++)
        if (!add_series(tuning, op, dtype, family))
            return false;
    return true;
}

/* f32 before f64, ops as they were given, sizes upwards: an expert that falls
 * behind is then left out early. */
static int by_phase(const void *a, const void *b)
{
    const struct takt_tune_cell *x = a, *y = b;

    if (x->phase != y->phase)
        return x->phase < y->phase ? -1 : 1;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    if (x->series->dtype != y->series->dtype)
        return x->series->dtype < y->series->dtype ? -1 : 1;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static size_t count_series(const takt_tune_options *options)
{
    size_t count = 0;

    for (size_t i = 0; i < options->op_count; i++)
        for (size_t f = 0; takt__family_at(options->ops[i], f) != NULL; f++)
            count++;
    return 2 * count;
}

takt_status takt__tune_plan(struct takt_tuning *tuning)
{
    const takt_tune_options *options = &tuning->options;
    struct takt_tune_plan *plan = &tuning->plan;

    plan->series = calloc(count_series(options), sizeof *plan->series);
    if (plan->series == NULL)
        return TAKT_ENOMEM;
    for (size_t i = 0; i < options->op_count; i++)
        for (int dtype = TAKT_F32; dtype <= TAKT_F64; dtype++)
            if ((options->ops[i]->dtypes & options->dtypes & 1u << dtype) !=
                    0 &&
                !add_op(tuning, options->ops[i], (takt_dtype)dtype))
                return TAKT_ENOMEM;
    if (plan->count > 0)
        qsort(plan->cell, plan->count, sizeof plan->cell[0], by_phase);
    return TAKT_OK;
}

void takt__tune_plan_free(struct takt_tune_plan *plan)
{
    for (size_t i = 0; i < plan->series_count; i++)
        free(plan->series[i].ratio);
    free(plan->series);
    free(plan->cell);
}
