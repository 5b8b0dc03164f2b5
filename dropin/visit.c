/* SPDX-License-Identifier: MIT */
/* visit.c - asking the router, and telling the board what came of it. */
#include "visit.h"

#include <string.h>

#include "gate.h"
#include "reuse.h"
#include "router.h"
#include "tally.h"

_Thread_local uintptr_t takt__inside;

static void enter(struct takt_visit *visit)
{
    visit->outer = takt__inside;
    takt__inside = (uintptr_t)visit;
}

/* What is not around us was jumped out of. */
static void leave(const struct takt_visit *visit)
{
    takt__inside = visit->outer > (uintptr_t)visit ? visit->outer : 0;
}

static struct takt_board_cell *cell_of(const struct takt_visit *visit)
{
    return takt__tally_cell(visit->routine, visit->letter, visit->work);
}

/* ---- straight --------------------------------------------------------------
 */

/* One in so many calls that nobody asked about is timed for the board. */
enum { timed_of = 16 };

static bool is_timed(const struct takt_visit *visit)
{
    static _Thread_local unsigned turn;

    return visit->why == TAKT_WHY_STARTING ||
           (takt__is_tallied() &&
            (visit->work > 1e6 || turn++ % timed_of == 0));
}

void takt__straight_begin(struct takt_visit *visit)
{
    visit->start_ns = 0;
    if (visit->is_nested)
        return; /* it is part of another one */
    enter(visit);
    if (is_timed(visit))
        visit->start_ns = takt__now();
}

void takt__straight_end(const struct takt_visit *visit)
{
    const uint64_t ns = visit->start_ns > 0 ? takt__now() - visit->start_ns : 0;

    if (visit->is_nested)
        return;
    leave(visit);
    if (takt__is_tallied()) {
        struct takt_board_cell *cell = cell_of(visit);
        takt__tally_run(cell, TAKT_WAY_STRAIGHT, ns);
        takt__tally_add(&cell->why[visit->why], 1);
    }
    if (visit->why == TAKT_WHY_STARTING)
        takt__router_spent(ns);
}

/* ---- asking ----------------------------------------------------------------
 */

/* The way of a call that is to be asked about; NULL: straight on. */
static struct takt_route *way_of(struct takt_visit *visit, double least,
                                 struct takt_gate **gate)
{
    if (visit->work < least && !takt__is_eager()) {
        visit->why = TAKT_WHY_SMALL;
        return NULL;
    }
    if (visit->is_nested) {
        visit->why = TAKT_WHY_NESTED;
        return NULL;
    }
    *gate = takt__gate(visit->routine, visit->letter, visit->work);
    if (!takt__gate_asks(*gate) && !takt__is_eager()) {
        visit->why = TAKT_WHY_SETTLED;
        return NULL;
    }
    return takt__route(visit->plain, &visit->why);
}

/* ---- telling ---------------------------------------------------------------
 */

static uint64_t ns_of(double seconds)
{
    return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
}

