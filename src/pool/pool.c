/* SPDX-License-Identifier: MIT */
/*
 * pool.c - fork and join through one word per worker.
 *
 * Each worker owns a cache line with a ticket. The caller writes the job once,
 * then raises the tickets of the workers it needs; a worker that sees its
 * ticket change takes its share, runs it and counts itself off in `pending`.
 * Workers form a tree, four below each thread, which wakes them if they sleep,
 * and takes their shares if they have not begun when it is done with its own.
 * A thread that waits spins first and then sleeps on the word it waits for.
 * Before that it raises a flag, which the other side checks after it changed
 * the word: one of the two always sees the other.
 *
 * After fork() only the calling thread exists in the child. A handler then
 * resets every pool, so that nothing on the path of a job has to look; the
 * child's first job starts workers of its own.
 */
#include "pool/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/fpenv.h"
#include "base/futex.h"
#include "base/lock.h"
#include "base/thread.h"
#include "pool/scratch.h"

enum {
    line = 64,         /* bytes of a cache line */
    spin_ns = 100000,  /* how long a worker stays awake for the next job */
    late_ns = 2000000, /* and at most for the end of one it is too late for */
    clock_every = 64,  /* spins between two reads of the clock */
};

struct worker {
    _Alignas(line) _Atomic uint32_t ticket; /* raised: there is a share */
    _Atomic uint32_t taken; /* the ticket whose share is taken */
    _Atomic uint32_t is_asleep;
    unsigned number; /* 1 is the first: part 0 is the caller's */
    struct takt_pool *pool;
    struct takt_scratch scratch;
    pthread_t thread;
};

struct takt_pool {
    _Alignas(line) _Atomic uint32_t is_busy;
    _Alignas(line) _Atomic uint32_t pending; /* parts not done yet */
    _Atomic uint32_t caller_sleeps;
    _Atomic uint32_t raised;  /* exception flags that workers have raised */
    _Atomic uint32_t keepers; /* calls that will run more jobs soon */

    /* The job: written by the caller before the tickets, read by workers. */
    _Alignas(line) takt_pool_task *task;
    void *job;
    unsigned parts;
    unsigned running;        /* threads at work, the caller's included */
    struct takt_fpenv fpenv; /* the caller's, without traps */
    _Atomic bool is_ending;

    unsigned threads;
    _Atomic unsigned limit;   /* of them, those that may work now */
    _Atomic unsigned started; /* workers that run */
    struct takt_fork_entry fork;
    struct worker workers[]; /* threads - 1 */
};

/* A worker that was too late for a job waits for its end: the next one may
 * follow at once. */
static bool expects_job(const struct takt_pool *pool, bool is_late)
{
    return atomic_load_explicit(&pool->keepers, memory_order_relaxed) != 0 ||
           (is_late &&
            atomic_load_explicit(&pool->is_busy, memory_order_relaxed) != 0);
}

/* Spins until *word is no longer `old`; false when the time is up. The first
 * microsecond or two is pure spinning. Then the processor is offered to others
 * at every look: the thread that is waited for may be waiting for it. (Measured
 * with one core taken by another program: 200 microseconds a job without.) The
 * time begins when `pool` expects no job, which is not asked if it is NULL. */
static bool spin_while(const _Atomic uint32_t *word, uint32_t old,
                       const struct takt_pool *pool, bool is_late)
{
    uint64_t start_ns = 0, idle_ns = 0;

    for (unsigned i = 1;; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != old)
            return true;
        takt__pause();
        if (i % clock_every != 0)
            continue;
        sched_yield();
        const uint64_t now_ns = takt__now_ns();
        if (start_ns == 0)
            start_ns = idle_ns = now_ns;
        else if (now_ns - idle_ns >= spin_ns)
            return false;
        if (pool != NULL && now_ns - start_ns < late_ns &&
            expects_job(pool, is_late))
            idle_ns = now_ns;
    }
}

/* Sleeps until *word is no longer `old`, with `sleeps` raised while in the
 * kernel. The flag is raised before the last look at the word, and the other
 * side looks at the flag after it changed the word. */
