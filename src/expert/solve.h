/* SPDX-License-Identifier: MIT */
/* solve.h - what the experts for factors and systems of equations share. */
#pragma once

#include "expert/expert.h"
#include "takt/solver.h"

/* ---- Takt's own: cpu_factor.c ---------------------------------------------
 */

struct takt_factor_job {
    struct takt_pool *pool;
    unsigned threads;
    const struct takt_gemm_kernels *gemm;
    const struct takt_gemm_blocks *blocks;
    size_t room;      /* for the products of all threads together */
    size_t part_room; /* for those of one thread that has columns of its own */
    void *scratch;    /* for either */
};

struct takt_factor_job takt__factor_job_of(struct takt_experts *experts,
                                           const struct takt_expert *expert,
                                           takt_dtype dtype);

/* With steps that do nothing, finds out what memory the products need. */
struct takt_factoring
takt__factor_planned(struct takt_factor_job *job,
                     const struct takt_factor_kernels *plan);

/* Runs them, in that memory. */
struct takt_factoring
takt__factor_real(struct takt_factor_job *job,
                  const struct takt_factor_kernels *kernels);

/* `before` bytes of the calling thread's scratch, and the room for products
 * behind them. NULL: no memory. */
void *takt__factor_scratch(struct takt_factor_job *job, size_t before);

/* Whether there is so much of it. Asked before the products are looked at:
 * those of a matrix that no memory holds would take minutes. */
static inline bool takt__factor_has_scratch(size_t bytes)
{
    struct takt_factor_job none = {.room = 0};

    return takt__factor_scratch(&none, bytes) != NULL;
}

/* Rows of a copy that factors are made of: whole panels, and not all on the
 * same few places of the first-level cache. */
size_t takt__factor_ld(size_t n, size_t size);

/* Fills an operand of rows with NaN: the result of a call that has none. */
void takt__fill_nan(const struct takt_rows *rows, takt_dtype dtype, void *to);

/* Copies rows of `cols` elements of `size` bytes. */
void takt__copy_rows(const struct takt_rows *rows, size_t size,
                     const void *from, size_t ld_from, void *to);

/* cpu_qr.c: changes signs so that no element on the diagonal of R is negative,
 * in a result of m rows of Q and n of R. */
void takt__qr_choose_signs(takt_dtype dtype, size_t m, size_t n, void *qr,
                           size_t ld);

/* library_solve.c: cholesky, solve, qr and lstsq by a library. */
bool takt__library_solves(enum takt_op_id op);
bool takt__library_can_solve(const struct takt_expert *expert,
                             const takt_call *call);
takt_status takt__library_solve(struct takt_experts *experts,
                                const struct takt_expert *expert,
                                const takt_call *call);

/* cpu_lapack.c: potrf, gesv, and getrf of no more columns than rows, of a valid
 * call. Other statuses than TAKT_OK: nothing was written. */
takt_status takt__cpu_lapack(struct takt_experts *experts,
                             const takt_solver_call *call);
