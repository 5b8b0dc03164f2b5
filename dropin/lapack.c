/* SPDX-License-Identifier: MIT */
/* lapack.c - chooses the threads of a call of LAPACK, or other code for it;
 * runs and counts it. */
#include "lapack.h"

#include <pthread.h>
#include <stdlib.h>

#include "clock.h"
#include "intercepted.h"
#include "lapack_arguments.h"
#include "lapack_history.h"
#include "lapack_kind.h"
#include "lapack_other.h"
#include "lapack_record.h"
#include "mode.h"
#include "record.h"
#include "router.h"

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

/* The same, from where the choice is made. NumPy takes a flag of the
 * floating-point unit for the sign of a singular matrix: what is computed
 * beside the call must leave none. */
static void work(const struct takt_lapack_call *call)
{
    takt__fpenv_restore(*call->fpenv);
    pass(call);
    *call->fpenv = takt__fpenv_save();
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
    const bool is_timed = takt__mode_has(TAKT_MODE_STATS);
    const uint64_t blas_ns = takt__recorded_ns;
    const uint64_t start_ns = is_timed ? takt__now_ns() : 0;

    inside.frame = (uintptr_t)call;
    work(call);
    leave();
    const uint64_t ns = is_timed ? takt__now_ns() - start_ns : 0;
    takt__lapack_count(call, false, start_ns, ns, takt__recorded_ns - blas_ns);
}

/* Calls of BLAS by name are part of a call whose threads were changed. */
static void pass_changed(const struct takt_lapack_call *call)
{
    const uintptr_t outer = takt__inside;

    takt__inside = (uintptr_t)call;
    work(call);
    takt__inside = outer > (uintptr_t)call ? outer : 0;
}

/* ---- other code -----------------------------------------------------------
 */

/* Other code has pivots of 32 bits. */
static bool run_with_pivots(const struct takt_lapack_call *call,
                            struct takt_lapack_other *other, unsigned choice,
                            int at)
{
    const size_t m = other->call.m, n = other->call.n, few = m < n ? m : n;
    int64_t *wide = call->argument[at];

    if (!call->target->is_wide) {
        other->call.pivots = call->argument[at];
        return takt__lapack_run_other(other, choice);
    }
    int *narrow = malloc(few * sizeof *narrow);
    other->call.pivots = narrow;
    const bool is_done =
        narrow != NULL && takt__lapack_run_other(other, choice);
    for (size_t i = 0; is_done && i < few; i++)
        wide[i] = narrow[i];
    free(narrow);
    return is_done;
}

/* The library runs what other code refuses, on the same operands: it has not
 * written any. */
static void pass_other(const struct takt_lapack_call *call,
                       struct takt_lapack_other *other, unsigned choice)
{
    const int pivots = takt__lapack_pivots(call);

    if (pivots < 0 ? takt__lapack_run_other(other, choice)
                   : run_with_pivots(call, other, choice, pivots))
        takt__lapack_succeed(call);
    else
        work(call);
}

/* Whether there may be other code for a call, and what. */
static bool find_other(const struct takt_lapack_call *call,
                       struct takt_lapack_other *out)
{
    if (call->target->baseline == NULL ||
        !takt__lapack_may_be_other(call->routine, call->work) ||
        !takt__lapack_solver(call, &out->call))
        return false;
    out->baseline = call->target->baseline;
    out->work = call->work;
    takt__lapack_find_other(out, call->routine);
    return true;
}

/* ---- the choice -----------------------------------------------------------
 */

static void pass_chosen(const struct takt_lapack_call *call, unsigned choice,
                        struct takt_lapack_other *other)
{
    if (choice >= TAKT_TEAMS)
        pass_other(call, other, choice);
    else if (choice > 0)
        pass_changed(call);
    else
        work(call);
}

/* `other` is NULL where there is none. */
static void run_chosen(const struct takt_lapack_call *call,
                       struct takt_team_kind *kind,
                       const struct takt_team_choice *choice,
                       struct takt_lapack_other *other)
{
    struct takt_library_threads *threads = call->target->baseline->threads;
    const bool is_team = choice->choice < TAKT_TEAMS;
    const bool is_changed = choice->choice > 0 && is_team;
    const uint64_t blas_ns = takt__recorded_ns;
    /* To change the threads, and back, is a part of what that takes. */
    const uint64_t start_ns = choice->is_timed ? takt__now_ns() : 0;

    if (is_changed && !takt__threads_begin(threads, choice->threads)) {
        run_plain(call); /* another call has changed them */
        return;
    }
    if (is_changed)
        watch_thread();
    inside.frame = (uintptr_t)call;
    inside.changed = is_changed ? threads : NULL;
    pass_chosen(call, choice->choice, other);
    leave();
    const uint64_t ns = choice->is_timed ? takt__now_ns() - start_ns : 0;
    takt__lapack_count(call, choice->choice > 0, start_ns, ns,
                       takt__recorded_ns - blas_ns);
    if (!choice->is_timed)
        return;
    if (!takt__lapack_has_chosen)
        takt__lapack_add_step(kind, choice, call->work, start_ns, ns,
                              takt__recorded_ns - blas_ns);
    if (choice->choice > 0)
        takt__lapack_compare(call, kind, ns);
    takt__lapack_learn(kind, choice, call->work, ns);
    if (choice->choice != TAKT_CHOICE_GPU && other != NULL)
        takt__lapack_missed(other, kind, ns);
    else if (other == NULL)
        takt__lapack_spent(call->target->baseline, choice->choice, ns);
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