static void sleep_while(_Atomic uint32_t *word, uint32_t old,
                        _Atomic uint32_t *sleeps)
{
    atomic_store(sleeps, 1);
    while (atomic_load(word) == old)
        takt__futex_wait(word, old);
    atomic_store(sleeps, 0);
}

static void count_off(struct takt_pool *pool)
{
    if (atomic_fetch_sub(&pool->pending, 1) == 1 &&
        atomic_load(&pool->caller_sleeps) != 0)
        takt__futex_wake(&pool->pending);
}

/* The share of thread `number` of `running`. */
static void run_share(takt_pool_task *task, void *job, unsigned number,
                      unsigned running, unsigned parts, void *scratch)
{
    for (unsigned part = number; part < parts; part += running)
        task(job, part, parts, scratch);
}

/* Whether the share of that ticket is ours now. The thread that takes it runs
 * it and counts it off; until then the job cannot end. Mostly it is taken, and
 * looking first leaves the line where it is needed. */
static bool take_share(struct worker *worker, uint32_t ticket)
{
    uint32_t before = ticket - 1;

    return atomic_load(&worker->taken) == before &&
           atomic_compare_exchange_strong(&worker->taken, &before, ticket);
}

/* Wakes the workers that thread `number` sees to, if they sleep: four each, so
 * that the last of many is up after a few wakings rather than after all. On a
 * virtual machine it takes some microseconds to wake a thread, and a few dozen
 * until it runs. */
static void wake_next(struct takt_pool *pool, unsigned number)
{
    for (unsigned i = 4 * number + 1; i <= 4 * number + 4; i++) {
        if (i >= pool->running)
            return;
        struct worker *worker = &pool->workers[i - 1];
        if (atomic_load(&worker->is_asleep) != 0)
            takt__futex_wake(&worker->ticket);
    }
}

static void run_branch(struct takt_pool *pool, unsigned number, void *scratch);

/* Runs the shares from `first` to `last` that have not begun. Their workers may
 * be asleep, or have lost their processor: waiting for one can take a thousand
 * times as long as its share. (Measured: 1% of the jobs that had to wake one
 * took 1 to 7 milliseconds.) The job cannot end meanwhile: the share of the
 * thread that does this is not counted off. */
static void help(struct takt_pool *pool, unsigned first, unsigned last,
                 void *scratch)
{
    for (unsigned i = first; i <= last && i < pool->running; i++) {
        struct worker *worker = &pool->workers[i - 1];
        if (take_share(worker, atomic_load(&worker->ticket))) {
            run_branch(pool, i, scratch);
            atomic_fetch_sub(&pool->pending, 1);
        }
    }
}

/* Share `number` and what goes with it: the workers below it in the tree. */
static void run_branch(struct takt_pool *pool, unsigned number, void *scratch)
{
    wake_next(pool, number);
    run_share(pool->task, pool->job, number, pool->running, pool->parts,
              scratch);
    help(pool, 4 * number + 1, 4 * number + 4, scratch);
}

/* In the caller's floating-point environment. A worker starts with the flags
 * that the caller has: mostly it raises no other. */
static void run_as_caller(struct takt_pool *pool, const struct worker *worker)
{
    takt__fpenv_adopt(pool->fpenv);
    run_branch(pool, worker->number, worker->scratch.memory);
    const uint32_t raised = takt__fpenv_get().flags & ~pool->fpenv.flags;
    if (raised != 0)
        atomic_fetch_or_explicit(&pool->raised, raised, memory_order_relaxed);
}

static void *work(void *self)
{
    struct worker *worker = self;
    struct takt_pool *pool = worker->pool;
    bool is_late = false;
    uint32_t seen = 0;

    takt__thread_enter("takt-pool");
    for (;;) {
        if (!spin_while(&worker->ticket, seen, pool, is_late))
            sleep_while(&worker->ticket, seen, &worker->is_asleep);
        seen = atomic_load(&worker->ticket);
        if (atomic_load(&pool->is_ending))
            return NULL;
        /* Too late: another thread has it. If jobs follow each other, the end
         * of this one is when to be awake. (Measured on 16 virtual cores:
         * without this, workers slept through every other job, and most
         * callers worked alone.) */
        is_late = !take_share(worker, seen);
        if (!is_late) {
            run_as_caller(pool, worker);
            count_off(pool);
        }
    }
}

