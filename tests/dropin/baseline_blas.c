/* SPDX-License-Identifier: MIT */
/*
 * baseline_blas.c - a BLAS that computes by definition and remembers what it
 * was asked: the baseline library, for tests.
 *
 * It has every name of every routine that is interposed. Of one source several
 * libraries are made:
 *
 *     BASELINE_ONLY_FORTRAN   no name of C's
 *     BASELINE_THROUGH_PLT    C's names call Fortran's, by their names
 *     BASELINE_WIDE           names without a suffix, integers of 64 bits
 *
 * Wrong arguments go to xerbla_(), which a program may define for itself; the
 * one here remembers them. What is remembered is each thread's own.
 */
#include "baseline_blas.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline_request.h"

#define PUBLIC __attribute__((visibility("default")))

typedef const void *pointer;

static _Atomic uint64_t call_count;
static _Thread_local char seen[512], complaint[64];
static _Thread_local unsigned seen_count;

PUBLIC uint64_t baseline_calls(void)
{
    return atomic_load(&call_count);
}

PUBLIC const char *baseline_seen(unsigned *count)
{
    *count = seen_count;
    return seen;
}

PUBLIC const char *baseline_complaint(void)
{
    return complaint;
}

PUBLIC void baseline_forget(void)
{
    seen[0] = complaint[0] = '\0';
    seen_count = 0;
}

#ifndef BASELINE_MARK
#define BASELINE_MARK 0
#endif
PUBLIC int baseline_mark(void)
{
    return BASELINE_MARK;
}

/* ---- threads, as OpenBLAS has them --------------------------------------- */

static _Atomic int thread_count;

PUBLIC int openblas_get_num_threads(void)
{
    const int set = atomic_load(&thread_count);
    const char *asked = getenv("OPENBLAS_NUM_THREADS");

    return set > 0 ? set : asked != NULL && atoi(asked) > 0 ? atoi(asked) : 2;
}

PUBLIC void openblas_set_num_threads(int count)
{
    atomic_store(&thread_count, count);
}

/* ---- every call ---------------------------------------------------------- */

PUBLIC void xerbla_(const char *name, const int *argument, size_t length)
{
    snprintf(complaint, sizeof complaint, "%.*s %d", (int)length, name,
             *argument);
}

/* Whether Takt asks how wide integers are: the program did not call. */
static bool is_question(const struct baseline_request *r)
{
    const float *x = r->b;

    return r->routine == TAKT_IAMAX && r->letter == TAKT_S &&
           (int32_t)r->n == 3 && x[0] == 1 && x[1] == 3 && x[2] == 2;
}

/* False: there is nothing more to do. */
static bool begin(const char *name, struct baseline_request *r)
{
    const int wrong = baseline_wrong_argument(r);
    char words[400];

    if (is_question(r))
        return wrong == 0;
    atomic_fetch_add(&call_count, 1);
    baseline_describe(r, words, sizeof words);
    if (seen_count++ == 0)
        snprintf(seen, sizeof seen, "%s: %s", name, words);
    if (wrong != 0)
        xerbla_(name, &wrong, strlen(name));
    return wrong == 0;
}

static void enter(const char *name, struct baseline_request *r)
{
    r->sum = 0;
    r->index = 0;
    if (begin(name, r))
        baseline_perform(r);
}

#ifdef BASELINE_THROUGH_PLT
static void enter_c(const char *name, struct baseline_request *r,
                    baseline_function *fortran, bool is_wide)
{
    r->sum = 0;
    r->index = 0;
    if (!begin(name, r))
        return;
    struct baseline_request turned = baseline_turned(r);
    baseline_call(fortran, is_wide, &turned);
    r->sum = turned.sum;
    r->index = turned.index > 0 ? turned.index - 1 : 0;
}
#define ENTER_C(name_, fortran_, integer_, r_)         \
    enter_c(#name_, r_, (baseline_function *)fortran_, \
            sizeof(integer_) == sizeof(int64_t))
#else
#define ENTER_C(name_, fortran_, integer_, r_) enter(#name_, r_)
#endif

