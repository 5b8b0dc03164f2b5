/* SPDX-License-Identifier: MIT */
/* learner.c - the rounds of the thread, and what others call. */
#include "learn/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fpenv.h"
#include "base/futex.h"

static const uint64_t most_work_ns = 300000; /* at a stretch */

/* Reading what `takt tune` stores takes a third of this on an idle machine. */
static const uint64_t longest_ask_ns = 100000000;

/* ---- one round ----------------------------------------------------------- */

static void learn(struct takt_learner *learner,
                  const struct takt_sample *sample, uint64_t now_ns)
{
    const struct takt_learner_callbacks *callbacks = &learner->callbacks;

    if (!learner->is_frozen)
        takt__model_learn(learner->model, sample);
    if (learner->energy.energy != NULL)
        takt__learner_note_use(learner, sample, now_ns);
    if (callbacks->learned != NULL) {
        const struct takt_model_counters counters =
            takt__model_counters(learner->model);
        callbacks->learned(callbacks->self, sample, &counters);
    }
}

/* What is in the journal now: callers may fill it faster than it is read.
 * Returns how many samples that were. */
static uint64_t learn_all(struct takt_learner *learner)
{
    struct takt_sample sample;
    const uint64_t found = takt__journal_count(&learner->journal);
    uint64_t left = found;
    const uint64_t now_ns =
        found > 0 && learner->energy.energy != NULL ? takt__now_ns() : 0;

    for (; left > 0 && takt__journal_next(&learner->journal, &sample); left--)
        learn(learner, &sample, now_ns);
    return found;
}

/* Begins to open GPUs where that would have paid. */
static void open_gpus(struct takt_learner *learner)
{
    const struct takt_learner_callbacks *callbacks = &learner->callbacks;
    unsigned expert;

    while (callbacks->open != NULL &&
           takt__model_next_to_open(learner->model, &expert))
        callbacks->open(callbacks->self, expert);
}

static void lock_store(struct takt_learner *learner)
{
    takt__lock(&learner->store_lock);
    takt__learner_load(learner);
}

static void load(struct takt_learner *learner)
{
    lock_store(learner);
    takt__unlock(&learner->store_lock);
}

static takt_status save(struct takt_learner *learner, bool now)
{
    takt__lock(&learner->store_lock);
    const takt_status status = takt__learner_save(learner, takt__now_ns(), now);
    takt__unlock(&learner->store_lock);
    return status;
}

static void run_each_second(struct takt_learner *learner)
{
    static const uint64_t every_ns = 1000000000;
    const uint64_t now_ns = takt__now_ns();

    if (learner->callbacks.each_second == NULL ||
        now_ns < learner->next_second_ns)
        return;
    learner->callbacks.each_second(learner->callbacks.self);
    learner->next_second_ns = now_ns + every_ns;
}

/* An average of some ten rounds, which are milliseconds apart. */
static void look_at_callers(struct takt_learner *learner)
{
    const struct takt_learner_callbacks *callbacks = &learner->callbacks;
    const double now =
        callbacks->callers == NULL ? -1 : callbacks->callers(callbacks->self);

    if (now < 0)
        return;
    learner->callers +=
        (learner->callers > 0 ? 0.1 : 1) * (now - learner->callers);
    takt__model_set_callers(learner->model, learner->callers);
}

/* True when anything came in; *is_news when more may come soon, or so much
 * comes that the journal would fill up. */
static bool work(void *self, bool *is_news)
{
    static const uint64_t many = TAKT_JOURNAL_SLOTS / 4;
    struct takt_learner *learner = self;

    if (!atomic_load(&learner->is_loaded))
        load(learner);
    takt__lock(&learner->lock);
    const uint64_t found = learn_all(learner);
    if (found > 0) {
        open_gpus(learner);
        look_at_callers(learner);
    }
    *is_news = takt__learner_publish(learner, takt__now_ns(), most_work_ns) ||
               found > many;
    takt__unlock(&learner->lock);
    save(learner, false);
    run_each_second(learner);
    if (learner->energy.is_wanted)
        takt__learner_measure(learner);
    return found > 0;
}

