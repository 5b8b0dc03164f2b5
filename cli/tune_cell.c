/* SPDX-License-Identifier: MIT */
/*
 * tune_cell.c - one op at one size: experts in turns, in every situation.
 *
 * A turn begins with a warm-up by the same expert: wide vector units need a
 * third of a millisecond to reach full speed, and the caches hold what a
 * previous call of this expert would have left. Then one sample of each
 * situation that is not known well enough.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "tune.h"

static const double warm_up_s = 0.0003;
static const double loop_below_s = 2e-6; /* the clock would be seen */
static const double loop_s = 2e-5;
static const double awake_s = 5e-5;   /* until awake; they spin twice as long */
static const double pause_s = 3.5e-4; /* and sleep by then */
static const double short_s = 1e-3, long_s = 1e-2;
enum { most_tries = 3, least_of_gpu = 2 };

/* One expert at one cell. */
struct runner {
    size_t expert;
    unsigned threads;
    bool is_gpu;
    double samples[situation_count]; /* that are known */
    double best_s[situation_count];  /* 0: not known */
    bool is_out;                     /* cannot run it, or far behind */
};

struct contest {
    struct tune *tune;
    const struct cell_plan *cell;
    struct runner runner[most_experts];
    size_t count;
    unsigned round;
    size_t copy;   /* of the operands: the last cold one that was run */
    double enough; /* samples per expert and situation */
    double behind; /* times the best: need not be run again */
    bool is_long;  /* waking threads is nothing beside it */
};

/* ---- a sample ----------------------------------------------------------- */

/* Seconds; negative: it could not be run. */
static double run_once(struct contest *contest, const struct runner *runner,
                       size_t copy)
{
    const double start = tune_now();
    const takt_status status = takt_run_on(
        contest->tune->ctx, &contest->tune->stage.call[copy], runner->expert);

    return status == TAKT_OK ? tune_now() - start : -1;
}

static size_t draw(struct tune *tune, size_t below)
{
    tune->random = tune->random * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(tune->random >> 33) % below;
}

/* Leaves the operands in the caches of another team, as the op before would
 * have in a program that makes many. */
static double run_another(struct contest *contest, const struct runner *runner)
{
    const struct runner *other = NULL;

    for (size_t i = 0, seen = 0; i < contest->count; i++) {
        const struct runner *who = &contest->runner[i];
        if (!who->is_out && who->threads != runner->threads &&
            draw(contest->tune, ++seen) == 0)
            other = who;
    }
    return other == NULL ? 0 : run_once(contest, other, 0);
}

/* Wakes the threads of an expert with an op that touches nothing of ours. The
 * first run may be over before they are awake; then they stay awake longer
 * than the second takes. */
static void wake(struct contest *contest, const struct runner *runner)
{
    const takt_call *small = &contest->tune->stage.small;

    takt_run_on(contest->tune->ctx, small, runner->expert);
    const double start = tune_now();
    while (tune_now() - start < awake_s)
        ;
    takt_run_on(contest->tune->ctx, small, runner->expert);
}

/* What "fresh" means: nobody can tell a library whether the operands of a call
 * lie in a farther cache or in memory, were just written by the caller, or were
 * left by another team. So there are samples of each kind, and where that
 * matters they do not agree. In one round it is the same for every expert. */
static size_t make_fresh(struct contest *contest, const struct runner *runner,
                         double *idle_s)
{
    struct stage *stage = &contest->tune->stage;

    switch (contest->round % 3) {
    case 0:
        contest->copy = contest->copy % (stage->copies - 1) + 1;
        return contest->copy;
    case 1:
        *idle_s = rewrite_inputs(stage, 0);
        return 0;
    default:
        *idle_s = run_another(contest, runner);
        return 0;
    }
}

/* Prepares the situation; returns the copy to be run. */
static size_t prepare(struct contest *contest, const struct runner *runner,
                      unsigned situation)
{
    const struct timespec pause = {.tv_nsec = (long)(pause_s * 1e9)};
    double idle_s = 0;
    size_t copy = 0;

    if ((situation & TAKT_SITUATION_REPEAT) != 0) {
        if (contest->copy != 0)
            run_once(contest, runner, 0);
        contest->copy = 0;
    } else {
        copy = make_fresh(contest, runner, &idle_s);
    }
    if ((situation & TAKT_SITUATION_ALONE) != 0)
        nanosleep(&pause, NULL);
    else if (runner->threads > 1 && idle_s > 0)
        wake(contest, runner);
    return copy;
}

static double time_situation(struct contest *contest,
                             const struct runner *runner, unsigned situation,
                             double about_s)
{
    const size_t copy = prepare(contest, runner, situation);

    if (situation != TAKT_SITUATION_REPEAT || about_s >= loop_below_s)
        return run_once(contest, runner, copy);
    const unsigned calls = (unsigned)(loop_s / fmax(about_s, 1e-8)) + 1;
    const double start = tune_now();
    for (unsigned i = 0; i < calls; i++)
        if (takt_run_on(contest->tune->ctx, &contest->tune->stage.call[copy],
                        runner->expert) != TAKT_OK)
            return -1;
    return (tune_now() - start) / calls;
}

