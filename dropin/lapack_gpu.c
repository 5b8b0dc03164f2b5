/* SPDX-License-Identifier: MIT */
/* lapack_gpu.c - when it is opened, and running on it. */
#include "lapack_gpu.h"

#include "guard.h"
#include "lapack_history.h"
#include "lapack_opening.h"
#include "lapack_warm.h"
#include "loader.h"
#include "mode.h"
#include "opener.h"
#include "router.h"
#include "stack.h"

/* Below this a call takes about as long as its transfers: order 256. */
static const double least_work = 256.0 * 256 * 256;

static _Atomic uint64_t missed_ns;

bool takt__lapack_gpu_may_be(void)
{
    return takt__mode_has(TAKT_MODE_LAPACK) &&
           takt__lapack_opening() != TAKT_OPENING_FAILED &&
           takt__mode_may_have_nvidia();
}

bool takt__lapack_gpu_wants(double work)
{
    return (work >= least_work || takt__mode_has(TAKT_MODE_EAGER)) &&
           takt__lapack_gpu_may_be();
}

/* ---- opening ------------------------------------------------------------- */

static void begin_to_open(const struct takt_route *route)
{
    if (!route->has_gpu || !route->is_adaptive)
        takt__lapack_give_up();
    else if (!takt__opener_is_bad_moment())
        takt__lapack_begin_opening(route);
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
    if (takt__mode_has(TAKT_MODE_EAGER) && takt__lapack_opened() == NULL)
        open_eagerly(baseline);
    const struct takt_route *route = takt__lapack_opened();
    return route != NULL && takt__lapack_is_warm(route, call);
}

bool takt__lapack_gpu_is_opening(void)
{
    return takt__lapack_opening() == TAKT_OPENING_BEGUN ||
           takt__lapack_is_warming();
}

/* By a link of 10 GB/s and 500 G multiplications a second: half of what either
 * does at least where it pays. Eigenvalues and singular values are found column
 * by column, and singular values by steps that are small for a GPU: 45 us a
 * column and 24 G multiplications a second, measured from n = 512 to 2048
 * (docs/decisions/0054), of which this is two thirds. */
static double expected_ns(const takt_solver_call *call, double work)
{
    const double moving_ns = 1e6 + takt__lapack_bytes(call) / 10;
    const double columns = (double)(call->m < call->n ? call->m : call->n);

    return call->routine == TAKT_SOLVER_GESDD
               ? moving_ns + work / 16 + 65e3 * columns
           : call->routine == TAKT_SOLVER_SYEVD
               ? moving_ns + work / 100 + 20e3 * columns
               : moving_ns + work / 500;
}

/* What calls took there, in this run or in an earlier one, is better known. */
static double time_there(const takt_solver_call *call,
                         const struct takt_team_kind *kind, double work)
{
    const double share = takt__lapack_history_share(kind);
    const double plain_ns = (double)takt__mean_of(&kind->team[0]) * work;

    return share > 0 && plain_ns > 0 ? share * plain_ns
                                     : expected_ns(call, work);
}

double takt__lapack_gpu_missed(const struct takt_baseline *baseline,
                               const takt_solver_call *call,
                               const struct takt_team_kind *kind, double work,
                               uint64_t ns)
{
    const double there_ns = time_there(call, kind, work);
    const double lost_ns = (double)ns - there_ns;
    enum takt_why why;

    if (baseline == NULL || lost_ns <= 0)
        return 0;
    takt__lapack_history_worth(lost_ns);
    if (takt__lapack_opening() != TAKT_OPENING_NONE)
        return 0;
    const uint64_t all_ns =
        atomic_fetch_add(&missed_ns, (uint64_t)lost_ns) + (uint64_t)lost_ns;
    if ((double)all_ns < TAKT_OPENING_PRICE || !takt__has_stack())
        return 0;
    const struct takt_route *route = takt__route(baseline, &why);
    if (route != NULL)
        begin_to_open(route);
    else if (why == TAKT_WHY_NO_ROUTER)
        takt__lapack_give_up();
    return takt__lapack_opening() == TAKT_OPENING_BEGUN ? there_ns / (double)ns
                                                        : 0;
}

/* ---- running ------------------------------------------------------------- */

/* A device that was lost is opened again when as much was missed once more. */
static void note_loss(void)
{
    atomic_store(&missed_ns, 0);
    takt__lapack_closed();
}

bool takt__lapack_gpu_run(const takt_solver_call *call)
{
    const struct takt_route *route = takt__lapack_opened();
    struct takt_cancel cancel;

    if (route == NULL || !takt__has_stack() || takt__loader_is_forking() ||
        !takt__guard_enter_libtakt(&cancel))
        return false;
    const takt_status status = route->takt->solver_run(route->ctx, call);
    takt__guard_leave_libtakt(cancel);
    if (status == TAKT_ELOST)
        note_loss();
    return status == TAKT_OK;
}
