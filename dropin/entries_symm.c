/* SPDX-License-Identifier: MIT */
/* entries_symm.c - symm and syr2k: a triangle and two other matrices. */
#include "entries.h"

typedef const void *pointer;

/* Two letters, two sizes, three matrices: of symm side and uplo, m and n; of
 * syr2k uplo and trans, n and k.
 */

typedef void fortran_symm(pointer, pointer, pointer, pointer, pointer, pointer,
                          pointer, pointer, pointer, pointer, void *, pointer,
                          size_t, size_t);
typedef void cblas_ssymm_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              float, pointer, int64_t, pointer, int64_t, float,
                              void *, int64_t);
typedef void cblas_dsymm_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              double, pointer, int64_t, pointer, int64_t,
                              double, void *, int64_t);
typedef void cblas_zsymm_type(int64_t, int64_t, int64_t, int64_t, int64_t,
                              pointer, pointer, int64_t, pointer, int64_t,
                              pointer, void *, int64_t);

TAKT_INLINE struct takt_triangular_words
symm_words(enum takt_routine routine, bool is_by_rows, int first, int second,
           int64_t size, int64_t other, int64_t lda, int64_t ldb, int64_t ldc)
{
    const bool is_symm = routine == TAKT_SYMM;

    return (struct takt_triangular_words){.routine = routine,
                                          .is_by_rows = is_by_rows,
                                          .side = is_symm ? first : 'L',
                                          .uplo = is_symm ? second : first,
                                          .trans = is_symm ? 'N' : second,
                                          .m = is_symm ? size : 0,
                                          .n = is_symm ? other : size,
                                          .k = is_symm ? 0 : other,
                                          .lda = lda,
                                          .ldb = ldb,
                                          .ldc = ldc};
}

TAKT_INLINE void symm_by_address(const struct takt_target *target,
                                 enum takt_routine routine,
                                 enum takt_blas_type type, pointer first,
                                 pointer second, pointer size, pointer other,
                                 pointer alpha, pointer a, pointer lda,
                                 pointer b, pointer ldb, pointer beta, void *c,
                                 pointer ldc)
{
    fortran_symm *symm = (fortran_symm *)target->function;
    const int64_t size_ = takt__by_address(target, size);
    const int64_t other_ = takt__by_address(target, other);

    if (takt__is_short(size_, other_)) {
        symm(first, second, size, other, alpha, a, lda, b, ldb, beta, c, ldc, 1,
             1);
        return;
    }
    struct takt_intercept intercept = takt__intercept_of(
        target, routine, type, takt__product(size_, size_, other_));
    const struct takt_triangular_words words = symm_words(
        routine, false, takt__upper(first),
        routine == TAKT_SYMM ? takt__upper(second) : takt__transpose_of(second),
        size_, other_, takt__by_address(target, lda),
        takt__by_address(target, ldb), takt__by_address(target, ldc));
    if (type <= TAKT_D) {
        struct takt_triangular call = {.alpha = takt__factor(type, alpha),
                                       .beta = takt__factor(type, beta),
                                       .a = a,
                                       .b = b,
                                       .c = c};
        if (takt__enter_triangular(&intercept, &words, &call))
            return;
    }
    takt__pass_begin(&intercept);
    symm(first, second, size, other, alpha, a, lda, b, ldb, beta, c, ldc, 1, 1);
    takt__pass_end(&intercept);
}

TAKT_INLINE void symm_by_value(const struct takt_target *target,
                               enum takt_routine routine,
                               enum takt_blas_type type, int64_t order,
                               int64_t first, int64_t second, int64_t size,
                               int64_t other, double alpha, pointer a,
                               int64_t lda, pointer b, int64_t ldb, double beta,
                               void *c, int64_t ldc)
{
    const int64_t size_ = takt__by_value(target, size);
    const int64_t other_ = takt__by_value(target, other);
    const bool is_trivial = takt__is_short(size_, other_);
    struct takt_intercept intercept;

    if (!is_trivial) {
        const struct takt_triangular_words words = symm_words(
            routine, (int32_t)order == TAKT_BY_ROWS,
            !takt__is_order(order) ? 0
            : routine == TAKT_SYMM ? takt__cblas_side(first)
                                   : takt__cblas_uplo(first),
            routine == TAKT_SYMM ? takt__cblas_uplo(second)
                                 : takt__cblas_trans(second),
            size_, other_, takt__by_value(target, lda),
            takt__by_value(target, ldb), takt__by_value(target, ldc));
        struct takt_triangular call = {
            .alpha = alpha, .beta = beta, .a = a, .b = b, .c = c};
        intercept = takt__intercept_of(target, routine, type,
                                       takt__product(size_, size_, other_));
        if (takt__enter_triangular(&intercept, &words, &call))
            return;
        takt__pass_begin(&intercept);
    }
    if (type == TAKT_S)
        ((cblas_ssymm_type *)target->function)(order, first, second, size,
                                               other, (float)alpha, a, lda, b,
                                               ldb, (float)beta, c, ldc);
    else
        ((cblas_dsymm_type *)target->function)(order, first, second, size,
                                               other, alpha, a, lda, b, ldb,
                                               beta, c, ldc);
    if (!is_trivial)
        takt__pass_end(&intercept);
}

