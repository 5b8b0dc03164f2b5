/* SPDX-License-Identifier: MIT */
/* learner.c - the thread, its sleep, and what fork() and exit() do to it. */
#include "learn/inside.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/futex.h"

/* States of the thread: the word it sleeps on. */
enum { not_started, awake, asleep, ending };

/* Looks at the journal: as often as that while things change, then less. */
static const long shortest_ns = 1000000, longest_ns = 4000000;

/* It works on a processor that the program could use: never more than a
 * thirtieth of the time, and not long at a stretch. */
static const uint64_t most_work_ns = 300000;
static const uint64_t rest_per_work = 30;
static const long most_rest_ns = 20000000;
static const unsigned patience = 25; /* looks in vain before it sleeps */

/* Every learner, for the sake of fork() and exit(). */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct takt_learner *first_learner;
static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;

/* ---- one round -------------------------------------------------------------
 */

static void learn(struct takt_learner *learner,
                  const struct takt_sample *sample)
{
    const struct takt_learner_names *names = &learner->names;

    if (!learner->is_deaf)
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

/* Says who should be opened, now that it would have paid. */
static void wake_sleepers(struct takt_learner *learner)
{
    const struct takt_learner_names *names = &learner->names;
    unsigned arm;

    while (names->wake != NULL && takt__model_next_wake(learner->model, &arm))
        names->wake(names->self, arm);
}

static void load(struct takt_learner *learner)
{
    pthread_mutex_lock(&learner->store_lock);
    takt__learner_load(learner);
    pthread_mutex_unlock(&learner->store_lock);
}

static takt_status save(struct takt_learner *learner, bool now)
{
    pthread_mutex_lock(&learner->store_lock);
    const takt_status status = takt__learner_save(learner, takt__now_ns(), now);
    pthread_mutex_unlock(&learner->store_lock);
    return status;
}

/* True when anything came in; *changed when it changed what is published. */
static bool work(struct takt_learner *learner, bool *changed)
{
    if (!atomic_load(&learner->is_loaded))
        load(learner);
    pthread_mutex_lock(&learner->lock);
    const bool found = learn_all(learner);
    if (found)
        wake_sleepers(learner);
    *changed = takt__learner_publish(learner, takt__now_ns(), most_work_ns);
    pthread_mutex_unlock(&learner->lock);
    save(learner, false);
    return found;
}

static void pause_for(long ns)
{
    const struct timespec time = {.tv_nsec = ns};
    nanosleep(&time, NULL);
}

/* Sleeps until the next sample, having stored everything. */
static void sleep_until_heard(struct takt_learner *learner)
{
    uint32_t expected = awake;

    save(learner, true);
    if (!atomic_compare_exchange_strong(&learner->state, &expected, asleep))
        return;
    /* A sample that came in before the state was set would not be heard. */
    if (takt__journal_count(&learner->journal) > 0) {
        expected = asleep;
        atomic_compare_exchange_strong(&learner->state, &expected, awake);
    }
    while (atomic_load(&learner->state) == asleep)
        takt__futex_wait(&learner->state, asleep);
}

static void *live(void *self)
{
    struct takt_learner *learner = self;
    long rest_ns = shortest_ns;
    unsigned idle = 0;
    bool changed;

    while (atomic_load(&learner->state) != ending) {
        const uint64_t start_ns = takt__now_ns();
        idle = work(learner, &changed) ? 0 : idle + 1;
        const long owed_ns =
            (long)((takt__now_ns() - start_ns) * rest_per_work);
        rest_ns = changed ? shortest_ns : 2 * rest_ns;
        if (rest_ns > longest_ns)
            rest_ns = longest_ns;
        if (rest_ns < owed_ns)
            rest_ns = owed_ns < most_rest_ns ? owed_ns : most_rest_ns;
        if (idle > patience) {
            sleep_until_heard(learner);
            idle = 0;
            rest_ns = shortest_ns;
        } else {
            pause_for(rest_ns);
        }
    }
    return NULL;
}

/* ---- start and end ---------------------------------------------------------
 */

/* Signals are for the program's own threads. */
static void start(struct takt_learner *learner)
{
    static const uint64_t try_again_ns = 1000000000;
    const uint64_t now_ns = takt__now_ns();
    sigset_t all, before;
    uint32_t expected = not_started;

    if (now_ns < atomic_load(&learner->next_start_ns) ||
        !atomic_compare_exchange_strong(&learner->state, &expected, awake))
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    learner->has_thread =
        pthread_create(&learner->thread, NULL, live, learner) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!learner->has_thread) {
        atomic_store(&learner->next_start_ns, now_ns + try_again_ns);
        atomic_store(&learner->state, not_started);
    }
}

/* The sample was pushed before the state is read, and whoever falls asleep
 * sets the state before it looks at the journal once more: in one order for
 * all, so that one of the two sees the other. */
void takt__learner_hear(struct takt_learner *learner)
{
    const uint32_t state = atomic_load(&learner->state);

    if (state == awake)
        return;
    uint32_t expected = asleep;
    if (state == not_started)
        start(learner);
    else if (atomic_compare_exchange_strong(&learner->state, &expected, awake))
        takt__futex_wake(&learner->state);
}

/* A connection of SQLite's that a child inherits is not merely useless to it:
 * the child's own connections would rely on locks that only its parent has. So
 * there is none while a process forks. */
