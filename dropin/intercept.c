/* SPDX-License-Identifier: MIT */
/* intercept.c - takes each intercepted call through its steps, and routes
 * single calls. */
#include "intercepted.h"

#include <signal.h>

#include "admit.h"
#include "baseline_call.h"
#include "effect.h"
#include "flags.h"
#include "forecast.h"
#include "mode.h"
#include "record.h"
#include "reuse.h"
#include "router.h"
#include "switchback.h"

_Thread_local uintptr_t takt__inside;

/* A call that a library with BLAS inside (is_own) makes by name while it runs
 * one of ours is nested: it is part of that one. Without a branch, so that
 * takt__inside is looked up once. */
static void enter(struct takt_intercept *intercept, bool is_own)
{
    const uintptr_t outer = takt__inside;
    const bool is_nested = is_own & ((uintptr_t)intercept < outer);

    takt__inside = is_nested ? outer : (uintptr_t)intercept;
    intercept->outer = outer;
    intercept->is_nested = is_nested;
}

/* An outer call that is not above this one on the stack was left by longjmp():
 * it is forgotten. */
static void leave(const struct takt_intercept *intercept)
{
    takt__inside =
        intercept->outer > (uintptr_t)intercept ? intercept->outer : 0;
}

/* ---- calls in signal handlers ----------------------------------------------
 *
 * A handler may interrupt a routed call and call BLAS. Takt's kernels have one
 * working memory per thread: the handler's call must not be routed.
 */

/* The routed call that this thread is inside of, as an address on its stack; 0:
 * none. */
static _Thread_local uintptr_t routed;

/* After this many calls that seem to be nested in a routed one, that was left
 * by longjmp(). */
enum { most_in_handlers = 100000 };