/* One sample; false: it could not be run, or whenever it was tried, this thread
 * was interrupted. With --anyway the shortest of these counts. */
static bool take_sample(struct contest *contest, struct runner *runner,
                        unsigned situation, double about_s, double *out)
{
    struct tune *tune = contest->tune;
    double shortest = INFINITY;

    for (int try = 0; try < most_tries && stop_signal == 0; try++) {
        const struct attention attention = pay_attention(about_s);
        const double seconds =
            time_situation(contest, runner, situation, about_s);
        if (seconds < 0) {
            runner->is_out = true;
            return false;
        }
        shortest = fmin(shortest, seconds);
        if (!was_interrupted(&attention, seconds)) {
            *out = seconds;
            return true;
        }
        tune->rejected++;
    }
    *out = shortest;
    return tune->takes_anything && isfinite(shortest);
}

/* ---- a turn ------------------------------------------------------------- */

/* Seconds of a call when warm; negative: the expert cannot run it. */
static double warm_up(struct contest *contest, const struct runner *runner)
{
    struct tune *tune = contest->tune;
    const double start = tune_now();
    double now = start, before;

    do {
        before = now;
        if (takt_run_on(tune->ctx, &tune->stage.call[0], runner->expert) !=
            TAKT_OK)
            return -1;
        now = tune_now();
    } while (now - start < warm_up_s);
    contest->copy = 0;
    return now - before;
}

static bool is_wanted(const struct contest *contest,
                      const struct runner *runner, unsigned situation)
{
    if ((situation & TAKT_SITUATION_ALONE) != 0 && runner->threads == 1)
        return false;
    if (situation != 0 && runner->is_gpu) /* it is all the same to it */
        return false;
    if (situation == (TAKT_SITUATION_ALONE | TAKT_SITUATION_REPEAT) &&
        (!contest->tune->pace.times_repeated_alone || contest->is_long))
        return false;
    return runner->samples[situation] <
           fmax(contest->enough, runner->is_gpu ? least_of_gpu : 1);
}

static bool is_finished(const struct contest *contest,
                        const struct runner *runner)
{
    for (unsigned s = 0; s < situation_count; s++)
        if (is_wanted(contest, runner, s))
            return false;
    return true;
}

static void take_turn(struct contest *contest, struct runner *runner)
{
    /* What is repeated comes first, while caches are as the warm-up left
     * them. */
    static const unsigned order[situation_count] = {
        TAKT_SITUATION_REPEAT, 0, TAKT_SITUATION_ALONE,
        TAKT_SITUATION_REPEAT | TAKT_SITUATION_ALONE};
    const double about_s = warm_up(contest, runner);

    if (about_s < 0) {
        runner->is_out = true;
        return;
    }
    for (unsigned i = 0;
         i < situation_count && stop_signal == 0 && !runner->is_out; i++) {
        const takt_request request = cell_request(contest->cell, order[i]);
        double seconds;
        if (!is_wanted(contest, runner, order[i]) ||
            !take_sample(contest, runner, order[i], about_s, &seconds))
            continue;
        note_sample(contest->tune, &request, runner->expert, seconds);
        double *best = &runner->best_s[order[i]];
        *best = *best > 0 ? fmin(*best, seconds) : seconds;
        runner->samples[order[i]]++;
    }
}

/* ---- all experts -------------------------------------------------------- */

/* Seconds over the best, in the situation in which an expert does best. */
static double ratio_of(const struct contest *contest,
                       const struct runner *runner)
{
    double least = INFINITY;

    for (unsigned s = 0; s <= TAKT_SITUATION_REPEAT; s++) {
        double best = INFINITY;
        for (size_t i = 0; i < contest->count; i++)
            if (contest->runner[i].best_s[s] > 0)
                best = fmin(best, contest->runner[i].best_s[s]);
        if (runner->best_s[s] > 0)
            least = fmin(least, runner->best_s[s] / best);
    }
    return least;
}

static void drop_losers(struct contest *contest)
{
    for (size_t i = 0; i < contest->count; i++) {
        struct runner *runner = &contest->runner[i];
        const double ratio = ratio_of(contest, runner);
        if (isfinite(ratio) && ratio > contest->behind &&
            runner->samples[0] >= (runner->is_gpu ? least_of_gpu : 0))
            runner->is_out = true;
    }
}

