/* SPDX-License-Identifier: MIT */
/* intercept.c - asking the router, and telling the stats what came of it. */
#include "intercept.h"

#include <string.h>

#include "backoff.h"
#include "reuse.h"
#include "router.h"
#include "stats_write.h"

_Thread_local uintptr_t takt__inside;

static void enter(struct takt_intercept *intercept)
{
    intercept->outer = takt__inside;
    takt__inside = (uintptr_t)intercept;
}

/* What is not around us was jumped out of. */
static void leave(const struct takt_intercept *intercept)
{
    takt__inside =
        intercept->outer > (uintptr_t)intercept ? intercept->outer : 0;
}

static struct takt_stats_cell *cell_of(const struct takt_intercept *intercept)
{
    return takt__stats_cell(intercept->routine, intercept->type,
                            intercept->work);
}

/* ---- straight --------------------------------------------------------------
 */

/* One in so many calls that nobody asked about is timed for the stats. */
enum { timed_of = 16 };

static bool is_timed(const struct takt_intercept *intercept)
{
    static _Thread_local unsigned turn;

    return intercept->why == TAKT_WHY_STARTING ||
           (takt__has_stats() &&
            (intercept->work > 1e6 || turn++ % timed_of == 0));
}

void takt__pass_begin(struct takt_intercept *intercept)
{
    intercept->start_ns = 0;
    if (intercept->is_nested)
        return; /* it is part of another one */
    enter(intercept);
    if (is_timed(intercept))
        intercept->start_ns = takt__now();
}

void takt__pass_end(const struct takt_intercept *intercept)
{
    const uint64_t ns =
        intercept->start_ns > 0 ? takt__now() - intercept->start_ns : 0;

    if (intercept->is_nested)
        return;
    leave(intercept);
    if (takt__has_stats()) {
        struct takt_stats_cell *cell = cell_of(intercept);
        takt__stats_run(cell, TAKT_PATH_PASS_THROUGH, ns);
        takt__stats_add(&cell->why[intercept->why], 1);
    }
    if (intercept->why == TAKT_WHY_STARTING)
        takt__router_spent(ns);
}

/* ---- asking ----------------------------------------------------------------
 */

/* The way of a call that is to be asked about; NULL: straight on. */
static struct takt_route *way_of(struct takt_intercept *intercept, double least,
                                 struct takt_backoff **backoff)
{
    if (intercept->work < least && !takt__is_eager()) {
        intercept->why = TAKT_WHY_SMALL;
        return NULL;
    }
    if (intercept->is_nested) {
        intercept->why = TAKT_WHY_NESTED;
        return NULL;
    }
    *backoff =
        takt__backoff(intercept->routine, intercept->type, intercept->work);
    if (!takt__backoff_asks(*backoff) && !takt__is_eager()) {
        intercept->why = TAKT_WHY_SETTLED;
        return NULL;
    }
    return takt__route(intercept->baseline, &intercept->why);
}

/* ---- telling ---------------------------------------------------------------
 */

static uint64_t ns_of(double seconds)
{
    return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
}

static enum takt_path way_on(const struct takt_route *route,
                             const takt_decision *decision)
{
    if (decision->backend == TAKT_BACKEND_GPU)
        return TAKT_PATH_GPU;
    if (strcmp(decision->expert, route->expert) == 0)
        return TAKT_PATH_BASELINE;
    return decision->backend == TAKT_BACKEND_SCALAR ? TAKT_PATH_SCALAR
                                                    : TAKT_PATH_SIMD;
}

