/* SPDX-License-Identifier: MIT */
/* publish.c - writes verdicts into the cells of the table. */
#include "base/clock.h"
#include "learn/inside.h"

static bool is_team(const struct takt_model *model, unsigned expert)
{
    return takt__model_arm(model, expert)->rates.threads > 1;
}

/* Every call is timed until there are enough samples, then short ones seldom.
 * Calls that can use threads read the clock anyway. */
static uint8_t shift_of(const struct takt_verdict *verdict, bool is_threaded)
{
    return verdict->samples < 5 || is_threaded
               ? 0
               : takt__sample_shift(verdict->seconds);
}

static struct takt_cell cell_of(const struct takt_model *model,
                                const struct takt_verdict *verdict)
{
    const bool is_threaded = is_team(model, verdict->best);

    return (struct takt_cell){
        .best = verdict->best,
        .runner_up = verdict->runner_up,
        .explore = verdict->explore < 0 ? 0 : (uint8_t)verdict->explore,
        .tries = (uint8_t)verdict->tries,
        .sample_shift = shift_of(verdict, is_threaded),
        .is_measured = verdict->is_measured,
        .is_threaded = is_threaded,
        .confidence = (float)verdict->confidence,
        .seconds = (float)verdict->seconds,
    };
}

/* A trial that was offered before is left as it is, taken or not: a caller that
 * takes it while the cell is written must not find it there again. */
static void publish_cell(struct takt_learner *learner, unsigned series,
                         unsigned column, unsigned bucket,
                         const struct takt_verdict *verdict)
{
    const struct takt_key key = {(uint16_t)series, (uint8_t)bucket};
    _Atomic uint64_t *at = takt__table_at(learner->table, key, column);
    struct takt_cell cell = cell_of(learner->model, verdict);
    bool is_news;
    uint64_t before = atomic_load_explicit(at, memory_order_relaxed);

    do {
        const struct takt_cell old = takt__cell_unpack(before);
        if (verdict->is_offered)
            cell.tries = old.explore == cell.explore ? old.tries : 0;
        is_news = old.best != cell.best || old.tries != cell.tries;
    } while (!atomic_compare_exchange_weak_explicit(
        at, &before, takt__cell_pack(&cell), memory_order_release,
        memory_order_relaxed));
    learner->has_news |= is_news;
}

/* Empties cells, as if no call had been there. */
static void withdraw(struct takt_learner *learner,
                     const struct takt_change *change, unsigned column)
{
    for (unsigned bucket = change->first; bucket <= change->last; bucket++)
        atomic_store_explicit(
            takt__table_at(
                learner->table,
                (struct takt_key){(uint16_t)change->series, (uint8_t)bucket},
                column),
            0, memory_order_relaxed);
}

static void publish_gpu(struct takt_learner *learner,
                        const struct takt_change *change, unsigned objective,
                        unsigned expert, struct takt_posterior *posterior,
                        uint64_t now_ns)
{
    const unsigned column = takt__table_column(
        objective, takt__arm_column(takt__model_arm(learner->model, expert)));
    struct takt_verdict verdict;

    if (takt__model_is_closed(learner->model, expert)) {
        withdraw(learner, change, column);
        return;
    }
    for (unsigned bucket = change->first; bucket <= change->last; bucket++)
        if (takt__posterior_judge_gpu(posterior, expert, bucket, now_ns,
                                      &verdict))
            publish_cell(learner, change->series, column, bucket, &verdict);
}

static void publish_gpus(struct takt_learner *learner,
                         const struct takt_change *change, unsigned objective,
                         struct takt_posterior *posterior, uint64_t now_ns)
{
    const struct takt_model *model = learner->model;

    for (unsigned i = 0; i < takt__model_arm_count(model); i++)
        if (takt__arm_is_gpu(takt__model_arm(model, i)) &&
            takt__model_allows(model, change->series, i))
            publish_gpu(learner, change, objective, i, posterior, now_ns);
}

static void publish_situation(struct takt_learner *learner,
                              const struct takt_change *change,
                              unsigned objective, unsigned situation,
                              struct takt_posterior *posterior, uint64_t now_ns)
{
    const unsigned column = takt__table_column(objective, situation);
    struct takt_verdict verdict;

    for (unsigned bucket = change->first; bucket <= change->last; bucket++)
        if (takt__posterior_judge(posterior, bucket, now_ns, false, &verdict))
            publish_cell(learner, change->series, column, bucket, &verdict);
}

/* What is expected is the same under all objectives. Without an open GPU
 * nothing is resident: there is no posterior. */
static void publish_objectives(struct takt_learner *learner,
                               const struct takt_change *change, unsigned s,
                               struct takt_posterior *posterior,
                               uint64_t now_ns)
{
    struct takt_model *model = learner->model;

    for (unsigned o = 0; o < takt__model_objective_count(model); o++) {
        if (posterior != NULL && o > 0)
            takt__posterior_pursue(posterior, takt__model_objective(model, o),
                                   o);
        if (posterior != NULL)
            publish_situation(learner, change, o, s, posterior, now_ns);
        else
            withdraw(learner, change, takt__table_column(o, s));
        if (s == TAKT_RESIDENT)
            publish_gpus(learner, change, o, posterior, now_ns);
    }
}

static void publish_change(struct takt_learner *learner,
                           const struct takt_change *change, uint64_t now_ns)
{
    const bool has_gpu = takt__model_has_gpu(learner->model, change->series);

    for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
        struct takt_posterior *posterior = NULL;
        if ((change->situations >> s & 1) == 0)
            continue;
        if (has_gpu || (s & TAKT_RESIDENT) == 0)
            posterior =
                takt__model_posterior(learner->model, change->series, s);
        publish_objectives(learner, change, s, posterior, now_ns);
    }
    learner->callbacks.published(learner->callbacks.self, change->series);
}

void takt__learner_publish_series(struct takt_learner *learner, unsigned series,
                                  unsigned situations, uint64_t now_ns)
{
    struct takt_change change;

    if (takt__model_take_change(learner->model, series, situations, &change) &&
        learner->is_published)
        publish_change(learner, &change, now_ns);
}

bool takt__learner_publish(struct takt_learner *learner, uint64_t now_ns,
                           uint64_t limit_ns)
{
    struct takt_change change;

    learner->has_news = false;
    while (takt__model_next_change(learner->model, &change)) {
        if (learner->is_published)
            publish_change(learner, &change, now_ns);
        if (limit_ns != 0 && takt__now_ns() - now_ns > limit_ns)
            return true;
    }
    return learner->has_news;
}
