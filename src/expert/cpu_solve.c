/* SPDX-License-Identifier: MIT */
/*
 * cpu_solve.c - factors and systems of equations on k threads.
 *
 * The calling thread runs the steps of a factor. Large products between them
 * run on all threads.
 */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "expert/forms.h"
#include "expert/solve.h"
#include "kernels/gemm_team.h"
#include "op/operands.h"
#include "pool/scratch.h"

struct factor_job {
    struct takt_pool *pool;
    unsigned threads;
    const struct takt_gemm_kernels *gemm;
    const struct takt_gemm_blocks *blocks;
    size_t room;   /* for the products */
    void *scratch; /* of that size */
};

/* ---- products ------------------------------------------------------------ */

/* Below it, waking and joining threads takes a good part of the product. */
static bool is_for_team(const struct factor_job *job,
                        const struct takt_gemm *product)
{
    enum { least_work = 1 << 18 };

    return job->threads > 1 &&
           (double)product->m * (double)product->n * (double)product->k >=
               least_work;
}

static void measure(void *self, const struct takt_gemm *product)
{
    struct factor_job *job = self;
    size_t room;

    if (is_for_team(job, product)) {
        const struct takt_gemm_plan plan =
            takt__gemm_plan(product, job->gemm, job->blocks, job->threads);
        room = takt__gemm_team_room(&plan, job->threads);
    } else {
        room = job->gemm->room(product, job->blocks);
    }
    job->room = takt__size_max(job->room, room);
}

static void team_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    (void)parts, (void)scratch;
    takt__gemm_team_work(self, part);
}

static void multiply(void *self, const struct takt_gemm *product)
{
    struct factor_job *job = self;

    if (!is_for_team(job, product)) {
        job->gemm->run(product, job->blocks, job->scratch);
        return;
    }
    const struct takt_gemm_plan plan =
        takt__gemm_plan(product, job->gemm, job->blocks, job->threads);
    struct takt_gemm_team *team = takt__gemm_team_open(
        product, job->gemm, job->blocks, &plan, job->threads, job->scratch);
    /* Without scratch of its own it cannot fail. */
    (void)takt__pool_run(job->pool, job->threads, 0, team_part, team);
}

static struct factor_job job_of(struct takt_experts *experts,
                                const struct takt_expert *expert,
                                takt_dtype dtype)
{
    return (struct factor_job){.pool = experts->pool,
                               .threads = expert->threads,
                               .gemm = expert->slots->gemm[dtype],
                               .blocks = &expert->slots->blocks[dtype]};
}

/* `before` bytes of the calling thread's scratch, and the room for products
 * behind them. NULL: no memory. */
static void *get_scratch(struct factor_job *job, size_t before)
{
    struct takt_scratch *own = takt__scratch_of_thread();
    const size_t first = takt__size_round_up(before, 64);
    const size_t bytes = takt__size_max(takt__size_add(first, job->room), 1);
    char *memory = own == NULL ? NULL : takt__scratch_get(own, bytes);

    if (memory != NULL)
        job->scratch = memory + first;
    return memory;
}

/* ---- rows ---------------------------------------------------------------- */

void takt__fill_nan(const struct takt_rows *rows, takt_dtype dtype, void *to)
{
    for (size_t i = 0; i < rows->rows; i++)
        for (size_t j = 0; j < rows->cols; j++)
            if (dtype == TAKT_F64)
                ((double *)to)[i * rows->ld + j] = (double)NAN;
            else
                ((float *)to)[i * rows->ld + j] = NAN;
}

void takt__copy_rows(const struct takt_rows *rows, size_t size,
                     const void *from, size_t ld_from, void *to)
{
    for (size_t i = 0; i < rows->rows; i++)
        memcpy((char *)to + i * rows->ld * size,
               (const char *)from + i * ld_from * size, rows->cols * size);
}

/* ---- cholesky ------------------------------------------------------------ */

struct factor_matrix {
    size_t n, ld, size;
    char *at;
};

static char *element(const struct factor_matrix *a, size_t i, size_t j)
{
    return a->at + (i * a->ld + j) * a->size;
}

/* U becomes L: blocks on the diagonal by steps, what is beside them whole. */
static void turn(const struct factor_matrix *a,
                 const struct takt_factor_kernels *kernels,
                 takt_transpose_kernel *transpose)
{
    enum { edge = 16 };

    for (size_t i = 0; i < a->n; i += edge) {
        const size_t rows = takt__size_min(edge, a->n - i);
        const size_t right = i + rows;
        kernels->turn(rows, element(a, i, i), a->ld);
        if (right == a->n)
            continue;
        transpose(rows, a->n - right, element(a, i, right), a->ld,
                  element(a, right, i), a->ld);
        for (size_t k = i; k < right; k++)
            memset(element(a, k, right), 0, (a->n - right) * a->size);
    }
}