TAKT_INLINE void symm_complex(const struct takt_target *target,
                              enum takt_routine routine,
                              enum takt_blas_type type, int64_t order,
                              int64_t first, int64_t second, int64_t size,
                              int64_t other, pointer alpha, pointer a,
                              int64_t lda, pointer b, int64_t ldb, pointer beta,
                              void *c, int64_t ldc)
{
    const int64_t size_ = takt__by_value(target, size);
    struct takt_intercept intercept = takt__intercept_of(
        target, routine, type,
        takt__product(size_, size_, takt__by_value(target, other)));

    takt__pass_begin(&intercept);
    ((cblas_zsymm_type *)target->function)(order, first, second, size, other,
                                           alpha, a, lda, b, ldb, beta, c, ldc);
    takt__pass_end(&intercept);
}

#define FORTRAN_SYMM(name_, dialect_, letter_, word_, routine_)                \
    TAKT_ENTRY void name_(pointer, pointer, pointer, pointer, pointer,         \
                          pointer, pointer, pointer, pointer, pointer, void *, \
                          pointer);                                            \
    void name_(pointer first, pointer second, pointer size, pointer other,     \
               pointer alpha, pointer a, pointer lda, pointer b, pointer ldb,  \
               pointer beta, void *c, pointer ldc)                             \
    {                                                                          \
        TAKT_SLOT(dialect_, word_);                                            \
        symm_by_address(target, routine_, letter_, first, second, size, other, \
                        alpha, a, lda, b, ldb, beta, c, ldc);                  \
    }
#define CBLAS_SYMM(name_, dialect_, letter_, word_, routine_, type_, form_)   \
    TAKT_ENTRY void name_(int64_t, int64_t, int64_t, int64_t, int64_t, type_, \
                          pointer, int64_t, pointer, int64_t, type_, void *,  \
                          int64_t);                                           \
    void name_(int64_t order, int64_t first, int64_t second, int64_t size,    \
               int64_t other, type_ alpha, pointer a, int64_t lda, pointer b, \
               int64_t ldb, type_ beta, void *c, int64_t ldc)                 \
    {                                                                         \
        TAKT_SLOT(dialect_, word_);                                           \
        form_(target, routine_, letter_, order, first, second, size, other,   \
              alpha, a, lda, b, ldb, beta, c, ldc);                           \
    }
#define FORTRAN_SYMM_(n_, d_, l_, w_) FORTRAN_SYMM(n_, d_, l_, w_, TAKT_SYMM)
#define FORTRAN_SYR2K(n_, d_, l_, w_) FORTRAN_SYMM(n_, d_, l_, w_, TAKT_SYR2K)
#define CBLAS_SSYMM(n_, d_, l_, w_) \
    CBLAS_SYMM(n_, d_, l_, w_, TAKT_SYMM, float, symm_by_value)
#define CBLAS_DSYMM(n_, d_, l_, w_) \
    CBLAS_SYMM(n_, d_, l_, w_, TAKT_SYMM, double, symm_by_value)
#define CBLAS_ZSYMM(n_, d_, l_, w_) \
    CBLAS_SYMM(n_, d_, l_, w_, TAKT_SYMM, pointer, symm_complex)
#define CBLAS_SSYR2K(n_, d_, l_, w_) \
    CBLAS_SYMM(n_, d_, l_, w_, TAKT_SYR2K, float, symm_by_value)
#define CBLAS_DSYR2K(n_, d_, l_, w_) \
    CBLAS_SYMM(n_, d_, l_, w_, TAKT_SYR2K, double, symm_by_value)
#define CBLAS_ZSYR2K(n_, d_, l_, w_) \
    CBLAS_SYMM(n_, d_, l_, w_, TAKT_SYR2K, pointer, symm_complex)

TAKT_FORTRAN_NAMES(FORTRAN_SYMM_, TAKT_S, ssymm)
TAKT_FORTRAN_NAMES(FORTRAN_SYMM_, TAKT_D, dsymm)
TAKT_FORTRAN_NAMES(FORTRAN_SYMM_, TAKT_C, csymm)
TAKT_FORTRAN_NAMES(FORTRAN_SYMM_, TAKT_Z, zsymm)
TAKT_CBLAS_NAMES(CBLAS_SSYMM, TAKT_S, ssymm)
TAKT_CBLAS_NAMES(CBLAS_DSYMM, TAKT_D, dsymm)
TAKT_CBLAS_NAMES(CBLAS_ZSYMM, TAKT_C, csymm)
TAKT_CBLAS_NAMES(CBLAS_ZSYMM, TAKT_Z, zsymm)
TAKT_FORTRAN_NAMES(FORTRAN_SYR2K, TAKT_S, ssyr2k)
TAKT_FORTRAN_NAMES(FORTRAN_SYR2K, TAKT_D, dsyr2k)
TAKT_FORTRAN_NAMES(FORTRAN_SYR2K, TAKT_C, csyr2k)
TAKT_FORTRAN_NAMES(FORTRAN_SYR2K, TAKT_Z, zsyr2k)
TAKT_CBLAS_NAMES(CBLAS_SSYR2K, TAKT_S, ssyr2k)
TAKT_CBLAS_NAMES(CBLAS_DSYR2K, TAKT_D, dsyr2k)
TAKT_CBLAS_NAMES(CBLAS_ZSYR2K, TAKT_C, csyr2k)
TAKT_CBLAS_NAMES(CBLAS_ZSYR2K, TAKT_Z, zsyr2k)
