/* SPDX-License-Identifier: MIT */
/* worker.c - one word of state, and the loop of the thread. */
#include "base/worker.h"

#include "base/clock.h"
#include "base/exit.h"
#include "base/futex.h"
#include "base/last_thread.h"
#include "base/lock.h"
#include "base/thread.h"

enum { idle_rounds = 25 }; /* without work before it sleeps */

static _Thread_local const struct takt_worker *own
    __attribute__((tls_model("initial-exec")));

static bool swap(struct takt_worker *worker, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&worker->state, &from, to);
}

static bool is_wanted(uint32_t state)
{
    return state == TAKT_WORKER_AWAKE || state == TAKT_WORKER_ASLEEP;
}

/* ---- the thread ---------------------------------------------------------- */

/* Whether it has worked for as long as it may at every news. */
static bool is_steady(const struct takt_worker *worker, uint64_t now_ns)
{
    const struct takt_worker_job *job = worker->job;

    return job->steady_part != 0 &&
           worker->worked_ns > job->free_work_ns + (now_ns - worker->start_ns) /
                                                       job->steady_part;
}

static uint64_t rest_after(const struct takt_worker *worker, uint64_t rest_ns,
                           bool is_news, uint64_t start_ns, uint64_t now_ns)
{
    const struct takt_worker_job *job = worker->job;
    const uint64_t owed_ns = (now_ns - start_ns) * job->rest_per_work;

    if (is_steady(worker, now_ns))
        return job->most_rest_ns;
    rest_ns = is_news ? 0 : 2 * rest_ns;
    if (rest_ns < job->shortest_rest_ns)
        rest_ns = job->shortest_rest_ns;
    if (rest_ns > job->longest_rest_ns)
        rest_ns = job->longest_rest_ns;
    if (rest_ns < owed_ns)
        rest_ns = owed_ns < job->most_rest_ns ? owed_ns : job->most_rest_ns;
    return rest_ns;
}

/* Wakes up now and then to check whether all other threads have ended. */
static void wait_for_notice(struct takt_worker *worker)
{
    static const uint64_t check_ns = 1000000000;
    const uint64_t longest_ns = worker->job->longest_sleep_ns;
    const uint64_t now_ns = takt__now_ns();
    const uint64_t end_ns = longest_ns == 0 ? UINT64_MAX : now_ns + longest_ns;
    uint64_t until_ns = now_ns;

    do
        until_ns = end_ns - until_ns < check_ns ? end_ns : until_ns + check_ns;
    while (!takt__futex_changes(&worker->state, TAKT_WORKER_ASLEEP, until_ns) &&
           until_ns < end_ns && !takt__exit_if_last());
}

static void sleep_until_woken(struct takt_worker *worker)
{
    const struct takt_worker_job *job = worker->job;

    if (job->before_sleep != NULL)
        job->before_sleep(worker->self);
    if (!swap(worker, TAKT_WORKER_AWAKE, TAKT_WORKER_ASLEEP))
        return;
    if (!job->has_work(worker->self))
        wait_for_notice(worker);
    swap(worker, TAKT_WORKER_ASLEEP, TAKT_WORKER_AWAKE);
}

static void work_in_rounds(struct takt_worker *worker)
{
    uint64_t rest_ns = 0;
    unsigned idle = 0;

    worker->start_ns = takt__now_ns();
    worker->worked_ns = 0;
    while (is_wanted(atomic_load(&worker->state))) {
        const uint64_t start_ns = takt__now_ns();
        bool is_news = false;
        idle = worker->job->work(worker->self, &is_news) ? 0 : idle + 1;
        const uint64_t now_ns = takt__now_ns();
        worker->worked_ns += now_ns - start_ns;
        rest_ns = rest_after(worker, rest_ns, is_news, start_ns, now_ns);
        if (idle > idle_rounds) {
            sleep_until_woken(worker);
            rest_ns = 0;
        } else {
            takt__futex_wait_for(&worker->state, TAKT_WORKER_AWAKE, rest_ns);
        }
    }
}

static void *live(void *self)
{
    struct takt_worker *worker = self;

    takt__thread_enter(worker->job->name);
    own = worker;
    work_in_rounds(worker);
    worker->job->finish(worker->self);
    if (swap(worker, TAKT_WORKER_LEAVING, TAKT_WORKER_LEFT))
        takt__futex_wake(&worker->state);
    while (atomic_load(&worker->state) == TAKT_WORKER_LEFT)
        takt__futex_wait(&worker->state, TAKT_WORKER_LEFT);
    return NULL;
}

/* ---- for its owner ------------------------------------------------------- */

void takt__worker_reset(struct takt_worker *worker)
{
    atomic_store(&worker->state, TAKT_WORKER_NONE);
    atomic_store(&worker->next_start_ns, 0);
    worker->has_thread = false;
}

void takt__worker_start(struct takt_worker *worker)
{
    static const uint64_t try_again_ns = 1000000000;
    const uint64_t now_ns = takt__now_ns();

    if (now_ns < atomic_load(&worker->next_start_ns) ||
        (takt__exit_has_begun() && !worker->job->starts_at_exit))
        return;
    takt__section_begin(); /* exit() does not wait for a thread half made */
    if (swap(worker, TAKT_WORKER_NONE, TAKT_WORKER_AWAKE)) {
        worker->has_thread = takt__thread_start(&worker->thread, live, worker);
        if (!worker->has_thread) {
            atomic_store(&worker->next_start_ns, now_ns + try_again_ns);
            atomic_store(&worker->state, TAKT_WORKER_NONE);
            takt__futex_wake(&worker->state); /* exit() may wait already */
        }
    }
    takt__section_end();
}

void takt__worker_wake(struct takt_worker *worker)
{
    if (swap(worker, TAKT_WORKER_ASLEEP, TAKT_WORKER_AWAKE))
        takt__futex_wake(&worker->state);
}

void takt__worker_hurry(struct takt_worker *worker)
{
    takt__futex_wake(&worker->state);
}

bool takt__worker_is_self(const struct takt_worker *worker)
{
    return own == worker;
}

bool takt__worker_ask_to_leave(struct takt_worker *worker)
{
    uint32_t state = atomic_load(&worker->state);

    while (is_wanted(state))
        if (atomic_compare_exchange_weak(&worker->state, &state,
                                         TAKT_WORKER_LEAVING)) {
            takt__futex_wake(&worker->state);
            return true;
        }
    return false;
}

bool takt__worker_has_left(struct takt_worker *worker, uint64_t until_ns)
{
    return takt__futex_changes(&worker->state, TAKT_WORKER_LEAVING, until_ns);
}

bool takt__worker_end(struct takt_worker *worker)
{
    const uint32_t before = atomic_exchange(&worker->state, TAKT_WORKER_ENDING);

    takt__futex_wake(&worker->state);
    if (worker->has_thread)
        pthread_join(worker->thread, NULL);
    worker->has_thread = false;
    return is_wanted(before);
}