/* In the child the workers are gone. Their scratch may have been about to
 * move, so it is given up rather than trusted. */
static void reset(void *self)
{
    struct takt_pool *pool = self;

    atomic_store(&pool->started, 0);
    atomic_store(&pool->pending, 0);
    atomic_store(&pool->caller_sleeps, 0);
    atomic_store(&pool->keepers, 0);
    if (atomic_exchange(&pool->is_busy, 0) != 0)
        for (unsigned i = 0; i + 1 < pool->threads; i++)
            pool->workers[i].scratch = (struct takt_scratch){0};
}

static const struct takt_fork_handlers at_fork = {.order = TAKT_FORK_LAST,
                                                  .child = reset};

takt_status takt__pool_create(unsigned threads, struct takt_pool **out)
{
    struct takt_pool *pool;
    const size_t workers = threads > 0 ? threads - 1 : 0;
    const size_t bytes = sizeof *pool + workers * sizeof pool->workers[0];

    *out = NULL;
    pool = aligned_alloc(line, (bytes + line - 1) & ~(size_t)(line - 1));
    if (pool == NULL)
        return TAKT_ENOMEM;
    memset(pool, 0, bytes);
    pool->threads = threads > 0 ? threads : 1;
    atomic_init(&pool->limit, pool->threads);
    pool->fork = (struct takt_fork_entry){.handlers = &at_fork, .self = pool};
    takt__fork_add(&pool->fork);
    *out = pool;
    return TAKT_OK;
}

static bool start_worker(struct takt_pool *pool, unsigned number)
{
    struct worker *worker = &pool->workers[number - 1];

    atomic_store(&worker->ticket, 0);
    atomic_store(&worker->taken, 0);
    atomic_store(&worker->is_asleep, 0);
    worker->number = number;
    worker->pool = pool;
    return takt__thread_start(&worker->thread, work, worker);
}

/* How many threads can work on that many parts, after starting those that are
 * missing. */
static unsigned ready(struct takt_pool *pool, unsigned parts,
                      size_t scratch_bytes)
{
    const unsigned limit =
        atomic_load_explicit(&pool->limit, memory_order_relaxed);

    if (parts > limit)
        parts = limit;

    unsigned started = atomic_load(&pool->started);

    while (started + 1 < parts && start_worker(pool, started + 1))
        atomic_store(&pool->started, ++started);
    if (parts > started + 1)
        parts = started + 1;
    for (unsigned i = 1; i < parts; i++)
        if (scratch_bytes > 0 &&
            takt__scratch_get(&pool->workers[i - 1].scratch, scratch_bytes) ==
                NULL)
            return i;
    return parts;
}

static void join(struct takt_pool *pool)
{
    uint32_t left;

    while ((left = atomic_load_explicit(&pool->pending,
                                        memory_order_acquire)) != 0)
        if (!spin_while(&pool->pending, left, NULL, false))
            sleep_while(&pool->pending, left, &pool->caller_sleeps);
}

/* Returns the exception flags that workers have raised. */
static uint32_t run_together(struct takt_pool *pool, unsigned running,
                             unsigned parts, takt_pool_task *task, void *job,
                             void *scratch)
{
    pool->task = task;
    pool->job = job;
    pool->parts = parts;
    pool->running = running;
    atomic_store_explicit(&pool->raised, 0, memory_order_relaxed);
    atomic_store(&pool->pending, running - 1);
    for (unsigned i = 1; i < running; i++)
        atomic_fetch_add(&pool->workers[i - 1].ticket, 1);
    wake_next(pool, 0);
    run_share(task, job, 0, running, parts, scratch);
    help(pool, 1, running - 1, scratch);
    join(pool);
    return atomic_load_explicit(&pool->raised, memory_order_relaxed);
}

