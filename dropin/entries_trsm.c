/* SPDX-License-Identifier: MIT */
/* entries_trsm.c - syrk, trmm and trsm: a triangle and one other matrix. */
#include "entries.h"

typedef const void *pointer;

/* ---- syrk ------------------------------------------------------------------
 */

typedef void fortran_syrk(pointer, pointer, pointer, pointer, pointer, pointer,
                          pointer, pointer, void *, pointer, size_t, size_t);
typedef void cblas_ssyrk_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              float, pointer, int64_t, float, void *, int64_t);
typedef void cblas_dsyrk_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              double, pointer, int64_t, double, void *,
                              int64_t);
typedef void cblas_zsyrk_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              pointer, pointer, int64_t, pointer, void *,
                              int64_t);

TAKT_INLINE void syrk_by_address(const struct takt_target *target,
                                 enum takt_blas_type type, pointer uplo,
                                 pointer trans, pointer n, pointer k,
                                 pointer alpha, pointer a, pointer lda,
                                 pointer beta, void *c, pointer ldc)
{
    fortran_syrk *syrk = (fortran_syrk *)target->function;
    const int64_t n_ = takt__by_address(target, n);
    const int64_t k_ = takt__by_address(target, k);

    if (takt__is_short(n_, n_)) {
        syrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc, 1, 1);
        return;
    }
    struct takt_intercept intercept = takt__intercept_of(
        target, TAKT_SYRK, type, takt__product(n_, n_, k_) / 2);
    if (type <= TAKT_D) {
        const struct takt_triangular_words words = {
            .routine = TAKT_SYRK,
            .uplo = takt__upper(uplo),
            .trans = takt__transpose_of(trans),
            .n = n_,
            .k = k_,
            .lda = takt__by_address(target, lda),
            .ldc = takt__by_address(target, ldc)};
        struct takt_triangular call = {.alpha = takt__factor(type, alpha),
                                       .beta = takt__factor(type, beta),
                                       .a = a,
                                       .c = c};
        if (takt__enter_triangular(&intercept, &words, &call))
            return;
    }
    takt__pass_begin(&intercept);
    syrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc, 1, 1);
    takt__pass_end(&intercept);
}

TAKT_INLINE void syrk_by_value(const struct takt_target *target,
                               enum takt_blas_type type, int64_t order,
                               int64_t uplo, int64_t trans, int64_t n,
                               int64_t k, double alpha, pointer a, int64_t lda,
                               double beta, void *c, int64_t ldc)
{
    const int64_t n_ = takt__by_value(target, n),
                  k_ = takt__by_value(target, k);
    const bool is_trivial = takt__is_short(n_, n_);
    struct takt_intercept intercept;

    if (!is_trivial) {
        const struct takt_triangular_words words = {
            .routine = TAKT_SYRK,
            .is_by_rows = (int32_t)order == TAKT_BY_ROWS,
            .uplo = takt__is_order(order) ? takt__cblas_uplo(uplo) : 0,
            .trans = takt__cblas_trans(trans),
            .n = n_,
            .k = k_,
            .lda = takt__by_value(target, lda),
            .ldc = takt__by_value(target, ldc)};
        struct takt_triangular call = {
            .alpha = alpha, .beta = beta, .a = a, .c = c};
        intercept = takt__intercept_of(target, TAKT_SYRK, type,
                                       takt__product(n_, n_, k_) / 2);
        if (takt__enter_triangular(&intercept, &words, &call))
            return;
        takt__pass_begin(&intercept);
    }
    if (type == TAKT_S)
        ((cblas_ssyrk_type *)target->function)(order, uplo, trans, n, k,
                                               (float)alpha, a, lda,
                                               (float)beta, c, ldc);
    else
        ((cblas_dsyrk_type *)target->function)(order, uplo, trans, n, k, alpha,
                                               a, lda, beta, c, ldc);
    if (!is_trivial)
        takt__pass_end(&intercept);
}

