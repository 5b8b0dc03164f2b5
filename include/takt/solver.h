/* SPDX-License-Identifier: MIT */
/*
 * takt/solver.h - routines of LAPACK, by NVIDIA's cuSOLVER or Takt's kernels.
 *
 * For programs that have a LAPACK already and ask for another one where they
 * measured that it pays, as `takt run` does: nothing is decided or learned
 * here. The ops takt_cholesky_f64(), takt_solve_f64(), takt_qr_f64() choose by
 * themselves.
 *
 *     double a[4] = {4, 2, 2, 3};
 *     const takt_solver_call call = {.size = sizeof call,
 *                                    .routine = TAKT_SOLVER_POTRF,
 *                                    .dtype = TAKT_F64,
 *                                    .uplo = 'L',
 *                                    .n = 2,
 *                                    .a = {a, 2, a, 2}};
 *
 *     if (takt_solver_run_here(NULL, &call) != TAKT_OK)
 *         return 1;
 *     printf("%g %g\n", a[0], a[1]);
 *
 * Threads: everything here may be called from any thread; on one GPU the calls
 * run one after another.
 */
#ifndef TAKT_SOLVER_H
#define TAKT_SOLVER_H

#include <stddef.h>

#include <takt/context.h>
#include <takt/export.h>
#include <takt/op.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A routine: LAPACK's name, without the letter of the type. */
typedef enum takt_solver_routine {
    TAKT_SOLVER_POTRF = 0, /* a: n x n, the triangle `uplo` of it */
    TAKT_SOLVER_GETRF = 1, /* a: m x n; pivots: min(m, n) */
    TAKT_SOLVER_GESV = 2,  /* a: n x n; pivots: n; b: n x k */
    TAKT_SOLVER_GEQRF = 3, /* a: m x n; values: min(m, n) */
    TAKT_SOLVER_ORGQR = 4, /* a: m x n, of k reflections; values: k, read */
    TAKT_SOLVER_SYEVD = 5, /* a: n x n, its triangle `uplo`; values: n */
    TAKT_SOLVER_GESDD = 6  /* a: m x n, read; values: min(m, n); u; vt */
} takt_solver_routine;

/* Where a matrix is read from and its result is written to; both may be the
 * same place. NULL: it is not read, or its result is not wanted. `ld` is the
 * distance of columns (or rows) in elements. */
typedef struct takt_solver_matrix {
    const void *in;
    size_t in_ld;
    void *out;
    size_t out_ld;
} takt_solver_matrix;

/* A call of a routine. */
typedef struct takt_solver_call {
    size_t size; /* sizeof(takt_solver_call): see takt/takt.h */
    takt_solver_routine routine;
    takt_dtype dtype;
    char job;       /* syevd: 'N' or 'V'. gesdd: 'N', 'S' or 'A' */
    char uplo;      /* 'L' or 'U' */
    int is_by_rows; /* matrices lie by rows; else by columns, as LAPACK's */
    int is_cleared; /* potrf: the other triangle of the result becomes 0 */
    size_t m, n, k;
    takt_solver_matrix a, b, u, vt;
    void *values; /* tau, eigenvalues or singular values */
    int *pivots;  /* counted from 1; may be NULL */
} takt_solver_call;

/* Opens the GPUs of a context and the library, and waits for both: up to
 * seconds.
 * TAKT_ENODEV: there is no GPU with a library that can be used. */
TAKT_API takt_status takt_solver_open(takt_ctx *ctx);

/* Runs a routine on the first GPU that is open. Every other status than TAKT_OK
 * says that nothing was written: also where a matrix has no factor, is not
 * definite, has values that are not finite or whose squares are 0 or infinite
 * (LAPACK scales those), and where the routine did not converge. Then the
 * program's own LAPACK says what is to be said.
 * TAKT_EINVAL: sizes or letters are wrong.
 * TAKT_ENODEV: refused, or takt_solver_open() has not succeeded. */
TAKT_API takt_status takt_solver_run(takt_ctx *ctx,
                                     const takt_solver_call *call);

/* Runs a routine on the processor: potrf, gesv, and getrf with m >= n, by
 * Takt's own kernels, from order 512 on on all threads of the context. A
 * library is not needed.
 * TAKT_ENODEV: another routine, or the context answers for another machine (a
 *   recording).
 * TAKT_ESINGULAR, TAKT_EDEFINITE: there is no factor; nothing was written.
 * TAKT_ENOMEM: no memory; nothing was written. */
TAKT_API takt_status takt_solver_run_here(takt_ctx *ctx,
                                          const takt_solver_call *call);

#ifdef __cplusplus
}
#endif

#endif