static void set_factor(enum takt_blas_type letter, pointer from, double *to)
{
    if (letter == TAKT_S || letter == TAKT_C)
        to[0] = (double)((const float *)from)[0];
    else
        to[0] = ((const double *)from)[0];
    if (letter == TAKT_C)
        to[1] = (double)((const float *)from)[1];
    if (letter == TAKT_Z)
        to[1] = ((const double *)from)[1];
}

/* The interposer must pass the lengths of strings. */
static void expect_lengths(size_t a, size_t b)
{
    if (a != 1 || b != 1)
        abort();
}

/* clang-format off */

/* ---- Fortran's names ----------------------------------------------------- */

#define F_GEMM(name_, integer_, letter_, routine_) \
    PUBLIC void name_(const char *, const char *, const integer_ *, const integer_ *, const integer_ *, pointer, pointer, const integer_ *, pointer, const integer_ *, pointer, void *, const integer_ *, size_t, size_t); \
    void name_(const char *ta, const char *tb, const integer_ *m, const integer_ *n, const integer_ *k, pointer alpha, pointer a, const integer_ *lda, pointer b, const integer_ *ldb, pointer beta, void *c, const integer_ *ldc, size_t la, size_t lb) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .transa = *ta, .transb = *tb, .m = *m, .n = *n, .k = *k, .a = a, .lda = *lda, .b = b, .ldb = *ldb, .c = c, .ldc = *ldc}; \
        expect_lengths(la, lb); \
        set_factor(letter_, alpha, r.alpha); \
        set_factor(letter_, beta, r.beta); \
        enter(#name_, &r); \
    }
#define F_SYMM_LIKE(name_, integer_, letter_, routine_, one_, two_, m_, n_) \
    PUBLIC void name_(const char *, const char *, const integer_ *, const integer_ *, pointer, pointer, const integer_ *, pointer, const integer_ *, pointer, void *, const integer_ *, size_t, size_t); \
    void name_(const char *one, const char *two, const integer_ *m, const integer_ *n, pointer alpha, pointer a, const integer_ *lda, pointer b, const integer_ *ldb, pointer beta, void *c, const integer_ *ldc, size_t la, size_t lb) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .one_ = *one, .two_ = *two, .m_ = *m, .n_ = *n, .a = a, .lda = *lda, .b = b, .ldb = *ldb, .c = c, .ldc = *ldc}; \
        expect_lengths(la, lb); \
        set_factor(letter_, alpha, r.alpha); \
        set_factor(letter_, beta, r.beta); \
        enter(#name_, &r); \
    }
#define F_SYMM(name_, integer_, letter_, routine_) F_SYMM_LIKE(name_, integer_, letter_, routine_, side, uplo, m, n)
#define F_SYR2K(name_, integer_, letter_, routine_) F_SYMM_LIKE(name_, integer_, letter_, routine_, uplo, transa, n, k)
#define F_SYRK(name_, integer_, letter_, routine_) \
    PUBLIC void name_(const char *, const char *, const integer_ *, const integer_ *, pointer, pointer, const integer_ *, pointer, void *, const integer_ *, size_t, size_t); \
    void name_(const char *uplo, const char *trans, const integer_ *n, const integer_ *k, pointer alpha, pointer a, const integer_ *lda, pointer beta, void *c, const integer_ *ldc, size_t la, size_t lb) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .uplo = *uplo, .transa = *trans, .n = *n, .k = *k, .a = a, .lda = *lda, .c = c, .ldc = *ldc}; \
        expect_lengths(la, lb); \
        set_factor(letter_, alpha, r.alpha); \
        set_factor(letter_, beta, r.beta); \
        enter(#name_, &r); \
    }
#define F_TRSM(name_, integer_, letter_, routine_) \
    PUBLIC void name_(const char *, const char *, const char *, const char *, const integer_ *, const integer_ *, pointer, pointer, const integer_ *, void *, const integer_ *, size_t, size_t, size_t, size_t); \
    void name_(const char *side, const char *uplo, const char *trans, const char *diag, const integer_ *m, const integer_ *n, pointer alpha, pointer a, const integer_ *lda, void *b, const integer_ *ldb, size_t la, size_t lb, size_t lc, size_t ld) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .side = *side, .uplo = *uplo, .transa = *trans, .diag = *diag, .m = *m, .n = *n, .a = a, .lda = *lda, .c = b, .ldc = *ldb}; \
        expect_lengths(la, lb); \
        expect_lengths(lc, ld); \
        set_factor(letter_, alpha, r.alpha); \
        enter(#name_, &r); \
    }
