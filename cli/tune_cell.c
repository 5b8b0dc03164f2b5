/* SPDX-License-Identifier: MIT */
/*
 * tune_cell.c - one op at one size: experts in turns, in every situation.
 *
 * A turn begins with a warm-up by the same expert: wide vector units need a
 * third of a millisecond to reach full speed, and the caches hold what a
 * previous call of this expert would have left. Then one sample of each
 * situation that is not known well enough.
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tune.h"

static const double warm_up_s = 0.0003;
static const double loop_below_s = 2e-6; /* the clock would be seen */
static const double loop_s = 2e-5;
static const double awake_s = 5e-5;   /* until awake; they spin twice as long */
static const double pause_s = 3.5e-4; /* and sleep by then */
static const double short_s = 1e-3, long_s = 1e-2;
static const double steal_from_s = 1e-3, preempted_below_s = 1e-2;
enum { most_tries = 3 };

/* One expert at one cell. */
struct runner {
    size_t expert;
    unsigned threads;
    double samples[situation_count]; /* that are known */
    double best_s[situation_count];  /* 0: not known */
    bool is_out;                     /* cannot run it, or far behind */
};

struct contest {
    struct tune *tune;
    const struct cell_plan *cell;
    takt_request request;
    struct runner runner[most_experts];
    size_t count;
    unsigned round;
    size_t copy;   /* of the operands: the last cold one that was run */
    double enough; /* samples per expert and situation */
    double behind; /* times the best: need not be run again */
    bool is_long;  /* waking threads is nothing beside it */
};

/* ---- a sample ----------------------------------------------------------- */

static double run_once(struct contest *contest, const struct runner *runner,
                       size_t copy)
{
    const double start = tune_now();

    takt_run_on(contest->tune->ctx, &contest->tune->stage.call[copy],
                runner->expert);
    return tune_now() - start;
}

static long preemptions(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
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
        takt_run_on(contest->tune->ctx, &contest->tune->stage.call[copy],
                    runner->expert);
    return (tune_now() - start) / calls;
}

/* One sample; false: whenever it was tried, this thread was interrupted. With
 * --anyway the shortest of these counts. */
static bool take_sample(struct contest *contest, const struct runner *runner,
                        unsigned situation, double about_s, double *out)
{
    struct tune *tune = contest->tune;
    double shortest = INFINITY;

    for (int try = 0; try < most_tries && stop_signal == 0; try++) {
        const bool asks_steal = about_s >= steal_from_s;
        const double stolen = asks_steal ? stolen_s() : 0;
        const long before = preemptions();
        const double seconds =
            time_situation(contest, runner, situation, about_s);
        const bool is_interrupted =
            (preemptions() != before && seconds < preempted_below_s) ||
            (asks_steal && stolen_s() - stolen > 0.05 * seconds);
        shortest = fmin(shortest, seconds);
        if (!is_interrupted) {
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
    if (situation == (TAKT_SITUATION_ALONE | TAKT_SITUATION_REPEAT) &&
        (!contest->tune->pace.times_repeated_alone || contest->is_long))
        return false;
    return runner->samples[situation] < contest->enough;
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
    for (unsigned i = 0; i < situation_count && stop_signal == 0; i++) {
        takt_request request = contest->request;
        double seconds;
        request.situation = order[i];
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
        if (isfinite(ratio) && ratio > contest->behind)
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
                                const char *name)
{
    for (size_t i = 0; i < contest->count; i++)
        if (contest->runner[i].expert == expert)
            return &contest->runner[i];
    struct runner *runner = &contest->runner[contest->count++];
    *runner =
        (struct runner){.expert = expert, .threads = expert_threads(name)};
    return runner;
}

/* An expert that is expected to take long and to be far behind is not even
 * tried, and one that lost at other sizes need not be. */
static bool is_hopeless(const struct contest *contest,
                        const takt_estimate *estimate,
                        const takt_estimate *best, size_t expert)
{
    const double longest_s = contest->tune->pace.longest_s;

    if (estimate->low_s > longest_s ||
        (estimate->predicted_s > 20 * best->predicted_s &&
         estimate->predicted_s > longest_s / 10))
        return true;
    return is_out_of_race(contest->cell->series, contest->cell->step, expert,
                          contest->behind);
}

/* Long calls need few samples: their noise is small, and their time is what
 * all the other cells wait for. */
static void set_effort(struct contest *contest, double best_s)
{
    const double enough = contest->tune->pace.enough;

    contest->is_long = best_s >= long_s;
    contest->enough = fmax(1, contest->is_long    ? floor(enough / 3)
                              : best_s >= short_s ? floor(2 * enough / 3)
                                                  : enough);
    contest->behind = contest->is_long ? 1.7 : 4;
}

static void recall_situation(struct contest *contest, unsigned situation)
{
    struct tune *tune = contest->tune;
    takt_estimate all[most_experts];
    takt_request request = contest->request;
    size_t count;

    request.situation = situation;
    if (takt_explain(tune->ctx, &request, all, most_experts, &count) != TAKT_OK)
        return;
    if (situation == 0 && count > 0)
        set_effort(contest, all[0].predicted_s);
    for (size_t i = 0; i < count; i++) {
        const size_t expert = find_expert(tune, all[i].expert);
        if (expert == tune->expert_count)
            continue;
        struct runner *runner = runner_of(contest, expert, all[i].expert);
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

bool measure_cell(struct tune *tune, struct cell_plan *cell)
{
    struct contest contest = {
        .tune = tune,
        .cell = cell,
        .request = {.op = cell->series->op,
                    .dtype = cell->series->dtype,
                    .shape = cell->shape,
                    .flags = cell->series->family->flags}};

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