TAKT_INLINE void syrk_complex(const struct takt_target *target,
                              enum takt_blas_type type, int64_t order,
                              int64_t uplo, int64_t trans, int64_t n, int64_t k,
                              pointer alpha, pointer a, int64_t lda,
                              pointer beta, void *c, int64_t ldc)
{
    const int64_t n_ = takt__by_value(target, n);
    struct takt_intercept intercept = takt__intercept_of(
        target, TAKT_SYRK, type,
        takt__product(n_, n_, takt__by_value(target, k)) / 2);

    takt__pass_begin(&intercept);
    ((cblas_zsyrk_type *)target->function)(order, uplo, trans, n, k, alpha, a,
                                           lda, beta, c, ldc);
    takt__pass_end(&intercept);
}

#define FORTRAN_SYRK(name_, dialect_, letter_, word_)                        \
    TAKT_ENTRY void name_(pointer, pointer, pointer, pointer, pointer,       \
                          pointer, pointer, pointer, void *, pointer);       \
    void name_(pointer uplo, pointer trans, pointer n, pointer k,            \
               pointer alpha, pointer a, pointer lda, pointer beta, void *c, \
               pointer ldc)                                                  \
    {                                                                        \
        TAKT_SLOT(dialect_, word_);                                          \
        syrk_by_address(target, letter_, uplo, trans, n, k, alpha, a, lda,   \
                        beta, c, ldc);                                       \
    }
#define CBLAS_SYRK(name_, dialect_, letter_, word_, type_, form_)             \
    TAKT_ENTRY void name_(int64_t, int64_t, int64_t, int64_t, int64_t, type_, \
                          pointer, int64_t, type_, void *, int64_t);          \
    void name_(int64_t order, int64_t uplo, int64_t trans, int64_t n,         \
               int64_t k, type_ alpha, pointer a, int64_t lda, type_ beta,    \
               void *c, int64_t ldc)                                          \
    {                                                                         \
        TAKT_SLOT(dialect_, word_);                                           \
        form_(target, letter_, order, uplo, trans, n, k, alpha, a, lda, beta, \
              c, ldc);                                                        \
    }
#define CBLAS_SSYRK(n_, d_, l_, w_) \
    CBLAS_SYRK(n_, d_, l_, w_, float, syrk_by_value)
#define CBLAS_DSYRK(n_, d_, l_, w_) \
    CBLAS_SYRK(n_, d_, l_, w_, double, syrk_by_value)
#define CBLAS_ZSYRK(n_, d_, l_, w_) \
    CBLAS_SYRK(n_, d_, l_, w_, pointer, syrk_complex)

TAKT_FORTRAN_NAMES(FORTRAN_SYRK, TAKT_S, ssyrk)
TAKT_FORTRAN_NAMES(FORTRAN_SYRK, TAKT_D, dsyrk)
TAKT_FORTRAN_NAMES(FORTRAN_SYRK, TAKT_C, csyrk)
TAKT_FORTRAN_NAMES(FORTRAN_SYRK, TAKT_Z, zsyrk)
TAKT_CBLAS_NAMES(CBLAS_SSYRK, TAKT_S, ssyrk)
TAKT_CBLAS_NAMES(CBLAS_DSYRK, TAKT_D, dsyrk)
TAKT_CBLAS_NAMES(CBLAS_ZSYRK, TAKT_C, csyrk)
TAKT_CBLAS_NAMES(CBLAS_ZSYRK, TAKT_Z, zsyrk)

/* ---- trmm and trsm ---------------------------------------------------------
 */

typedef void fortran_trsm(pointer, pointer, pointer, pointer, pointer, pointer,
                          pointer, pointer, pointer, void *, pointer, size_t,
                          size_t, size_t, size_t);
typedef void cblas_strsm_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              int64_t, int64_t, float, pointer, int64_t, void *,
                              int64_t);
typedef void cblas_dtrsm_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              int64_t, int64_t, double, pointer, int64_t,
                              void *, int64_t);
typedef void cblas_ztrsm_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              int64_t, int64_t, pointer, pointer, int64_t,
                              void *, int64_t);

