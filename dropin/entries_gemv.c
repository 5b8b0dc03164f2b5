/* SPDX-License-Identifier: MIT */
/*
 * entries_gemv.c - gemv and ger: a matrix and vectors.
 *
 * Elements that are not side by side are left to the library, as is ger, for
 * which Takt has nothing better: it is counted.
 */
#include "entries.h"

typedef const void *pointer;

/* ---- gemv ------------------------------------------------------------------
 */

typedef void fortran_gemv(pointer, pointer, pointer, pointer, pointer, pointer,
                          pointer, pointer, pointer, void *, pointer, size_t);
typedef void cblas_sgemv_type(int64_t, int64_t, int64_t, int64_t, float,
                              pointer, int64_t, pointer, int64_t, float, void *,
                              int64_t);
typedef void cblas_dgemv_type(int64_t, int64_t, int64_t, int64_t, double,
                              pointer, int64_t, pointer, int64_t, double,
                              void *, int64_t);

/* The words of a gemv; trans 0: wrong. */
struct gemv_words {
    bool is_by_rows;
    int trans;
    int64_t m, n, lda, incx, incy;
};

static bool intercept_gemv(struct takt_intercept *intercept,
                           const struct gemv_words *w, double alpha, pointer a,
                           pointer x, double beta, void *y)
{
    intercept->why = TAKT_WHY_WRONG;
    if (w->trans == 0 || w->m <= 0 || w->n <= 0 ||
        w->lda < (w->is_by_rows ? w->n : w->m) || w->incx == 0 || w->incy == 0)
        return false;
    intercept->why = TAKT_WHY_FORM;
    return alpha != 0 && w->incx == 1 && w->incy == 1 &&
           takt__intercept_matvec(
               intercept,
               &(struct takt_matvec){.m = (size_t)(w->is_by_rows ? w->m : w->n),
                                     .n = (size_t)(w->is_by_rows ? w->n : w->m),
                                     .is_transposed =
                                         (w->trans == 'T') == w->is_by_rows,
                                     .alpha = alpha,
                                     .beta = beta,
                                     .a = a,
                                     .x = x,
                                     .y = y,
                                     .lda = (size_t)w->lda});
}

TAKT_INLINE void gemv_by_address(const struct takt_target *target,
                                 enum takt_blas_type type, pointer trans,
                                 pointer m, pointer n, pointer alpha, pointer a,
                                 pointer lda, pointer x, pointer incx,
                                 pointer beta, void *y, pointer incy)
{
    fortran_gemv *gemv = (fortran_gemv *)target->function;
    const int64_t m_ = takt__by_address(target, m);
    const int64_t n_ = takt__by_address(target, n);
    const double work = (double)m_ * (double)n_;

    if (takt__is_trivial(work, TAKT_LEAST_MATVEC)) {
        gemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy, 1);
        return;
    }
    struct takt_intercept intercept =
        takt__intercept_of(target, TAKT_GEMV, type, work);
    const struct gemv_words words = {.trans = takt__transpose_of(trans),
                                     .m = m_,
                                     .n = n_,
                                     .lda = takt__by_address(target, lda),
                                     .incx = takt__by_address(target, incx),
                                     .incy = takt__by_address(target, incy)};
    if (intercept_gemv(&intercept, &words, takt__factor(type, alpha), a, x,
                       takt__factor(type, beta), y))
        return;
    takt__pass_begin(&intercept);
    gemv(trans, m, n, alpha, a, lda, x, incx, beta, y, incy, 1);
    takt__pass_end(&intercept);
}

