/* SPDX-License-Identifier: MIT */
/*
 * entries_gemm.c - ordinary products.
 *
 * Each name only hands its arguments to the one function that is for all
 * names of that form. Fortran passes everything by address, so one form serves
 * all types; C passes real factors by value. Complex products are only counted.
 */
#include "entries.h"

typedef const void *pointer;

/* ---- gemm ------------------------------------------------------------------
 */

typedef void fortran_gemm(pointer, pointer, pointer, pointer, pointer, pointer,
                          pointer, pointer, pointer, pointer, pointer, void *,
                          pointer, size_t, size_t);
typedef void cblas_sgemm_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              int64_t, float, pointer, int64_t, pointer,
                              int64_t, float, void *, int64_t);
typedef void cblas_dgemm_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              int64_t, double, pointer, int64_t, pointer,
                              int64_t, double, void *, int64_t);
typedef void cblas_zgemm_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              int64_t, pointer, pointer, int64_t, pointer,
                              int64_t, pointer, void *, int64_t);

/* By columns, the operands have changed sides. */
static bool intercept_gemm(struct takt_intercept *intercept,
                           const struct takt_gemm_words *words, double alpha,
                           pointer a, pointer b, double beta, void *c)
{
    struct takt_product product = {.is_double = intercept->type == TAKT_D,
                                   .alpha = alpha,
                                   .beta = beta,
                                   .a = words->is_by_rows ? a : b,
                                   .b = words->is_by_rows ? b : a,
                                   .c = c};

    intercept->why = TAKT_WHY_WRONG;
    if (!takt__read_gemm(words, &product))
        return false;
    intercept->why = TAKT_WHY_FORM;
    return alpha != 0 && takt__intercept_product(intercept, &product);
}

TAKT_INLINE void gemm_by_address(const struct takt_target *target,
                                 enum takt_blas_type type, pointer ta,
                                 pointer tb, pointer m, pointer n, pointer k,
                                 pointer alpha, pointer a, pointer lda,
                                 pointer b, pointer ldb, pointer beta, void *c,
                                 pointer ldc)
{
    fortran_gemm *gemm = (fortran_gemm *)target->function;
    const int64_t m_ = takt__by_address(target, m);
    const int64_t n_ = takt__by_address(target, n);
    const int64_t k_ = takt__by_address(target, k);
    const double work = takt__product(m_, n_, k_);

    if (takt__is_trivial(work, TAKT_LEAST_PRODUCT)) {
        gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 1, 1);
        return;
    }
    struct takt_intercept intercept =
        takt__intercept_of(target, TAKT_GEMM, type, work);
    const struct takt_gemm_words words = {.transa = takt__transpose_of(ta),
                                          .transb = takt__transpose_of(tb),
                                          .m = m_,
                                          .n = n_,
                                          .k = k_,
                                          .lda = takt__by_address(target, lda),
                                          .ldb = takt__by_address(target, ldb),
                                          .ldc = takt__by_address(target, ldc)};
    if (type <= TAKT_D &&
        intercept_gemm(&intercept, &words, takt__factor(type, alpha), a, b,
                       takt__factor(type, beta), c))
        return;
    takt__pass_begin(&intercept);
    gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 1, 1);
    takt__pass_end(&intercept);
}

TAKT_INLINE struct takt_gemm_words gemm_words(const struct takt_target *target,
                                              int64_t order, int64_t ta,
                                              int64_t tb, int64_t m, int64_t n,
                                              int64_t k, int64_t lda,
                                              int64_t ldb, int64_t ldc)
{
    const bool is_order = takt__is_order(order);

    return (struct takt_gemm_words){
        .is_by_rows = (int32_t)order == TAKT_BY_ROWS,
        .transa = is_order ? takt__cblas_trans(ta) : 0,
        .transb = is_order ? takt__cblas_trans(tb) : 0,
        .m = takt__by_value(target, m),
        .n = takt__by_value(target, n),
        .k = takt__by_value(target, k),
        .lda = takt__by_value(target, lda),
        .ldb = takt__by_value(target, ldb),
        .ldc = takt__by_value(target, ldc)};
}