static void save_all(void *self)
{
    save(self, true);
}

static bool has_samples(void *self)
{
    const struct takt_learner *learner = self;

    return takt__journal_count(&learner->journal) > 0;
}

static void finish(void *self)
{
    struct takt_learner *learner = self;

    takt__lock(&learner->store_lock);
    takt__lock(&learner->lock);
    learn_all(learner);
    takt__unlock(&learner->lock);
    learner->is_last = true;
    learner->next_open_ns = 0;
    takt__learner_save(learner, takt__now_ns(), true);
    takt__unlock(&learner->store_lock);
}

/* It works on a core that the program could use: a tenth of the time, more
 * only after rounds of over 2 ms, which are rare. With a thirtieth, programs
 * with many kinds of calls waited for verdicts (docs/decisions/0071). A program
 * that makes the same calls for minutes would pay for that as long, and each
 * time that the thread wakes up it holds up a call: after a tenth of a second
 * of work and a hundredth of the time it wakes up 50 times a second. */
static const struct takt_worker_job job = {.name = "takt-learn",
                                           .work = work,
                                           .has_work = has_samples,
                                           .before_sleep = save_all,
                                           .finish = finish,
                                           .shortest_rest_ns = 1000000,
                                           .longest_rest_ns = 16000000,
                                           .rest_per_work = 10,
                                           .most_rest_ns = 20000000,
                                           .free_work_ns = 100000000,
                                           .steady_part = 100};

/* ---- start and end ------------------------------------------------------- */

void takt__learner_notify(struct takt_learner *learner)
{
    takt__worker_notify(&learner->worker);
}

void takt__learner_hurry(struct takt_learner *learner)
{
    takt__worker_hurry(&learner->worker);
}

/* A store that is there is read while the program prepares its first call,
 * which would have to wait for it. */
static void read_early(struct takt_learner *learner)
{
    if (learner->path[0] != '\0' && access(learner->path, R_OK) == 0)
        takt__learner_notify(learner);
}

takt_status takt__learner_create(const struct takt_learner_options *options,
                                 struct takt_learner **out)
{
    struct takt_learner *learner =
        aligned_alloc(64, (sizeof *learner + 63) / 64 * 64);

    *out = NULL;
    if (learner == NULL) {
        takt__model_destroy(options->model);
        return TAKT_ENOMEM;
    }
    memset(learner, 0, sizeof *learner);
    pthread_mutex_init(&learner->lock, NULL);
    pthread_mutex_init(&learner->store_lock, NULL);
    takt__journal_init(&learner->journal);
    learner->worker.job = &job;
    learner->worker.self = learner;
    learner->model = options->model;
    learner->table = options->table;
    learner->callbacks = options->callbacks;
    learner->is_published = options->is_published;
    learner->is_frozen = options->is_frozen;
    learner->energy.is_wanted = options->is_energy_wanted;
    learner->is_store_foreign = options->is_store_foreign;
    learner->is_store_set = options->is_store_set;
    snprintf(learner->path, sizeof learner->path, "%s", options->store_path);
    snprintf(learner->machine, sizeof learner->machine, "%s", options->machine);
    snprintf(learner->software, sizeof learner->software, "%s",
             options->software);
    takt__learner_enlist(learner);
    read_early(learner);
    *out = learner;
    return TAKT_OK;
}

/* Known to fork() and exit() until its store is closed. */
void takt__learner_destroy(struct takt_learner *learner)
{
    if (learner == NULL)
        return;
    if (!takt__worker_end(&learner->worker))
        finish(learner);
    takt__lock(&learner->store_lock);
    takt__learner_close_store(learner);
    learner->is_given_up = true;
    takt__unlock(&learner->store_lock);
    takt__fork_remove(&learner->fork);
    takt__learner_end_energy(learner);
    takt__model_destroy(learner->model);
    free(learner->unclaimed.record);
    free(learner->unclaimed_hints.record);
    free(learner->unsaved.record);
    pthread_mutex_destroy(&learner->lock);
    pthread_mutex_destroy(&learner->store_lock);
    free(learner);
}

/* ---- calls --------------------------------------------------------------- */

