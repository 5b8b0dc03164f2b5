/* SPDX-License-Identifier: MIT */
/* lapack_warm.c - which kinds are warm, and the call that warms one up. */
#include "lapack_warm.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "loader.h"
#include "opener.h"
#include "route.h"

enum { most_kinds = 64, warm_bit = 1 };

/* Larger operands are not made for this: their first call is a small part of
 * what they take. */
static const size_t most_bytes = (size_t)512 << 20;

/* Kinds that were begun; the lowest bit: it is warm. 0: free. */
static _Atomic uint64_t kinds[most_kinds];

/* The kind that is being warmed up. */
static struct {
    const struct takt_route *route;
    takt_solver_call call;
    _Atomic uint64_t *kind;
} pending;

/* ---- kinds --------------------------------------------------------------- */

static uint64_t octave_of(size_t size)
{
    return size == 0 ? 0 : 64 - (uint64_t)__builtin_clzll(size);
}

/* Never 0, and the lowest bit is free. */
static uint64_t kind_of(const takt_solver_call *call)
{
    return (uint64_t)1 << 63 | octave_of(call->m) << 40 |
           octave_of(call->n) << 32 | (uint64_t)(unsigned char)call->job << 24 |
           (uint64_t)(unsigned char)call->uplo << 16 |
           (uint64_t)(call->is_by_rows != 0) << 12 |
           (uint64_t)call->dtype << 8 | (uint64_t)call->routine << 1;
}

/* The place of a kind, which may be free; NULL: there are too many. */
static _Atomic uint64_t *find(uint64_t kind)
{
    for (unsigned i = 0; i < most_kinds; i++) {
        const uint64_t found = atomic_load(&kinds[i]);
        if (found == 0 || (found & ~(uint64_t)warm_bit) == kind)
            return &kinds[i];
    }
    return NULL;
}

/* ---- operands ------------------------------------------------------------ */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t size_of(const takt_solver_call *call)
{
    return call->dtype == TAKT_F64 ? sizeof(double) : sizeof(float);
}

/* A symmetric matrix with a large diagonal, if it is a square: it has every
 * factor there is. */
static void fill(const takt_solver_call *call, void *at, size_t rows,
                 size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const double value =
                i == j ? (double)(rows + cols) : (double)((i + j) % 13) / 13;
            if (call->dtype == TAKT_F64)
                ((double *)at)[i * cols + j] = value;
            else
                ((float *)at)[i * cols + j] = (float)value;
        }
}

static void place(const takt_solver_call *call, takt_solver_matrix *matrix,
                  void *at, size_t rows, size_t cols)
{
    const size_t ld = call->is_by_rows ? cols : rows;

    *matrix = (takt_solver_matrix){at, ld, at, ld};
}

struct warm_sizes {
    size_t a_rows, few, u_cols, vt_rows;
    size_t elements; /* of all operands */
};

static struct warm_sizes sizes_of(const takt_solver_call *call)
{
    const bool is_square = call->routine == TAKT_SOLVER_POTRF ||
                           call->routine == TAKT_SOLVER_GESV ||
                           call->routine == TAKT_SOLVER_SYEVD;
    struct warm_sizes is = {.a_rows = is_square ? call->n : call->m};
    const bool has_vectors =
        call->routine == TAKT_SOLVER_GESDD && call->job != 'N';

    is.few = least(is.a_rows, call->n);
    is.u_cols = !has_vectors ? 0 : call->job == 'A' ? call->m : is.few;
    is.vt_rows = !has_vectors ? 0 : call->job == 'A' ? call->n : is.few;
    is.elements = is.a_rows * call->n + call->n * call->k +
                  call->m * is.u_cols + is.vt_rows * call->n + is.few;
    return is;
}

/* ---- the call ------------------------------------------------------------ */

static bool run_on(char *memory, int *pivots, takt_solver_call call,
                   const struct warm_sizes *is)
{
    const size_t size = size_of(&call);
    char *b = memory + is->a_rows * call.n * size;
    char *u = b + call.n * call.k * size;
    char *vt = u + call.m * is->u_cols * size;

    fill(&call, memory, is->a_rows, call.n);
    fill(&call, b, call.n, call.k);
    place(&call, &call.a, memory, is->a_rows, call.n);
    place(&call, &call.b, b, call.n, call.k);
    place(&call, &call.u, u, call.m, is->u_cols);
    place(&call, &call.vt, vt, is->vt_rows, call.n);
    call.values = vt + is->vt_rows * call.n * size;
    call.pivots = pivots;
    return pending.route->takt->solver_run(pending.route->ctx, &call) ==
           TAKT_OK;
}

/* On the thread of the opener. */
static bool run_once(void)
{
    const takt_solver_call *call = &pending.call;
    const struct warm_sizes is = sizes_of(call);

    if (is.elements > most_bytes / size_of(call))
        return true;
    char *memory = calloc(is.elements, size_of(call));
    int *pivots = malloc((is.few + 1) * sizeof *pivots);
    const bool is_warm =
        memory != NULL && pivots != NULL && run_on(memory, pivots, *call, &is);
    free(memory);
    free(pivots);
    return is_warm;
}

static void warm_up(void);

static struct takt_opener opener = {.run = warm_up};

static void warm_up(void)
{
    takt__loader_enter();
    const bool is_warm = run_once();
    takt__loader_leave();
    uint64_t kind = kind_of(&pending.call);
    if (is_warm)
        atomic_compare_exchange_strong(pending.kind, &kind, kind | warm_bit);
    atomic_store(&opener.is_busy, false);
}

/* One at a time, so that no other thread takes a free place. True: it is this
 * thread's turn to have `pending` run. */
static bool take(const struct takt_route *route, const takt_solver_call *call)
{
    if (atomic_exchange(&opener.is_busy, true))
        return false;
    _Atomic uint64_t *kind = find(kind_of(call));
    if (kind == NULL || atomic_load(kind) != 0) {
        atomic_store(&opener.is_busy, false);
        return false;
    }
    pending.route = route;
    pending.call = *call;
    pending.kind = kind;
    atomic_store(kind, kind_of(call));
    return true;
}

static void begin(const struct takt_route *route, const takt_solver_call *call)
{
    if (takt__opener_is_bad_moment() || !take(route, call) ||
        takt__opener_run(&opener))
        return;
    atomic_store(pending.kind, 0);
    atomic_store(&opener.is_busy, false);
}

void takt__lapack_warm_up(const struct takt_route *route,
                          const takt_solver_call *call)
{
    if (take(route, call))
        warm_up();
}

bool takt__lapack_is_warm(const struct takt_route *route,
                          const takt_solver_call *call)
{
    _Atomic uint64_t *kind = find(kind_of(call));

    if (kind == NULL)
        return false;
    if (atomic_load(kind) == 0)
        begin(route, call);
    return (atomic_load(kind) & warm_bit) != 0;
}

bool takt__lapack_is_warming(void)
{
    return atomic_load_explicit(&opener.is_busy, memory_order_relaxed);
}

void takt__lapack_warm_in_child(void)
{
    atomic_store(&opener.is_busy, false);
    takt__lapack_forget_warm();
}

void takt__lapack_forget_warm(void)
{
    for (unsigned i = 0; i < most_kinds; i++)
        atomic_store(&kinds[i], 0);
}
