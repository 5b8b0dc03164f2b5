/* SPDX-License-Identifier: MIT */
/*
 * library.h - a loaded library, as the files of this component see it.
 *
 * Every call is first put into the words of BLAS (sizes in int, a transpose
 * and a leading dimension per matrix) and then handed to one of the
 * interfaces that libraries have: Fortran's, C's or libxsmm's.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "blas/blas.h"

/* What the threads of libraries are called that Takt has loaded: they do not
 * keep a program alive (base/last_thread.h). */
#define TAKT_LIBRARY_THREAD "takt-blas"

/* Indices for what exists once per dtype, and once per function. */
enum takt_blas_dtype { TAKT_BLAS_F32, TAKT_BLAS_F64, TAKT_BLAS_DTYPES };
enum takt_blas_function {
    TAKT_BLAS_GEMM,
    TAKT_BLAS_GEMV,
    TAKT_BLAS_AXPY,
    TAKT_BLAS_POTRF, /* a Cholesky factor */
    TAKT_BLAS_GETRF, /* LU factors, and what they solve */
    TAKT_BLAS_GELS,  /* least squares */
    TAKT_BLAS_GEQRF, /* Q and R, with ORGQR */
    TAKT_BLAS_FUNCTIONS
};

/* A number of the call's dtype; BLAS takes most of them by address. */
union takt_blas_real {
    float f32;
    double f64;
};

/* Rows side by side, `ld` elements from one to the next. */
struct takt_blas_matrix {
    const void *at;
    int ld;
    bool is_transposed; /* what lies there is the transpose */
};

struct takt_blas_gemm {
    enum takt_blas_dtype dtype;
    int m, n, k;
    struct takt_blas_matrix a, b;
    void *c;
    int ldc;
    union takt_blas_real alpha, beta;
};

struct takt_blas_gemv {
    enum takt_blas_dtype dtype;
    int m, n; /* of A as it is multiplied */
    struct takt_blas_matrix a;
    const void *x;
    int x_step;
    void *y;
    int y_step;
    union takt_blas_real alpha, beta;
};

struct takt_blas_axpy {
    enum takt_blas_dtype dtype;
    int n;
    const void *x;
    int x_step;
    void *y;
    int y_step;
    union takt_blas_real alpha;
};

struct takt_blas_cholesky {
    enum takt_blas_dtype dtype;
    int n, ld_l;
    const struct takt_lapack_cholesky *of;
};

struct takt_blas_solve {
    enum takt_blas_dtype dtype;
    int n, nrhs, ld_x;
    const struct takt_lapack_solve *of;
};

struct takt_blas_lstsq {
    enum takt_blas_dtype dtype;
    int m, n, nrhs;
    const struct takt_lapack_lstsq *of;
};

struct takt_blas_qr {
    enum takt_blas_dtype dtype;
    int m, n;
    const struct takt_lapack_qr *of;
};

struct takt_xsmm;

/* Runs a call, which is one of the above. False: refused; the interfaces other
 * than libxsmm's always run. */
typedef bool takt_blas_run(struct takt_blas_library *library, const void *call);

/* Any function of a library; cast to its true type to call it. */
typedef void takt_blas_symbol(void);

struct takt_blas_library {
    void *handle;
    struct takt_blas_library *next; /* in the registry */
    unsigned holders;               /* how many have it open */
    struct takt_blas facts;         /* as it was first opened */

    /* How to call. NULL: not there, or gave a wrong answer. */
    takt_blas_run *run[TAKT_BLAS_FUNCTIONS][TAKT_BLAS_DTYPES];
    /* What those call. */
    takt_blas_symbol *symbol[TAKT_BLAS_FUNCTIONS][TAKT_BLAS_DTYPES];
    takt_blas_symbol *trsm[TAKT_BLAS_DTYPES];  /* GETRF needs it too */
    takt_blas_symbol *orgqr[TAKT_BLAS_DTYPES]; /* and GEQRF this */

    struct takt_xsmm *xsmm; /* owned; NULL: not libxsmm */

    /* A product of floats is run only if none of its sizes is below this. The
     * kernels that BLIS 0.9 has for small ones read past the end of their
     * operands, up to a row; its ordinary ones copy first and do not. */
    int least_f32;

    /* The library's setting, which stays until it is changed; NULL where it
     * has none. We put it back after a call: others may use the library too.
     * OpenBLAS takes an int and BLIS 64 bits. Where we run, an int travels in
     * the low half of a register, so one type serves both. */
    int (*get_threads)(void);
    void (*set_threads)(int64_t threads);
    bool is_openmp; /* see callers.c for what follows from that */

    /* Ends its threads until the next call, as its own handler of fork() does.
     * NULL: it has no such function. */
    int (*stop_threads)(void);

    /* Threads, the caller's among them, that calls may start; 0: none. */
    unsigned team;

    _Atomic uint64_t callers; /* inside; see callers.c */
    _Atomic unsigned started; /* at this turn of the process; see callers.c */
    _Atomic unsigned most;    /* callers that were inside at once */
    int threads_before;       /* the setting to restore */
    bool is_drained;          /* no caller was inside when the fork began */
};

/* interface.c: the ways to call. */
takt_blas_run takt__fortran_gemm, takt__cblas_gemm;
takt_blas_run takt__fortran_gemv, takt__cblas_gemv;
takt_blas_run takt__fortran_axpy, takt__cblas_axpy;

/* lapack.c */
takt_blas_run takt__fortran_potrf, takt__fortran_getrf, takt__fortran_gels,
    takt__fortran_geqrf;

/* xsmm.c */
takt_blas_run takt__xsmm_gemm;
bool takt__xsmm_open(struct takt_blas_library *library);
bool takt__xsmm_can(const struct takt_blas_gemm *call);

/* integers.c: whether those of a library that is open have 32 bits. */
bool takt__blas_is_narrow(void *handle);

/* room.c: whether there is memory for the work of so many more callers, and
 * whether so many threads are to be had. */
bool takt__blas_has_room(unsigned buffers);
bool takt__blas_can_start(unsigned threads);

/* callers.c: does not wait. False: another caller is inside with another number
 * of threads, or a fork has begun, or this is a child whose parent was inside
 * when it forked, or there is no memory for one more, or no threads. After true
 * the caller runs, then leaves. */
bool takt__callers_enter(struct takt_blas_library *library, unsigned threads);
void takt__callers_leave(struct takt_blas_library *library);

/* A fork: no caller may enter any library; those inside leave (false: some take
 * too long); after it, callers may enter; in the child none is inside. */
void takt__callers_before_fork(void);
bool takt__callers_drain(struct takt_blas_library *library);
void takt__callers_after_fork(bool is_child);
void takt__callers_reset(struct takt_blas_library *library);

/* exit(): no caller enters any library from now on. */
void takt__callers_before_exit(void);

/* registry.c: find, add and remove are called with the lock. */
void takt__registry_lock(void);
void takt__registry_unlock(void);
struct takt_blas_library *takt__registry_find(const void *handle);
void takt__registry_add(struct takt_blas_library *library);
void takt__registry_remove(struct takt_blas_library *library);

/* Runs `call`, in the words of BLAS. False: there is no such function, or the
 * library is not to be entered. call.c */
bool takt__blas_run(struct takt_blas_library *library, takt_blas_run *function,
                    unsigned threads, const void *call);
