/* SPDX-License-Identifier: MIT */
/*
 * cpu_lapack.c - potrf, getrf and gesv by Takt's own factors.
 *
 * A copy by rows is factored in scratch memory, so that the operands are as
 * they were until the result is known. It takes two copies of n^2 elements.
 */
#include <string.h>

#include "base/size.h"
#include "expert/solve.h"
#include "pool/scratch.h"

/* A matrix by rows in scratch memory. */
struct lapack_copy {
    size_t rows, cols, ld, size;
    char *at;
};

/* A call on the threads of one expert. */
struct lapack_run {
    const takt_solver_call *call;
    const struct takt_factor_kernels *kernels;
    takt_transpose_kernel *transpose;
    struct takt_factor_job job;
};

/* ---- copies -------------------------------------------------------------- */

static char *element(const struct lapack_copy *x, size_t i, size_t j)
{
    return x->at + (i * x->ld + j) * x->size;
}

static struct lapack_copy copy_of(const struct lapack_run *run, size_t rows,
                                  size_t cols, size_t ld)
{
    return (struct lapack_copy){rows, cols, ld, run->kernels->size, NULL};
}

static size_t bytes_of(const struct lapack_copy *x)
{
    return takt__size_round_up(
        takt__size_mul(takt__size_mul(x->rows, x->ld), x->size), 64);
}

/* Rows are as long as their panels; what is behind their end is 0. */
static void load(const struct lapack_run *run, const takt_solver_matrix *from,
                 const struct lapack_copy *to)
{
    const struct takt_rows rows = {to->rows, to->cols, to->ld};

    if (run->call->is_by_rows)
        takt__copy_rows(&rows, to->size, from->in, from->in_ld, to->at);
    else
        run->transpose(to->cols, to->rows, from->in, from->in_ld, to->at,
                       to->ld);
    for (size_t i = 0; i < to->rows && to->ld > to->cols; i++)
        memset(element(to, i, to->cols), 0, (to->ld - to->cols) * to->size);
}

static void store(const struct lapack_run *run, const struct lapack_copy *from,
                  const takt_solver_matrix *to)
{
    const struct takt_rows rows = {from->rows, from->cols, to->out_ld};

    if (to->out == NULL)
        return;
    if (run->call->is_by_rows)
        takt__copy_rows(&rows, from->size, from->at, from->ld, to->out);
    else
        run->transpose(from->rows, from->cols, from->at, from->ld, to->out,
                       to->out_ld);
}

static void store_pivots(const struct lapack_run *run, const size_t *pivot,
                         size_t count)
{
    for (size_t i = 0; run->call->pivots != NULL && i < count; i++)
        run->call->pivots[i] = (int)pivot[i] + 1;
}

/* For plans, which write nothing. */
static char *any_address(const struct lapack_run *run)
{
    return (char *)(uintptr_t)run->call->a.in;
}

/* ---- LU ------------------------------------------------------------------ */

static takt_status run_getrf(struct lapack_run *run)
{
    const size_t m = run->call->m, n = run->call->n;
    const struct takt_factor_kernels plan = takt__factor_plan(run->kernels);
    struct takt_factoring how = takt__factor_planned(&run->job, &plan);
    struct lapack_copy lu =
        copy_of(run, m, n, takt__factor_ld(n, run->kernels->size));
    const size_t bytes = bytes_of(&lu);

    if (m < n)
        return TAKT_ENODEV;
    if (!takt__factor_has_scratch(bytes))
        return TAKT_ENOMEM;
    (void)takt__factor_lu(&how, m, n, any_address(run), lu.ld, 0, NULL);
    lu.at = takt__factor_scratch(
        &run->job, takt__size_add(bytes, takt__size_mul(n, sizeof(size_t))));
    if (lu.at == NULL)
        return TAKT_ENOMEM;
    size_t *pivot = (size_t *)(void *)(lu.at + bytes);
    load(run, &run->call->a, &lu);
    how = takt__factor_real(&run->job, run->kernels);
    if (!takt__factor_lu(&how, m, n, lu.at, lu.ld, 0, pivot))
        return TAKT_ESINGULAR;
    store(run, &lu, &run->call->a);
    store_pivots(run, pivot, n);
    return TAKT_OK;
}

