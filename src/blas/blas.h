/* SPDX-License-Identifier: MIT */
/*
 * blas.h - other people's BLAS libraries, found at run time.
 *
 * OpenBLAS, BLIS, libxsmm or whatever libblas.so.3 is: each one that this
 * machine has, and that gives right answers when it is opened, can run
 * products beside our own kernels. None is needed; absence is normal and
 * silent.
 *
 * A call either runs whole or is refused and has touched nothing. Refusal is
 * no fault of the library: it may be busy with another number of threads. A
 * caller then runs the product elsewhere. What is called allocates nothing
 * and takes no lock of ours; what a library does inside is its own matter.
 * libxsmm compiles a kernel for each shape the first time it is used, which
 * takes as long as a few hundred small products.
 *
 * Threads: any thread may open, call and close, also in a child process. A
 * fork waits for calls that are running, up to two seconds.
 */
#pragma once

#include <stdbool.h>

#include "kernels/gemm.h"

enum { TAKT_BLAS_MAX = 4, TAKT_BLAS_MAX_THREADS = 1024 };

struct takt_blas_library;

struct takt_blas {
    const char *name;     /* "openblas", "blis", "libxsmm" or "blas" */
    char version[128];    /* as the library says it; empty: it does not */
    char path[512];       /* the file it is in */
    unsigned max_threads; /* for a gemm; 1 where it cannot be set */
    unsigned max_vector_threads;       /* for a gemv or an axpy */
    bool can_set_threads;              /* false: it uses as many as it likes */
    struct takt_blas_library *library; /* shared by all contexts */
};

/* y = alpha * x + y, where x(i) is at x[i * x_step], y(i) at y[i * y_step]. */
struct takt_axpy {
    size_t n;
    double alpha;
    const void *x;
    size_t x_step;
    void *y;
    size_t y_step;
};

/* L of A = L L', row by row: reads the lower triangle of A and writes it to `l`
 * with zeros behind it. */
struct takt_lapack_cholesky {
    size_t n;
    const void *a;
    size_t ld_a;
    void *l;
    size_t ld_l;
    bool *is_definite; /* else `l` holds anything */
};

/* X of A X = B. B and X lie row by row; A by columns, without gaps, and is
 * overwritten. */
struct takt_lapack_solve {
    size_t n, nrhs;
    void *a;
    int *pivot; /* room for n */
    const void *b;
    size_t ld_b;
    void *x;
    size_t ld_x;
    bool *is_regular; /* else `x` is not written */
};

/* X of least squares. All lie by columns, without gaps, and are overwritten:
 * the first n elements of each column of B by X. */
struct takt_lapack_lstsq {
    size_t m, n, nrhs; /* m >= n */
    void *a, *b;
    void *work;       /* room for takt__lapack_lstsq_room() elements */
    bool *is_regular; /* else B holds anything */
};

/* Q and R. A lies by columns, without gaps, and becomes Q; R lies row by row.
 */
struct takt_lapack_qr {
    size_t m, n; /* m >= n */
    void *a;
    void *r;
    size_t ld_r;
    void *work; /* room for takt__lapack_lstsq_room(n, n) elements */
};

/* Whether a library that is loaded now can start its threads, and has memory
 * for them. */
bool takt__blas_may_load(void);

/* Whether the program itself has a BLAS or a LAPACK with integers of 64 bits
 * that every library sees. What a library calls by a name of its own (LAPACK
 * calls BLAS so) would go there, with integers of 32 bits. */
bool takt__blas_is_program_wide(void);

/* Opens every usable library into out[0..max) and says how many those are, at
 * most TAKT_BLAS_MAX; all names differ. Libraries are lent up to `threads`
 * threads. `extra` is NULL as a rule; "" opens none at all; anything else is
 * the file of a library to open before the standard ones, named "blas". */
size_t takt__blas_open_all(const char *extra, unsigned threads,
                           struct takt_blas *out, size_t max);

/* No call through `blas` may be running. The library stays in memory: it may
 * have threads of its own, and they cannot run without their code. */
void takt__blas_close(struct takt_blas *blas);

/* Whether the library could run the call on one thread when it is not busy.
 * `size` is that of an element: 4 is f32, 8 is f64. Not run: operands that
 * are no plain or transposed matrix with rows side by side, sizes over
 * INT_MAX, and calls that multiply nothing (a size or alpha is 0), about
 * which libraries differ. Pure. */
bool takt__blas_can_gemm(const struct takt_blas *blas, size_t size,
                         const struct takt_gemm *call);
bool takt__blas_can_gemv(const struct takt_blas *blas, size_t size,
                         const struct takt_gemv *call);
bool takt__blas_can_axpy(const struct takt_blas *blas, size_t size,
                         const struct takt_axpy *call);

/* Runs the call on `threads` threads, 1 to the maximum above. False: refused,
 * nothing was touched. */
bool takt__blas_gemm(struct takt_blas *blas, size_t size, unsigned threads,
                     const struct takt_gemm *call);
bool takt__blas_gemv(struct takt_blas *blas, size_t size, unsigned threads,
                     const struct takt_gemv *call);
bool takt__blas_axpy(struct takt_blas *blas, size_t size, unsigned threads,
                     const struct takt_axpy *call);

/* Whether a library has what follows. */
bool takt__blas_has_lapack(const struct takt_blas *blas, size_t size);

/* The same for factors, where a library has LAPACK. Sizes of 0 are not run. */
bool takt__blas_can_cholesky(const struct takt_blas *blas, size_t size,
                             const struct takt_lapack_cholesky *call);
bool takt__blas_can_solve(const struct takt_blas *blas, size_t size,
                          const struct takt_lapack_solve *call);
bool takt__blas_cholesky(struct takt_blas *blas, size_t size, unsigned threads,
                         const struct takt_lapack_cholesky *call);
bool takt__blas_solve(struct takt_blas *blas, size_t size, unsigned threads,
                      const struct takt_lapack_solve *call);

size_t takt__lapack_lstsq_room(size_t n, size_t nrhs);
bool takt__blas_can_lstsq(const struct takt_blas *blas, size_t size,
                          const struct takt_lapack_lstsq *call);
bool takt__blas_lstsq(struct takt_blas *blas, size_t size, unsigned threads,
                      const struct takt_lapack_lstsq *call);
bool takt__blas_can_qr(const struct takt_blas *blas, size_t size,
                       const struct takt_lapack_qr *call);
bool takt__blas_qr(struct takt_blas *blas, size_t size, unsigned threads,
                   const struct takt_lapack_qr *call);
