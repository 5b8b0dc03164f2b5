/* SPDX-License-Identifier: MIT */
/*
 * entries.h - the names under which a library is called, and how to read what
 * comes with them.
 *
 * One routine has many names: Fortran's and C's, each as it is, with integers
 * of 64 bits, and with the prefix that NumPy's and SciPy's wheels give their
 * own copy. Integers that C passes by value are taken as 64 bits, whatever they
 * are, and handed on as they came; how much of them counts is the library's to
 * say.
 */
#ifndef TAKT_DROPIN_ENTRIES_H
#define TAKT_DROPIN_ENTRIES_H

#include <limits.h>

#include "intercept.h"
#include "stats_write.h"

#define TAKT_ENTRY __attribute__((visibility("default")))

#define TAKT_CALLER __builtin_return_address(0)

/* So that each name becomes code of its own, with its type in it. */
#define TAKT_INLINE static inline __attribute__((always_inline))

extern const struct takt_naming takt__fortran, takt__fortran64,
    takt__fortran_scipy, takt__fortran_scipy64, takt__cblas, takt__cblas64,
    takt__cblas_64, takt__cblas_scipy, takt__cblas_scipy64;

/* define_(name, dialect, type, routine) for every name of a routine. */
#define TAKT_FORTRAN_NAMES(define_, letter_, word_)                          \
    define_(word_##_, takt__fortran, letter_, word_)                         \
        define_(word_##_64_, takt__fortran64, letter_, word_)                \
            define_(scipy_##word_##_, takt__fortran_scipy, letter_, word_)   \
                define_(scipy_##word_##_64_, takt__fortran_scipy64, letter_, \
                        word_)

#define TAKT_CBLAS_NAMES(define_, letter_, word_)                             \
    define_(cblas_##word_, takt__cblas, letter_,                              \
            word_) define_(cblas_##word_##64_, takt__cblas64, letter_, word_) \
        define_(cblas_##word_##_64, takt__cblas_64, letter_, word_)           \
            define_(scipy_cblas_##word_, takt__cblas_scipy, letter_, word_)   \
                define_(scipy_cblas_##word_##64_, takt__cblas_scipy64,        \
                        letter_, word_)

/* The slot of one name and what is below it, inside its entry. */
#define TAKT_SLOT(dialect_, word_)                           \
    static struct takt_entry slot = {.dialect = &(dialect_), \
                                     .routine = #word_};     \
    const struct takt_target *target = takt__entry_target(&slot, TAKT_CALLER)

/* An integer of C's. */
static inline int64_t takt__by_value(const struct takt_target *target,
                                     int64_t number)
{
    return target->is_wide ? number : (int32_t)number;
}

/* An integer of Fortran's. */
static inline int64_t takt__by_address(const struct takt_target *target,
                                       const void *number)
{
    return target->is_wide ? *(const int64_t *)number
                           : *(const int32_t *)number;
}

static inline struct takt_intercept
takt__intercept_of(const struct takt_target *target, enum takt_routine routine,
                   enum takt_blas_type type, double work)
{
    return (struct takt_intercept){
        .baseline = target->baseline,
        .is_nested =
            target->is_own && takt__is_inside(__builtin_frame_address(0)),
        .routine = routine,
        .type = type,
        .work = work,
        .why = type <= TAKT_D ? TAKT_WHY_FORM
               : work > 0     ? TAKT_WHY_ROUTINE
                              : TAKT_WHY_WRONG};
}

static inline double takt__product(int64_t m, int64_t n, int64_t k)
{
    return (double)m * (double)n * (double)k;
}

/* Whether a call is passed on without a thought. */
static inline bool takt__is_trivial(double work, double least)
{
    return !(work >= least) && takt__is_usual_mode();
}

/* ---- what the arguments mean -----------------------------------------------
 * False: the library complains, or has nothing to do. Whatever is by columns is
 * described by its transpose.
 */

/* CBLAS's numbers, and letters for the same. */
enum { TAKT_BY_ROWS = 101, TAKT_BY_COLUMNS = 102 };

static inline bool takt__is_order(int64_t order)
{
    return (int32_t)order == TAKT_BY_ROWS || (int32_t)order == TAKT_BY_COLUMNS;
}

/* A type of Fortran's, in capitals. */
static inline int takt__upper(const void *type)
{
    const char c = *(const char *)type;

    return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

/* 'N' or 'T'; of real numbers 'C' is the same. 0: none of them. */
static inline int takt__transpose_of(const void *type)
{
    const int c = takt__upper(type);

    return c == 'C' ? 'T' : c == 'N' || c == 'T' ? c : 0;
}

/* A real factor by its address. */
static inline double takt__factor(enum takt_blas_type type, const void *factor)
{
    return type == TAKT_D ? *(const double *)factor
                          : (double)*(const float *)factor;
}

struct takt_gemm_words {
    bool is_by_rows;
    int transa, transb;
    int64_t m, n, k, lda, ldb, ldc;
};
bool takt__read_gemm(const struct takt_gemm_words *words,
                     struct takt_product *out);

/* side, uplo, trans and diag as Fortran's letters; 0: not a value. Of symm,
 * syrk and syr2k those that the routine has. */
struct takt_triangular_words {
    enum takt_routine routine;
    bool is_by_rows;
    int side, uplo, trans, diag;
    int64_t m, n, k, lda, ldb, ldc;
};
bool takt__read_triangular(const struct takt_triangular_words *words,
                           struct takt_triangular *out);

/* The multiply-adds of it. */
double takt__triangular_work(const struct takt_triangular *call);

/* Routes a triangular call, of which only factors and matrices are set yet; or
 * intercept->why says why not. */
bool takt__enter_triangular(struct takt_intercept *intercept,
                            const struct takt_triangular_words *words,
                            struct takt_triangular *call);

/* Whether it is passed on without a thought. Which of its sizes is that of the
 * triangle is not known before the letters are read. */
static inline bool takt__is_short(int64_t size, int64_t other)
{
    return size < TAKT_LEAST_ORDER && other < TAKT_LEAST_ORDER &&
           takt__is_usual_mode();
}

/* Fortran's letters for CBLAS's numbers, of each kind; 0: not one of them. */
static inline int takt__cblas_trans(int64_t number)
{
    return (int32_t)number == 111                             ? 'N'
           : (int32_t)number == 112 || (int32_t)number == 113 ? 'T'
                                                              : 0;
}

static inline int takt__cblas_uplo(int64_t number)
{
    return (int32_t)number == 121 ? 'U' : (int32_t)number == 122 ? 'L' : 0;
}

static inline int takt__cblas_diag(int64_t number)
{
    return (int32_t)number == 131 ? 'N' : (int32_t)number == 132 ? 'U' : 0;
}

static inline int takt__cblas_side(int64_t number)
{
    return (int32_t)number == 141 ? 'L' : (int32_t)number == 142 ? 'R' : 0;
}

#endif
