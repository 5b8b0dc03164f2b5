/* SPDX-License-Identifier: MIT */
/*
 * cpu_solve.c - factors and systems of equations on k threads.
 *
 * The calling thread runs the steps of a factor. Large products between them
 * run on all threads.
 */
#include <string.h>

#include "base/size.h"
#include "expert/forms.h"
#include "expert/solve.h"
#include "op/operands.h"

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
static void mirror(const struct factor_matrix *a,
                   const struct takt_factor_kernels *kernels,
                   takt_transpose_kernel *transpose)
{
    enum { edge = 16 };

    for (size_t i = 0; i < a->n; i += edge) {
        const size_t rows = takt__size_min(edge, a->n - i);
        const size_t right = i + rows;
        kernels->mirror(rows, element(a, i, i), a->ld);
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
    const struct takt_kernel_set *kernel_set = expert->kernel_set;
    const struct takt_rows out = takt__rows_of(call, TAKT_OUT);
    const struct takt_factor_kernels *kernels = kernel_set->factor[call->dtype];
    const struct takt_factor_kernels plan = takt__factor_plan(kernels);
    struct takt_factor_job job =
        takt__factor_job_of(experts, expert, call->dtype);
    struct takt_factoring how = takt__factor_planned(&job, &plan);
    const struct factor_matrix l = {out.rows, out.ld, kernels->size, call->out};

    takt__factor_cholesky(&how, l.n, l.at, l.ld);
    if (takt__factor_scratch(&job, 0) == NULL)
        return TAKT_ENOMEM;
    how = takt__factor_real(&job, kernels);
    kernel_set->transpose[call->dtype](l.n, l.n, call->in[0], call->ld[0], l.at,
                                       l.ld);
    if (!takt__factor_cholesky(&how, l.n, l.at, l.ld)) {
        takt__fill_nan(&out, call->dtype, call->out);
        return TAKT_EDEFINITE;
    }
    mirror(&l, kernels, kernel_set->transpose[call->dtype]);
    return TAKT_OK;
}

/* ---- solve --------------------------------------------------------------- */

static void copy_matrix(const takt_call *call, const struct factor_matrix *lu)
{
    const struct takt_rows rows = {lu->n, lu->n, lu->ld};

    takt__copy_rows(&rows, lu->size, call->in[0], call->ld[0], lu->at);
    for (size_t i = 0; i < lu->n; i++)
        memset(element(lu, i, lu->n), 0, (lu->ld - lu->n) * lu->size);
}

takt_status takt__cpu_solve(struct takt_experts *experts,
                            const struct takt_expert *expert,
                            const takt_call *call)
{
    const struct takt_rows x = takt__rows_of(call, TAKT_OUT);
    const struct takt_factor_kernels *kernels =
        expert->kernel_set->factor[call->dtype];
    const struct takt_factor_kernels plan = takt__factor_plan(kernels);
    struct takt_factor_job job =
        takt__factor_job_of(experts, expert, call->dtype);
    struct takt_factoring how = takt__factor_planned(&job, &plan);
    struct factor_matrix lu = {x.rows, takt__factor_ld(x.rows, kernels->size),
                               kernels->size,
                               call->out}; /* an address, for the plan */
    const size_t bytes = takt__size_mul(takt__size_mul(lu.n, lu.ld), lu.size);
    const size_t pivots = takt__size_mul(lu.n, sizeof(size_t));

    if (!takt__factor_has_scratch(bytes))
        return TAKT_ENOMEM;
    (void)takt__factor_lu(&how, lu.n, lu.n, lu.at, lu.ld, 0, NULL);
    takt__factor_substitute_lu(&how, lu.n, lu.at, lu.ld, x.cols, call->out,
                               x.ld);
    lu.at = takt__factor_scratch(&job, takt__size_add(bytes, pivots));
    if (lu.at == NULL)
        return TAKT_ENOMEM;
    size_t *pivot = (size_t *)(void *)(lu.at + bytes);
    copy_matrix(call, &lu);
    how = takt__factor_real(&job, kernels);
    if (!takt__factor_lu(&how, lu.n, lu.n, lu.at, lu.ld, 0, pivot)) {
        takt__fill_nan(&x, call->dtype, call->out);
        return TAKT_ESINGULAR;
    }
    takt__copy_rows(&x, lu.size, call->in[1], call->ld[1], call->out);
    kernels->swap(lu.n, 0, pivot, x.cols, call->out, x.ld);
    takt__factor_substitute_lu(&how, lu.n, lu.at, lu.ld, x.cols, call->out,
                               x.ld);
    return TAKT_OK;
}
