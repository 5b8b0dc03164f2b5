/* SPDX-License-Identifier: MIT */
/* test_pool.c - every part runs once, whoever calls, asleep or awake. */
#define _GNU_SOURCE /* RUSAGE_SELF with times, usleep */
#include "pool/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pool/scratch.h"
#include "support/tap.h"

enum { most = 24 };

static struct takt_pool *pool_of(unsigned threads)
{
    struct takt_pool *pool;
    REQUIRE(takt__pool_create(threads, &pool) == TAKT_OK);
    return pool;
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

struct job {
    _Atomic int runs[most];
    _Atomic unsigned parts;
    _Atomic int bad_scratch;
    size_t scratch_bytes;
};

static void count(void *self, unsigned part, unsigned parts, void *scratch)
{
    struct job *job = self;

    atomic_fetch_add(&job->runs[part], 1);
    atomic_store(&job->parts, parts);
    if (job->scratch_bytes > 0) {
        if (scratch == NULL || (uintptr_t)scratch % 64 != 0)
            atomic_store(&job->bad_scratch, 1);
        else
            memset(scratch, (int)part, job->scratch_bytes);
    }
}

static bool ran_once_each(struct job *job)
{
    const unsigned parts = atomic_load(&job->parts);

    for (unsigned i = 0; i < most; i++)
        if (atomic_load(&job->runs[i]) != (i < parts))
            return false;
    return true;
}

static void every_part_runs_exactly_once(void)
{
    struct takt_pool *pool = pool_of(4);

    for (unsigned parts = 1; parts <= 6; parts++)
        for (int i = 0; i < 500; i++) {
            struct job job = {0};
            EXPECT_INT(takt__pool_run(pool, parts, 0, count, &job), TAKT_OK);
            if (!ran_once_each(&job) || job.parts != parts) {
                TAP_CHECK(false, "%u parts, job %d", parts, i);
                break;
            }
        }
    takt__pool_destroy(pool);
}

static _Atomic int strangers; /* parts that others than the caller ran */

static void look_who(void *caller, unsigned part, unsigned parts, void *scratch)
{
    (void)part, (void)parts, (void)scratch;
    if (!pthread_equal(*(pthread_t *)caller, pthread_self()))
        atomic_fetch_add(&strangers, 1);
    sleep_ms(1); /* so that a worker that may has the time to begin */
}

static int parts_of_strangers(struct takt_pool *pool, int jobs)
{
    pthread_t self = pthread_self();

    atomic_store(&strangers, 0);
    for (int i = 0; i < jobs; i++)
        EXPECT_INT(takt__pool_run(pool, 2, 0, look_who, &self), TAKT_OK);
    return atomic_load(&strangers);
}

static void a_limit_holds_until_it_is_lifted(void)
{
    struct takt_pool *pool = pool_of(2);
    struct job job = {0};

    takt__pool_limit(pool, 1);
    EXPECT_INT(parts_of_strangers(pool, 20), 0);
    EXPECT_INT(takt__pool_asleep(pool, 2), 0);
    EXPECT_INT(takt__pool_run(pool, 4, 0, count, &job), TAKT_OK);
    EXPECT(ran_once_each(&job) && job.parts == 4);
    takt__pool_limit(pool, 64);
    while (parts_of_strangers(pool, 20) == 0)
        ;
    takt__pool_limit(pool, 0);
    EXPECT_INT(parts_of_strangers(pool, 20), 0);
    takt__pool_destroy(pool);
}

/* Four levels of workers that wake each other. */
static void large_teams_run_every_part_once_asleep_or_awake(void)
{
    struct takt_pool *pool = pool_of(most);

    for (int i = 0; i < 60; i++) {
        struct job job = {0};
        EXPECT_INT(takt__pool_run(pool, most, 0, count, &job), TAKT_OK);
        EXPECT(ran_once_each(&job));
        if (i % 4 == 3)
            sleep_ms(2);
    }
    takt__pool_destroy(pool);
}

/* Part 1 ends after all others have run, also those whose workers are woken by
 * the one that runs it. */
static void count_but_1_last(void *self, unsigned part, unsigned parts,
                             void *scratch)
{
    struct job *job = self;

    count(self, part, parts, scratch);
    for (unsigned i = 0; part == 1 && i < parts; i++)
        while (atomic_load(&job->runs[i]) == 0)
            sched_yield();
}

static void a_busy_worker_holds_up_no_other_share(void)
{
    struct takt_pool *pool = pool_of(most);

    for (int i = 0; i < 40; i++) {
        struct job job = {0};
        EXPECT_INT(takt__pool_run(pool, most, 0, count_but_1_last, &job),
                   TAKT_OK);
        EXPECT(ran_once_each(&job));
        if (i % 4 == 3)
            sleep_ms(2);
    }
    takt__pool_destroy(pool);
}

static void workers_that_fell_asleep_are_woken(void)
{
    struct takt_pool *pool = pool_of(2);

    EXPECT_INT(takt__pool_asleep(pool, 2), 1); /* not even started */
    for (int i = 0; i < 20; i++) {
        struct job job = {0};
        EXPECT_INT(takt__pool_run(pool, 2, 0, count, &job), TAKT_OK);
        EXPECT(ran_once_each(&job));
        sleep_ms(3);
    }
    for (int i = 0; i < 20000 && takt__pool_asleep(pool, 2) == 0; i++)
        sleep_ms(5);
    EXPECT_INT(takt__pool_asleep(pool, 2), 1);
    EXPECT_INT(takt__pool_asleep(pool, 1), 0);
    takt__pool_destroy(pool);
}

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void an_idle_pool_uses_no_processor(void)
{
    struct takt_pool *pool = pool_of(4);
    struct job job = {0};

    takt__pool_run(pool, 4, 0, count, &job);
    for (int i = 0; i < 20000 && takt__pool_asleep(pool, 4) < 3; i++)
        sleep_ms(5);
    const double before = cpu_seconds();
    sleep_ms(300);
    const double used = cpu_seconds() - before;
    TAP_CHECK(used < 0.03, "used %.3f s of processor in 0.3 s", used);
    takt__pool_destroy(pool);
}

/* Whether a worker is awake half a millisecond after a job, before anything
 * else could have held up this thread. */
static bool is_awake_later(struct takt_pool *pool)
{
    struct job job = {.scratch_bytes = 0};
    struct timespec began, now;
    long waited_ns;

    takt__pool_run(pool, 2, 0, count, &job);
    clock_gettime(CLOCK_MONOTONIC, &began);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
        waited_ns = (now.tv_sec - began.tv_sec) * 1000000000 + now.tv_nsec -
                    began.tv_nsec;
    } while (waited_ns < 500000);
    return waited_ns < 1000000 && takt__pool_asleep(pool, 2) == 0;
}

