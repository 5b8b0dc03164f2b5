/* SPDX-License-Identifier: MIT */
/* lapack_gpu.c - opens it on a thread of its own. */
#include "lapack_gpu.h"

#include "fork.h"
#include "guard.h"
#include "lapack_warm.h"
#include "loader.h"
#include "mode.h"
#include "opener.h"
#include "router.h"
#include "stack.h"

/* Below this a call takes about as long as its transfers: order 256. */
static const double least_work = 256.0 * 256 * 256;

/* What opening both and the first call take, on an H200 (a guess until it was
 * measured here). */
static const double opening_ns = 1.3e9;

enum state { CLOSED, OPENING, OPEN, FAILED };

static _Atomic int state;
static _Atomic uint64_t missed_ns;
static const struct takt_route *_Atomic used;

bool takt__lapack_gpu_may_be(void)
{
    return takt__has_lapack() &&
           atomic_load_explicit(&state, memory_order_relaxed) != FAILED &&
           takt__mode_may_have_nvidia();
}

bool takt__lapack_gpu_wants(double work)
{
    return (work >= least_work || takt__is_eager()) &&
           takt__lapack_gpu_may_be();
}

/* ---- opening ------------------------------------------------------------- */

/* The GPU may have been opened by products, or fail for a while: it is asked
 * for again then. */
static void open_solver(void);

static struct takt_opener opener = {.run = open_solver};

static void open_solver(void)
{
    const struct takt_route *route = atomic_load(&used);

    takt__loader_enter();
    const takt_status status = route->takt->solver_open(route->ctx);
    takt__loader_leave();
    atomic_store(&state, status == TAKT_OK ? OPEN : FAILED);
    atomic_store(&opener.is_busy, false);
}

/* Neither the GPU nor the thread that opens it follows into a child. */
static void in_child(void)
{
    atomic_store(&state, FAILED);
    takt__lapack_warm_in_child();
}

static void watch_forks(void)
{
    static atomic_flag is_watched = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&is_watched))
        takt__at_fork(TAKT_FORK_LAPACK, NULL, NULL, in_child);
}

static void begin_to_open(const struct takt_route *route)
{
    int closed = CLOSED;

    if (!route->has_gpu || !route->is_adaptive) {
        atomic_store(&state, FAILED);
        return;
    }
    if (takt__opener_is_bad_moment() ||
        !atomic_compare_exchange_strong(&state, &closed, OPENING))
        return;
    watch_forks();
    atomic_store(&used, route);
    atomic_store(&opener.is_busy, true);
    if (takt__opener_run(&opener))
        return;
    atomic_store(&opener.is_busy, false);
    atomic_store(&state, FAILED);
}

static bool is_open(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == OPEN;
}

static void open_eagerly(const struct takt_baseline *baseline)
{
    enum takt_why why;
    const struct takt_route *route =
        baseline != NULL ? takt__route(baseline, &why) : NULL;

    if (route != NULL)
        begin_to_open(route);
}

bool takt__lapack_gpu_is_ready(const struct takt_baseline *baseline,
                               const takt_solver_call *call)
{
    if (takt__is_eager() && !is_open())
        open_eagerly(baseline);
    return is_open() && takt__lapack_is_warm(atomic_load(&used), call);
}

bool takt__lapack_gpu_is_opening(void)
{
    return atomic_load_explicit(&state, memory_order_relaxed) == OPENING ||
           takt__lapack_is_warming();
}

/* By a link of 10 GB/s and 500 G multiplications a second: half of what either
 * does at least where it pays. */
static double expected_ns(const takt_solver_call *call, double work)
{
    return 1e6 + takt__lapack_bytes(call) / 10 + work / 500;
}

void takt__lapack_gpu_missed(const struct takt_baseline *baseline,
                             const takt_solver_call *call, double work,
                             uint64_t ns)
{
    const double lost_ns = (double)ns - expected_ns(call, work);
    enum takt_why why;

    if (baseline == NULL || lost_ns <= 0 ||
        atomic_load_explicit(&state, memory_order_relaxed) != CLOSED)
        return;
    const uint64_t all_ns =
        atomic_fetch_add(&missed_ns, (uint64_t)lost_ns) + (uint64_t)lost_ns;
    if ((double)all_ns < opening_ns || !takt__has_stack())
        return;
    const struct takt_route *route = takt__route(baseline, &why);
    if (route != NULL)
        begin_to_open(route);
    else if (why == TAKT_WHY_NO_ROUTER)
        atomic_store(&state, FAILED);
}

/* ---- running ------------------------------------------------------------- */

/* A device that was lost is opened again when as much was missed once more. */
static void note_loss(void)
{
    int open = OPEN;

    atomic_store(&missed_ns, 0);
    takt__lapack_forget_warm();
    atomic_compare_exchange_strong(&state, &open, CLOSED);
}

bool takt__lapack_gpu_run(const takt_solver_call *call)
{
    const struct takt_route *route = atomic_load(&used);
    struct takt_cancel cancel;

    if (!is_open() || !takt__has_stack() || takt__loader_is_forking() ||
        !takt__guard_enter_libtakt(&cancel))
        return false;
    const takt_status status = route->takt->solver_run(route->ctx, call);
    takt__guard_leave_libtakt(cancel);
    if (status == TAKT_ELOST)
        note_loss();
    return status == TAKT_OK;
}
