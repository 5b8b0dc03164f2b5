/* SPDX-License-Identifier: MIT */
/* lapack.c - chooses the threads of a call of LAPACK or a GPU, runs and counts
 * it. */
#include "lapack.h"

#include <pthread.h>
#include <stdlib.h>

#include "clock.h"
#include "intercepted.h"
#include "lapack_arguments.h"
#include "lapack_gpu.h"
#include "lapack_kind.h"
#include "lapack_record.h"
#include "mode.h"
#include "record.h"

/* ---- the table ----------------------------------------------------------- */

struct entry {
    unsigned options;
    double (*work)(const struct takt_lapack_call *call);
    bool (*is_query)(const struct takt_lapack_call *call);
    void (*run)(takt_symbol *function, void *const *argument);
};

static double number(const struct takt_lapack_call *call, unsigned i)
{
    return (double)takt__lapack_number(call, i);
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

#define N(i_) number(call, i_)
#define MIN(a_, b_) smaller(a_, b_)
#define TAKT_LAPACK(stem_, arguments_, options_, work_, is_query_)    \
    static double amount_##stem_(const struct takt_lapack_call *call) \
    {                                                                 \
        return work_;                                                 \
    }                                                                 \
    static bool asks_##stem_(const struct takt_lapack_call *call)     \
    {                                                                 \
        (void)call;                                                   \
        return is_query_;                                             \
    }
#include "lapack.def"

#define ELEMENT(i_) argument[i_]
#define ONE(i_) 1
#define TAKT_LAPACK(stem_, arguments_, options_, work_, is_query_)            \
    static void run_##stem_(takt_symbol *function, void *const *argument)     \
    {                                                                         \
        ((void (*)(TAKT_ARGUMENTS(TAKT_TYPE, arguments_)                      \
                       TAKT_LENGTHS(TAKT_LENGTH_TYPE, options_)))function)(   \
            TAKT_ARGUMENTS(ELEMENT, arguments_) TAKT_LENGTHS(ONE, options_)); \
    }
#include "lapack.def"

static const struct entry table[TAKT_LAPACKS] = {
#define TAKT_LAPACK(stem_, arguments_, options_, work_, is_query_) \
    [TAKT_LAPACK_##                                                \
        stem_] = {options_, amount_##stem_, asks_##stem_, run_##stem_},
#include "lapack.def"
};

static void pass(const struct takt_lapack_call *call)
{
    table[call->routine].run(call->target->function, call->argument);
}

/* ---- calls inside calls ---------------------------------------------------
 *
 * LAPACK calls LAPACK by name, and BLAS. A call that this thread is inside of
 * is known by its address on the stack; a program may have jumped out of it
 * (R does, when arguments are wrong): code that is not deeper on the stack is
 * not inside, and what the call had changed is restored then. So it is when the
 * thread ends inside, as one that is cancelled while the library complains.
 */

static _Thread_local struct {
    uintptr_t frame;                      /* 0: none */
    struct takt_library_threads *changed; /* NULL: nothing */
} inside;

static bool is_nested(const struct takt_lapack_call *call)
{
    return call->target->is_own && (uintptr_t)call < inside.frame;
}

static void leave(void)
{
    struct takt_library_threads *changed = inside.changed;

    inside.frame = 0;
    inside.changed = NULL;
    if (changed != NULL)
        takt__threads_end(changed);
}

static pthread_key_t at_end_of_thread;
static bool has_key;

static void end_thread(void *self)
{
    (void)self;
    leave();
}

static void make_key(void)
{
    has_key = pthread_key_create(&at_end_of_thread, end_thread) == 0;
}

static void watch_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local bool is_watched;

    if (is_watched)
        return;
    pthread_once(&once, make_key);
    is_watched = has_key && pthread_setspecific(at_end_of_thread, &inside) == 0;
}

/* ---- running ------------------------------------------------------------- */

/* As the program has it; timed for the statistics alone. */
static void run_plain(const struct takt_lapack_call *call)
{
    const bool is_timed = takt__has_stats();
    const uint64_t blas_ns = takt__recorded_ns;
    const uint64_t start_ns = is_timed ? takt__now_ns() : 0;

    inside.frame = (uintptr_t)call;
    pass(call);
    leave();
    const uint64_t ns = is_timed ? takt__now_ns() - start_ns : 0;
    takt__lapack_count(call, false, start_ns, ns, takt__recorded_ns - blas_ns);
}

/* Calls of BLAS by name are part of a call whose threads were changed. */
static void pass_changed(const struct takt_lapack_call *call)
{
    const uintptr_t outer = takt__inside;

    takt__inside = (uintptr_t)call;
    pass(call);
    takt__inside = outer > (uintptr_t)call ? outer : 0;
}

/* ---- on a GPU -------------------------------------------------------------
 */

/* The library gets pivots of 32 bits. */
static bool run_with_pivots(const struct takt_lapack_call *call,
                            takt_solver_call *solver, int at)
{
    const size_t few = solver->m < solver->n ? solver->m : solver->n;
    int64_t *wide = call->argument[at];

    if (!call->target->is_wide) {
        solver->pivots = call->argument[at];
        return takt__lapack_gpu_run(solver);
    }
    solver->pivots = malloc(few * sizeof *solver->pivots);
    const bool is_done = solver->pivots != NULL && takt__lapack_gpu_run(solver);
    for (size_t i = 0; is_done && i < few; i++)
        wide[i] = solver->pivots[i];
    free(solver->pivots);
    return is_done;
}

/* The library runs what a GPU refuses, on the same operands: it has not
 * written any. */
static void pass_gpu(const struct takt_lapack_call *call)
{
    const int pivots = takt__lapack_pivots(call);
    takt_solver_call solver;

    if (takt__lapack_solver(call, &solver) &&
        (pivots < 0 ? takt__lapack_gpu_run(&solver)
                    : run_with_pivots(call, &solver, pivots)))
        takt__lapack_succeed(call);
    else
        pass(call);
}

/* Whether a GPU could run a call. */
static bool is_for_gpu(const struct takt_lapack_call *call,
                       takt_solver_call *solver)
{
    return call->target->baseline != NULL && !takt__lapack_leaves_gpu &&
           takt__lapack_gpu_wants(call->work) &&
           takt__lapack_solver(call, solver);
}

/* ---- the choice -----------------------------------------------------------
 */

/* `missed` is the call as a GPU would run it; NULL: none could. */
static void run_chosen(const struct takt_lapack_call *call,
                       struct takt_team_kind *kind,
                       const struct takt_team_choice *choice,
                       const takt_solver_call *missed)
{
    struct takt_library_threads *threads = call->target->baseline->threads;
    const bool is_other = choice->choice > 0;
    const bool is_gpu = choice->choice == TAKT_TEAM_GPU;
    const uint64_t blas_ns = takt__recorded_ns;

    if (is_other && !is_gpu && !takt__threads_begin(threads, choice->threads)) {
        run_plain(call); /* another call has changed them */
        return;
    }
    if (is_other)
        watch_thread();
    inside.frame = (uintptr_t)call;
    inside.changed = is_other && !is_gpu ? threads : NULL;
    const uint64_t start_ns = choice->is_timed ? takt__now_ns() : 0;
    if (is_gpu)
        pass_gpu(call);
    else if (is_other)
        pass_changed(call);
    else
        pass(call);
    const uint64_t ns = choice->is_timed ? takt__now_ns() - start_ns : 0;
    leave();
    takt__lapack_count(call, is_other, start_ns, ns,
                       takt__recorded_ns - blas_ns);
    if (!choice->is_timed)
        return;
    if (is_other)
        takt__lapack_compare(call, kind, ns);
    takt__team_learn(kind, choice, call->work, ns);
    if (!is_gpu && missed != NULL)
        takt__lapack_gpu_missed(call->target->baseline, missed, call->work, ns);
}

static struct takt_lapack_key key_of(const struct takt_lapack_call *call,
                                     unsigned threads)
{
    struct takt_lapack_key key = {.routine = call->routine,
                                  .type = call->type,
                                  .threads = threads,
                                  .work = call->work};

    for (unsigned i = 0; i < table[call->routine].options; i++)
        key.option[i] = takt__fortran_option(call->argument[i]);
    return key;
}

/* The threads that the program has, if they can be changed; else 0. */
static unsigned changeable(const struct takt_lapack_call *call)
{
    const struct takt_baseline *baseline = call->target->baseline;

    if (baseline == NULL || baseline->threads == NULL || !takt__has_lapack())
        return 0;
    return takt__baseline_threads(baseline);
}

/* For tests: the choices in turns, whatever they take. */
static void turn_choice(struct takt_team_choice *choice,
                        const struct takt_team_call *call)
{
    static _Atomic unsigned turn;
    const unsigned teams = takt__teams_of(call->threads);
    const unsigned next =
        atomic_fetch_add(&turn, 1) % (teams + (call->has_gpu ? 1 : 0));

    choice->choice = next < teams ? next : TAKT_TEAM_GPU;
    choice->threads =
        next < teams ? takt__team_threads(next, call->threads) : call->threads;
}

/* A call that has a choice: other threads, or a GPU. */
static void run_kind(const struct takt_lapack_call *call, unsigned threads,
                     const takt_solver_call *solver)
{
    const struct takt_lapack_key key = key_of(call, threads);
    struct takt_team_kind *kind = takt__lapack_kind(&key);

    if (kind == NULL) {
        run_plain(call);
        return;
    }
    if (takt__team_passes(kind) && !takt__has_stats() && !takt__is_eager()) {
        pass(call);
        return;
    }
    const bool is_new = takt__mean_count(&kind->team[0]) < 3;
    const struct takt_team_call next = {
        .threads = threads,
        .hint = is_new ? takt__lapack_hint(&key) : 0,
        .has_gpu =
            solver != NULL && takt__lapack_gpu_is_open(call->target->baseline),
        .work = call->work};
    struct takt_team_choice choice = takt__team_choose(kind, &next);
    if (takt__is_eager())
        turn_choice(&choice, &next);
    run_chosen(call, kind, &choice, solver);
}

static void run_any(const struct takt_lapack_call *call)
{
    const unsigned threads = changeable(call);
    takt_solver_call solver;
    const bool has_gpu = is_for_gpu(call, &solver);

    if (threads < 2 && !has_gpu)
        run_plain(call);
    else
        run_kind(call, threads > 0 ? threads : 1, has_gpu ? &solver : NULL);
}

void takt__lapack_run(struct takt_blas_entry *entry, const void *caller,
                      enum takt_lapack routine, enum takt_blas_type type,
                      void *const *argument)
{
    struct takt_lapack_call call = {.target =
                                        takt__blas_entry_target(entry, caller),
                                    .routine = routine,
                                    .type = type,
                                    .argument = argument};

    if (is_nested(&call) || table[routine].is_query(&call)) {
        pass(&call);
        return;
    }
    leave(); /* of a call that was jumped out of */
    call.work = table[routine].work(&call);
    if (call.work > 0)
        run_any(&call);
    else
        pass(&call);
}