TAKT_INLINE void gemm_by_value(const struct takt_target *target,
                               enum takt_blas_type type, int64_t order,
                               int64_t ta, int64_t tb, int64_t m, int64_t n,
                               int64_t k, double alpha, pointer a, int64_t lda,
                               pointer b, int64_t ldb, double beta, void *c,
                               int64_t ldc)
{
    const double work =
        takt__product(takt__by_value(target, m), takt__by_value(target, n),
                      takt__by_value(target, k));
    const bool is_trivial = takt__is_trivial(work, TAKT_LEAST_PRODUCT);
    struct takt_intercept intercept;

    if (!is_trivial) {
        const struct takt_gemm_words words =
            gemm_words(target, order, ta, tb, m, n, k, lda, ldb, ldc);
        intercept = takt__intercept_of(target, TAKT_GEMM, type, work);
        if (intercept_gemm(&intercept, &words, alpha, a, b, beta, c))
            return;
        takt__pass_begin(&intercept);
    }
    if (type == TAKT_S)
        ((cblas_sgemm_type *)target->function)(order, ta, tb, m, n, k,
                                               (float)alpha, a, lda, b, ldb,
                                               (float)beta, c, ldc);
    else
        ((cblas_dgemm_type *)target->function)(order, ta, tb, m, n, k, alpha, a,
                                               lda, b, ldb, beta, c, ldc);
    if (!is_trivial)
        takt__pass_end(&intercept);
}

/* The complex ones have their factors by address in C too. */
TAKT_INLINE void gemm_complex(const struct takt_target *target,
                              enum takt_blas_type type, int64_t order,
                              int64_t ta, int64_t tb, int64_t m, int64_t n,
                              int64_t k, pointer alpha, pointer a, int64_t lda,
                              pointer b, int64_t ldb, pointer beta, void *c,
                              int64_t ldc)
{
    struct takt_intercept intercept = takt__intercept_of(
        target, TAKT_GEMM, type,
        takt__product(takt__by_value(target, m), takt__by_value(target, n),
                      takt__by_value(target, k)));

    takt__pass_begin(&intercept);
    ((cblas_zgemm_type *)target->function)(order, ta, tb, m, n, k, alpha, a,
                                           lda, b, ldb, beta, c, ldc);
    takt__pass_end(&intercept);
}

#define FORTRAN_GEMM(name_, dialect_, letter_, word_)                         \
    TAKT_ENTRY void name_(pointer, pointer, pointer, pointer, pointer,        \
                          pointer, pointer, pointer, pointer, pointer,        \
                          pointer, void *, pointer);                          \
    void name_(pointer ta, pointer tb, pointer m, pointer n, pointer k,       \
               pointer alpha, pointer a, pointer lda, pointer b, pointer ldb, \
               pointer beta, void *c, pointer ldc)                            \
    {                                                                         \
        TAKT_SLOT(dialect_, word_);                                           \
        gemm_by_address(target, letter_, ta, tb, m, n, k, alpha, a, lda, b,   \
                        ldb, beta, c, ldc);                                   \
    }
#define CBLAS_GEMM(name_, dialect_, letter_, word_, type_, form_)             \
    TAKT_ENTRY void name_(int64_t, int64_t, int64_t, int64_t, int64_t,        \
                          int64_t, type_, pointer, int64_t, pointer, int64_t, \
                          type_, void *, int64_t);                            \
    void name_(int64_t order, int64_t ta, int64_t tb, int64_t m, int64_t n,   \
               int64_t k, type_ alpha, pointer a, int64_t lda, pointer b,     \
               int64_t ldb, type_ beta, void *c, int64_t ldc)                 \
    {                                                                         \
        TAKT_SLOT(dialect_, word_);                                           \
        form_(target, letter_, order, ta, tb, m, n, k, alpha, a, lda, b, ldb, \
              beta, c, ldc);                                                  \
    }
#define CBLAS_SGEMM(n_, d_, l_, w_) \
    CBLAS_GEMM(n_, d_, l_, w_, float, gemm_by_value)
#define CBLAS_DGEMM(n_, d_, l_, w_) \
    CBLAS_GEMM(n_, d_, l_, w_, double, gemm_by_value)
#define CBLAS_ZGEMM(n_, d_, l_, w_) \
    CBLAS_GEMM(n_, d_, l_, w_, pointer, gemm_complex)

TAKT_FORTRAN_NAMES(FORTRAN_GEMM, TAKT_S, sgemm)
TAKT_FORTRAN_NAMES(FORTRAN_GEMM, TAKT_D, dgemm)
TAKT_FORTRAN_NAMES(FORTRAN_GEMM, TAKT_C, cgemm)
TAKT_FORTRAN_NAMES(FORTRAN_GEMM, TAKT_Z, zgemm)
TAKT_CBLAS_NAMES(CBLAS_SGEMM, TAKT_S, sgemm)
TAKT_CBLAS_NAMES(CBLAS_DGEMM, TAKT_D, dgemm)
TAKT_CBLAS_NAMES(CBLAS_ZGEMM, TAKT_C, cgemm)
TAKT_CBLAS_NAMES(CBLAS_ZGEMM, TAKT_Z, zgemm)
