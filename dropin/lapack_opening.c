/* SPDX-License-Identifier: MIT */
/* lapack_opening.c - the thread that opens it, and forks. */
#include "lapack_opening.h"

#include "fork.h"
#include "lapack_history.h"
#include "lapack_warm.h"
#include "loader.h"
#include "opener.h"

static _Atomic int state = TAKT_OPENING_NONE;
static const struct takt_route *_Atomic used;

enum takt_opening takt__lapack_opening(void)
{
    return (enum takt_opening)atomic_load_explicit(&state,
                                                   memory_order_acquire);
}

const struct takt_route *takt__lapack_opened(void)
{
    return takt__lapack_opening() == TAKT_OPENING_DONE ? atomic_load(&used)
                                                       : NULL;
}

void takt__lapack_give_up(void)
{
    atomic_store(&state, TAKT_OPENING_FAILED);
}

void takt__lapack_closed(void)
{
    int done = TAKT_OPENING_DONE;

    takt__lapack_forget_warm();
    atomic_compare_exchange_strong(&state, &done, TAKT_OPENING_NONE);
}

static void open_solver(void);

static struct takt_opener opener = {.run = open_solver};

static void warm_up(const struct takt_route *route)
{
    takt_solver_call call;

    for (unsigned i = 0; takt__lapack_history_gpu(i, &call); i++)
        takt__lapack_warm_up(route, &call);
}

/* The GPU may have been opened by products, or fail for a while: it is asked
 * for again then. */
static void open_solver(void)
{
    const struct takt_route *route = atomic_load(&used);

    takt__loader_enter();
    const takt_status status = route->takt->solver_open(route->ctx);
    takt__loader_leave();
    atomic_store(&state,
                 status == TAKT_OK ? TAKT_OPENING_DONE : TAKT_OPENING_FAILED);
    if (status == TAKT_OK)
        warm_up(route);
    atomic_store(&opener.is_busy, false);
}

/* Neither the GPU nor the thread that opens it follows into a child. */
static void in_child(void)
{
    takt__lapack_give_up();
    takt__lapack_warm_in_child();
}

static void watch_forks(void)
{
    static atomic_flag is_watched = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&is_watched))
        takt__at_fork(TAKT_FORK_LAPACK, NULL, NULL, in_child);
}

void takt__lapack_begin_opening(const struct takt_route *route)
{
    int none = TAKT_OPENING_NONE;

    if (!atomic_compare_exchange_strong(&state, &none, TAKT_OPENING_BEGUN))
        return;
    watch_forks();
    atomic_store(&used, route);
    atomic_store(&opener.is_busy, true);
    if (takt__opener_run(&opener))
        return;
    atomic_store(&opener.is_busy, false);
    takt__lapack_give_up();
}
