/* SPDX-License-Identifier: MIT */
/* linalg.c - a loop of numpy.linalg's, as it is or on a GPU. */
#include "linalg.h"

#include "clock.h"
#include "lapack_gpu.h"
#include "lapack_kind.h"
#include "lapack_record.h"
#include "mode.h"
#include "record.h"

struct takt_linalg takt__linalgs[TAKT_LINALGS];
static const struct takt_baseline *_Atomic baseline;

void takt__linalg_open(const struct takt_baseline *library)
{
    atomic_store(&baseline, library);
}

/* ---- running ------------------------------------------------------------- */

/* A loop that is being run. */
struct linalg_run {
    const struct takt_linalg *self;
    char **args;
    const ptrdiff_t *dimensions, *steps;
    void *data;
};

static void run_own(const struct linalg_run *run)
{
    run->self->own(run->args, run->dimensions, run->steps, run->data);
}

/* The call of LAPACK in it runs as it would without a GPU. */
static void run_here(const struct linalg_run *run)
{
    const bool before = takt__lapack_leaves_gpu;

    takt__lapack_leaves_gpu = true;
    run_own(run);
    takt__lapack_leaves_gpu = before;
}

/* As in lapack.def. */
static double work_of(const takt_solver_call *call)
{
    const double m = (double)call->m, n = (double)call->n, k = (double)call->k;
    const double few = m < n ? m : n;

    return call->routine == TAKT_SOLVER_GESV    ? n * n * (n + k)
           : call->routine == TAKT_SOLVER_ORGQR ? m * n * k
                                                : m * n * few;
}

static struct takt_team_kind *kind_of(const struct takt_linalg *self,
                                      double work)
{
    const struct takt_lapack_key key = {
        .routine = self->routine,
        .type = self->dtype == TAKT_F64 ? TAKT_D : TAKT_S,
        .option = {self->job, self->uplo, 'P'}, /* not LAPACK alone */
        .threads = 1,
        .work = work};

    return takt__lapack_kind(&key);
}

/* For tests: in turns. */
static void turn_choice(struct takt_team_choice *choice, bool has_gpu)
{
    static _Atomic unsigned turn;

    if (takt__is_eager())
        choice->choice =
            has_gpu && atomic_fetch_add(&turn, 1) % 2 == 0 ? TAKT_TEAM_GPU : 0;
}

static bool run_chosen(const struct linalg_run *run,
                       const struct takt_team_choice *choice,
                       const takt_solver_call *call)
{
    if (choice->choice == TAKT_TEAM_GPU && takt__lapack_gpu_run(call))
        return true;
    run_here(run);
    return false;
}

/* Times and learns; the statistics count what ran here by its LAPACK. */
static void run_timed(const struct linalg_run *run, struct takt_team_kind *kind,
                      const takt_solver_call *call, double work)
{
    const struct takt_baseline *library = atomic_load(&baseline);
    const bool has_gpu = takt__lapack_gpu_is_open(library);
    const struct takt_lapack_call counted = {
        .routine = run->self->routine,
        .type = run->self->dtype == TAKT_F64 ? TAKT_D : TAKT_S,
        .work = work};
    struct takt_team_choice choice = takt__team_choose(
        kind, &(struct takt_team_call){
                  .threads = 1, .has_gpu = has_gpu, .work = work});

    turn_choice(&choice, has_gpu);
    const uint64_t start_ns = takt__now_ns();
    const bool is_on_gpu = run_chosen(run, &choice, call);
    const uint64_t ns = takt__now_ns() - start_ns;
    if (is_on_gpu) {
        takt__lapack_count(&counted, true, start_ns, ns, 0);
        takt__lapack_compare(&counted, kind, ns);
    }
    takt__team_learn(kind, &choice, work, ns);
    if (choice.choice != TAKT_TEAM_GPU)
        takt__lapack_gpu_missed(library, call, work, ns);
}

void takt__linalg_run(struct takt_linalg *self, char **args,
                      const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                      void *data)
{
    const struct linalg_run run = {self, args, dimensions, steps, data};
    takt_solver_call call = {.size = sizeof call,
                             .dtype = self->dtype,
                             .job = self->job,
                             .uplo = self->uplo,
                             .is_by_rows = 1};

    if (dimensions[0] != 1 || !takt__lapack_gpu_may_be() ||
        !self->read(self, args, dimensions, steps, &call)) {
        run_own(&run);
        return;
    }
    const double work = work_of(&call);
    struct takt_team_kind *kind =
        takt__lapack_gpu_wants(work) ? kind_of(self, work) : NULL;
    if (kind != NULL)
        run_timed(&run, kind, &call, work);
    else
        run_own(&run);
}