/* Why not on a GPU. */
static enum takt_why why_here(const takt_decision *decision,
                              const struct takt_forecast *forecast)
{
    if (!forecast->has_gpu)
        return TAKT_WHY_NO_GPU;
    switch (decision->reason) {
    case TAKT_REASON_EXPLORE:
        return TAKT_WHY_TRIED;
    case TAKT_REASON_FALLBACK:
        return TAKT_WHY_LOST;
    case TAKT_REASON_STATIC:
    case TAKT_REASON_FORCED:
    case TAKT_REASON_PINNED:
        return TAKT_WHY_POLICY;
    case TAKT_REASON_PRIOR:
    case TAKT_REASON_ONLY:
    case TAKT_REASON_MODEL:
        break;
    }
    return forecast->is_suspect  ? TAKT_WHY_LOST
           : forecast->is_asleep ? TAKT_WHY_ASLEEP
                                 : TAKT_WHY_SLOWER;
}

/* What was forecast for a kind of call is good for a while. */
static const struct takt_forecast *
recent_forecast(const struct takt_route *route,
                const struct takt_intercept *intercept,
                const takt_request *request, double *scale)
{
    enum { kinds = 8, good_for = 64 };
    static _Thread_local struct {
        const struct takt_route *route;
        enum takt_routine routine;
        enum takt_blas_type type;
        unsigned class, uses;
        double work;
        struct takt_forecast forecast;
    } known[kinds];
    const unsigned class = takt__exponent(intercept->work);
    const unsigned at =
        (class * 31 + intercept->routine * 5 + intercept->type) % kinds;

    if (known[at].route != route || known[at].routine != intercept->routine ||
        known[at].type != intercept->type || known[at].class != class ||
        known[at].uses++ == good_for) {
        known[at].route = route;
        known[at].routine = intercept->routine;
        known[at].type = intercept->type;
        known[at].class = class;
        known[at].uses = 0;
        known[at].work = intercept->work;
        takt__forecast(route, request, &known[at].forecast);
    }
    *scale = intercept->work / known[at].work;
    return &known[at].forecast;
}

static void tell(const struct takt_intercept *intercept, enum takt_path way,
                 double actual_s, double baseline_s, double gpu_s,
                 enum takt_why why)
{
    struct takt_stats_cell *cell = cell_of(intercept);

    takt__stats_run(cell, way, ns_of(actual_s));
    if (way != TAKT_PATH_GPU)
        takt__stats_add(&cell->why[why], 1);
    if (way != TAKT_PATH_BASELINE && baseline_s > 0) {
        takt__stats_add(&cell->compared, 1);
        takt__stats_add(&cell->baseline_ns, ns_of(baseline_s));
        takt__stats_add(&cell->instead_ns, ns_of(actual_s));
    }
    if (way != TAKT_PATH_GPU && gpu_s > 0 &&
        (why == TAKT_WHY_SLOWER || why == TAKT_WHY_ASLEEP)) {
        takt__stats_add(&cell->judged, 1);
        takt__stats_add(&cell->gpu_ns, ns_of(gpu_s));
        takt__stats_add(&cell->own_ns, ns_of(actual_s));
    }
}

static void tell_run(const struct takt_route *route,
                     const struct takt_intercept *intercept,
                     const takt_call *call, const takt_decision *decision)
{
    const takt_request request = {.op = call->op,
                                  .dtype = call->dtype,
                                  .shape = call->shape,
                                  .flags = call->flags};
    double scale;
    const struct takt_forecast *forecast =
        recent_forecast(route, intercept, &request, &scale);

    tell(intercept, way_on(route, decision), decision->actual_s,
         forecast->baseline_s * scale, forecast->gpu_s * scale,
         why_here(decision, forecast));
}

/* ---- running ---------------------------------------------------------------
 */

static bool run(struct takt_route *route, struct takt_intercept *intercept,
                struct takt_backoff *backoff, const takt_call *call)
{
    const bool is_tallied = takt__has_stats();
    takt_decision decision;

    takt__baseline_wrote = NULL;
    enter(intercept);
    const takt_status status =
        takt__reuse_run(route, call, is_tallied ? &decision : NULL);
    leave(intercept);
    if (status != TAKT_OK) {
        intercept->why = TAKT_WHY_FORM;
        return false;
    }
    if (route->is_adaptive)
        takt__backoff_answered(backoff, intercept->routine, intercept->work,
                               takt__baseline_wrote == call->out);
    if (is_tallied)
        tell_run(route, intercept, call, &decision);
    return true;
}

