/* SPDX-License-Identifier: MIT */
/*
 * cell.c - one op at one size: experts in turns, in every situation.
 *
 * A turn begins with a warm-up by the same expert: wide vector units need a
 * third of a millisecond to reach full speed, and the caches then hold what a
 * previous call of this expert would have left. Then one sample of each
 * situation that is not known well enough.
 */
#include <math.h>
#include <time.h>

#include "base/name.h"
#include "tune/inside.h"

static const double warm_up_s = 0.0003;
static const double loop_below_s = 2e-6; /* the clock would be seen */
static const double loop_s = 2e-5;
static const double awake_s = 5e-5;   /* until awake; they spin twice as long */
static const double pause_s = 3.5e-4; /* and sleep by then */
enum { situation_count = 4 };

/* One expert at one cell. */
struct timed_expert {
    size_t expert;
    unsigned threads;
    bool is_gpu;
    double samples[situation_count]; /* that are known */
    double best_s[situation_count];  /* 0: not known */
    bool is_out;                     /* not to be run */
};

/* All experts at one cell. */
struct comparison {
    struct takt_tuning *tuning;
    const struct takt_tune_cell *cell;
    struct timed_expert expert[TAKT_TUNE_EXPERTS];
    size_t count;
    unsigned round;
    size_t copy;   /* of the operands: the last cold one that was run */
    double enough; /* samples per expert and situation */
    double behind; /* times the best: need not be run again */
    double best_s; /* that is expected of the best expert */
    bool is_long;  /* waking threads is nothing beside it */
};

/* ---- a sample ---- */

/* Seconds of one of so many calls; negative: it could not be run. */
static double time_calls(const struct comparison *comparison,
                         const struct timed_expert *timed, size_t copy,
                         unsigned calls)
{
    const struct takt_tuning *tuning = comparison->tuning;
    const double start = takt__tune_now();

    for (unsigned i = 0; i < calls; i++)
        if (takt_run_on(tuning->ctx, &tuning->workset.call[copy],
                        timed->expert) != TAKT_OK)
            return -1;
    return (takt__tune_now() - start) / calls;
}

static size_t draw(struct takt_tuning *tuning, size_t below)
{
    tuning->random =
        tuning->random * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(tuning->random >> 33) % below;
}

/* Leaves the operands in the caches of other threads, as the previous op of a
 * program would have. */
static double run_another(struct comparison *comparison,
                          const struct timed_expert *timed)
{
    const struct timed_expert *other = NULL;

    for (size_t i = 0, seen = 0; i < comparison->count; i++) {
        const struct timed_expert *one = &comparison->expert[i];
        if (!one->is_out && one->threads != timed->threads &&
            draw(comparison->tuning, ++seen) == 0)
            other = one;
    }
    return other == NULL ? 0 : time_calls(comparison, other, 0, 1);
}

/* Wakes the threads of an expert with a call on other operands. The
 * first run may be over before they are awake; then they stay awake longer
 * than the second takes. */
static void wake(struct comparison *comparison,
                 const struct timed_expert *timed)
{
    const takt_call *small = &comparison->tuning->workset.small;

    takt_run_on(comparison->tuning->ctx, small, timed->expert);
    const double start = takt__tune_now();
    while (takt__tune_now() - start < awake_s)
        ;
    takt_run_on(comparison->tuning->ctx, small, timed->expert);
}

/* What "fresh" means: a library cannot see whether the operands of a call lie
 * in a farther cache or in memory, were just written by the caller, or were
 * left by other threads. So there are samples of each kind, and where that
 * matters they differ. In one round it is the same for every expert. */
static size_t make_fresh(struct comparison *comparison,
                         const struct timed_expert *timed, double *idle_s)
{
    struct takt_workset *workset = &comparison->tuning->workset;

    switch (comparison->round % 3) {
    case 0:
        comparison->copy = comparison->copy % (workset->copies - 1) + 1;
        return comparison->copy;
    case 1:
        *idle_s = run_another(comparison, timed);
        return 0;
    default:
        *idle_s = takt__workset_rewrite(workset, 0);
        return 0;
    }
}

/* Prepares the situation; returns the copy to be run. */
static size_t prepare(struct comparison *comparison,
                      const struct timed_expert *timed, unsigned situation)
{
    const struct timespec pause = {.tv_nsec = (long)(pause_s * 1e9)};
    double idle_s = 0;
    size_t copy = 0;

    if ((situation & TAKT_SITUATION_REPEAT) != 0) {
        if (comparison->copy != 0)
            time_calls(comparison, timed, 0, 1);
        comparison->copy = 0;
    } else {
        copy = make_fresh(comparison, timed, &idle_s);
    }
    if ((situation & TAKT_SITUATION_ASLEEP) != 0)
        nanosleep(&pause, NULL);
    else if (timed->threads > 1 && idle_s > 0)
        wake(comparison, timed);
    return copy;
}

/* One sample of one expert in one situation. */
struct situation_run {
    struct comparison *comparison;
    const struct timed_expert *timed;
    unsigned situation;
    double about_s;
};

