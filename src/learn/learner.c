/* SPDX-License-Identifier: MIT */
/* learner.c - the thread, its sleep, and what fork() and exit() do to it. */
#include "learn/inside.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/fpenv.h"
#include "base/futex.h"
#include "base/thread.h"

/* Between two looks at the journal: while verdicts change, and at most. */
static const long shortest_ns = 1000000, longest_ns = 4000000;

/* It works on a core that the program could use: never more than a thirtieth
 * of the time, and not long at a stretch. */
static const uint64_t most_work_ns = 300000;
static const uint64_t rest_per_work = 30;
static const long most_rest_ns = 20000000;
static const unsigned most_idle = 25; /* looks in vain before it sleeps */

/* ---- one round ----------------------------------------------------------- */

static void learn(struct takt_learner *learner,
                  const struct takt_sample *sample)
{
    const struct takt_learner_names *names = &learner->names;

    if (!learner->is_frozen)
        takt__model_learn(learner->model, sample);
    if (names->learned != NULL) {
        const struct takt_model_counters counters =
            takt__model_counters(learner->model);
        names->learned(names->self, sample, &counters);
    }
}

/* What is in the journal now: callers may fill it faster than it is read. */
static bool learn_all(struct takt_learner *learner)
{
    struct takt_sample sample;
    uint64_t left = takt__journal_count(&learner->journal);
    const bool found = left > 0;

    for (; left > 0 && takt__journal_next(&learner->journal, &sample); left--)
        learn(learner, &sample);
    return found;
}

/* Begins to open GPUs where that would have paid. */
static void open_gpus(struct takt_learner *learner)
{
    const struct takt_learner_names *names = &learner->names;
    unsigned expert;

    while (names->open != NULL &&
           takt__model_next_to_open(learner->model, &expert))
        names->open(names->self, expert);
}

static void load(struct takt_learner *learner)
{
    takt__lock(&learner->store_lock);
    takt__learner_load(learner);
    takt__unlock(&learner->store_lock);
}

static takt_status save(struct takt_learner *learner, bool now)
{
    takt__lock(&learner->store_lock);
    const takt_status status = takt__learner_save(learner, takt__now_ns(), now);
    takt__unlock(&learner->store_lock);
    return status;
}

/* True when anything came in; *changed when it changed what is published. */
static bool work(struct takt_learner *learner, bool *changed)
{
    if (!atomic_load(&learner->is_loaded))
        load(learner);
    takt__lock(&learner->lock);
    const bool found = learn_all(learner);
    if (found)
        open_gpus(learner);
    *changed = takt__learner_publish(learner, takt__now_ns(), most_work_ns);
    takt__unlock(&learner->lock);
    save(learner, false);
    return found;
}

/* Sleeps until the next sample, having stored everything. */
static void sleep_until_notified(struct takt_learner *learner)
{
    uint32_t expected = TAKT_LEARNER_AWAKE;

    save(learner, true);
    if (!atomic_compare_exchange_strong(&learner->state, &expected,
                                        TAKT_LEARNER_ASLEEP))
        return;
    /* A sample that came in before the state was set would not wake it. */
    if (takt__journal_count(&learner->journal) > 0) {
        expected = TAKT_LEARNER_ASLEEP;
        atomic_compare_exchange_strong(&learner->state, &expected,
                                       TAKT_LEARNER_AWAKE);
    }
    while (atomic_load(&learner->state) == TAKT_LEARNER_ASLEEP)
        takt__futex_wait(&learner->state, TAKT_LEARNER_ASLEEP);
}

static void finish(struct takt_learner *learner)
{
    takt__lock(&learner->store_lock);
    takt__lock(&learner->lock);
    learn_all(learner);
    takt__unlock(&learner->lock);
    learner->next_open_ns = 0; /* now or never */
    takt__learner_save(learner, takt__now_ns(), true);
    takt__unlock(&learner->store_lock);
}

static bool is_wanted(const struct takt_learner *learner)
{
    const uint32_t state = atomic_load(&learner->state);
    return state == TAKT_LEARNER_AWAKE || state == TAKT_LEARNER_ASLEEP;
}

/* Does what exit() waits for, and stays: no thread would join it. */
static void leave_at_exit(struct takt_learner *learner)
{
    uint32_t expected = TAKT_LEARNER_LEAVING;

    finish(learner);
    if (atomic_compare_exchange_strong(&learner->state, &expected,
                                       TAKT_LEARNER_LEFT))
        takt__futex_wake(&learner->state);
    while (atomic_load(&learner->state) == TAKT_LEARNER_LEFT)
        takt__futex_wait(&learner->state, TAKT_LEARNER_LEFT);
}

