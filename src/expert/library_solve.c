/* SPDX-License-Identifier: MIT */
/* library_solve.c - factors and systems of equations by other people's LAPACK.
 */
#include "base/size.h"
#include "expert/solve.h"
#include "op/operands.h"
#include "pool/scratch.h"

static struct takt_lapack_cholesky cholesky_of(const takt_call *call,
                                               bool *is_definite)
{
    return (struct takt_lapack_cholesky){.n = call->shape.dim[TAKT_CHOLESKY_N],
                                         .a = call->in[0],
                                         .ld_a = call->ld[0],
                                         .l = call->out,
                                         .ld_l = call->ld[2],
                                         .is_definite = is_definite};
}

static struct takt_lapack_solve solve_of(const takt_call *call,
                                         bool *is_regular)
{
    return (struct takt_lapack_solve){.n = call->shape.dim[TAKT_SOLVE_N],
                                      .nrhs = call->shape.dim[TAKT_SOLVE_NRHS],
                                      .b = call->in[1],
                                      .ld_b = call->ld[1],
                                      .x = call->out,
                                      .ld_x = call->ld[2],
                                      .is_regular = is_regular};
}

static struct takt_lapack_lstsq lstsq_of(const takt_call *call,
                                         bool *is_regular)
{
    return (struct takt_lapack_lstsq){.m = call->shape.dim[TAKT_LSTSQ_M],
                                      .n = call->shape.dim[TAKT_LSTSQ_N],
                                      .nrhs = call->shape.dim[TAKT_LSTSQ_NRHS],
                                      .is_regular = is_regular};
}

static struct takt_lapack_qr qr_of(const takt_call *call)
{
    return (struct takt_lapack_qr){.m = call->shape.dim[TAKT_QR_M],
                                   .n = call->shape.dim[TAKT_QR_N],
                                   .ld_r = call->ld[2]};
}

bool takt__library_solves(enum takt_op_id op)
{
    return op == TAKT_OP_cholesky || op == TAKT_OP_solve || op == TAKT_OP_qr ||
           op == TAKT_OP_lstsq;
}

bool takt__library_can_solve(const struct takt_expert *expert,
                             const takt_call *call)
{
    const size_t size = takt_dtype_size(call->dtype);

    if (takt__op_id(call->op) == TAKT_OP_cholesky) {
        const struct takt_lapack_cholesky cholesky = cholesky_of(call, NULL);
        return takt__blas_can_cholesky(expert->blas, size, &cholesky);
    }
    if (takt__op_id(call->op) == TAKT_OP_lstsq) {
        const struct takt_lapack_lstsq lstsq = lstsq_of(call, NULL);
        return takt__blas_can_lstsq(expert->blas, size, &lstsq);
    }
    if (takt__op_id(call->op) == TAKT_OP_qr) {
        const struct takt_lapack_qr qr = qr_of(call);
        return takt__blas_can_qr(expert->blas, size, &qr);
    }
    const struct takt_lapack_solve solve = solve_of(call, NULL);
    return takt__blas_can_solve(expert->blas, size, &solve);
}

/* The fastest that this machine has. */
static takt_transpose_kernel *transpose_of(const struct takt_experts *experts,
                                           takt_dtype dtype)
{
    static const takt_isa order[] = {TAKT_ISA_AVX512, TAKT_ISA_AVX2,
                                     TAKT_ISA_NEON, TAKT_ISA_SSE2};

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (experts->kernel_set[order[i]].transpose[dtype] != NULL)
            return experts->kernel_set[order[i]].transpose[dtype];
    return experts->kernel_set[TAKT_ISA_SCALAR].transpose[dtype];
}

static takt_status run_cholesky(const struct takt_expert *expert,
                                const takt_call *call)
{
    bool is_definite;
    const struct takt_lapack_cholesky cholesky =
        cholesky_of(call, &is_definite);

    if (!takt__blas_cholesky(expert->blas, takt_dtype_size(call->dtype),
                             expert->threads, &cholesky))
        return TAKT_ENODEV;
    return is_definite ? TAKT_OK : TAKT_EDEFINITE;
}

/* The library gets a copy of A by columns, so that it exchanges rows as all
 * other experts do: what is singular to one is to the others. */
