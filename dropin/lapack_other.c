/* SPDX-License-Identifier: MIT */
/* lapack_other.c - which code there is, and running it. */
#include "lapack_other.h"

#include "guard.h"
#include "lapack_gpu.h"
#include "lapack_history.h"
#include "loader.h"
#include "mode.h"
#include "router.h"
#include "stack.h"

_Thread_local bool takt__lapack_has_chosen;

/* Below order 32 a call of the library takes as long as two copies of the
 * matrix, which Takt's kernels need (measured by names; NumPy's loops copy,
 * too). */
static const double least_own = 32.0 * 32 * 32;

static bool is_for_own(enum takt_lapack routine, double work)
{
    return (routine == TAKT_LAPACK_potrf || routine == TAKT_LAPACK_getrf ||
            routine == TAKT_LAPACK_gesv) &&
           (work >= least_own || takt__mode_has(TAKT_MODE_EAGER)) &&
           takt__mode_has(TAKT_MODE_LAPACK);
}

bool takt__lapack_may_be_other(enum takt_lapack routine, double work)
{
    return !takt__lapack_has_chosen &&
           (is_for_own(routine, work) || takt__lapack_gpu_wants(work));
}

void takt__lapack_find_other(struct takt_lapack_other *other,
                             enum takt_lapack routine)
{
    enum takt_why why;

    other->is_for_gpu = takt__lapack_gpu_wants(other->work);
    other->is_for_own = is_for_own(routine, other->work);
    other->own = NULL;
    if (!other->is_for_own || !takt__has_stack())
        return;
    const struct takt_route *route = takt__route(other->baseline, &why);
    if (route != NULL && route->is_adaptive)
        other->own = route;
}

void takt__lapack_add_choices(const struct takt_lapack_other *other,
                              struct takt_team_call *call)
{
    call->has_own = other->own != NULL;
    call->has_gpu = other->is_for_gpu &&
                    takt__lapack_gpu_is_ready(other->baseline, &other->call);
}

static bool run_own(const struct takt_lapack_other *other)
{
    struct takt_cancel cancel;

    if (other->own == NULL || takt__loader_is_forking() ||
        !takt__guard_enter_libtakt(&cancel))
        return false;
    const takt_status status =
        other->own->takt->solver_run_here(other->own->ctx, &other->call);
    takt__guard_leave_libtakt(cancel);
    return status == TAKT_OK;
}

bool takt__lapack_run_other(const struct takt_lapack_other *other,
                            unsigned choice)
{
    return choice == TAKT_CHOICE_GPU ? takt__lapack_gpu_run(&other->call)
                                     : run_own(other);
}

void takt__lapack_missed(const struct takt_lapack_other *other,
                         const struct takt_team_kind *kind, uint64_t ns)
{
    double share = 0;

    if (other->own == NULL)
        takt__router_spent(ns);
    if (other->is_for_gpu)
        share = takt__lapack_gpu_missed(other->baseline, &other->call, kind,
                                        other->work, ns);
    if (share > 0)
        takt__lapack_history_expect(kind, share);
}

void takt__lapack_spent(const struct takt_baseline *baseline, unsigned choice,
                        uint64_t ns)
{
    enum takt_why why;

    takt__router_spent(ns);
    if (choice > 0 && takt__has_stack())
        (void)takt__route(baseline, &why);
}

void takt__lapack_alternate(struct takt_team_choice *choice,
                            const struct takt_team_call *call)
{
    static _Atomic uint32_t turn;
    const unsigned teams = takt__teams_of(call->threads);
    unsigned choices[TAKT_CHOICES], count = 0;

    if (!takt__mode_has(TAKT_MODE_EAGER))
        return;
    for (unsigned i = 0; i < teams; i++)
        choices[count++] = i;
    if (call->has_gpu)
        choices[count++] = TAKT_CHOICE_GPU;
    if (call->has_own)
        choices[count++] = TAKT_CHOICE_OWN;
    /* Not in step with calls inside of calls. */
    const uint32_t mixed = atomic_fetch_add(&turn, 1) * 2654435761u;
    choice->choice =
        choices[takt__mode_has(TAKT_MODE_ALIKE) ? count - 1
                                                : (mixed >> 16) % count];
    choice->threads = choice->choice < teams
                          ? takt__team_threads(choice->choice, call->threads)
                          : call->threads;
}