static double time_situation(void *self)
{
    const struct situation_run *run = self;
    const size_t copy = prepare(run->comparison, run->timed, run->situation);
    const bool is_looped =
        run->situation == TAKT_SITUATION_REPEAT && run->about_s < loop_below_s;

    return time_calls(
        run->comparison, run->timed, copy,
        is_looped ? (unsigned)(loop_s / fmax(run->about_s, 1e-8)) + 1 : 1);
}

/* ---- a turn ---- */

/* Seconds of a call when warm; negative: the expert cannot run it. For a long
 * call a short one is enough: what is left to warm up is nothing beside it. */
static double warm_up(struct comparison *comparison,
                      const struct timed_expert *timed)
{
    const double start = takt__tune_now();
    double seconds;

    if (comparison->is_long) {
        wake(comparison, timed);
        return comparison->best_s;
    }
    do
        seconds = time_calls(comparison, timed, 0, 1);
    while (seconds >= 0 && takt__tune_now() - start < warm_up_s);
    comparison->copy = 0;
    return seconds;
}

static bool is_wanted(const struct comparison *comparison,
                      const struct timed_expert *timed, unsigned situation)
{
    if ((situation & TAKT_SITUATION_ASLEEP) != 0 && timed->threads == 1)
        return false;
    if (situation != 0 && timed->is_gpu) /* they are the same to it */
        return false;
    if (situation == (TAKT_SITUATION_ASLEEP | TAKT_SITUATION_REPEAT) &&
        (!comparison->tuning->limits.times_repeated_asleep ||
         comparison->round == 0)) /* it is much like the two of them */
        return false;
    if (situation != 0 && comparison->is_long) /* nothing beside the call */
        return false;
    return timed->samples[situation] <
           fmax(comparison->enough, timed->is_gpu ? TAKT_TUNE_LEAST_OF_GPU : 1);
}

static bool needs_turn(const struct comparison *comparison,
                       const struct timed_expert *timed)
{
    for (unsigned s = 0; s < situation_count; s++)
        if (!timed->is_out && is_wanted(comparison, timed, s))
            return true;
    return false;
}

/* False: there is none. */
static bool take_sample(struct comparison *comparison,
                        struct timed_expert *timed, unsigned situation,
                        double about_s)
{
    const takt_request request =
        takt__tune_request(comparison->cell, situation);
    struct situation_run run = {comparison, timed, situation, about_s};
    const double seconds =
        takt__tune_sample(comparison->tuning, about_s, time_situation, &run);
    double *best = &timed->best_s[situation];

    timed->is_out = seconds < 0;
    if (timed->is_out || !isfinite(seconds))
        return false;
    takt__batch_add(comparison->tuning, &request, timed->expert, seconds);
    *best = *best > 0 ? fmin(*best, seconds) : seconds;
    timed->samples[situation]++;
    return true;
}

/* What is repeated comes first, while caches are as the warm-up left them. A
 * GPU gets the samples it needs at least in one turn, lest time be up between
 * them. */
static void take_turn(struct comparison *comparison, struct timed_expert *timed)
{
    static const unsigned order[situation_count] = {
        TAKT_SITUATION_REPEAT, 0, TAKT_SITUATION_ASLEEP,
        TAKT_SITUATION_REPEAT | TAKT_SITUATION_ASLEEP};
    const double about_s = warm_up(comparison, timed);

    timed->is_out = about_s < 0;
    for (unsigned i = 0; i < situation_count && !timed->is_out; i++)
        while (is_wanted(comparison, timed, order[i]) &&
               take_sample(comparison, timed, order[i], about_s) &&
               timed->is_gpu &&
               timed->samples[order[i]] < TAKT_TUNE_LEAST_OF_GPU)
            ;
}

/* ---- all experts ---- */

/* Seconds over the best, in the situation in which an expert does best. */
static double ratio_of(const struct comparison *comparison,
                       const struct timed_expert *timed)
{
    double least = INFINITY;

    for (unsigned s = 0; s <= TAKT_SITUATION_REPEAT; s++) {
        double best = INFINITY;
        for (size_t i = 0; i < comparison->count; i++)
            if (comparison->expert[i].best_s[s] > 0)
                best = fmin(best, comparison->expert[i].best_s[s]);
        if (timed->best_s[s] > 0)
            least = fmin(least, timed->best_s[s] / best);
    }
    return least;
}

static void drop_losers(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++) {
        struct timed_expert *timed = &comparison->expert[i];
        const double ratio = ratio_of(comparison, timed);
        if (isfinite(ratio) && ratio > comparison->behind &&
            timed->samples[0] >= (timed->is_gpu ? TAKT_TUNE_LEAST_OF_GPU : 0))
            timed->is_out = true;
    }
}

static bool needs_round(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (needs_turn(comparison, &comparison->expert[i]))
            return true;
    return false;
}

