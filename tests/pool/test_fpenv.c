/* SPDX-License-Identifier: MIT */
/*
 * test_fpenv.c - workers compute in the floating-point environment of whoever
 * calls, and what they raise is raised there.
 */
#define _GNU_SOURCE /* feenableexcept() */
#include "base/fpenv.h"

#include <float.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

#include "pool/pool.h"
#include "support/tap.h"

enum { team = 4 };

#if defined(__x86_64__)
enum { flushing = 0x8040 }; /* of results and of operands */
#elif defined(__aarch64__)
enum { flushing = 1 << 24 };
#endif

/* ---- a job whose parts are all under way at once ---------------------------
 */

/* By arithmetic, as kernels do: feraiseexcept() uses the x87 unit too. */
static void raise_flag(int flag)
{
    volatile double x = 0;

    switch (flag) {
    case FE_INVALID:
        x = x / x;
        break;
    case FE_DIVBYZERO:
        x = 1 / x;
        break;
    case FE_OVERFLOW:
        x = DBL_MAX;
        x = x * 2;
        break;
    case FE_UNDERFLOW:
        x = DBL_MIN;
        x = x / 3;
        break;
    }
}

struct job {
    _Atomic unsigned begun;
    struct takt_fpenv seen[team];
    int raises[team]; /* by <fenv.h> */
    volatile double sum[team];
};

static void observe(void *self, unsigned part, unsigned parts, void *scratch)
{
    struct job *job = self;
    volatile double third = 1;

    (void)scratch;
    atomic_fetch_add(&job->begun, 1);
    while (atomic_load(&job->begun) < parts)
        sched_yield(); /* so each of them has a thread of its own */
    job->seen[part] = takt__fpenv_get();
    third /= 3;
    job->sum[part] = third;
    raise_flag(job->raises[part]);
}

static struct takt_pool *new_pool(void)
{
    struct takt_pool *pool;
    REQUIRE(takt__pool_create(team, &pool) == TAKT_OK);
    return pool;
}

static void run(struct takt_pool *pool, struct job *job)
{
    atomic_store(&job->begun, 0);
    REQUIRE(takt__pool_run(pool, team, 0, observe, job) == TAKT_OK);
}

/* ---- control ---------------------------------------------------------------
 */

static const int directions[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                 FE_TOWARDZERO};
enum { modes = 8 };

/* Four directions of rounding, flushing or not. */
static void set_mode(int mode)
{
    struct takt_fpenv env;

    fesetenv(FE_DFL_ENV);
    fesetround(directions[mode % 4]);
    env = takt__fpenv_get();
    env.control |= mode / 4 ? flushing : 0;
    takt__fpenv_set(env);
}

static void check_mode(struct takt_pool *pool, int started, int mode)
{
    struct job job = {0};

    set_mode(mode);
    const struct takt_fpenv before = takt__fpenv_get();
    run(pool, &job);
    const struct takt_fpenv after = takt__fpenv_get();
    fesetenv(FE_DFL_ENV);
    EXPECT_INT(after.control, before.control);
    for (int i = 0; i < team; i++) {
        TAP_CHECK(job.seen[i].control == before.control,
                  "started in mode %d, called in %d: part %d had %#x, not %#x",
                  started, mode, i, job.seen[i].control, before.control);
        TAP_CHECK(job.sum[i] == job.sum[0], "mode %d: part %d rounds otherwise",
                  mode, i);
    }
}

static void every_part_has_the_control_state_of_the_caller(void)
{
    for (int started = 0; started < modes; started++) {
        struct takt_pool *pool = new_pool();
        for (int mode = 0; mode < modes; mode++) {
            check_mode(pool, started, started);
            check_mode(pool, started, mode);
        }
        takt__pool_destroy(pool);
    }
}

/* ---- flags -----------------------------------------------------------------
 */

static void flags_of_workers_are_raised_in_the_caller(void)
{
    static const int each[] = {FE_DIVBYZERO, FE_INVALID, FE_OVERFLOW,
                               FE_UNDERFLOW};
    struct takt_pool *pool = new_pool();

    for (int part = 0; part < team; part++)
        for (int i = 0; i < 4; i++) {
            struct job job = {0};
            job.raises[part] = each[i];
            feclearexcept(FE_ALL_EXCEPT);
            run(pool, &job);
            EXPECT_INT(fetestexcept(FE_ALL_EXCEPT) & ~FE_INEXACT, each[i]);
            EXPECT(fetestexcept(FE_INEXACT) != 0);
        }
    takt__pool_destroy(pool);
}

