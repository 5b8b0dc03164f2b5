/* SPDX-License-Identifier: MIT */
/* linalg.c - a loop of numpy.linalg's, as it is or by other code. */
#include "linalg.h"

#include "base/fpenv.h"
#include "clock.h"
#include "lapack_kind.h"
#include "lapack_other.h"
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
    struct takt_fpenv *fpenv; /* NumPy's, outside of the loop itself */
};

/* NumPy takes a flag of the floating-point unit for the sign of a singular
 * matrix: what is computed beside its loop must leave none. */
static void run_own(const struct linalg_run *run)
{
    takt__fpenv_restore(*run->fpenv);
    run->self->own(run->args, run->dimensions, run->steps, run->data);
    *run->fpenv = takt__fpenv_save();
}

/* The call of LAPACK in it has numbers of threads to choose from alone. */
static void run_here(const struct linalg_run *run)
{
    const bool before = takt__lapack_has_chosen;

    takt__lapack_has_chosen = true;
    run_own(run);
    takt__lapack_has_chosen = before;
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
        .option = {self->job, self->uplo, TAKT_LETTER_BY_ROWS},
        .threads = 1,
        .work = work};

    return takt__lapack_kind(&key);
}

/* True: other code has run it. */
static bool run_chosen(const struct linalg_run *run, unsigned choice,
                       const struct takt_lapack_other *other)
{
    if (choice >= TAKT_TEAMS && takt__lapack_run_other(other, choice))
        return true;
    run_here(run);
    return false;
}

/* Times and learns; the statistics count what ran here by its LAPACK. */
static void run_timed(const struct linalg_run *run, struct takt_team_kind *kind,
                      const struct takt_lapack_other *other)
{
    const double work = other->work;
    const struct takt_lapack_call counted = {
        .routine = run->self->routine,
        .type = run->self->dtype == TAKT_F64 ? TAKT_D : TAKT_S,
        .work = work};
    struct takt_team_call next = {.threads = 1, .work = work};

    takt__lapack_add_choices(other, &next);
    struct takt_team_choice choice = takt__team_choose(kind, &next);
    takt__lapack_alternate(&choice, &next);
    takt__lapack_pause(kind, &next, &choice);
    const uint64_t blas_ns = takt__recorded_ns;
    const uint64_t start_ns = takt__now_ns();
    const bool is_other = run_chosen(run, choice.choice, other);
    const uint64_t ns = takt__now_ns() - start_ns;
    if (is_other) {
        takt__lapack_count(&counted, true, start_ns, ns, 0);
        takt__lapack_compare(&counted, kind, ns);
    }
    takt__lapack_add_step(kind, &choice, work, start_ns, ns,
                          takt__recorded_ns - blas_ns);
    if (choice.is_timed)
        takt__lapack_learn(kind, &choice, work, ns);
    if (choice.choice != TAKT_CHOICE_GPU)
        takt__lapack_missed(other, kind, ns);
}

/* Small matrices are left to the names of LAPACK. */
enum { least_rows = 64 };

static bool is_large(double work)
{
    return work >= (double)least_rows * least_rows * least_rows ||
           takt__mode_has(TAKT_MODE_EAGER);
}

static void run_large(const struct linalg_run *run)
{
    const struct takt_linalg *self = run->self;
    struct takt_lapack_other other = {.baseline = atomic_load(&baseline),
                                      .call = {.size = sizeof other.call,
                                               .dtype = self->dtype,
                                               .job = self->job,
                                               .uplo = self->uplo,
                                               .is_by_rows = 1}};
    struct takt_team_kind *kind = NULL;

    if (self->read(self, run->args, run->dimensions, run->steps, &other.call)) {
        other.work = work_of(&other.call);
        if (is_large(other.work) &&
            takt__lapack_may_be_other(self->routine, other.work))
            kind = kind_of(self, other.work);
    }
    if (kind == NULL) {
        run_own(run);
        return;
    }
    takt__lapack_find_other(&other, self->routine);
    run_timed(run, kind, &other);
}

void takt__linalg_run(struct takt_linalg *self, char **args,
                      const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                      void *data)
{
    if (dimensions[0] != 1 ||
        (dimensions[1] < least_rows && !takt__mode_has(TAKT_MODE_EAGER))) {
        self->own(args, dimensions, steps, data);
        return;
    }
    struct takt_fpenv fpenv = takt__fpenv_save();
    run_large(
        &(struct linalg_run){self, args, dimensions, steps, data, &fpenv});
    takt__fpenv_restore(fpenv);
}