/* Tried again where others have the processors; it is once a millisecond. */
static void workers_stay_awake_between_the_jobs_of_a_call(void)
{
    struct takt_pool *pool = pool_of(2);
    bool was_awake = false;

    takt__pool_keep_awake(pool);
    for (int i = 0; i < 10000 && !was_awake; i++)
        was_awake = is_awake_later(pool);
    takt__pool_let_sleep(pool);
    EXPECT(was_awake);
    for (int i = 0; i < 20000 && takt__pool_asleep(pool, 2) == 0; i++)
        sleep_ms(5);
    takt__pool_let_sleep(pool); /* one too many */
    is_awake_later(pool);
    for (int i = 0; i < 20000 && takt__pool_asleep(pool, 2) == 0; i++)
        sleep_ms(5);
    EXPECT_INT(takt__pool_asleep(pool, 2), 1);
    takt__pool_destroy(pool);
}

static void every_part_has_scratch_of_its_own(void)
{
    struct takt_pool *pool = pool_of(3);

    for (size_t bytes = 1; bytes < 1 << 20; bytes *= 3) {
        struct job job = {.scratch_bytes = bytes};
        EXPECT_INT(takt__pool_run(pool, 3, bytes, count, &job), TAKT_OK);
        EXPECT(ran_once_each(&job));
        EXPECT_INT(job.bad_scratch, 0);
    }
    takt__pool_destroy(pool);
}

static void scratch_that_cannot_be_had_runs_nothing(void)
{
    struct takt_pool *pool = pool_of(2);
    struct job job = {0};

    EXPECT_INT(takt__pool_run(pool, 2, SIZE_MAX, count, &job), TAKT_ENOMEM);
    EXPECT_INT(job.runs[0] + job.runs[1], 0);
    takt__pool_destroy(pool);
}

static void *hammer(void *self)
{
    for (int i = 0; i < 2000; i++) {
        struct job job = {0};
        takt__pool_run(self, 2, 128, count, &job);
        if (!ran_once_each(&job))
            return self;
    }
    return NULL;
}

static void callers_from_many_threads_never_wait_for_each_other(void)
{
    struct takt_pool *pool = pool_of(2);
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, hammer, pool) == 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        EXPECT(failed == NULL);
    }
    takt__pool_destroy(pool);
}