static void flags_of_an_earlier_job_do_not_come_back(void)
{
    struct takt_pool *pool = new_pool();
    struct job job = {.raises = {0, FE_INVALID, FE_OVERFLOW}};

    run(pool, &job);
    memset(job.raises, 0, sizeof job.raises);
    feclearexcept(FE_ALL_EXCEPT);
    run(pool, &job);
    EXPECT_INT(fetestexcept(FE_ALL_EXCEPT) & ~FE_INEXACT, 0);
    takt__pool_destroy(pool);
}

static void flags_that_the_caller_had_stay(void)
{
    struct takt_pool *pool = new_pool();
    struct job job = {.raises = {0, FE_INVALID}};

    feclearexcept(FE_ALL_EXCEPT);
    raise_flag(FE_OVERFLOW);
    run(pool, &job);
    EXPECT_INT(fetestexcept(FE_ALL_EXCEPT) & ~FE_INEXACT,
               FE_OVERFLOW | FE_INVALID);
    feclearexcept(FE_ALL_EXCEPT);
    takt__pool_destroy(pool);
}

/* ---- traps -----------------------------------------------------------------
 */

#ifdef __GLIBC__
static sigjmp_buf trap;
static pthread_t trapped;

static void on_trap(int number)
{
    (void)number;
    trapped = pthread_self();
    siglongjmp(trap, 1);
}

static bool can_trap(void)
{
    const bool can =
        feenableexcept(FE_DIVBYZERO) != -1 && fegetexcept() == FE_DIVBYZERO;
    fedisableexcept(FE_ALL_EXCEPT);
    return can;
}

/* Whether a job with these flags in its parts trapped. */
static bool does_trap(struct takt_pool *pool, struct job *job, int traps)
{
    struct sigaction action = {.sa_handler = on_trap}, before;

    feclearexcept(FE_ALL_EXCEPT);
    sigaction(SIGFPE, &action, &before);
    const bool is_back = sigsetjmp(trap, 1) != 0;
    if (!is_back) {
        feenableexcept(traps);
        run(pool, job);
    }
    fesetenv(FE_DFL_ENV);
    sigaction(SIGFPE, &before, NULL);
    return is_back;
}

static void a_trap_fires_in_the_caller_once_all_parts_are_done(void)
{
    struct takt_pool *pool = new_pool();

    if (!can_trap()) {
        SKIP("this machine does not trap");
        takt__pool_destroy(pool);
        return;
    }
    for (int part = 0; part < team; part++) {
        static struct job job; /* outlives a jump */
        memset(&job, 0, sizeof job);
        job.raises[part] = FE_DIVBYZERO;
        EXPECT(does_trap(pool, &job, FE_DIVBYZERO | FE_INVALID));
        EXPECT(pthread_equal(trapped, pthread_self()));
        for (int i = 0; i < team; i++)
            EXPECT(job.sum[i] != 0);
        job.raises[part] = 0; /* and the pool goes on */
        EXPECT(!does_trap(pool, &job, FE_DIVBYZERO | FE_INVALID));
        job.raises[part] = FE_OVERFLOW; /* which has no trap */
        EXPECT(!does_trap(pool, &job, FE_DIVBYZERO | FE_INVALID));
        EXPECT(does_trap(pool, &job, FE_OVERFLOW));
    }
    takt__pool_destroy(pool);
}

static void traps_stay_on_in_the_caller(void)
{
    struct takt_pool *pool = new_pool();
    struct job job = {.raises = {0, FE_OVERFLOW}};

    if (!can_trap()) {
        SKIP("this machine does not trap");
        takt__pool_destroy(pool);
        return;
    }
    feenableexcept(FE_DIVBYZERO);
    run(pool, &job);
    EXPECT_INT(fegetexcept(), FE_DIVBYZERO);
    EXPECT(fetestexcept(FE_OVERFLOW) != 0);
    fesetenv(FE_DFL_ENV);
    takt__pool_destroy(pool);
}
#endif

int main(void)
{
    RUN(every_part_has_the_control_state_of_the_caller);
    RUN(flags_of_workers_are_raised_in_the_caller);
    RUN(flags_of_an_earlier_job_do_not_come_back);
    RUN(flags_that_the_caller_had_stay);
#ifdef __GLIBC__
    RUN(a_trap_fires_in_the_caller_once_all_parts_are_done);
    RUN(traps_stay_on_in_the_caller);
#endif
    return tap_done();
}