static bool is_on_other_stack(void)
{
    stack_t stack;

    return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

static bool is_in_handler(const struct takt_intercept *intercept)
{
    static _Thread_local unsigned calls;

    if (routed == 0)
        return false;
    if ((uintptr_t)intercept >= routed && !is_on_other_stack())
        return false;
    calls++;
    return calls % most_in_handlers != 0;
}

/* ---- single calls -------------------------------------------------------- */

/* Calls with more work say where they ran: it takes 0.1 microseconds. */
static const double described_work = 1e6;

/* Runs an admitted call. False: it was refused, nothing was touched. */
static bool run(struct takt_intercept *intercept,
                const struct takt_admission *admission, takt_call *call)
{
    const struct takt_route *route = admission->route;
    const bool has_stats = takt__mode_has(TAKT_MODE_STATS);
    const bool is_described = has_stats || intercept->work > described_work;
    takt_decision decision = {.size = sizeof decision};
    const uint64_t start_ns = takt__now_ns();

    if (takt__side_is_settling(start_ns))
        call->flags |= TAKT_CALL_UNTYPICAL;
    takt__baseline_wrote = NULL;
    takt__reuse_copy_ns = 0;
    takt__work_begin(intercept);
    const struct takt_flags flags = takt__flags_begin();
    const takt_status status =
        takt__reuse_run(route, call, is_described ? &decision : NULL);
    takt__flags_end(&flags, call);
    takt__work_end(intercept);
    if (status != TAKT_OK) {
        intercept->why = TAKT_WHY_FORM;
        return false;
    }
    if (route->is_adaptive)
        takt__admission_answered(admission, intercept,
                                 takt__baseline_wrote == call->out);
    intercept->weight = 1;
    intercept->is_gpu = is_described && decision.backend == TAKT_BACKEND_GPU;
    intercept->is_trial =
        is_described && decision.reason == TAKT_REASON_EXPLORE;
    const uint64_t end_ns = takt__now_ns();
    takt__record_side(intercept, TAKT_SIDE_ROUTED,
                      start_ns + takt__reuse_copy_ns, end_ns);
    if (has_stats)
        takt__record_routed(route, intercept, call, &decision, start_ns,
                            end_ns);
    return true;
}

static bool route_product(struct takt_intercept *intercept,
                          const struct takt_arguments *arguments)
{
    struct takt_admission admission;
    struct takt_product product;

    if (!takt__read_product(arguments, &product))
        return false;
    intercept->why = TAKT_WHY_EMPTY;
    if (product.alpha == 0 ||
        !takt__admit_intercept(intercept, TAKT_GEMM, TAKT_LEAST_PRODUCT,
                               &admission))
        return false;
    takt_call call = takt__product_call(admission.route, &product);
    return run(intercept, &admission, &call);
}

static bool is_valid_gemv(const struct takt_arguments *g)
{
    return (g->order == TAKT_BY_ROWS || g->order == TAKT_BY_COLUMNS) &&
           (g->trans == 'N' || g->trans == 'T') && g->m > 0 && g->n > 0 &&
           g->lda >= (g->order == TAKT_BY_ROWS ? g->n : g->m) && g->incx != 0 &&
           g->incy != 0;
}

static bool route_gemv(struct takt_intercept *intercept,
                       const struct takt_arguments *g)
{
    const bool is_by_rows = g->order == TAKT_BY_ROWS;
    struct takt_admission admission;

    if (!is_valid_gemv(g))
        return false;
    intercept->why = g->alpha == 0 ? TAKT_WHY_EMPTY : TAKT_WHY_FORM;
    if (g->alpha == 0 || g->incx != 1 || g->incy != 1 ||
        !takt__admit_intercept(intercept, TAKT_GEMV, TAKT_LEAST_MATVEC,
                               &admission))
        return false;
    takt_call call = takt__call_of(admission.route, TAKT_GEMV, g->type);
    call.shape.rank = 2;
    call.shape.dim[0] = (size_t)(is_by_rows ? g->m : g->n);
    call.shape.dim[1] = (size_t)(is_by_rows ? g->n : g->m);
    call.in[0] = g->a;
    call.in[1] = g->x;
    call.out = g->y;
    call.ld[0] = (size_t)g->lda;
    call.alpha = g->alpha;
    call.beta = g->beta;
    call.flags |= (g->trans == 'T') == is_by_rows ? TAKT_TRANS_A : 0;
    return run(intercept, &admission, &call);
}

/* axpy, dot, scal, nrm2 and asum, of elements side by side. */
static bool route_vectors(struct takt_intercept *intercept,
                          const struct takt_arguments *v)
{
    const bool is_scal = v->routine == TAKT_SCAL;
    const bool is_axpy = v->routine == TAKT_AXPY;
    const bool has_two = is_axpy || v->routine == TAKT_DOT;
    /* Libraries differ in what a scale by 0 makes of a NaN. */
    const bool is_empty = v->n <= 0 || ((is_scal || is_axpy) && v->alpha == 0);
    struct takt_admission admission;

    intercept->why = is_empty ? TAKT_WHY_EMPTY : TAKT_WHY_FORM;
    if (is_empty || (!is_scal && v->incx != 1) ||
        ((is_scal || has_two) && v->incy != 1) ||
        !takt__admit_intercept(intercept, v->routine, TAKT_LEAST_VECTOR,
                               &admission))
        return false;
    takt_call call = takt__call_of(admission.route, v->routine, v->type);
    call.shape.rank = 1;
    call.shape.dim[0] = (size_t)v->n;
    call.alpha = v->alpha;
    call.in[0] = is_scal ? v->y : v->x;
    call.in[1] = has_two ? v->y : NULL;
    call.out = v->result != NULL ? v->result : v->y;
    return run(intercept, &admission, &call);
}

/* Whether a large product is recorded in the model now: it takes some
 * microseconds, so once in 20 ms of them, for all since the last time. */
static bool is_recorded(uint64_t ns, double *calls)
{
    static const uint64_t every_ns = 20000000;
    static _Atomic uint64_t unrecorded_ns;
    const uint64_t all_ns = atomic_fetch_add(&unrecorded_ns, ns) + ns;

    if (all_ns < every_ns)
        return false;
    atomic_fetch_sub(&unrecorded_ns, all_ns);
    *calls = (double)all_ns / (double)ns;
    return true;
}

/* What the baseline library takes for large products, where there is a GPU: by
 * that the model knows when opening it pays. */
static void record_large(const struct takt_intercept *intercept, uint64_t ns)
{
    static const double least_work = 16e6;
    enum takt_why why;
    struct takt_product product;
    double calls;

    if (intercept->kind == NULL || intercept->routine != TAKT_GEMM ||
        intercept->work < least_work || takt__mode_has(TAKT_MODE_STEADY))
        return;
    const struct takt_route *route = takt__route(intercept->baseline, &why);
    if (route == NULL || !route->has_gpu || !route->is_adaptive ||
        route->op[TAKT_GEMM] == NULL ||
        !takt__read_product(intercept->arguments, &product))
        return;
    const takt_call call = takt__product_call(route, &product);
    if (takt__is_reuse_wanted())
        takt__reuse_note(route, &call);
    if (!is_recorded(ns, &calls))
        return;
    const takt_request request = takt__request_of(&call);
    const takt_measurement measurement = {.size = sizeof measurement,
                                          .request = &request,
                                          .expert = route->expert,
                                          .seconds = (double)ns * 1e-9,
                                          .calls = calls};

    takt__record_learned(route, &measurement);
    if (takt__is_reuse_wanted())
        takt__reuse_expect(route, &call, calls, measurement.seconds);
}

/* ---- all calls ----------------------------------------------------------- */

/* Routes a call whose work is known. False: intercept->why says why not. */
static bool route_any(struct takt_intercept *intercept,
                      const struct takt_arguments *arguments)
{
    const enum takt_routine routine = arguments->routine;

    if (arguments->type > TAKT_D || routine == TAKT_GER ||
        routine == TAKT_IAMAX) {
        if (intercept->work > 0)
            intercept->why = TAKT_WHY_ROUTINE;
        return false;
    }
    switch (routine) {
    case TAKT_GEMM:
        return route_product(intercept, arguments);
    case TAKT_SYMM:
    case TAKT_SYRK:
    case TAKT_SYR2K:
    case TAKT_TRMM:
    case TAKT_TRSM:
        return takt__route_triangular(intercept, arguments);
    case TAKT_GEMV:
        return route_gemv(intercept, arguments);
    default:
        return route_vectors(intercept, arguments);
    }
}

static bool route(struct takt_intercept *intercept,
                  const struct takt_arguments *arguments)
{
    routed = (uintptr_t)intercept;
    takt__work_end(intercept);
    const bool is_done = route_any(intercept, arguments);
    takt__work_begin(intercept);
    routed = 0;
    return is_done;
}

/* Of calls that are passed through, all large ones and two in 16 others are
 * timed for the statistics; and all that count towards opening the router. */
enum { timed_of = 16 };

static bool is_timed(struct takt_intercept *intercept)
{
    static _Thread_local unsigned turn;

    intercept->weight = 1;
    if (intercept->why == TAKT_WHY_STARTING ||
        (intercept->kind == NULL && !takt__mode_has(TAKT_MODE_STATS)))
        return intercept->why == TAKT_WHY_STARTING;
    if (intercept->work > takt__least_step_work)
        return true;
    intercept->weight = timed_of / 2;
    return turn++ % timed_of < 2; /* two in a row: the gap between them */
}

bool takt__intercept_begin(struct takt_intercept *intercept,
                           const struct takt_target *target,
                           const struct takt_arguments *arguments)
{
    intercept->baseline = target->baseline;
    intercept->arguments = arguments;
    intercept->kind = NULL;
    intercept->is_gpu = intercept->is_trial = false;
    intercept->routine = arguments->routine;
    intercept->type = arguments->type;
    intercept->work = arguments->work;
    /* Until more is known. A size of 0 makes the work 0. */
    intercept->why = arguments->work == 0 ? TAKT_WHY_EMPTY : TAKT_WHY_WRONG;
    intercept->start_ns = 0;
    enter(intercept, target->is_own);
    if (intercept->is_nested)
        return false;
    if (is_in_handler(intercept)) {
        leave(intercept);
        intercept->is_nested = true; /* and is not counted */
        return false;
    }
    if (route(intercept, arguments)) {
        leave(intercept);
        return true;
    }
    if (is_timed(intercept))
        intercept->start_ns = takt__now_ns();
    return false;
}

static void record(const struct takt_intercept *intercept, uint64_t end_ns)
{
    const uint64_t ns = end_ns - intercept->start_ns;

    if (ns > 0) {
        takt__record_side(intercept, TAKT_SIDE_BASELINE, intercept->start_ns,
                          end_ns);
        record_large(intercept, ns);
    } else if (intercept->kind != NULL) {
        takt__switchback_skip();
    }
    if (takt__mode_has(TAKT_MODE_STATS))
        takt__record_pass(intercept, ns);
    if (intercept->why == TAKT_WHY_STARTING)
        takt__router_spent(ns);
}

void takt__intercept_end(const struct takt_intercept *intercept)
{
    const uint64_t end_ns = intercept->start_ns > 0 ? takt__now_ns() : 0;

    if (intercept->is_nested)
        return;
    leave(intercept);
    routed = (uintptr_t)intercept; /* recording has locks, too */
    const struct takt_fpenv callers = takt__fpenv_save();
    record(intercept, end_ns);
    takt__fpenv_restore(callers);
    routed = 0;
}