TAKT_INLINE void trsm_by_address(const struct takt_target *target,
                                 enum takt_routine routine,
                                 enum takt_blas_type type, pointer side,
                                 pointer uplo, pointer trans, pointer diag,
                                 pointer m, pointer n, pointer alpha, pointer a,
                                 pointer lda, void *b, pointer ldb)
{
    fortran_trsm *trsm = (fortran_trsm *)target->function;
    const int64_t m_ = takt__by_address(target, m);
    const int64_t n_ = takt__by_address(target, n);

    if (takt__is_short(m_, n_)) {
        trsm(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, 1, 1, 1, 1);
        return;
    }
    struct takt_intercept intercept = takt__intercept_of(
        target, routine, type, takt__product(m_, n_, m_) / 2);
    if (type <= TAKT_D) {
        const struct takt_triangular_words words = {
            .routine = routine,
            .side = takt__upper(side),
            .uplo = takt__upper(uplo),
            .trans = takt__transpose_of(trans),
            .diag = takt__upper(diag),
            .m = m_,
            .n = n_,
            .lda = takt__by_address(target, lda),
            .ldc = takt__by_address(target, ldb)};
        struct takt_triangular call = {
            .alpha = takt__factor(type, alpha), .a = a, .c = b};
        if (takt__enter_triangular(&intercept, &words, &call))
            return;
    }
    takt__pass_begin(&intercept);
    trsm(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, 1, 1, 1, 1);
    takt__pass_end(&intercept);
}

TAKT_INLINE void trsm_by_value(const struct takt_target *target,
                               enum takt_routine routine,
                               enum takt_blas_type type, int64_t order,
                               int64_t side, int64_t uplo, int64_t trans,
                               int64_t diag, int64_t m, int64_t n, double alpha,
                               pointer a, int64_t lda, void *b, int64_t ldb)
{
    const int64_t m_ = takt__by_value(target, m),
                  n_ = takt__by_value(target, n);
    const bool is_trivial = takt__is_short(m_, n_);
    struct takt_intercept intercept;

    if (!is_trivial) {
        const struct takt_triangular_words words = {
            .routine = routine,
            .is_by_rows = (int32_t)order == TAKT_BY_ROWS,
            .side = takt__is_order(order) ? takt__cblas_side(side) : 0,
            .uplo = takt__cblas_uplo(uplo),
            .trans = takt__cblas_trans(trans),
            .diag = takt__cblas_diag(diag),
            .m = m_,
            .n = n_,
            .lda = takt__by_value(target, lda),
            .ldc = takt__by_value(target, ldb)};
        struct takt_triangular call = {.alpha = alpha, .a = a, .c = b};
        intercept = takt__intercept_of(target, routine, type,
                                       takt__product(m_, n_, m_) / 2);
        if (takt__enter_triangular(&intercept, &words, &call))
            return;
        takt__pass_begin(&intercept);
    }
    if (type == TAKT_S)
        ((cblas_strsm_type *)target->function)(
            order, side, uplo, trans, diag, m, n, (float)alpha, a, lda, b, ldb);
    else
        ((cblas_dtrsm_type *)target->function)(order, side, uplo, trans, diag,
                                               m, n, alpha, a, lda, b, ldb);
    if (!is_trivial)
        takt__pass_end(&intercept);
}

TAKT_INLINE void trsm_complex(const struct takt_target *target,
                              enum takt_routine routine,
                              enum takt_blas_type type, int64_t order,
                              int64_t side, int64_t uplo, int64_t trans,
                              int64_t diag, int64_t m, int64_t n, pointer alpha,
                              pointer a, int64_t lda, void *b, int64_t ldb)
{
    const int64_t m_ = takt__by_value(target, m);
    struct takt_intercept intercept = takt__intercept_of(
        target, routine, type,
        takt__product(m_, takt__by_value(target, n), m_) / 2);

    takt__pass_begin(&intercept);
    ((cblas_ztrsm_type *)target->function)(order, side, uplo, trans, diag, m, n,
                                           alpha, a, lda, b, ldb);
    takt__pass_end(&intercept);
}

#define FORTRAN_TRSM(name_, dialect_, letter_, word_, routine_)                \
    TAKT_ENTRY void name_(pointer, pointer, pointer, pointer, pointer,         \
                          pointer, pointer, pointer, pointer, void *,          \
                          pointer);                                            \
    void name_(pointer side, pointer uplo, pointer trans, pointer diag,        \
               pointer m, pointer n, pointer alpha, pointer a, pointer lda,    \
               void *b, pointer ldb)                                           \
    {                                                                          \
        TAKT_SLOT(dialect_, word_);                                            \
        trsm_by_address(target, routine_, letter_, side, uplo, trans, diag, m, \
                        n, alpha, a, lda, b, ldb);                             \
    }