TAKT_INLINE void gemv_by_value(const struct takt_target *target,
                               enum takt_blas_type type, int64_t order,
                               int64_t trans, int64_t m, int64_t n,
                               double alpha, pointer a, int64_t lda, pointer x,
                               int64_t incx, double beta, void *y, int64_t incy)
{
    const int64_t m_ = takt__by_value(target, m),
                  n_ = takt__by_value(target, n);
    const double work = (double)m_ * (double)n_;
    const bool is_trivial = takt__is_trivial(work, TAKT_LEAST_MATVEC);
    struct takt_intercept intercept;

    if (!is_trivial) {
        const struct gemv_words words = {
            .is_by_rows = (int32_t)order == TAKT_BY_ROWS,
            .trans = takt__is_order(order) ? takt__cblas_trans(trans) : 0,
            .m = m_,
            .n = n_,
            .lda = takt__by_value(target, lda),
            .incx = takt__by_value(target, incx),
            .incy = takt__by_value(target, incy)};
        intercept = takt__intercept_of(target, TAKT_GEMV, type, work);
        if (intercept_gemv(&intercept, &words, alpha, a, x, beta, y))
            return;
        takt__pass_begin(&intercept);
    }
    if (type == TAKT_S)
        ((cblas_sgemv_type *)target->function)(order, trans, m, n, (float)alpha,
                                               a, lda, x, incx, (float)beta, y,
                                               incy);
    else
        ((cblas_dgemv_type *)target->function)(order, trans, m, n, alpha, a,
                                               lda, x, incx, beta, y, incy);
    if (!is_trivial)
        takt__pass_end(&intercept);
}

#define FORTRAN_GEMV(name_, dialect_, letter_, word_)                         \
    TAKT_ENTRY void name_(pointer, pointer, pointer, pointer, pointer,        \
                          pointer, pointer, pointer, pointer, void *,         \
                          pointer);                                           \
    void name_(pointer trans, pointer m, pointer n, pointer alpha, pointer a, \
               pointer lda, pointer x, pointer incx, pointer beta, void *y,   \
               pointer incy)                                                  \
    {                                                                         \
        TAKT_SLOT(dialect_, word_);                                           \
        gemv_by_address(target, letter_, trans, m, n, alpha, a, lda, x, incx, \
                        beta, y, incy);                                       \
    }
#define CBLAS_GEMV(name_, dialect_, letter_, word_, type_)                    \
    TAKT_ENTRY void name_(int64_t, int64_t, int64_t, int64_t, type_, pointer, \
                          int64_t, pointer, int64_t, type_, void *, int64_t); \
    void name_(int64_t order, int64_t trans, int64_t m, int64_t n,            \
               type_ alpha, pointer a, int64_t lda, pointer x, int64_t incx,  \
               type_ beta, void *y, int64_t incy)                             \
    {                                                                         \
        TAKT_SLOT(dialect_, word_);                                           \
        gemv_by_value(target, letter_, order, trans, m, n, alpha, a, lda, x,  \
                      incx, beta, y, incy);                                   \
    }
#define CBLAS_SGEMV(n_, d_, l_, w_) CBLAS_GEMV(n_, d_, l_, w_, float)
#define CBLAS_DGEMV(n_, d_, l_, w_) CBLAS_GEMV(n_, d_, l_, w_, double)

TAKT_FORTRAN_NAMES(FORTRAN_GEMV, TAKT_S, sgemv)
TAKT_FORTRAN_NAMES(FORTRAN_GEMV, TAKT_D, dgemv)
TAKT_CBLAS_NAMES(CBLAS_SGEMV, TAKT_S, sgemv)
TAKT_CBLAS_NAMES(CBLAS_DGEMV, TAKT_D, dgemv)

/* ---- ger -------------------------------------------------------------------
 */

typedef void fortran_ger(pointer, pointer, pointer, pointer, pointer, pointer,
                         pointer, void *, pointer);
typedef void cblas_sger_type(int64_t, int64_t, int64_t, float, pointer, int64_t,
                             pointer, int64_t, void *, int64_t);
typedef void cblas_dger_type(int64_t, int64_t, int64_t, double, pointer,
                             int64_t, pointer, int64_t, void *, int64_t);