static void prepare_all(void)
{
    pthread_mutex_lock(&list_lock);
    for (struct takt_learner *l = first_learner; l != NULL; l = l->next) {
        pthread_mutex_lock(&l->store_lock);
        takt__learner_close(l);
        pthread_mutex_lock(&l->lock);
    }
}

static void unlock_all(void)
{
    for (struct takt_learner *l = first_learner; l != NULL; l = l->next) {
        pthread_mutex_unlock(&l->lock);
        pthread_mutex_unlock(&l->store_lock);
    }
    pthread_mutex_unlock(&list_lock);
}

/* A child has no thread, and a journal in which some thread that is gone may
 * have stopped half-way. What the parent learned it knows, but it is not the
 * child's to store. */
static void reset_in_child(void)
{
    for (struct takt_learner *l = first_learner; l != NULL; l = l->next) {
        takt__learner_disown(l);
        takt__journal_init(&l->journal);
        atomic_store(&l->state, not_started);
        atomic_store(&l->next_start_ns, 0);
        l->has_thread = false;
    }
    unlock_all();
}

static void finish(struct takt_learner *learner)
{
    pthread_mutex_lock(&learner->store_lock);
    pthread_mutex_lock(&learner->lock);
    learn_all(learner);
    pthread_mutex_unlock(&learner->lock);
    learner->next_open_ns = 0; /* now or never */
    takt__learner_save(learner, takt__now_ns(), true);
    pthread_mutex_unlock(&learner->store_lock);
}

static void finish_all(void)
{
    pthread_mutex_lock(&list_lock);
    for (struct takt_learner *l = first_learner; l != NULL; l = l->next)
        finish(l);
    pthread_mutex_unlock(&list_lock);
}

static void add_handlers(void)
{
    pthread_atfork(prepare_all, unlock_all, reset_in_child);
    atexit(finish_all);
}

static void enlist(struct takt_learner *learner)
{
    pthread_once(&handlers_once, add_handlers);
    pthread_mutex_lock(&list_lock);
    learner->next = first_learner;
    first_learner = learner;
    pthread_mutex_unlock(&list_lock);
}

static void delist(struct takt_learner *learner)
{
    pthread_mutex_lock(&list_lock);
    struct takt_learner **at = &first_learner;
    while (*at != NULL && *at != learner)
        at = &(*at)->next;
    if (*at != NULL)
        *at = learner->next;
    pthread_mutex_unlock(&list_lock);
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
    learner->is_deaf = options->is_deaf;
    learner->is_store_foreign = options->is_store_foreign;
    snprintf(learner->path, sizeof learner->path, "%s", options->store_path);
    snprintf(learner->machine, sizeof learner->machine, "%s", options->machine);
    snprintf(learner->software, sizeof learner->software, "%s",
             options->software);
    learner->outlook = takt__outlook_create();
    if (learner->outlook == NULL) {
        takt__learner_destroy(learner);
        return TAKT_ENOMEM;
    }
    enlist(learner);
    *out = learner;
    return TAKT_OK;
}

static void end_thread(struct takt_learner *learner)
{
    if (!learner->has_thread)
        return;
    atomic_store(&learner->state, ending);
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
    pthread_mutex_lock(&learner->store_lock);
    takt__store_close(learner->store);
    learner->store = NULL;
    learner->is_given_up = true;
    pthread_mutex_unlock(&learner->store_lock);
    delist(learner);
    takt__outlook_destroy(learner->outlook);
    takt__model_destroy(learner->model);
    free(learner->unclaimed.record);
    free(learner->unsaved.record);
    pthread_mutex_destroy(&learner->lock);
    pthread_mutex_destroy(&learner->store_lock);
    free(learner);
}

/* ---- for others ------------------------------------------------------------
 */

struct takt_journal *takt__learner_journal(struct takt_learner *learner)
{
    return &learner->journal;
}

/* The first to ask waits until the store is read. If it could not be, others
 * try again when it is time, but wait for nobody who is at it. */
static void load_for_question(struct takt_learner *learner)
{
    if (atomic_load(&learner->is_loaded))
        return;
    if (!atomic_load(&learner->was_tried)) {
        load(learner);
    } else if (pthread_mutex_trylock(&learner->store_lock) == 0) {
        takt__learner_load(learner);
        pthread_mutex_unlock(&learner->store_lock);
    }
}

static struct takt_model *enter(struct takt_learner *learner)
{
    pthread_mutex_lock(&learner->lock);
    if (learn_all(learner))
        wake_sleepers(learner);
    takt__learner_publish(learner, takt__now_ns(), 0);
    return learner->model;
}

struct takt_model *takt__learner_enter(struct takt_learner *learner)
{
    load_for_question(learner);
    return enter(learner);
}

void takt__learner_leave(struct takt_learner *learner)
{
    wake_sleepers(learner); /* somebody may have told what it took */
    takt__learner_publish(learner, takt__now_ns(), 0);
    pthread_mutex_unlock(&learner->lock);
}

struct takt_model *takt__learner_enter_all(struct takt_learner *learner)
{
    pthread_mutex_lock(&learner->store_lock);
    takt__learner_load(learner);
    return enter(learner);
}

void takt__learner_leave_all(struct takt_learner *learner)
{
    takt__learner_leave(learner);
    pthread_mutex_unlock(&learner->store_lock);
}

struct takt_outlook *takt__learner_outlook(struct takt_learner *learner)
{
    return learner->outlook;
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
    };
}