takt_status takt__cpu_cholesky(struct takt_experts *experts,
                               const struct takt_expert *expert,
                               const takt_call *call)
{
    const struct takt_slots *slots = expert->slots;
    const struct takt_rows out = takt__rows_of(call, TAKT_OUT);
    const struct takt_factor_kernels *kernels = slots->factor[call->dtype];
    const struct takt_factor_kernels plan = takt__factor_plan(kernels);
    struct factor_job job = job_of(experts, expert, call->dtype);
    struct takt_factoring how = {&plan, measure, &job};
    const struct factor_matrix l = {out.rows, out.ld, kernels->size, call->out};

    takt__factor_cholesky(&how, l.n, l.at, l.ld);
    if (get_scratch(&job, 0) == NULL)
        return TAKT_ENOMEM;
    how = (struct takt_factoring){kernels, multiply, &job};
    slots->transpose[call->dtype](l.n, l.n, call->in[0], call->ld[0], l.at,
                                  l.ld);
    if (!takt__factor_cholesky(&how, l.n, l.at, l.ld)) {
        takt__fill_nan(&out, call->dtype, call->out);
        return TAKT_EDEFINITE;
    }
    turn(&l, kernels, slots->transpose[call->dtype]);
    return TAKT_OK;
}

/* ---- solve --------------------------------------------------------------- */

/* Rows of the copy that factors are made of: whole panels, and not all on the
 * same few places of the first-level cache. */
static size_t copy_ld(size_t n, size_t size)
{
    const size_t whole = takt__size_round_up(n, TAKT_PANEL_COLS);

    return takt__size_mul(whole, size) % 2048 == 0 ? whole + TAKT_PANEL_COLS
                                                   : whole;
}

static void copy_matrix(const takt_call *call, const struct factor_matrix *lu)
{
    const struct takt_rows rows = {lu->n, lu->n, lu->ld};

    takt__copy_rows(&rows, lu->size, call->in[0], call->ld[0], lu->at);
    for (size_t i = 0; i < lu->n; i++)
        memset(element(lu, i, lu->n), 0, (lu->ld - lu->n) * lu->size);
}

/* L and U, one after the other. */
static void substitute(const struct takt_factoring *how,
                       const struct factor_matrix *lu,
                       const struct takt_rows *x, void *to)
{
    const struct takt_triangle lower = {.n = lu->n,
                                        .at = lu->at,
                                        .row = lu->ld,
                                        .col = 1,
                                        .is_lower = true,
                                        .is_unit = true};
    const struct takt_triangle upper = {
        .n = lu->n, .at = lu->at, .row = lu->ld, .col = 1};

    takt__factor_substitute(how, &lower, x->cols, to, x->ld);
    takt__factor_substitute(how, &upper, x->cols, to, x->ld);
}

takt_status takt__cpu_solve(struct takt_experts *experts,
                            const struct takt_expert *expert,
                            const takt_call *call)
{
    const struct takt_rows x = takt__rows_of(call, TAKT_OUT);
    const struct takt_factor_kernels *kernels =
        expert->slots->factor[call->dtype];
    const struct takt_factor_kernels plan = takt__factor_plan(kernels);
    struct factor_job job = job_of(experts, expert, call->dtype);
    struct takt_factoring how = {&plan, measure, &job};
    struct factor_matrix lu = {x.rows, copy_ld(x.rows, kernels->size),
                               kernels->size,
                               call->out}; /* an address, for the plan */
    const size_t bytes = takt__size_mul(takt__size_mul(lu.n, lu.ld), lu.size);
    const size_t pivots = takt__size_mul(lu.n, sizeof(size_t));

    (void)takt__factor_lu(&how, lu.n, lu.n, lu.at, lu.ld, 0, NULL);
    substitute(&how, &lu, &x, call->out);
    lu.at = get_scratch(&job, takt__size_add(bytes, pivots));
    if (lu.at == NULL)
        return TAKT_ENOMEM;
    size_t *pivot = (size_t *)(void *)(lu.at + bytes);
    copy_matrix(call, &lu);
    how = (struct takt_factoring){kernels, multiply, &job};
    if (!takt__factor_lu(&how, lu.n, lu.n, lu.at, lu.ld, 0, pivot)) {
        takt__fill_nan(&x, call->dtype, call->out);
        return TAKT_ESINGULAR;
    }
    takt__copy_rows(&x, lu.size, call->in[1], call->ld[1], call->out);
    kernels->swap(lu.n, 0, pivot, x.cols, call->out, x.ld);
    substitute(&how, &lu, &x, call->out);
    return TAKT_OK;
}