    if (baseline == NULL || baseline->threads == NULL ||
        !takt__mode_has(TAKT_MODE_LAPACK))
        return 0;
    return takt__baseline_threads(baseline);
}

/* What an earlier run or similar calls prefer. */
static unsigned hint_of(const struct takt_lapack_key *key,
                        const struct takt_team_kind *kind)
{
    enum { few = 3 };

    if (takt__mean_count(&kind->team[0]) >= few)
        return 0;
    const unsigned remembered = takt__lapack_history_choice(key);
    return remembered > 0 ? remembered : takt__lapack_hint(key);
}

static uint64_t arguments_of(const struct takt_lapack_call *call)
{
    uint64_t bits;

    memcpy(&bits, &call->work, sizeof bits);
    for (unsigned i = 0; i < table[call->routine].options; i++)
        bits = bits * 31 + *(const unsigned char *)call->argument[i];
    return bits;
}

/* Two threads at once may mix up two calls: then one of them has no choice. */
static void remember(const struct takt_lapack_call *call,
                     struct takt_team_kind *kind)
{
    atomic_store_explicit(&call->entry->recent, kind, memory_order_relaxed);
    atomic_store_explicit(&call->entry->recent_arguments, arguments_of(call),
                          memory_order_relaxed);
}

/* A call that has a choice: other threads, or other code. */
static void run_kind(const struct takt_lapack_call *call, unsigned threads,
                     struct takt_lapack_other *other)
{
    const struct takt_lapack_key key = key_of(call, threads);
    struct takt_team_kind *kind = takt__lapack_kind(&key);

    if (kind == NULL) {
        run_plain(call);
        return;
    }
    if (takt__team_passes(kind) && !takt__mode_has(TAKT_MODE_STATS) &&
        !takt__mode_has(TAKT_MODE_EAGER)) {
        remember(call, kind);
        inside.frame = (uintptr_t)call;
        work(call);
        leave();
        return;
    }
    if (takt__mode_has(TAKT_MODE_EARLY))
        takt__route_early(call->target->baseline);
    struct takt_team_call next = {
        .threads = threads, .hint = hint_of(&key, kind), .work = call->work};
    if (other != NULL)
        takt__lapack_add_choices(other, &next);
    struct takt_team_choice choice = takt__team_choose(kind, &next);
    takt__lapack_alternate(&choice, &next);
    takt__lapack_pause(kind, &next, &choice);
    run_chosen(call, kind, &choice, other);
}

/* Eigenvalues of up to five rows OpenBLAS computes on one thread, however many
 * it has, but by other code if these are several: to change their number gains
 * nothing, and equal calls would differ in their last bits. */
static bool is_on_one_thread(const struct takt_lapack_call *call)
{
    static const double least_work = 6.0 * 6 * 6;

    return call->work < least_work && !takt__mode_has(TAKT_MODE_EAGER) &&
           (call->routine == TAKT_LAPACK_syev ||
            call->routine == TAKT_LAPACK_syevd ||
            call->routine == TAKT_LAPACK_syevr);
}

static void run_any(const struct takt_lapack_call *call)
{
    const unsigned threads = changeable(call);
    struct takt_lapack_other other;
    const bool has_other = find_other(call, &other);

    if ((threads < 2 || is_on_one_thread(call)) && !has_other)
        run_plain(call);
    else
        run_kind(call, threads > 0 ? threads : 1, has_other ? &other : NULL);
}

/* What is computed beside the call leaves no trace in the floating-point
 * environment. */
static __attribute__((noinline)) void
run_measured(struct takt_lapack_call *call)
{
    struct takt_fpenv fpenv = takt__fpenv_save();

    call->fpenv = &fpenv;
    if (call->work > 0)
        run_any(call);
    else
        work(call);
    takt__fpenv_restore(fpenv);
}

/* ---- short calls -----------------------------------------------------------
 *
 * Most are like the one before and need no choice. Of these nothing is known
 * but that: a routine of order 8 takes 200 ns.
 */

static bool needs_no_choice(const struct takt_lapack_call *call)
{
    struct takt_team_kind *recent =
        atomic_load_explicit(&call->entry->recent, memory_order_relaxed);

    if (takt__mode_has(TAKT_MODE_STATS))
        return false;
    return is_on_one_thread(call) ||
           (recent != NULL &&
            atomic_load_explicit(&call->entry->recent_arguments,
                                 memory_order_relaxed) == arguments_of(call) &&
            takt__team_passes(recent));
}

void takt__lapack_run(struct takt_blas_entry *entry, const void *caller,
                      enum takt_lapack routine, enum takt_blas_type type,
                      void *const *argument)
{
    struct takt_lapack_call call = {.entry = entry,
                                    .target =
                                        takt__blas_entry_target(entry, caller),
                                    .routine = routine,
                                    .type = type,
                                    .argument = argument};

    if (is_nested(&call) || table[routine].is_query(&call)) {
        pass(&call);
        return;
    }
    if (inside.frame != 0)
        leave(); /* of a call that was jumped out of */
    call.work = table[routine].work(&call);
    if (!needs_no_choice(&call)) {
        run_measured(&call);
        return;
    }
    inside.frame = (uintptr_t)&call;
    pass(&call);
    inside.frame = 0;
}