/* The end of the time that calls may wait, all together. */
static uint64_t end_of_asking(struct takt_learner *learner)
{
    const uint64_t now_end_ns = takt__now_ns() + longest_ask_ns;
    uint64_t end_ns = 0;

    return atomic_compare_exchange_strong(&learner->ask_end_ns, &end_ns,
                                          now_end_ns)
               ? now_end_ns
               : end_ns;
}

/* The thread reads the store; without a thread it is not read. */
static void await_store(struct takt_learner *learner, uint64_t end_ns)
{
    if (atomic_load(&learner->was_tried) != 0 || learner->path[0] == '\0')
        return;
    takt__learner_notify(learner);
    if (atomic_load(&learner->worker.state) != TAKT_WORKER_NONE)
        takt__futex_changes(&learner->was_tried, 0, end_ns);
}

void takt__learner_ask(struct takt_learner *learner, unsigned series,
                       unsigned situations)
{
    const uint64_t end_ns = end_of_asking(learner);
    fenv_t fpenv;

    takt__fpenv_leave(&fpenv);
    await_store(learner, end_ns);
    if (takt__lock_until(&learner->lock, end_ns)) {
        if (takt__model_has_series(learner->model, series) &&
            takt__model_want(learner->model, series) == TAKT_OK)
            takt__learner_publish_series(learner, series, situations,
                                         takt__now_ns());
        takt__unlock(&learner->lock);
    }
    takt__fpenv_return(&fpenv);
}

/* ---- questions ----------------------------------------------------------- */

struct takt_journal *takt__learner_journal(struct takt_learner *learner)
{
    return &learner->journal;
}

/* The first question waits until the store is read. If it could not be, later
 * ones try again when it is time, but do not wait for a thread that does. */
static void load_for_question(struct takt_learner *learner)
{
    if (atomic_load(&learner->is_loaded))
        return;
    if (!atomic_load(&learner->was_tried)) {
        load(learner);
    } else if (takt__trylock(&learner->store_lock)) {
        takt__learner_load(learner);
        takt__unlock(&learner->store_lock);
    }
}

static struct takt_model *enter(struct takt_learner *learner,
                                void (*prepare)(struct takt_learner *learner))
{
    fenv_t fpenv;

    takt__fpenv_leave(&fpenv);
    if (prepare != NULL)
        prepare(learner);
    takt__lock(&learner->lock);
    learner->fpenv = fpenv;
    if (learn_all(learner) > 0)
        open_gpus(learner);
    takt__learner_publish(learner, takt__now_ns(), 0);
    return learner->model;
}

struct takt_model *takt__learner_enter(struct takt_learner *learner)
{
    return enter(learner, load_for_question);
}

struct takt_model *takt__learner_enter_early(struct takt_learner *learner)
{
    return enter(learner, NULL);
}

void takt__learner_leave(struct takt_learner *learner)
{
    open_gpus(learner); /* the caller may have added samples */
    takt__learner_publish(learner, takt__now_ns(), 0);
    const fenv_t fpenv = learner->fpenv;
    takt__unlock(&learner->lock);
    takt__fpenv_return(&fpenv);
}

struct takt_model *takt__learner_enter_all(struct takt_learner *learner)
{
    return enter(learner, lock_store);
}

void takt__learner_leave_all(struct takt_learner *learner)
{
    takt__learner_leave(learner);
    takt__unlock(&learner->store_lock);
}

takt_status takt__learner_store(struct takt_learner *learner)
{
    takt__learner_enter(learner);
    takt__learner_leave(learner);
    return save(learner, true);
}

uint64_t takt__learner_dropped(struct takt_learner *learner)
{
    return atomic_load(&learner->journal.ring.dropped);
}

struct takt_learner_state takt__learner_state(struct takt_learner *learner)
{
    return (struct takt_learner_state){
        .path = learner->is_given_up ? "" : learner->path,
        .diag = learner->diag.text,
        .status = learner->store_status,
        .own_records = learner->own_records,
        .other_records = learner->other_records,
        .is_writable = learner->store != NULL && learner->writer[0] != '\0',
    };
}