#define F_GEMV(name_, integer_, letter_, routine_) \
    PUBLIC void name_(const char *, const integer_ *, const integer_ *, pointer, pointer, const integer_ *, pointer, const integer_ *, pointer, void *, const integer_ *, size_t); \
    void name_(const char *trans, const integer_ *m, const integer_ *n, pointer alpha, pointer a, const integer_ *lda, pointer x, const integer_ *incx, pointer beta, void *y, const integer_ *incy, size_t la) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .transa = *trans, .m = *m, .n = *n, .a = a, .lda = *lda, .b = x, .ldb = *incx, .c = y, .ldc = *incy}; \
        expect_lengths(la, 1); \
        set_factor(letter_, alpha, r.alpha); \
        set_factor(letter_, beta, r.beta); \
        enter(#name_, &r); \
    }
#define F_GER(name_, integer_, letter_, routine_) \
    PUBLIC void name_(const integer_ *, const integer_ *, pointer, pointer, const integer_ *, pointer, const integer_ *, void *, const integer_ *); \
    void name_(const integer_ *m, const integer_ *n, pointer alpha, pointer x, const integer_ *incx, pointer y, const integer_ *incy, void *a, const integer_ *lda) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .m = *m, .n = *n, .a = x, .lda = *incx, .b = y, .ldb = *incy, .c = a, .ldc = *lda}; \
        set_factor(letter_, alpha, r.alpha); \
        enter(#name_, &r); \
    }
#define F_AXPY(name_, integer_, letter_, routine_) \
    PUBLIC void name_(const integer_ *, pointer, pointer, const integer_ *, void *, const integer_ *); \
    void name_(const integer_ *n, pointer alpha, pointer x, const integer_ *incx, void *y, const integer_ *incy) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .n = *n, .b = x, .ldb = *incx, .c = y, .ldc = *incy}; \
        set_factor(letter_, alpha, r.alpha); \
        enter(#name_, &r); \
    }
#define F_SCAL(name_, integer_, letter_, routine_) \
    PUBLIC void name_(const integer_ *, pointer, void *, const integer_ *); \
    void name_(const integer_ *n, pointer alpha, void *x, const integer_ *incx) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .n = *n, .c = x, .ldc = *incx}; \
        set_factor(letter_, alpha, r.alpha); \
        enter(#name_, &r); \
    }
#define F_DOT_LIKE(name_, integer_, letter_, routine_, type_) \
    PUBLIC type_ name_(const integer_ *, pointer, const integer_ *, void *, const integer_ *); \
    type_ name_(const integer_ *n, pointer x, const integer_ *incx, void *y, const integer_ *incy) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .n = *n, .b = x, .ldb = *incx, .c = y, .ldc = *incy}; \
        enter(#name_, &r); \
        return (type_)r.sum; \
    }
#define F_SDOT(name_, integer_, letter_, routine_) F_DOT_LIKE(name_, integer_, letter_, routine_, float)
#define F_DDOT(name_, integer_, letter_, routine_) F_DOT_LIKE(name_, integer_, letter_, routine_, double)
#define F_NORM_LIKE(name_, integer_, letter_, routine_, type_, result_) \
    PUBLIC type_ name_(const integer_ *, pointer, const integer_ *); \
    type_ name_(const integer_ *n, pointer x, const integer_ *incx) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .n = *n, .b = x, .ldb = *incx}; \
        enter(#name_, &r); \
        return (type_)r.result_; \
    }
#define F_SNORM(name_, integer_, letter_, routine_) F_NORM_LIKE(name_, integer_, letter_, routine_, float, sum)
#define F_DNORM(name_, integer_, letter_, routine_) F_NORM_LIKE(name_, integer_, letter_, routine_, double, sum)
#define F_IAMAX(name_, integer_, letter_, routine_) F_NORM_LIKE(name_, integer_, letter_, routine_, integer_, index)

/* ---- C's names ----------------------------------------------------------- */