static void run_round(struct contest *contest)
{
    size_t order[most_experts];

    for (size_t i = 0; i < contest->count; i++) {
        const size_t at = draw(contest->tune, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (size_t i = 0; i < contest->count; i++) {
        struct runner *runner = &contest->runner[order[i]];
        if (tune_is_over(contest->tune))
            return;
        if (!runner->is_out && !is_finished(contest, runner))
            take_turn(contest, runner);
    }
}

/* ---- what is known already ---------------------------------------------- */

static size_t find_expert(const struct tune *tune, const char *name)
{
    size_t i = 0;

    while (i < tune->expert_count && strcmp(tune->expert[i], name) != 0)
        i++;
    return i;
}

static struct runner *runner_of(struct contest *contest, size_t expert,
                                const takt_estimate *of)
{
    for (size_t i = 0; i < contest->count; i++)
        if (contest->runner[i].expert == expert)
            return &contest->runner[i];
    struct runner *runner = &contest->runner[contest->count++];
    *runner = (struct runner){.expert = expert,
                              .threads = expert_threads(of->expert),
                              .is_gpu = of->backend == TAKT_BACKEND_GPU};
    return runner;
}

/* An expert that is expected to take long and to be far behind is not even
 * tried, and one that lost at other sizes need not be; unless it is a GPU that
 * is expected to win here, which must not be believed unseen. */
static bool is_hopeless(const struct contest *contest,
                        const takt_estimate *estimate,
                        const takt_estimate *best, size_t expert)
{
    const double longest_s = contest->tune->pace.longest_s;
    const bool may_win = estimate->backend == TAKT_BACKEND_GPU &&
                         estimate->predicted_s <= best->predicted_s;

    if (estimate->low_s > longest_s ||
        (estimate->predicted_s > 20 * best->predicted_s &&
         estimate->predicted_s > longest_s / 10))
        return true;
    return !may_win &&
           is_out_of_race(contest->cell->series, contest->cell->step, expert,
                          contest->behind);
}

double samples_enough(const struct tune *tune, double call_s, bool is_gpu)
{
    const double enough = tune->pace.enough;

    return fmax(is_gpu ? least_of_gpu : 1, call_s >= long_s ? floor(enough / 3)
                                           : call_s >= short_s
                                               ? floor(2 * enough / 3)
                                               : enough);
}

static void set_effort(struct contest *contest, double best_s)
{
    contest->is_long = best_s >= long_s;
    contest->enough = samples_enough(contest->tune, best_s, false);
    contest->behind = contest->is_long ? 1.7 : 4;
}

takt_request cell_request(const struct cell_plan *cell, unsigned situation)
{
    return (takt_request){.op = cell->series->op,
                          .dtype = cell->series->dtype,
                          .shape = cell->shape,
                          .flags = cell->series->family->flags,
                          .situation = situation};
}

static void recall_situation(struct contest *contest, unsigned situation)
{
    struct tune *tune = contest->tune;
    const takt_request request = cell_request(contest->cell, situation);
    takt_estimate all[most_experts];
    size_t count;

    if (takt_explain(tune->ctx, &request, all, most_experts, &count) != TAKT_OK)
        return;
    if (situation == 0 && count > 0)
        set_effort(contest, all[0].predicted_s);
    for (size_t i = 0; i < count; i++) {
        const size_t expert = find_expert(tune, all[i].expert);
        if (expert == tune->expert_count || all[i].is_asleep)
            continue;
        struct runner *runner = runner_of(contest, expert, &all[i]);
        runner->samples[situation] = all[i].samples;
        if (all[i].samples > 0)
            runner->best_s[situation] = all[i].predicted_s;
        if (situation == 0)
            runner->is_out = is_hopeless(contest, &all[i], &all[0], expert);
    }
}

static void keep_ratios(const struct contest *contest)
{
    struct series *series = contest->cell->series;
    const unsigned step = contest->cell->step;

    for (size_t i = 0; i < contest->count; i++) {
        const struct runner *runner = &contest->runner[i];
        const double ratio = ratio_of(contest, runner);
        if (isfinite(ratio)) {
            series->ratio[step][runner->expert] = (float)ratio;
            series->is_known[step] = true;
        }
    }
}

static bool is_all_known(const struct contest *contest)
{
    for (size_t i = 0; i < contest->count; i++)
        if (!contest->runner[i].is_out &&
            !is_finished(contest, &contest->runner[i]))
            return false;
    return true;
}

static bool measure_on_host(struct tune *tune, struct cell_plan *cell)
{
    struct contest contest = {.tune = tune, .cell = cell};

    for (unsigned s = 0; s < situation_count; s++)
        recall_situation(&contest, s);
    drop_losers(&contest);
    if (is_all_known(&contest)) {
        keep_ratios(&contest);
        return false;
    }
    if (!set_stage(tune, cell))
        return false;
    for (; contest.round < tune->pace.rounds; contest.round++) {
        run_round(&contest);
        drop_losers(&contest);
    }
    keep_ratios(&contest);
    return true;
}

bool measure_cell(struct tune *tune, struct cell_plan *cell)
{
    const bool is_new = measure_on_host(tune, cell);

    return measure_resident(tune, cell) || is_new;
}