/* False: tuning is over. */
static bool run_round(struct comparison *comparison)
{
    size_t order[TAKT_TUNE_EXPERTS];

    for (size_t i = 0; i < comparison->count; i++) {
        const size_t at = draw(comparison->tuning, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (size_t i = 0; i < comparison->count; i++) {
        struct timed_expert *timed = &comparison->expert[order[i]];
        if (takt__tune_is_over(comparison->tuning))
            return false;
        if (needs_turn(comparison, timed))
            take_turn(comparison, timed);
    }
    drop_losers(comparison);
    return true;
}

/* ---- what is known already ---- */

size_t takt__tune_expert(const struct takt_tuning *tuning, const char *name)
{
    size_t i = 0;

    while (i < tuning->expert_count &&
           (tuning->expert[i] == NULL ||
            !takt__name_equal(tuning->expert[i], name)))
        i++;
    return i;
}

/* An expert that is expected to take long and to be far behind is not even
 * tried, and one that lost at other sizes need not be; unless it is a GPU that
 * is expected to win here, which must not be believed unseen. */
static bool is_too_slow(const struct comparison *comparison,
                        const takt_estimate *estimate,
                        const takt_estimate *best, size_t expert)
{
    const double longest_s = comparison->tuning->limits.longest_s;
    const bool may_win = estimate->backend == TAKT_BACKEND_GPU &&
                         estimate->predicted_s <= best->predicted_s;

    if (estimate->low_s > longest_s ||
        estimate->low_s > comparison->behind * best->predicted_s ||
        (estimate->predicted_s > 20 * best->predicted_s &&
         estimate->predicted_s > longest_s / 10))
        return true;
    return !may_win && takt__tune_is_beaten(comparison->cell->series,
                                            comparison->cell->step, expert,
                                            comparison->behind);
}

/* In the first round, every other team of a large machine is left out, and of
 * the next size the others: the model knows what neighbours say. */
static bool is_left_out(const struct comparison *comparison, unsigned threads)
{
    const struct takt_tune_cell *cell = comparison->cell;
    const unsigned index =
        (cell->step - cell->series->family->low) / cell->series->stride;

    return cell->round == 0 && cell->rounds == 1 && threads > 1 &&
           comparison->tuning->most_threads > 2 &&
           ((unsigned)__builtin_ctz(threads) + index) % 2 != 0;
}

static void set_effort(struct comparison *comparison, double best_s)
{
    comparison->best_s = best_s;
    comparison->is_long = takt__tune_is_long(best_s);
    comparison->enough =
        fmin(takt__tune_enough(comparison->tuning, best_s, false),
             comparison->cell->round + comparison->cell->rounds);
    comparison->behind = comparison->is_long           ? 1.7
                         : comparison->cell->round > 0 ? 3
                                                       : 4;
}

static void recall_situation(struct comparison *comparison, unsigned situation)
{
    struct takt_tuning *tuning = comparison->tuning;
    const takt_request request =
        takt__tune_request(comparison->cell, situation);
    takt_estimate all[TAKT_TUNE_EXPERTS] = {{.size = sizeof all[0]}};
    size_t count;

    if (takt_explain(tuning->ctx, &request, all, TAKT_TUNE_EXPERTS, &count) !=
        TAKT_OK)
        return;
    if (situation == 0 && count > 0)
        set_effort(comparison, all[0].predicted_s);
    for (size_t i = 0; i < count; i++) {
        const size_t expert = takt__tune_expert(tuning, all[i].expert);
        if (expert == tuning->expert_count || all[i].is_asleep)
            continue;
        struct timed_expert *timed = &comparison->expert[expert];
        timed->is_gpu = all[i].backend == TAKT_BACKEND_GPU;
        timed->samples[situation] = all[i].samples;
        if (all[i].samples > 0)
            timed->best_s[situation] = all[i].predicted_s;
        if (situation == 0)
            timed->is_out = is_left_out(comparison, timed->threads) ||
                            is_too_slow(comparison, &all[i], &all[0], expert);
    }
}

static void keep_ratios(const struct comparison *comparison)
{
    struct takt_tune_series *series = comparison->cell->series;
    const unsigned step = comparison->cell->step;

    for (size_t i = 0; i < comparison->count; i++) {
        const struct timed_expert *timed = &comparison->expert[i];
        const double ratio = ratio_of(comparison, timed);
        if (isfinite(ratio)) {
            series->ratio[step][timed->expert] = (float)ratio;
            series->is_known[step] = true;
        }
    }
}

static void recall(struct comparison *comparison)
{
    const struct takt_tuning *tuning = comparison->tuning;

    comparison->count = tuning->expert_count;
    for (size_t i = 0; i < comparison->count; i++)
        comparison->expert[i] = (struct timed_expert){
            .expert = i, .threads = tuning->threads[i], .is_out = true};
    for (unsigned s = 0; s < situation_count; s++)
        recall_situation(comparison, s);
    drop_losers(comparison);
}

bool takt__tune_host(struct takt_tuning *tuning,
                     const struct takt_tune_cell *cell)
{
    struct comparison comparison = {
        .tuning = tuning, .cell = cell, .round = cell->round};

    recall(&comparison);
    const bool is_new = needs_round(&comparison);
    if (is_new && !takt__workset_fill(tuning, cell))
        return false;
    while (is_new && comparison.round < cell->round + cell->rounds &&
           run_round(&comparison))
        comparison.round++;
    keep_ratios(&comparison);
    return is_new;
}