/* Factors by value of real letters, by address of complex ones. */
#define BY_VALUE(letter_, from_, to_) (to_)[0] = (double)(from_)
#define BY_ADDRESS(letter_, from_, to_) set_factor(letter_, from_, to_)

#define C_GEMM_LIKE(name_, fortran_, integer_, letter_, routine_, type_, read_) \
    PUBLIC void name_(int, int, int, integer_, integer_, integer_, type_, pointer, integer_, pointer, integer_, type_, void *, integer_); \
    void name_(int order, int ta, int tb, integer_ m, integer_ n, integer_ k, type_ alpha, pointer a, integer_ lda, pointer b, integer_ ldb, type_ beta, void *c, integer_ ldc) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .order = order, .transa = ta, .transb = tb, .m = m, .n = n, .k = k, .a = a, .lda = lda, .b = b, .ldb = ldb, .c = c, .ldc = ldc}; \
        read_(letter_, alpha, r.alpha); \
        read_(letter_, beta, r.beta); \
        ENTER_C(name_, fortran_, integer_, &r); \
    }
#define C_SYMM_LIKE(name_, fortran_, integer_, letter_, routine_, type_, read_, one_, two_, m_, n_) \
    PUBLIC void name_(int, int, int, integer_, integer_, type_, pointer, integer_, pointer, integer_, type_, void *, integer_); \
    void name_(int order, int one, int two, integer_ m, integer_ n, type_ alpha, pointer a, integer_ lda, pointer b, integer_ ldb, type_ beta, void *c, integer_ ldc) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .order = order, .one_ = one, .two_ = two, .m_ = m, .n_ = n, .a = a, .lda = lda, .b = b, .ldb = ldb, .c = c, .ldc = ldc}; \
        read_(letter_, alpha, r.alpha); \
        read_(letter_, beta, r.beta); \
        ENTER_C(name_, fortran_, integer_, &r); \
    }
#define C_SYRK_LIKE(name_, fortran_, integer_, letter_, routine_, type_, read_) \
    PUBLIC void name_(int, int, int, integer_, integer_, type_, pointer, integer_, type_, void *, integer_); \
    void name_(int order, int uplo, int trans, integer_ n, integer_ k, type_ alpha, pointer a, integer_ lda, type_ beta, void *c, integer_ ldc) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .order = order, .uplo = uplo, .transa = trans, .n = n, .k = k, .a = a, .lda = lda, .c = c, .ldc = ldc}; \
        read_(letter_, alpha, r.alpha); \
        read_(letter_, beta, r.beta); \
        ENTER_C(name_, fortran_, integer_, &r); \
    }
#define C_TRSM_LIKE(name_, fortran_, integer_, letter_, routine_, type_, read_) \
    PUBLIC void name_(int, int, int, int, int, integer_, integer_, type_, pointer, integer_, void *, integer_); \
    void name_(int order, int side, int uplo, int trans, int diag, integer_ m, integer_ n, type_ alpha, pointer a, integer_ lda, void *b, integer_ ldb) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .order = order, .side = side, .uplo = uplo, .transa = trans, .diag = diag, .m = m, .n = n, .a = a, .lda = lda, .c = b, .ldc = ldb}; \
        read_(letter_, alpha, r.alpha); \
        ENTER_C(name_, fortran_, integer_, &r); \
    }
#define C_GEMV_LIKE(name_, fortran_, integer_, letter_, routine_, type_) \
    PUBLIC void name_(int, int, integer_, integer_, type_, pointer, integer_, pointer, integer_, type_, void *, integer_); \
    void name_(int order, int trans, integer_ m, integer_ n, type_ alpha, pointer a, integer_ lda, pointer x, integer_ incx, type_ beta, void *y, integer_ incy) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .order = order, .transa = trans, .m = m, .n = n, .alpha = {(double)alpha}, .beta = {(double)beta}, .a = a, .lda = lda, .b = x, .ldb = incx, .c = y, .ldc = incy}; \
        ENTER_C(name_, fortran_, integer_, &r); \
    }
