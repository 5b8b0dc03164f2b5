/* SPDX-License-Identifier: MIT */
/*
 * test_warm.c - the first call of a kind on a GPU has operands of our own.
 *
 * The thread of the opener is played by the test: it runs when the test says.
 */
#include "lapack_warm.h"

#include "loader.h"
#include "opener.h"
#include "route.h"
#include "support/tap.h"

/* ---- what is around it ---- */

static struct takt_opener *started;
static bool is_refused;

bool takt__opener_is_bad_moment(void)
{
    return false;
}

bool takt__opener_run(struct takt_opener *opener)
{
    if (is_refused)
        return false;
    started = opener;
    return true;
}

void takt__loader_enter(void)
{
}

void takt__loader_leave(void)
{
}

static struct {
    unsigned calls;
    takt_status status;
    takt_solver_call call;
    double corner, beside; /* of its A */
} solver;

static takt_status run_solver(takt_ctx *ctx, const takt_solver_call *call)
{
    const bool is_double = call->dtype == TAKT_F64;

    EXPECT(ctx == NULL);
    solver.calls++;
    solver.call = *call;
    solver.corner =
        is_double ? *(double *)call->a.out : (double)*(float *)call->a.out;
    solver.beside = is_double ? ((double *)call->a.out)[1]
                              : (double)((float *)call->a.out)[1];
    EXPECT(call->a.in == call->a.out);
    EXPECT(call->values != NULL);
    return solver.status;
}

static const struct takt_libtakt takt = {.solver_run = run_solver};
static const struct takt_route route = {.takt = &takt};

static void finish(void)
{
    struct takt_opener *opener = started;

    REQUIRE(opener != NULL);
    started = NULL;
    opener->run();
    EXPECT(!atomic_load(&opener->is_busy));
}

static takt_solver_call call_of(takt_solver_routine routine, size_t n)
{
    return (takt_solver_call){.size = sizeof(takt_solver_call),
                              .routine = routine,
                              .dtype = TAKT_F64,
                              .uplo = 'L',
                              .m = n,
                              .n = n};
}

/* ---- tests ---- */

static void a_kind_is_warm_after_a_call_of_ours(void)
{
    const takt_solver_call call = call_of(TAKT_SOLVER_POTRF, 100);
    const takt_solver_call like_it = call_of(TAKT_SOLVER_POTRF, 120);
    const takt_solver_call larger = call_of(TAKT_SOLVER_POTRF, 300);

    EXPECT(!takt__lapack_is_warm(&route, &call));
    EXPECT(takt__lapack_is_warming());
    EXPECT(!takt__lapack_is_warm(&route, &larger)); /* one at a time */
    EXPECT_INT(solver.calls, 0);
    finish();
    EXPECT_INT(solver.calls, 1);
    EXPECT_INT(solver.call.n, 100);
    EXPECT(solver.corner == 200 && solver.beside > 0); /* it has a factor */
    EXPECT(!takt__lapack_is_warming());
    EXPECT(takt__lapack_is_warm(&route, &call));
    EXPECT(takt__lapack_is_warm(&route, &like_it));
    EXPECT(!takt__lapack_is_warm(&route, &larger));
    finish();
    EXPECT(takt__lapack_is_warm(&route, &larger));
    EXPECT_INT(solver.calls, 2);
}

static void every_routine_has_its_operands(void)
{
    for (int routine = 0; routine <= TAKT_SOLVER_GESDD; routine++) {
        takt_solver_call call = call_of((takt_solver_routine)routine, 9);
        call.dtype = TAKT_F32;
        call.m = 12;
        call.k = 3;
        call.job = routine == TAKT_SOLVER_GESDD ? 'A' : 'V';
        call.is_by_rows = 1;
        EXPECT(!takt__lapack_is_warm(&route, &call));
        finish();
        EXPECT(takt__lapack_is_warm(&route, &call));
        EXPECT_INT(solver.call.a.in_ld, 9);
        if (routine == TAKT_SOLVER_GESDD) {
            EXPECT_INT(solver.call.u.out_ld, 12);
            EXPECT_INT(solver.call.vt.out_ld, 9);
        }
        if (routine == TAKT_SOLVER_GESV)
            EXPECT_INT(solver.call.b.in_ld, 3);
    }
}

static void a_kind_that_fails_is_not_tried_again(void)
{
    const takt_solver_call call = call_of(TAKT_SOLVER_GESDD, 50);

    solver.status = TAKT_ENOMEM;
    EXPECT(!takt__lapack_is_warm(&route, &call));
    finish();
    solver.status = TAKT_OK;
    EXPECT(!takt__lapack_is_warm(&route, &call));
    EXPECT(started == NULL);
}

static void without_a_thread_it_is_tried_later(void)
{
    const takt_solver_call call = call_of(TAKT_SOLVER_GETRF, 600);

    is_refused = true;
    EXPECT(!takt__lapack_is_warm(&route, &call));
    EXPECT(!takt__lapack_is_warming());
    is_refused = false;
    EXPECT(!takt__lapack_is_warm(&route, &call));
    finish();
    EXPECT(takt__lapack_is_warm(&route, &call));
}

static void very_large_operands_are_not_made(void)
{
    const takt_solver_call call = call_of(TAKT_SOLVER_GEQRF, 20000);
    const unsigned before = solver.calls;

    EXPECT(!takt__lapack_is_warm(&route, &call));
    finish();
    EXPECT(takt__lapack_is_warm(&route, &call));
    EXPECT_INT(solver.calls, before);
}

static void a_lost_device_is_cold(void)
{
    const takt_solver_call call = call_of(TAKT_SOLVER_POTRF, 100);

    EXPECT(takt__lapack_is_warm(&route, &call));
    takt__lapack_forget_warm();
    EXPECT(!takt__lapack_is_warm(&route, &call));
    takt__lapack_forget_warm(); /* while it is warmed up */
    finish();
    EXPECT(!takt__lapack_is_warm(&route, &call));
    finish();
    EXPECT(takt__lapack_is_warm(&route, &call));
}

/* The thread that was at it is not in the child. */
static void a_child_begins_anew(void)
{
    const takt_solver_call call = call_of(TAKT_SOLVER_GESV, 3000);

    EXPECT(!takt__lapack_is_warm(&route, &call));
    EXPECT(takt__lapack_is_warming());
    takt__lapack_warm_in_child();
    EXPECT(!takt__lapack_is_warming());
    started = NULL;
    EXPECT(!takt__lapack_is_warm(&route, &call));
    EXPECT(started != NULL);
    finish();
}

static void there_may_be_too_many_kinds(void)
{
    for (unsigned i = 0; i < 100; i++) {
        takt_solver_call call = call_of(TAKT_SOLVER_SYEVD, 5);
        call.job = (char)i;
        if (!takt__lapack_is_warm(&route, &call) && started != NULL)
            finish();
    }
    const takt_solver_call call = call_of(TAKT_SOLVER_SYEVD, 5000);
    EXPECT(!takt__lapack_is_warm(&route, &call));
    EXPECT(started == NULL);
}

int main(void)
{
    RUN(a_kind_is_warm_after_a_call_of_ours);
    RUN(every_routine_has_its_operands);
    RUN(a_kind_that_fails_is_not_tried_again);
    RUN(without_a_thread_it_is_tried_later);
    RUN(very_large_operands_are_not_made);
    RUN(a_lost_device_is_cold);
    RUN(a_child_begins_anew);
    RUN(there_may_be_too_many_kinds);
    return tap_done();
}