struct nested {
    struct takt_pool *pool;
    struct job inner[2];
};

static void run_inside(void *self, unsigned part, unsigned parts, void *scratch)
{
    struct nested *nested = self;

    (void)parts;
    (void)scratch;
    takt__pool_run(nested->pool, 2, 0, count, &nested->inner[part]);
}

static void a_job_inside_a_job_runs_on_its_own_thread(void)
{
    struct nested nested = {.pool = pool_of(2)};

    EXPECT_INT(takt__pool_run(nested.pool, 2, 0, run_inside, &nested), TAKT_OK);
    EXPECT(ran_once_each(&nested.inner[0]));
    EXPECT(ran_once_each(&nested.inner[1]));
    takt__pool_destroy(nested.pool);
}

static int use_in_child(struct takt_pool *pool)
{
    for (int i = 0; i < 50; i++) {
        struct job job = {.scratch_bytes = 100};
        if (takt__pool_run(pool, 2, 100, count, &job) != TAKT_OK ||
            !ran_once_each(&job) || job.parts != 2)
            return 1;
    }
    takt__pool_destroy(pool);
    return 0;
}

static void a_child_of_fork_starts_workers_of_its_own(void)
{
#if defined(TAKT_TEST_EMULATED) || defined(__SANITIZE_THREAD__)
    SKIP("neither the emulator nor TSan can start threads after fork()");
    return;
#endif
    struct takt_pool *pool = pool_of(2);
    struct job job = {0};
    int status = -1;

    takt__pool_run(pool, 2, 64, count, &job);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(use_in_child(pool));
    }
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    struct job after = {0};
    takt__pool_run(pool, 2, 0, count, &after);
    EXPECT(ran_once_each(&after));
    takt__pool_destroy(pool);
}

static void a_pool_of_one_needs_no_worker(void)
{
    struct takt_pool *pool = pool_of(0);
    struct job job = {0};

    EXPECT_INT(takt__pool_asleep(pool, 5), 0); /* there are none to wake */
    EXPECT_INT(takt__pool_run(pool, 5, 0, count, &job), TAKT_OK);
    EXPECT(ran_once_each(&job));
    EXPECT_INT(job.parts, 5);
    takt__pool_destroy(pool);
    takt__pool_destroy(NULL);
}

/* The caller's own part asks for its end, at once. */
static void cancel_caller(void *self, unsigned part, unsigned parts,
                          void *scratch)
{
    struct nested *nested = self;

    if (part == 0)
        pthread_cancel(pthread_self());
    count(&nested->inner[0], part, parts, scratch);
}

static void *run_and_be_cancelled(void *self)
{
    struct nested *nested = self;

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    takt__pool_run(nested->pool, 2, 0, cancel_caller, nested);
    return self;
}

static void who_is_cancelled_leaves_after_the_workers(void)
{
#ifdef __SANITIZE_ADDRESS__
    SKIP("this sanitizer cannot follow a thread that is unwound");
    return;
#endif
    struct nested nested = {.pool = pool_of(2)};
    struct job after = {0};
    pthread_t thread;
    void *end;

    REQUIRE(pthread_create(&thread, NULL, run_and_be_cancelled, &nested) == 0);
    pthread_join(thread, &end);
    EXPECT(end != &nested);
    EXPECT(ran_once_each(&nested.inner[0]));
    EXPECT(parts_of_strangers(nested.pool, 200) > 0); /* it is not busy */
    EXPECT_INT(takt__pool_run(nested.pool, 2, 0, count, &after), TAKT_OK);
    EXPECT(ran_once_each(&after));
    takt__pool_destroy(nested.pool);
}

int main(void)
{
    RUN(every_part_runs_exactly_once);
    RUN(a_limit_holds_until_it_is_lifted);
    RUN(large_teams_run_every_part_once_asleep_or_awake);
    RUN(a_busy_worker_holds_up_no_other_share);
    RUN(workers_that_fell_asleep_are_woken);
    RUN(an_idle_pool_uses_no_processor);
    RUN(workers_stay_awake_between_the_jobs_of_a_call);
    RUN(every_part_has_scratch_of_its_own);
    RUN(scratch_that_cannot_be_had_runs_nothing);
    RUN(callers_from_many_threads_never_wait_for_each_other);
    RUN(a_job_inside_a_job_runs_on_its_own_thread);
    RUN(a_child_of_fork_starts_workers_of_its_own);
    RUN(a_pool_of_one_needs_no_worker);
    RUN(who_is_cancelled_leaves_after_the_workers);
    return tap_done();
}