static takt_status run_gesv(struct lapack_run *run)
{
    const size_t n = run->call->n;
    const struct takt_factor_kernels plan = takt__factor_plan(run->kernels);
    struct takt_factoring how = takt__factor_planned(&run->job, &plan);
    struct lapack_copy lu =
        copy_of(run, n, n, takt__factor_ld(n, run->kernels->size));
    struct lapack_copy x = copy_of(run, n, run->call->k, run->call->k);
    const size_t a_bytes = bytes_of(&lu), x_bytes = bytes_of(&x);

    if (!takt__factor_has_scratch(takt__size_add(a_bytes, x_bytes)))
        return TAKT_ENOMEM;
    lu.at = x.at = any_address(run);
    (void)takt__factor_lu(&how, n, n, lu.at, lu.ld, 0, NULL);
    takt__factor_substitute_lu(&how, n, lu.at, lu.ld, x.cols, x.at, x.ld);
    lu.at = takt__factor_scratch(
        &run->job, takt__size_add(takt__size_add(a_bytes, x_bytes),
                                  takt__size_mul(n, sizeof(size_t))));
    if (lu.at == NULL)
        return TAKT_ENOMEM;
    x.at = lu.at + a_bytes;
    size_t *pivot = (size_t *)(void *)(x.at + x_bytes);
    load(run, &run->call->a, &lu);
    how = takt__factor_real(&run->job, run->kernels);
    if (!takt__factor_lu(&how, n, n, lu.at, lu.ld, 0, pivot))
        return TAKT_ESINGULAR;
    load(run, &run->call->b, &x);
    run->kernels->swap(n, 0, pivot, x.cols, x.at, x.ld);
    takt__factor_substitute_lu(&how, n, lu.at, lu.ld, x.cols, x.at, x.ld);
    store(run, &lu, &run->call->a);
    store(run, &x, &run->call->b);
    store_pivots(run, pivot, n);
    return TAKT_OK;
}

/* ---- Cholesky ------------------------------------------------------------ */

/* Rows of the upper triangle. */
static void store_upper(const struct lapack_copy *from, char *out, size_t ld)
{
    for (size_t i = 0; i < from->rows; i++)
        memcpy(out + (i * ld + i) * from->size, element(from, i, i),
               (from->rows - i) * from->size);
}

static void store_block_turned(const struct lapack_copy *from, size_t first,
                               size_t count, char *out, size_t ld)
{
    for (size_t i = first; i < first + count; i++)
        for (size_t j = i; j < first + count; j++)
            memcpy(out + (j * ld + i) * from->size, element(from, i, j),
                   from->size);
}

/* The upper triangle, turned over: blocks on the diagonal element by element,
 * what is beside them whole. */
static void store_turned(const struct lapack_run *run,
                         const struct lapack_copy *from, char *out, size_t ld)
{
    enum { edge = 16 };
    const size_t n = from->rows;

    for (size_t i = 0; i < n; i += edge) {
        const size_t rows = takt__size_min(edge, n - i), right = i + rows;
        store_block_turned(from, i, rows, out, ld);
        if (right < n)
            run->transpose(rows, n - right, element(from, i, right), from->ld,
                           out + (right * ld + i) * from->size, ld);
    }
}

/* The triangle that is not part of the result, as it lies in memory. */
static void clear(const struct lapack_copy *of, char *out, size_t ld,
                  bool is_upper)
{
    for (size_t i = 0; i < of->rows; i++)
        if (is_upper)
            memset(out + (i * ld + i + 1) * of->size, 0,
                   (of->rows - i - 1) * of->size);
        else
            memset(out + i * ld * of->size, 0, i * of->size);
}