#define CBLAS_TRSM(name_, dialect_, letter_, word_, routine_, type_, form_)    \
    TAKT_ENTRY void name_(int64_t, int64_t, int64_t, int64_t, int64_t,         \
                          int64_t, int64_t, type_, pointer, int64_t, void *,   \
                          int64_t);                                            \
    void name_(int64_t order, int64_t side, int64_t uplo, int64_t trans,       \
               int64_t diag, int64_t m, int64_t n, type_ alpha, pointer a,     \
               int64_t lda, void *b, int64_t ldb)                              \
    {                                                                          \
        TAKT_SLOT(dialect_, word_);                                            \
        form_(target, routine_, letter_, order, side, uplo, trans, diag, m, n, \
              alpha, a, lda, b, ldb);                                          \
    }
#define FORTRAN_TRMM(n_, d_, l_, w_) FORTRAN_TRSM(n_, d_, l_, w_, TAKT_TRMM)
#define FORTRAN_TRSM_(n_, d_, l_, w_) FORTRAN_TRSM(n_, d_, l_, w_, TAKT_TRSM)
#define CBLAS_STRMM(n_, d_, l_, w_) \
    CBLAS_TRSM(n_, d_, l_, w_, TAKT_TRMM, float, trsm_by_value)
#define CBLAS_DTRMM(n_, d_, l_, w_) \
    CBLAS_TRSM(n_, d_, l_, w_, TAKT_TRMM, double, trsm_by_value)
#define CBLAS_ZTRMM(n_, d_, l_, w_) \
    CBLAS_TRSM(n_, d_, l_, w_, TAKT_TRMM, pointer, trsm_complex)
#define CBLAS_STRSM(n_, d_, l_, w_) \
    CBLAS_TRSM(n_, d_, l_, w_, TAKT_TRSM, float, trsm_by_value)
#define CBLAS_DTRSM(n_, d_, l_, w_) \
    CBLAS_TRSM(n_, d_, l_, w_, TAKT_TRSM, double, trsm_by_value)
#define CBLAS_ZTRSM(n_, d_, l_, w_) \
    CBLAS_TRSM(n_, d_, l_, w_, TAKT_TRSM, pointer, trsm_complex)

TAKT_FORTRAN_NAMES(FORTRAN_TRMM, TAKT_S, strmm)
TAKT_FORTRAN_NAMES(FORTRAN_TRMM, TAKT_D, dtrmm)
TAKT_FORTRAN_NAMES(FORTRAN_TRMM, TAKT_C, ctrmm)
TAKT_FORTRAN_NAMES(FORTRAN_TRMM, TAKT_Z, ztrmm)
TAKT_CBLAS_NAMES(CBLAS_STRMM, TAKT_S, strmm)
TAKT_CBLAS_NAMES(CBLAS_DTRMM, TAKT_D, dtrmm)
TAKT_CBLAS_NAMES(CBLAS_ZTRMM, TAKT_C, ctrmm)
TAKT_CBLAS_NAMES(CBLAS_ZTRMM, TAKT_Z, ztrmm)
TAKT_FORTRAN_NAMES(FORTRAN_TRSM_, TAKT_S, strsm)
TAKT_FORTRAN_NAMES(FORTRAN_TRSM_, TAKT_D, dtrsm)
TAKT_FORTRAN_NAMES(FORTRAN_TRSM_, TAKT_C, ctrsm)
TAKT_FORTRAN_NAMES(FORTRAN_TRSM_, TAKT_Z, ztrsm)
TAKT_CBLAS_NAMES(CBLAS_STRSM, TAKT_S, strsm)
TAKT_CBLAS_NAMES(CBLAS_DTRSM, TAKT_D, dtrsm)
TAKT_CBLAS_NAMES(CBLAS_ZTRSM, TAKT_C, ctrsm)
TAKT_CBLAS_NAMES(CBLAS_ZTRSM, TAKT_Z, ztrsm)