static void *live(void *self)
{
    struct takt_learner *learner = self;
    long rest_ns = shortest_ns;
    unsigned idle = 0;
    bool changed;

    takt__thread_enter();
    while (is_wanted(learner)) {
        const uint64_t start_ns = takt__now_ns();
        idle = work(learner, &changed) ? 0 : idle + 1;
        const long owed_ns =
            (long)((takt__now_ns() - start_ns) * rest_per_work);
        rest_ns = changed ? shortest_ns : 2 * rest_ns;
        if (rest_ns > longest_ns)
            rest_ns = longest_ns;
        if (rest_ns < owed_ns)
            rest_ns = owed_ns < most_rest_ns ? owed_ns : most_rest_ns;
        if (idle > most_idle) {
            sleep_until_notified(learner);
            idle = 0;
            rest_ns = shortest_ns;
        } else {
            takt__futex_wait_for(&learner->state, TAKT_LEARNER_AWAKE,
                                 (uint64_t)rest_ns);
        }
    }
    if (atomic_load(&learner->state) == TAKT_LEARNER_LEAVING)
        leave_at_exit(learner);
    return NULL;
}

/* ---- start and end ------------------------------------------------------- */

/* Signals are for the program's own threads. */
static void start(struct takt_learner *learner)
{
    static const uint64_t try_again_ns = 1000000000;
    const uint64_t now_ns = takt__now_ns();
    sigset_t all, before;
    uint32_t expected = TAKT_LEARNER_NOT_STARTED;

    if (now_ns < atomic_load(&learner->next_start_ns) || takt__exit_has_begun())
        return;
    takt__section_begin(); /* exit() does not wait for a thread half made */
    if (!atomic_compare_exchange_strong(&learner->state, &expected,
                                        TAKT_LEARNER_AWAKE)) {
        takt__section_end();
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    learner->has_thread =
        pthread_create(&learner->thread, NULL, live, learner) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!learner->has_thread) {
        atomic_store(&learner->next_start_ns, now_ns + try_again_ns);
        atomic_store(&learner->state, TAKT_LEARNER_NOT_STARTED);
    }
    takt__section_end();
}

/* A caller pushes its sample before it reads the state, and the thread sets the
 * state before it looks at the journal once more: in one order for all, so that
 * one of the two sees the other. */
void takt__learner_notify(struct takt_learner *learner)
{
    const uint32_t state = atomic_load(&learner->state);

    if (state == TAKT_LEARNER_AWAKE)
        return;
    uint32_t expected = TAKT_LEARNER_ASLEEP;
    if (state == TAKT_LEARNER_NOT_STARTED)
        start(learner);
    else if (atomic_compare_exchange_strong(&learner->state, &expected,
                                            TAKT_LEARNER_AWAKE))
        takt__futex_wake(&learner->state);
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
    learner->model = options->model;
    learner->table = options->table;
    learner->names = options->names;
    learner->is_published = options->is_published;
    learner->is_frozen = options->is_frozen;
    learner->is_store_foreign = options->is_store_foreign;
    learner->is_store_set = options->is_store_set;
    snprintf(learner->path, sizeof learner->path, "%s", options->store_path);
    snprintf(learner->machine, sizeof learner->machine, "%s", options->machine);
    snprintf(learner->software, sizeof learner->software, "%s",
             options->software);
    takt__learner_enlist(learner);
    *out = learner;
    return TAKT_OK;
}

static void end_thread(struct takt_learner *learner)
{
    if (!learner->has_thread)
        return;
    atomic_store(&learner->state, TAKT_LEARNER_ENDING);
    takt__futex_wake(&learner->state);
    pthread_join(learner->thread, NULL);
    learner->has_thread = false;
}

/* Known to fork() and exit() until its store is closed. */
void takt__learner_destroy(struct takt_learner *learner)
{
    if (learner == NULL)
        return;
    end_thread(learner);
    finish(learner);
    takt__lock(&learner->store_lock);
    takt__learner_close_store(learner);
    learner->is_given_up = true;
    takt__unlock(&learner->store_lock);
    takt__learner_delist(learner);
    takt__model_destroy(learner->model);
    free(learner->unclaimed.record);
    free(learner->unsaved.record);
    pthread_mutex_destroy(&learner->lock);
    pthread_mutex_destroy(&learner->store_lock);
    free(learner);
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
                                const fenv_t *fpenv)
{
    takt__lock(&learner->lock);
    learner->fpenv = *fpenv;
    if (learn_all(learner))
        open_gpus(learner);
    takt__learner_publish(learner, takt__now_ns(), 0);
    return learner->model;
}

struct takt_model *takt__learner_enter(struct takt_learner *learner)
{
    fenv_t fpenv;

    takt__fpenv_leave(&fpenv);
    load_for_question(learner);
    return enter(learner, &fpenv);
}

struct takt_model *takt__learner_enter_early(struct takt_learner *learner)
{
    fenv_t fpenv;

    takt__fpenv_leave(&fpenv);
    return enter(learner, &fpenv);
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
    fenv_t fpenv;

    takt__fpenv_leave(&fpenv);
    takt__lock(&learner->store_lock);
    takt__learner_load(learner);
    return enter(learner, &fpenv);
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