static takt_call call_of(const struct takt_route *route,
                         const struct takt_intercept *intercept)
{
    return (takt_call){.op = route->op[intercept->routine],
                       .dtype = intercept->type == TAKT_D ? TAKT_F64 : TAKT_F32,
                       .flags = TAKT_CALL_STEADY};
}

static takt_call product_call(const struct takt_route *route,
                              const struct takt_product *p)
{
    return (takt_call){.op = route->op[TAKT_GEMM],
                       .dtype = p->is_double ? TAKT_F64 : TAKT_F32,
                       .shape = {.rank = 3, .dim = {p->m, p->n, p->k}},
                       .in = {p->a, p->b},
                       .out = p->c,
                       .ld = {p->lda, p->ldb, p->ldc},
                       .alpha = p->alpha,
                       .beta = p->beta,
                       .flags = TAKT_CALL_STEADY |
                                (p->is_a_transposed ? TAKT_TRANS_A : 0) |
                                (p->is_b_transposed ? TAKT_TRANS_B : 0)};
}

bool takt__intercept_product(struct takt_intercept *intercept,
                             const struct takt_product *product)
{
    struct takt_backoff *backoff;
    struct takt_route *route = way_of(intercept, TAKT_LEAST_PRODUCT, &backoff);

    if (route == NULL || route->op[TAKT_GEMM] == NULL)
        return false;
    const takt_call call = product_call(route, product);
    return run(route, intercept, backoff, &call);
}

bool takt__intercept_matvec(struct takt_intercept *intercept,
                            const struct takt_matvec *matvec)
{
    struct takt_backoff *backoff;
    struct takt_route *route = way_of(intercept, TAKT_LEAST_MATVEC, &backoff);

    if (route == NULL || route->op[TAKT_GEMV] == NULL)
        return false;
    takt_call call = call_of(route, intercept);
    call.shape = (takt_shape){.rank = 2, .dim = {matvec->m, matvec->n}};
    call.in[0] = matvec->a;
    call.in[1] = matvec->x;
    call.out = matvec->y;
    call.ld[0] = matvec->lda;
    call.alpha = matvec->alpha;
    call.beta = matvec->beta;
    call.flags |= matvec->is_transposed ? TAKT_TRANS_A : 0;
    return run(route, intercept, backoff, &call);
}

bool takt__intercept_vectors(struct takt_intercept *intercept,
                             const struct takt_vectors *vectors, void *result)
{
    struct takt_backoff *backoff;
    struct takt_route *route = way_of(intercept, TAKT_LEAST_VECTOR, &backoff);

    if (route == NULL || route->op[intercept->routine] == NULL)
        return false;
    takt_call call = call_of(route, intercept);
    call.shape = (takt_shape){.rank = 1, .dim = {vectors->n}};
    call.alpha = vectors->alpha;
    call.in[0] = intercept->routine == TAKT_SCAL ? vectors->y : vectors->x;
    if (intercept->routine == TAKT_AXPY || intercept->routine == TAKT_DOT)
        call.in[1] = vectors->y;
    call.out = result != NULL ? result : vectors->y;
    return run(route, intercept, backoff, &call);
}

/* ---- triangles -------------------------------------------------------------
 */

/* How a triangular call is going. */
struct halving {
    const struct takt_route *route;
    bool is_tallied, has_gpu, has_own;
};

static void run_product(void *self, const struct takt_product *product)
{
    struct halving *halving = self;
    const takt_call call = product_call(halving->route, product);
    takt_decision decision;

    if (halving->route->takt->run(halving->route->ctx, &call,
                                  halving->is_tallied ? &decision : NULL) !=
        TAKT_OK) {
        takt__baseline_product(halving->route->baseline, product);
    } else if (halving->is_tallied) {
        const enum takt_path way = way_on(halving->route, &decision);
        halving->has_gpu |= way == TAKT_PATH_GPU;
        halving->has_own |= way != TAKT_PATH_BASELINE;
    }
}