static void store_triangle(const struct lapack_run *run,
                           const struct lapack_copy *from, bool is_upper)
{
    const takt_solver_matrix *to = &run->call->a;

    if (is_upper)
        store_upper(from, to->out, to->out_ld);
    else
        store_turned(run, from, to->out, to->out_ld);
    if (run->call->is_cleared)
        clear(from, to->out, to->out_ld, !is_upper);
}

/* The upper triangle by rows is the lower one by columns. */
static takt_status run_potrf(struct lapack_run *run)
{
    const takt_solver_call *call = run->call;
    const size_t n = call->n, ld = takt__factor_ld(n, run->kernels->size);
    const bool is_upper = (call->uplo == 'U') == (call->is_by_rows != 0);
    const struct takt_factor_kernels plan = takt__factor_plan(run->kernels);
    struct takt_factoring how = takt__factor_planned(&run->job, &plan);
    struct lapack_copy u = copy_of(run, n, n, ld);
    const struct takt_rows rows = {n, n, ld};

    if (!takt__factor_has_scratch(bytes_of(&u)))
        return TAKT_ENOMEM;
    takt__factor_cholesky(&how, n, any_address(run), ld);
    u.at = takt__factor_scratch(&run->job, bytes_of(&u));
    if (u.at == NULL)
        return TAKT_ENOMEM;
    if (is_upper)
        takt__copy_rows(&rows, u.size, call->a.in, call->a.in_ld, u.at);
    else
        run->transpose(n, n, call->a.in, call->a.in_ld, u.at, ld);
    how = takt__factor_real(&run->job, run->kernels);
    if (!takt__factor_cholesky(&how, n, u.at, ld))
        return TAKT_EDEFINITE;
    if (call->a.out != NULL)
        store_triangle(run, &u, is_upper);
    return TAKT_OK;
}

/* ---- the call ------------------------------------------------------------ */

/* The best instruction set on one thread, or on all where steps on single rows
 * and columns are a small part. */
static const struct takt_expert *expert_for(const struct takt_experts *experts,
                                            size_t n)
{
    enum { least_for_team = 512 };
    const struct takt_expert *found = NULL;

    for (unsigned i = 1; i < experts->count; i++) {
        const struct takt_expert *at = &experts->expert[i];
        if (at->kernel_set != NULL &&
            (found == NULL || at->isa == found->isa) &&
            (found == NULL || n >= least_for_team))
            found = at;
    }
    return found != NULL ? found : &experts->expert[0];
}

static takt_status run_routine(struct lapack_run *run)
{
    return run->call->routine == TAKT_SOLVER_POTRF   ? run_potrf(run)
           : run->call->routine == TAKT_SOLVER_GETRF ? run_getrf(run)
           : run->call->routine == TAKT_SOLVER_GESV  ? run_gesv(run)
                                                     : TAKT_ENODEV;
}

/* A program that knows nothing of it must not keep the memory of a second
 * matrix. To get that anew takes a hundredth of such a call. */
static void give_back_large(void)
{
    enum { most_kept = 64 << 20 };
    struct takt_scratch *own = takt__scratch_of_thread();

    if (own != NULL && own->bytes > most_kept)
        takt__scratch_free(own);
}

takt_status takt__cpu_lapack(struct takt_experts *experts,
                             const takt_solver_call *call)
{
    const struct takt_expert *expert = expert_for(experts, call->n);
    struct lapack_run run = {
        .call = call,
        .kernels = expert->kernel_set->factor[call->dtype],
        .transpose = expert->kernel_set->transpose[call->dtype],
        .job = takt__factor_job_of(experts, expert, call->dtype)};

    takt__pool_keep_awake(experts->pool);
    const takt_status status = run_routine(&run);

    takt__pool_let_sleep(experts->pool);
    give_back_large();
    return status;
}