static enum takt_way way_on(const struct takt_route *route,
                            const takt_decision *decision)
{
    if (decision->backend == TAKT_BACKEND_GPU)
        return TAKT_WAY_GPU;
    if (strcmp(decision->expert, route->expert) == 0)
        return TAKT_WAY_PLAIN;
    return decision->backend == TAKT_BACKEND_SCALAR ? TAKT_WAY_SCALAR
                                                    : TAKT_WAY_SIMD;
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
recent_forecast(const struct takt_route *route, const struct takt_visit *visit,
                const takt_request *request, double *scale)
{
    enum { kinds = 8, good_for = 64 };
    static _Thread_local struct {
        const struct takt_route *route;
        enum takt_routine routine;
        enum takt_letter letter;
        unsigned class, uses;
        double work;
        struct takt_forecast forecast;
    } known[kinds];
    const unsigned class = takt__exponent(visit->work);
    const unsigned at =
        (class * 31 + visit->routine * 5 + visit->letter) % kinds;

    if (known[at].route != route || known[at].routine != visit->routine ||
        known[at].letter != visit->letter || known[at].class != class ||
        known[at].uses++ == good_for) {
        known[at].route = route;
        known[at].routine = visit->routine;
        known[at].letter = visit->letter;
        known[at].class = class;
        known[at].uses = 0;
        known[at].work = visit->work;
        takt__forecast(route, request, &known[at].forecast);
    }
    *scale = visit->work / known[at].work;
    return &known[at].forecast;
}

static void tell(const struct takt_visit *visit, enum takt_way way,
                 double actual_s, double plain_s, double gpu_s,
                 enum takt_why why)
{
    struct takt_board_cell *cell = cell_of(visit);

    takt__tally_run(cell, way, ns_of(actual_s));
    if (way != TAKT_WAY_GPU)
        takt__tally_add(&cell->why[why], 1);
    if (way != TAKT_WAY_PLAIN && plain_s > 0) {
        takt__tally_add(&cell->compared, 1);
        takt__tally_add(&cell->plain_ns, ns_of(plain_s));
        takt__tally_add(&cell->instead_ns, ns_of(actual_s));
    }
    if (way != TAKT_WAY_GPU && gpu_s > 0 &&
        (why == TAKT_WHY_SLOWER || why == TAKT_WHY_ASLEEP)) {
        takt__tally_add(&cell->judged, 1);
        takt__tally_add(&cell->gpu_ns, ns_of(gpu_s));
        takt__tally_add(&cell->own_ns, ns_of(actual_s));
    }
}

static void tell_run(const struct takt_route *route,
                     const struct takt_visit *visit, const takt_call *call,
                     const takt_decision *decision)
{
    const takt_request request = {.op = call->op,
                                  .dtype = call->dtype,
                                  .shape = call->shape,
                                  .flags = call->flags};
    double scale;
    const struct takt_forecast *forecast =
        recent_forecast(route, visit, &request, &scale);

    tell(visit, way_on(route, decision), decision->actual_s,
         forecast->plain_s * scale, forecast->gpu_s * scale,
         why_here(decision, forecast));
}

/* ---- running ---------------------------------------------------------------
 */

static bool run(struct takt_route *route, struct takt_visit *visit,
                struct takt_gate *gate, const takt_call *call)
{
    const bool is_tallied = takt__is_tallied();
    takt_decision decision;

    takt__plain_wrote = NULL;
    enter(visit);
    const takt_status status =
        takt__reuse_run(route, call, is_tallied ? &decision : NULL);
    leave(visit);
    if (status != TAKT_OK) {
        visit->why = TAKT_WHY_FORM;
        return false;
    }
    if (route->is_adaptive)
        takt__gate_answered(gate, visit->routine, visit->work,
                            takt__plain_wrote == call->out);
    if (is_tallied)
        tell_run(route, visit, call, &decision);
    return true;
}

static takt_call call_of(const struct takt_route *route,
                         const struct takt_visit *visit)
{
    return (takt_call){.op = route->op[visit->routine],
                       .dtype = visit->letter == TAKT_D ? TAKT_F64 : TAKT_F32,
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

bool takt__visit_product(struct takt_visit *visit,
                         const struct takt_product *product)
{
    struct takt_gate *gate;
    struct takt_route *route = way_of(visit, TAKT_LEAST_PRODUCT, &gate);

    if (route == NULL || route->op[TAKT_GEMM] == NULL)
        return false;
    const takt_call call = product_call(route, product);
    return run(route, visit, gate, &call);
}

bool takt__visit_matvec(struct takt_visit *visit,
                        const struct takt_matvec *matvec)
{
    struct takt_gate *gate;
    struct takt_route *route = way_of(visit, TAKT_LEAST_MATVEC, &gate);

    if (route == NULL || route->op[TAKT_GEMV] == NULL)
        return false;
    takt_call call = call_of(route, visit);
    call.shape = (takt_shape){.rank = 2, .dim = {matvec->m, matvec->n}};
    call.in[0] = matvec->a;
    call.in[1] = matvec->x;
    call.out = matvec->y;
    call.ld[0] = matvec->lda;
    call.alpha = matvec->alpha;
    call.beta = matvec->beta;
    call.flags |= matvec->is_transposed ? TAKT_TRANS_A : 0;
    return run(route, visit, gate, &call);
}

bool takt__visit_vectors(struct takt_visit *visit,
                         const struct takt_vectors *vectors, void *result)
{
    struct takt_gate *gate;
    struct takt_route *route = way_of(visit, TAKT_LEAST_VECTOR, &gate);

    if (route == NULL || route->op[visit->routine] == NULL)
        return false;
    takt_call call = call_of(route, visit);
    call.shape = (takt_shape){.rank = 1, .dim = {vectors->n}};
    call.alpha = vectors->alpha;
    call.in[0] = visit->routine == TAKT_SCAL ? vectors->y : vectors->x;
    if (visit->routine == TAKT_AXPY || visit->routine == TAKT_DOT)
        call.in[1] = vectors->y;
    call.out = result != NULL ? result : vectors->y;
    return run(route, visit, gate, &call);
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
        takt__plain_product(halving->route->plain, product);
    } else if (halving->is_tallied) {
        const enum takt_way way = way_on(halving->route, &decision);
        halving->has_gpu |= way == TAKT_WAY_GPU;
        halving->has_own |= way != TAKT_WAY_PLAIN;
    }
}

static void run_rest(void *self, const struct takt_triangular *part)
{
    const struct halving *halving = self;

    takt__plain_triangular(halving->route->plain, part);
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
    return takt__is_eager() || (forecast->plain_s > 0 &&
                                forecast->best_s < 0.5 * forecast->plain_s);
}

static void tell_triangular(const struct takt_visit *visit,
                            const struct halving *halving,
                            const takt_shape *shape,
                            const struct takt_forecast *forecast,
                            double seconds)
{
    const double scale =
        visit->work /
        ((double)shape->dim[0] * (double)shape->dim[1] * (double)shape->dim[2]);

    tell(visit,
         halving->has_gpu   ? TAKT_WAY_GPU
         : halving->has_own ? TAKT_WAY_SIMD
                            : TAKT_WAY_PLAIN,
         seconds, forecast->plain_s * scale, forecast->gpu_s * scale,
         !forecast->has_gpu    ? TAKT_WHY_NO_GPU
         : forecast->is_asleep ? TAKT_WHY_ASLEEP
                               : TAKT_WHY_SLOWER);
}

bool takt__visit_triangular(struct takt_visit *visit,
                            const struct takt_triangular *call)
{
    const size_t least_part = takt__is_eager() ? 8 : TAKT_LEAST_ORDER;
    struct takt_gate *gate;
    takt_shape shape;
    struct takt_forecast forecast;
    const size_t order = first_cut(call, &shape);

    if (order < TAKT_LEAST_ORDER && !takt__is_eager()) {
        visit->why = TAKT_WHY_SMALL;
        return false;
    }
    struct takt_route *route = way_of(visit, TAKT_LEAST_PRODUCT, &gate);
    if (route == NULL || route->op[TAKT_GEMM] == NULL ||
        route->plain->function[call->routine][call->is_double] == NULL)
        return false;
    takt__forecast(
        route,
        &(takt_request){.op = route->op[TAKT_GEMM],
                        .dtype = call->is_double ? TAKT_F64 : TAKT_F32,
                        .shape = shape},
        &forecast);
    if (!is_worth_cutting(&forecast)) {
        visit->why = TAKT_WHY_SETTLED;
        takt__gate_answered(gate, visit->routine, visit->work, true);
        return false;
    }
    struct halving halving = {route, takt__is_tallied(), false, false};
    const uint64_t start_ns = halving.is_tallied ? takt__now() : 0;
    enter(visit);
    takt__by_halves(call, &(struct takt_steps){.self = &halving,
                                               .product = run_product,
                                               .rest = run_rest,
                                               .least = least_part});
    leave(visit);
    takt__gate_answered(gate, visit->routine, visit->work, false);
    if (halving.is_tallied)
        tell_triangular(visit, &halving, &shape, &forecast,
                        (double)(takt__now() - start_ns) * 1e-9);
    return true;
}