#define C_GER_LIKE(name_, fortran_, integer_, letter_, routine_, type_) \
    PUBLIC void name_(int, integer_, integer_, type_, pointer, integer_, pointer, integer_, void *, integer_); \
    void name_(int order, integer_ m, integer_ n, type_ alpha, pointer x, integer_ incx, pointer y, integer_ incy, void *a, integer_ lda) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .order = order, .m = m, .n = n, .alpha = {(double)alpha}, .a = x, .lda = incx, .b = y, .ldb = incy, .c = a, .ldc = lda}; \
        ENTER_C(name_, fortran_, integer_, &r); \
    }
#define C_AXPY_LIKE(name_, fortran_, integer_, letter_, routine_, type_) \
    PUBLIC void name_(integer_, type_, pointer, integer_, void *, integer_); \
    void name_(integer_ n, type_ alpha, pointer x, integer_ incx, void *y, integer_ incy) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .order = BASELINE_BY_COLUMNS, .n = n, .alpha = {(double)alpha}, .b = x, .ldb = incx, .c = y, .ldc = incy}; \
        ENTER_C(name_, fortran_, integer_, &r); \
    }
#define C_SCAL_LIKE(name_, fortran_, integer_, letter_, routine_, type_) \
    PUBLIC void name_(integer_, type_, void *, integer_); \
    void name_(integer_ n, type_ alpha, void *x, integer_ incx) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .order = BASELINE_BY_COLUMNS, .n = n, .alpha = {(double)alpha}, .c = x, .ldc = incx}; \
        ENTER_C(name_, fortran_, integer_, &r); \
    }
#define C_DOT_LIKE(name_, fortran_, integer_, letter_, routine_, type_) \
    PUBLIC type_ name_(integer_, pointer, integer_, void *, integer_); \
    type_ name_(integer_ n, pointer x, integer_ incx, void *y, integer_ incy) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .order = BASELINE_BY_COLUMNS, .n = n, .b = x, .ldb = incx, .c = y, .ldc = incy}; \
        ENTER_C(name_, fortran_, integer_, &r); \
        return (type_)r.sum; \
    }
#define C_NORM_LIKE(name_, fortran_, integer_, letter_, routine_, type_, result_) \
    PUBLIC type_ name_(integer_, pointer, integer_); \
    type_ name_(integer_ n, pointer x, integer_ incx) \
    { \
        struct baseline_request r = {.routine = routine_, .letter = letter_, .order = BASELINE_BY_COLUMNS, .n = n, .b = x, .ldb = incx}; \
        ENTER_C(name_, fortran_, integer_, &r); \
        return (type_)r.result_; \
    }
