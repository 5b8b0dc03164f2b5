/* SPDX-License-Identifier: MIT */
/* lapack_record.c - counts, times, and what was gained. */
#include "lapack_record.h"

#include "effect.h"
#include "lapack_gpu.h"
#include "lapack_history.h"
#include "mode.h"
#include "stats_write.h"

void takt__lapack_count(const struct takt_lapack_call *call, bool is_other,
                        uint64_t start_ns, uint64_t ns, uint64_t blas_ns)
{
    if (!takt__mode_has(TAKT_MODE_STATS))
        return;
    struct takt_stats_loop_cell *cell =
        takt__stats_lapack(call->routine, call->type == TAKT_D, call->work);
    takt__stats_add(&cell->calls[is_other], 1);
    if (ns == 0)
        return;
    takt__stats_add(&cell->timed[is_other], 1);
    const uint64_t own_ns = ns > blas_ns ? ns - blas_ns : 0;
    takt__stats_add(&cell->ns[is_other], own_ns);
    takt__stats_span(start_ns, start_ns + ns);
    takt__stats_time(TAKT_TRACK_LAPACK, start_ns + ns - own_ns, start_ns + ns,
                     1);
}

/* ---- steps --------------------------------------------------------------- */

/* Longer ones would be alone in an off slice, which costs the program what they
 * gain. */
static const double longest_step_ns = 10e6;

static bool is_step(const struct takt_team_kind *kind, double work)
{
    const double ns = takt__mean_expect(&kind->team[0], work).ns;

    return work > takt__least_step_work && ns > 0 && ns < longest_step_ns;
}

void takt__lapack_pause(const struct takt_team_kind *kind,
                        const struct takt_team_call *call,
                        struct takt_team_choice *choice)
{
    if (takt__effect_is_off() && !takt__mode_has(TAKT_MODE_EAGER) &&
        is_step(kind, call->work))
        *choice = (struct takt_team_choice){.threads = call->threads,
                                            .is_timed = true};
}

void takt__lapack_add_step(const struct takt_team_kind *kind,
                           const struct takt_team_choice *choice, double work,
                           uint64_t start_ns, uint64_t ns, uint64_t blas_ns)
{
    if (blas_ns > 0 || !is_step(kind, work))
        return;
    if (choice->choice > 0)
        takt__effect_note();
    takt__effect_add(kind, work, start_ns, start_ns + ns);
}

/* ---- gains --------------------------------------------------------------- */

/* What is compared of calls that are steps: slices say what they gain. */
static void count_step(uint64_t baseline_ns, uint64_t error_ns,
                       uint64_t instead_ns)
{
    struct takt_stats_effect *at = takt__stats_effect();

    if (at == NULL)
        return;
    takt__stats_add(&at->lapack_baseline_ns, baseline_ns);
    takt__stats_add(&at->lapack_error_ns, error_ns);
    takt__stats_add(&at->lapack_instead_ns, instead_ns);
}

void takt__lapack_compare(const struct takt_lapack_call *call,
                          const struct takt_team_kind *kind, uint64_t ns)
{
    enum { far = 24 };
    const struct takt_mean_estimate own =
        takt__mean_expect(&kind->team[0], call->work);

    if (!takt__mode_has(TAKT_MODE_STATS) || !(own.ns > 0))
        return;
    struct takt_stats_loop_cell *cell =
        takt__stats_lapack(call->routine, call->type == TAKT_D, call->work);
    const double most = far * own.ns;
    const uint64_t instead_ns = (double)ns < most ? ns : (uint64_t)most;
    takt__stats_add(&cell->compared, 1);
    takt__stats_add(&cell->baseline_ns, (uint64_t)own.ns);
    takt__stats_add(&cell->error_ns, (uint64_t)own.error_ns);
    takt__stats_add(&cell->instead_ns, instead_ns);
    if (is_step(kind, call->work))
        count_step((uint64_t)own.ns, (uint64_t)own.error_ns, instead_ns);
}

/* While a GPU is opened, calls of the library miss processor time. They are the
 * control by which gains are told: only faster ones count. */
void takt__lapack_learn(struct takt_team_kind *kind,
                        const struct takt_team_choice *choice, double work,
                        uint64_t ns)
{
    const struct takt_running_mean *mean = &kind->team[choice->choice];

    if (choice->choice < TAKT_TEAMS && takt__mean_count(mean) >= 2 &&
        (double)ns > (double)takt__mean_of(mean) * work &&
        takt__lapack_gpu_is_opening())
        return;
    if (choice->choice == TAKT_CHOICE_GPU)
        takt__lapack_history_worth(
            (double)takt__mean_of(&kind->team[0]) * work - (double)ns);
    if (takt__team_learn(kind, choice, work, ns))
        takt__lapack_history_keep(kind);
}