static void run_rest(void *self, const struct takt_triangular *part)
{
    const struct halving *halving = self;

    takt__baseline_triangular(halving->route->baseline, part);
}

/* The order of the triangle, and the product that the first cut makes. */
static size_t first_cut(const struct takt_triangular *call, takt_shape *shape)
{
    const bool is_rank =
        call->routine == TAKT_SYRK || call->routine == TAKT_SYR2K;
    const size_t order = is_rank || call->is_right ? call->n : call->m;

    *shape =
        is_rank
            ? (takt_shape){.rank = 3, .dim = {order / 2, order / 2, call->k}}
        : call->is_right
            ? (takt_shape){.rank = 3, .dim = {call->m, order / 2, order / 2}}
            : (takt_shape){.rank = 3, .dim = {order / 2, call->n, order / 2}};
    return order;
}

/* Products that are much better elsewhere make it worth while: the parts that
 * stay are slower by themselves than as a whole. Also on a GPU that sleeps:
 * what the products miss there is what wakes it. */
static bool is_worth_cutting(const struct takt_forecast *forecast)
{
    return takt__is_eager() || (forecast->baseline_s > 0 &&
                                forecast->best_s < 0.5 * forecast->baseline_s);
}

static void tell_triangular(const struct takt_intercept *intercept,
                            const struct halving *halving,
                            const takt_shape *shape,
                            const struct takt_forecast *forecast,
                            double seconds)
{
    const double scale =
        intercept->work /
        ((double)shape->dim[0] * (double)shape->dim[1] * (double)shape->dim[2]);

    tell(intercept,
         halving->has_gpu   ? TAKT_PATH_GPU
         : halving->has_own ? TAKT_PATH_SIMD
                            : TAKT_PATH_BASELINE,
         seconds, forecast->baseline_s * scale, forecast->gpu_s * scale,
         !forecast->has_gpu    ? TAKT_WHY_NO_GPU
         : forecast->is_asleep ? TAKT_WHY_ASLEEP
                               : TAKT_WHY_SLOWER);
}

bool takt__intercept_triangular(struct takt_intercept *intercept,
                                const struct takt_triangular *call)
{
    const size_t least_part = takt__is_eager() ? 8 : TAKT_LEAST_ORDER;
    struct takt_backoff *backoff;
    takt_shape shape;
    struct takt_forecast forecast;
    const size_t order = first_cut(call, &shape);

    if (order < TAKT_LEAST_ORDER && !takt__is_eager()) {
        intercept->why = TAKT_WHY_SMALL;
        return false;
    }
    struct takt_route *route = way_of(intercept, TAKT_LEAST_PRODUCT, &backoff);
    if (route == NULL || route->op[TAKT_GEMM] == NULL ||
        route->baseline->function[call->routine][call->is_double] == NULL)
        return false;
    takt__forecast(
        route,
        &(takt_request){.op = route->op[TAKT_GEMM],
                        .dtype = call->is_double ? TAKT_F64 : TAKT_F32,
                        .shape = shape},
        &forecast);
    if (!is_worth_cutting(&forecast)) {
        intercept->why = TAKT_WHY_SETTLED;
        takt__backoff_answered(backoff, intercept->routine, intercept->work,
                               true);
        return false;
    }
    struct halving halving = {route, takt__has_stats(), false, false};
    const uint64_t start_ns = halving.is_tallied ? takt__now() : 0;
    enter(intercept);
    takt__by_halves(call, &(struct takt_steps){.self = &halving,
                                               .product = run_product,
                                               .rest = run_rest,
                                               .least = least_part});
    leave(intercept);
    takt__backoff_answered(backoff, intercept->routine, intercept->work, false);
    if (halving.is_tallied)
        tell_triangular(intercept, &halving, &shape, &forecast,
                        (double)(takt__now() - start_ns) * 1e-9);
    return true;
}