#define C_SGEMM(n_, f_, i_, l_, r_) C_GEMM_LIKE(n_, f_, i_, l_, r_, float, BY_VALUE)
#define C_DGEMM(n_, f_, i_, l_, r_) C_GEMM_LIKE(n_, f_, i_, l_, r_, double, BY_VALUE)
#define C_ZGEMM(n_, f_, i_, l_, r_) C_GEMM_LIKE(n_, f_, i_, l_, r_, pointer, BY_ADDRESS)
#define C_SSYMM(n_, f_, i_, l_, r_) C_SYMM_LIKE(n_, f_, i_, l_, r_, float, BY_VALUE, side, uplo, m, n)
#define C_DSYMM(n_, f_, i_, l_, r_) C_SYMM_LIKE(n_, f_, i_, l_, r_, double, BY_VALUE, side, uplo, m, n)
#define C_ZSYMM(n_, f_, i_, l_, r_) C_SYMM_LIKE(n_, f_, i_, l_, r_, pointer, BY_ADDRESS, side, uplo, m, n)
#define C_SSYR2K(n_, f_, i_, l_, r_) C_SYMM_LIKE(n_, f_, i_, l_, r_, float, BY_VALUE, uplo, transa, n, k)
#define C_DSYR2K(n_, f_, i_, l_, r_) C_SYMM_LIKE(n_, f_, i_, l_, r_, double, BY_VALUE, uplo, transa, n, k)
#define C_ZSYR2K(n_, f_, i_, l_, r_) C_SYMM_LIKE(n_, f_, i_, l_, r_, pointer, BY_ADDRESS, uplo, transa, n, k)
#define C_SSYRK(n_, f_, i_, l_, r_) C_SYRK_LIKE(n_, f_, i_, l_, r_, float, BY_VALUE)
#define C_DSYRK(n_, f_, i_, l_, r_) C_SYRK_LIKE(n_, f_, i_, l_, r_, double, BY_VALUE)
#define C_ZSYRK(n_, f_, i_, l_, r_) C_SYRK_LIKE(n_, f_, i_, l_, r_, pointer, BY_ADDRESS)
#define C_STRSM(n_, f_, i_, l_, r_) C_TRSM_LIKE(n_, f_, i_, l_, r_, float, BY_VALUE)
#define C_DTRSM(n_, f_, i_, l_, r_) C_TRSM_LIKE(n_, f_, i_, l_, r_, double, BY_VALUE)
#define C_ZTRSM(n_, f_, i_, l_, r_) C_TRSM_LIKE(n_, f_, i_, l_, r_, pointer, BY_ADDRESS)
#define C_SGEMV(n_, f_, i_, l_, r_) C_GEMV_LIKE(n_, f_, i_, l_, r_, float)
#define C_DGEMV(n_, f_, i_, l_, r_) C_GEMV_LIKE(n_, f_, i_, l_, r_, double)
#define C_SGER(n_, f_, i_, l_, r_) C_GER_LIKE(n_, f_, i_, l_, r_, float)
#define C_DGER(n_, f_, i_, l_, r_) C_GER_LIKE(n_, f_, i_, l_, r_, double)
#define C_SAXPY(n_, f_, i_, l_, r_) C_AXPY_LIKE(n_, f_, i_, l_, r_, float)
#define C_DAXPY(n_, f_, i_, l_, r_) C_AXPY_LIKE(n_, f_, i_, l_, r_, double)
#define C_SSCAL(n_, f_, i_, l_, r_) C_SCAL_LIKE(n_, f_, i_, l_, r_, float)
#define C_DSCAL(n_, f_, i_, l_, r_) C_SCAL_LIKE(n_, f_, i_, l_, r_, double)
#define C_SDOT(n_, f_, i_, l_, r_) C_DOT_LIKE(n_, f_, i_, l_, r_, float)
#define C_DDOT(n_, f_, i_, l_, r_) C_DOT_LIKE(n_, f_, i_, l_, r_, double)
#define C_SNORM(n_, f_, i_, l_, r_) C_NORM_LIKE(n_, f_, i_, l_, r_, float, sum)
#define C_DNORM(n_, f_, i_, l_, r_) C_NORM_LIKE(n_, f_, i_, l_, r_, double, sum)
#define C_IAMAX(n_, f_, i_, l_, r_) C_NORM_LIKE(n_, f_, i_, l_, r_, size_t, index)

/* ---- all of them --------------------------------------------------------- */

