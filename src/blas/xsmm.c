/* SPDX-License-Identifier: MIT */
/*
 * xsmm.c - small products by libxsmm, which compiles a kernel per shape.
 *
 * Looking a kernel up in the library costs as much as a product of 8 x 8, so
 * we keep the pointers: a table that is written once per shape and only read
 * after that. A shape that finds no free slot is refused, which also bounds the
 * memory that compiled kernels take in a program with ever new shapes.
 *
 * Its matrices are columns side by side, so operands are swapped as they are
 * for Fortran.
 */
#include <stdlib.h>
#include <string.h>

#include "blas/library.h"

/* libxsmm's own numbers for its choices. */
enum { trans_a = 1, trans_b = 2, no_prefetch = 0 };
enum { slots = 1024, probes = 16 };

/* Beyond this the library's kernels, which pack nothing, fall behind. */
static const double most_multiplications = 256.0 * 256.0 * 256.0;

typedef void kernel(const void *a, const void *b, void *c);
typedef kernel *dispatch(int m, int n, int k, const int *lda, const int *ldb,
                         const int *ldc, const void *alpha, const void *beta,
                         const int *flags, const int *prefetch);

struct shape {
    int m, n, k, lda, ldb, ldc;
    int flags;
    int variant; /* dtype, and whether beta is 1 rather than 0 */
};

enum { is_free, is_being_written, is_ready };

struct slot {
    _Atomic int state;
    struct shape shape;
    kernel *run; /* NULL: the library cannot compile this shape */
};

struct takt_xsmm {
    struct slot slot[slots];
};

bool takt__xsmm_open(struct takt_blas_library *library)
{
    library->xsmm = calloc(1, sizeof *library->xsmm);
    return library->xsmm != NULL;
}

static double number(const struct takt_blas_gemm *call,
                     union takt_blas_real real)
{
    return call->dtype == TAKT_BLAS_F32 ? (double)real.f32 : real.f64;
}

bool takt__xsmm_can(const struct takt_blas_gemm *call)
{
    const double beta = number(call, call->beta);

    /* It has no kernels for the transpose of what it calls A, our B. */
    return number(call, call->alpha) == 1.0 && (beta == 0.0 || beta == 1.0) &&
           !call->b.is_transposed &&
           (double)call->m * call->n * call->k <= most_multiplications;
}

static struct shape shape_of(const struct takt_blas_gemm *call)
{
    return (struct shape){
        .m = call->n,
        .n = call->m,
        .k = call->k,
        .lda = call->b.ld,
        .ldb = call->a.ld,
        .ldc = call->ldc,
        .flags = (call->b.is_transposed ? trans_a : 0) |
                 (call->a.is_transposed ? trans_b : 0),
        .variant = 2 * (int)call->dtype + (number(call, call->beta) != 0.0),
    };
}

static size_t hash(const struct shape *shape)
{
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / golden ratio */
    uint64_t h = 0;

    h = (h ^ (uint32_t)shape->m) * odd;
    h = (h ^ (uint32_t)shape->n) * odd;
    h = (h ^ (uint32_t)shape->k) * odd;
    h = (h ^ (uint32_t)shape->lda) * odd;
    h = (h ^ (uint32_t)shape->ldb) * odd;
    h = (h ^ (uint32_t)shape->ldc) * odd;
    h = (h ^ (uint32_t)(4 * shape->flags + shape->variant)) * odd;
    return (size_t)(h >> 40);
}

static kernel *compile(struct takt_blas_library *library,
                       const struct takt_blas_gemm *call,
                       const struct shape *shape)
{
    dispatch *const find =
        (dispatch *)library->symbol[TAKT_BLAS_GEMM][call->dtype];
    const int prefetch = no_prefetch;

    return find(shape->m, shape->n, shape->k, &shape->lda, &shape->ldb,
                &shape->ldc, &call->alpha, &call->beta, &shape->flags,
                &prefetch);
}

/* Compiles the shape into a free slot; NULL: not now, or not at all. */
static kernel *fill(struct takt_blas_library *library,
                    const struct takt_blas_gemm *call,
                    const struct shape *shape, struct slot *slot)
{
    int state = is_free;

    if (!takt__callers_enter(library, 1))
        return NULL;
    kernel *run = NULL;
    if (atomic_compare_exchange_strong_explicit(
            &slot->state, &state, is_being_written, memory_order_acquire,
            memory_order_relaxed)) {
        run = compile(library, call, shape);
        slot->shape = *shape;
        slot->run = run;
        atomic_store_explicit(&slot->state, is_ready, memory_order_release);
    }
    takt__callers_leave(library);
    return run;
}

static kernel *find_kernel(struct takt_blas_library *library,
                           const struct takt_blas_gemm *call)
{
    const struct shape shape = shape_of(call);
    const size_t first = hash(&shape);

    for (size_t i = 0; i < probes; i++) {
        struct slot *slot = &library->xsmm->slot[(first + i) % slots];
        switch (atomic_load_explicit(&slot->state, memory_order_acquire)) {
        case is_free:
            return fill(library, call, &shape, slot);
        case is_ready:
            if (memcmp(&slot->shape, &shape, sizeof shape) == 0)
                return slot->run;
            break;
        default: /* perhaps with this very shape: come back later */
            return NULL;
        }
    }
    return NULL;
}

bool takt__xsmm_gemm(struct takt_blas_library *library, const void *self)
{
    const struct takt_blas_gemm *call = self;
    kernel *const run = find_kernel(library, call);
    if (run == NULL)
        return false;
    run(call->b.at, call->a.at, call->c);
    return true;
}