/* Cancellation is deferred from here to release(), and tasks have no
 * cancellation points: a thread that ended in between would leave the pool busy
 * for ever, and workers with a job on a stack that is gone. False: another call
 * has the workers. */
static bool claim(struct takt_pool *pool, int *cancel)
{
    uint32_t idle = 0;

    *cancel = takt__cancel_defer();
    if (atomic_compare_exchange_strong(&pool->is_busy, &idle, 1))
        return true;
    takt__cancel_undefer(*cancel);
    return false;
}

static void release(struct takt_pool *pool, int cancel)
{
    atomic_store_explicit(&pool->is_busy, 0, memory_order_release);
    takt__cancel_undefer(cancel);
}

takt_status takt__pool_run(struct takt_pool *pool, unsigned parts,
                           size_t scratch_bytes, takt_pool_task *task,
                           void *job)
{
    void *scratch = NULL;
    int cancel;

    if (scratch_bytes > 0) {
        struct takt_scratch *own = takt__scratch_of_thread();
        scratch = own == NULL ? NULL : takt__scratch_get(own, scratch_bytes);
        if (scratch == NULL)
            return TAKT_ENOMEM;
    }
    if (parts > 1 && pool->threads > 1 && claim(pool, &cancel)) {
        /* A trap must wait until no worker needs the job: its handler may
         * jump out of here. */
        const struct takt_fpenv fpenv = takt__fpenv_get();
        pool->fpenv = takt__fpenv_quiet(fpenv);
        if (fpenv.control != pool->fpenv.control)
            takt__fpenv_set(pool->fpenv);
        const unsigned running = ready(pool, parts, scratch_bytes);
        const uint32_t raised =
            run_together(pool, running, parts, task, job, scratch);
        release(pool, cancel);
        takt__fpenv_resume(fpenv, raised);
    } else {
        run_share(task, job, 0, 1, parts, scratch);
    }
    return TAKT_OK;
}

void takt__pool_keep_awake(struct takt_pool *pool)
{
    atomic_fetch_add_explicit(&pool->keepers, 1, memory_order_relaxed);
}

/* In the child of a fork() by another thread the count began anew. */
void takt__pool_let_sleep(struct takt_pool *pool)
{
    uint32_t now = atomic_load_explicit(&pool->keepers, memory_order_relaxed);

    while (now > 0 && !atomic_compare_exchange_weak_explicit(
                          &pool->keepers, &now, now - 1, memory_order_relaxed,
                          memory_order_relaxed))
        ;
}

void takt__pool_limit(struct takt_pool *pool, unsigned threads)
{
    const unsigned most = threads < pool->threads ? threads : pool->threads;

    atomic_store_explicit(&pool->limit, most > 0 ? most : 1,
                          memory_order_relaxed);
}

unsigned takt__pool_asleep(const struct takt_pool *pool, unsigned parts)
{
    const unsigned started = atomic_load(&pool->started);
    const unsigned limit =
        atomic_load_explicit(&pool->limit, memory_order_relaxed);
    unsigned asleep = 0;

    for (unsigned i = 1; i < parts && i < limit; i++)
        asleep +=
            i > started || atomic_load_explicit(&pool->workers[i - 1].is_asleep,
                                                memory_order_relaxed) != 0;
    return asleep;
}

void takt__pool_destroy(struct takt_pool *pool)
{
    if (pool == NULL)
        return;
    takt__fork_remove(&pool->fork);
    atomic_store(&pool->is_ending, true);
    for (unsigned i = 0; i < atomic_load(&pool->started); i++) {
        atomic_fetch_add(&pool->workers[i].ticket, 1);
        takt__futex_wake(&pool->workers[i].ticket);
        pthread_join(pool->workers[i].thread, NULL);
    }
    for (unsigned i = 0; i + 1 < pool->threads; i++)
        takt__scratch_free(&pool->workers[i].scratch);
    free(pool);
}