#if defined(BASELINE_WIDE)
#define F_NAMES(define_, word_, letter_, routine_) define_(word_##_, int64_t, letter_, routine_)
#define C_NAMES(define_, word_, letter_, routine_) define_(cblas_##word_, word_##_, int64_t, letter_, routine_)
#else
#define F_NAMES(define_, word_, letter_, routine_) \
    define_(word_##_, int32_t, letter_, routine_) \
    define_(word_##_64_, int64_t, letter_, routine_) \
    define_(scipy_##word_##_, int32_t, letter_, routine_) \
    define_(scipy_##word_##_64_, int64_t, letter_, routine_)
#if defined(BASELINE_ONLY_FORTRAN)
#define C_NAMES(define_, word_, letter_, routine_)
#else
#define C_NAMES(define_, word_, letter_, routine_) \
    define_(cblas_##word_, word_##_, int32_t, letter_, routine_) \
    define_(cblas_##word_##64_, word_##_64_, int64_t, letter_, routine_) \
    define_(cblas_##word_##_64, word_##_64_, int64_t, letter_, routine_) \
    define_(scipy_cblas_##word_, scipy_##word_##_, int32_t, letter_, routine_) \
    define_(scipy_cblas_##word_##64_, scipy_##word_##_64_, int64_t, letter_, routine_)
#endif
#endif

#define NAMES(f_, c_, word_, letter_, routine_) \
    F_NAMES(f_, word_, letter_, routine_) \
    C_NAMES(c_, word_, letter_, routine_)

NAMES(F_GEMM, C_SGEMM, sgemm, TAKT_S, TAKT_GEMM)
NAMES(F_GEMM, C_DGEMM, dgemm, TAKT_D, TAKT_GEMM)
NAMES(F_GEMM, C_ZGEMM, cgemm, TAKT_C, TAKT_GEMM)
NAMES(F_GEMM, C_ZGEMM, zgemm, TAKT_Z, TAKT_GEMM)
NAMES(F_SYMM, C_SSYMM, ssymm, TAKT_S, TAKT_SYMM)
NAMES(F_SYMM, C_DSYMM, dsymm, TAKT_D, TAKT_SYMM)
NAMES(F_SYMM, C_ZSYMM, csymm, TAKT_C, TAKT_SYMM)
NAMES(F_SYMM, C_ZSYMM, zsymm, TAKT_Z, TAKT_SYMM)
NAMES(F_SYRK, C_SSYRK, ssyrk, TAKT_S, TAKT_SYRK)
NAMES(F_SYRK, C_DSYRK, dsyrk, TAKT_D, TAKT_SYRK)
NAMES(F_SYRK, C_ZSYRK, csyrk, TAKT_C, TAKT_SYRK)
NAMES(F_SYRK, C_ZSYRK, zsyrk, TAKT_Z, TAKT_SYRK)
NAMES(F_SYR2K, C_SSYR2K, ssyr2k, TAKT_S, TAKT_SYR2K)
NAMES(F_SYR2K, C_DSYR2K, dsyr2k, TAKT_D, TAKT_SYR2K)
NAMES(F_SYR2K, C_ZSYR2K, csyr2k, TAKT_C, TAKT_SYR2K)
NAMES(F_SYR2K, C_ZSYR2K, zsyr2k, TAKT_Z, TAKT_SYR2K)
NAMES(F_TRSM, C_STRSM, strmm, TAKT_S, TAKT_TRMM)
NAMES(F_TRSM, C_DTRSM, dtrmm, TAKT_D, TAKT_TRMM)
NAMES(F_TRSM, C_ZTRSM, ctrmm, TAKT_C, TAKT_TRMM)
NAMES(F_TRSM, C_ZTRSM, ztrmm, TAKT_Z, TAKT_TRMM)
NAMES(F_TRSM, C_STRSM, strsm, TAKT_S, TAKT_TRSM)
NAMES(F_TRSM, C_DTRSM, dtrsm, TAKT_D, TAKT_TRSM)
NAMES(F_TRSM, C_ZTRSM, ctrsm, TAKT_C, TAKT_TRSM)
NAMES(F_TRSM, C_ZTRSM, ztrsm, TAKT_Z, TAKT_TRSM)
NAMES(F_GEMV, C_SGEMV, sgemv, TAKT_S, TAKT_GEMV)
NAMES(F_GEMV, C_DGEMV, dgemv, TAKT_D, TAKT_GEMV)
NAMES(F_GER, C_SGER, sger, TAKT_S, TAKT_GER)
NAMES(F_GER, C_DGER, dger, TAKT_D, TAKT_GER)
NAMES(F_AXPY, C_SAXPY, saxpy, TAKT_S, TAKT_AXPY)
NAMES(F_AXPY, C_DAXPY, daxpy, TAKT_D, TAKT_AXPY)
NAMES(F_SDOT, C_SDOT, sdot, TAKT_S, TAKT_DOT)
NAMES(F_DDOT, C_DDOT, ddot, TAKT_D, TAKT_DOT)
NAMES(F_SCAL, C_SSCAL, sscal, TAKT_S, TAKT_SCAL)
NAMES(F_SCAL, C_DSCAL, dscal, TAKT_D, TAKT_SCAL)
NAMES(F_SNORM, C_SNORM, snrm2, TAKT_S, TAKT_NRM2)
NAMES(F_DNORM, C_DNORM, dnrm2, TAKT_D, TAKT_NRM2)
NAMES(F_SNORM, C_SNORM, sasum, TAKT_S, TAKT_ASUM)
NAMES(F_DNORM, C_DNORM, dasum, TAKT_D, TAKT_ASUM)
NAMES(F_IAMAX, C_IAMAX, isamax, TAKT_S, TAKT_IAMAX)
NAMES(F_IAMAX, C_IAMAX, idamax, TAKT_D, TAKT_IAMAX)
/* clang-format on */