/* A call that is only counted. */
static struct takt_intercept counted(const struct takt_target *target,
                                     enum takt_routine routine,
                                     enum takt_blas_type type, double work)
{
    struct takt_intercept intercept =
        takt__intercept_of(target, routine, type, work);

    intercept.why = work > 0 ? TAKT_WHY_ROUTINE : TAKT_WHY_WRONG;
    return intercept;
}

TAKT_INLINE void ger_by_address(const struct takt_target *target,
                                enum takt_blas_type type, pointer m, pointer n,
                                pointer alpha, pointer x, pointer incx,
                                pointer y, pointer incy, void *a, pointer lda)
{
    fortran_ger *ger = (fortran_ger *)target->function;

    if (!takt__has_stats()) {
        ger(m, n, alpha, x, incx, y, incy, a, lda);
        return;
    }
    struct takt_intercept intercept =
        counted(target, TAKT_GER, type,
                (double)takt__by_address(target, m) *
                    (double)takt__by_address(target, n));
    takt__pass_begin(&intercept);
    ger(m, n, alpha, x, incx, y, incy, a, lda);
    takt__pass_end(&intercept);
}

TAKT_INLINE void ger_by_value(const struct takt_target *target,
                              enum takt_blas_type type, int64_t order,
                              int64_t m, int64_t n, double alpha, pointer x,
                              int64_t incx, pointer y, int64_t incy, void *a,
                              int64_t lda)
{
    const bool is_trivial = !takt__has_stats();
    struct takt_intercept intercept;

    if (!is_trivial) {
        intercept = counted(target, TAKT_GER, type,
                            (double)takt__by_value(target, m) *
                                (double)takt__by_value(target, n));
        takt__pass_begin(&intercept);
    }
    if (type == TAKT_S)
        ((cblas_sger_type *)target->function)(order, m, n, (float)alpha, x,
                                              incx, y, incy, a, lda);
    else
        ((cblas_dger_type *)target->function)(order, m, n, alpha, x, incx, y,
                                              incy, a, lda);
    if (!is_trivial)
        takt__pass_end(&intercept);
}

#define FORTRAN_GER(name_, dialect_, letter_, word_)                         \
    TAKT_ENTRY void name_(pointer, pointer, pointer, pointer, pointer,       \
                          pointer, pointer, void *, pointer);                \
    void name_(pointer m, pointer n, pointer alpha, pointer x, pointer incx, \
               pointer y, pointer incy, void *a, pointer lda)                \
    {                                                                        \
        TAKT_SLOT(dialect_, word_);                                          \
        ger_by_address(target, letter_, m, n, alpha, x, incx, y, incy, a,    \
                       lda);                                                 \
    }
#define CBLAS_GER(name_, dialect_, letter_, word_, type_)                      \
    TAKT_ENTRY void name_(int64_t, int64_t, int64_t, type_, pointer, int64_t,  \
                          pointer, int64_t, void *, int64_t);                  \
    void name_(int64_t order, int64_t m, int64_t n, type_ alpha, pointer x,    \
               int64_t incx, pointer y, int64_t incy, void *a, int64_t lda)    \
    {                                                                          \
        TAKT_SLOT(dialect_, word_);                                            \
        ger_by_value(target, letter_, order, m, n, alpha, x, incx, y, incy, a, \
                     lda);                                                     \
    }
#define CBLAS_SGER(n_, d_, l_, w_) CBLAS_GER(n_, d_, l_, w_, float)
#define CBLAS_DGER(n_, d_, l_, w_) CBLAS_GER(n_, d_, l_, w_, double)

TAKT_FORTRAN_NAMES(FORTRAN_GER, TAKT_S, sger)
TAKT_FORTRAN_NAMES(FORTRAN_GER, TAKT_D, dger)
TAKT_CBLAS_NAMES(CBLAS_SGER, TAKT_S, sger)
TAKT_CBLAS_NAMES(CBLAS_DGER, TAKT_D, dger)