static takt_status run_solve(struct takt_experts *experts,
                             const struct takt_expert *expert,
                             const takt_call *call)
{
    const size_t size = takt_dtype_size(call->dtype);
    bool is_regular;
    struct takt_lapack_solve solve = solve_of(call, &is_regular);
    const size_t n = solve.n;
    const size_t bytes = takt__size_mul(takt__size_mul(n, n), size);
    struct takt_scratch *own = takt__scratch_of_thread();
    char *scratch =
        own == NULL
            ? NULL
            : takt__scratch_get(
                  own, takt__size_add(bytes, takt__size_mul(n, sizeof(int))));

    if (scratch == NULL)
        return TAKT_ENOMEM;
    solve.a = scratch;
    solve.pivot = (int *)(void *)(scratch + bytes);
    transpose_of(experts, call->dtype)(n, n, call->in[0], call->ld[0], solve.a,
                                       n);
    if (!takt__blas_solve(expert->blas, size, expert->threads, &solve))
        return TAKT_ENODEV;
    return is_regular ? TAKT_OK : TAKT_ESINGULAR;
}

/* `cols` columns of m elements, and the library's own memory behind them. */
static char *get_columns(size_t m, size_t cols, size_t room, size_t size)
{
    struct takt_scratch *own = takt__scratch_of_thread();
    const size_t all = takt__size_add(takt__size_mul(m, cols), room);

    return own == NULL ? NULL
                       : takt__scratch_get(own, takt__size_mul(all, size));
}

static takt_status run_lstsq(struct takt_experts *experts,
                             const struct takt_expert *expert,
                             const takt_call *call)
{
    const size_t size = takt_dtype_size(call->dtype);
    takt_transpose_kernel *transpose = transpose_of(experts, call->dtype);
    bool is_regular;
    struct takt_lapack_lstsq lstsq = lstsq_of(call, &is_regular);
    char *scratch =
        get_columns(lstsq.m, takt__size_add(lstsq.n, lstsq.nrhs),
                    takt__lapack_lstsq_room(lstsq.n, lstsq.nrhs), size);

    if (scratch == NULL)
        return TAKT_ENOMEM;
    lstsq.a = scratch;
    lstsq.b = scratch + lstsq.m * lstsq.n * size;
    lstsq.work = (char *)lstsq.b + lstsq.m * lstsq.nrhs * size;
    transpose(lstsq.m, lstsq.n, call->in[0], call->ld[0], lstsq.a, lstsq.m);
    transpose(lstsq.m, lstsq.nrhs, call->in[1], call->ld[1], lstsq.b, lstsq.m);
    if (!takt__blas_lstsq(expert->blas, size, expert->threads, &lstsq))
        return TAKT_ENODEV;
    if (!is_regular)
        return TAKT_ESINGULAR;
    transpose(lstsq.nrhs, lstsq.n, lstsq.b, lstsq.m, call->out, call->ld[2]);
    return TAKT_OK;
}

static takt_status run_qr(struct takt_experts *experts,
                          const struct takt_expert *expert,
                          const takt_call *call)
{
    const size_t size = takt_dtype_size(call->dtype);
    takt_transpose_kernel *transpose = transpose_of(experts, call->dtype);
    struct takt_lapack_qr qr = qr_of(call);
    char *scratch =
        get_columns(qr.m, qr.n, takt__lapack_lstsq_room(qr.n, qr.n), size);

    if (scratch == NULL)
        return TAKT_ENOMEM;
    qr.a = scratch;
    qr.work = scratch + qr.m * qr.n * size;
    qr.r = (char *)call->out + qr.m * call->ld[2] * size;
    transpose(qr.m, qr.n, call->in[0], call->ld[0], qr.a, qr.m);
    if (!takt__blas_qr(expert->blas, size, expert->threads, &qr))
        return TAKT_ENODEV;
    transpose(qr.n, qr.m, qr.a, qr.m, call->out, call->ld[2]);
    takt__qr_choose_signs(call->dtype, qr.m, qr.n, call->out, call->ld[2]);
    return TAKT_OK;
}

takt_status takt__library_solve(struct takt_experts *experts,
                                const struct takt_expert *expert,
                                const takt_call *call)
{
    const enum takt_op_id op = takt__op_id(call->op);
    const takt_status status =
        op == TAKT_OP_cholesky ? run_cholesky(expert, call)
        : op == TAKT_OP_solve  ? run_solve(experts, expert, call)
        : op == TAKT_OP_qr     ? run_qr(experts, expert, call)
                               : run_lstsq(experts, expert, call);

    if (takt__is_numeric_status(call->op, status)) {
        const struct takt_rows out = takt__rows_of(call, TAKT_OUT);
        takt__fill_nan(&out, call->dtype, call->out);
    }
    return status;
}
