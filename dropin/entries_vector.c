/* SPDX-License-Identifier: MIT */
/*
 * entries_vector.c - axpy, dot, scal, nrm2, asum and iamax.
 *
 * Elements that are not side by side are left to the library. So is iamax, for
 * which Takt has nothing better: it is counted.
 */
#include "entries.h"

typedef const void *pointer;

/* Whether a call on vectors can be asked about; intercept->why says why not. */
static bool is_plain_form(struct takt_intercept *intercept, int64_t n,
                          int64_t incx, int64_t incy)
{
    intercept->why = TAKT_WHY_WRONG; /* or nothing to do: n may be 0 */
    if (n <= 0)
        return false;
    intercept->why = TAKT_WHY_FORM;
    return incx == 1 && incy == 1;
}

/* ---- axpy ------------------------------------------------------------------
 */

typedef void fortran_axpy(pointer, pointer, pointer, pointer, void *, pointer);
typedef void cblas_saxpy_type(int64_t, float, pointer, int64_t, void *,
                              int64_t);
typedef void cblas_daxpy_type(int64_t, double, pointer, int64_t, void *,
                              int64_t);

static bool intercept_axpy(struct takt_intercept *intercept, int64_t n,
                           double alpha, pointer x, int64_t incx, void *y,
                           int64_t incy)
{
    return is_plain_form(intercept, n, incx, incy) && alpha != 0 &&
           takt__intercept_vectors(
               intercept,
               &(struct takt_vectors){
                   .n = (size_t)n, .alpha = alpha, .x = x, .y = y},
               NULL);
}

TAKT_INLINE void axpy_by_address(const struct takt_target *target,
                                 enum takt_blas_type type, pointer n,
                                 pointer alpha, pointer x, pointer incx,
                                 void *y, pointer incy)
{
    fortran_axpy *axpy = (fortran_axpy *)target->function;
    const int64_t n_ = takt__by_address(target, n);

    if (takt__is_trivial((double)n_, TAKT_LEAST_VECTOR)) {
        axpy(n, alpha, x, incx, y, incy);
        return;
    }
    struct takt_intercept intercept =
        takt__intercept_of(target, TAKT_AXPY, type, (double)n_);
    if (intercept_axpy(&intercept, n_, takt__factor(type, alpha), x,
                       takt__by_address(target, incx), y,
                       takt__by_address(target, incy)))
        return;
    takt__pass_begin(&intercept);
    axpy(n, alpha, x, incx, y, incy);
    takt__pass_end(&intercept);
}

TAKT_INLINE void axpy_by_value(const struct takt_target *target,
                               enum takt_blas_type type, int64_t n,
                               double alpha, pointer x, int64_t incx, void *y,
                               int64_t incy)
{
    const int64_t n_ = takt__by_value(target, n);
    const bool is_trivial = takt__is_trivial((double)n_, TAKT_LEAST_VECTOR);
    struct takt_intercept intercept;

    if (!is_trivial) {
        intercept = takt__intercept_of(target, TAKT_AXPY, type, (double)n_);
        if (intercept_axpy(&intercept, n_, alpha, x,
                           takt__by_value(target, incx), y,
                           takt__by_value(target, incy)))
            return;
        takt__pass_begin(&intercept);
    }
    if (type == TAKT_S)
        ((cblas_saxpy_type *)target->function)(n, (float)alpha, x, incx, y,
                                               incy);
    else
        ((cblas_daxpy_type *)target->function)(n, alpha, x, incx, y, incy);
    if (!is_trivial)
        takt__pass_end(&intercept);
}

#define FORTRAN_AXPY(name_, dialect_, letter_, word_)                      \
    TAKT_ENTRY void name_(pointer, pointer, pointer, pointer, void *,      \
                          pointer);                                        \
    void name_(pointer n, pointer alpha, pointer x, pointer incx, void *y, \
               pointer incy)                                               \
    {                                                                      \
        TAKT_SLOT(dialect_, word_);                                        \
        axpy_by_address(target, letter_, n, alpha, x, incx, y, incy);      \
    }
#define CBLAS_AXPY(name_, dialect_, letter_, word_, type_)                    \
    TAKT_ENTRY void name_(int64_t, type_, pointer, int64_t, void *, int64_t); \
    void name_(int64_t n, type_ alpha, pointer x, int64_t incx, void *y,      \
               int64_t incy)                                                  \
    {                                                                         \
        TAKT_SLOT(dialect_, word_);                                           \
        axpy_by_value(target, letter_, n, alpha, x, incx, y, incy);           \
    }
#define CBLAS_SAXPY(n_, d_, l_, w_) CBLAS_AXPY(n_, d_, l_, w_, float)
#define CBLAS_DAXPY(n_, d_, l_, w_) CBLAS_AXPY(n_, d_, l_, w_, double)

TAKT_FORTRAN_NAMES(FORTRAN_AXPY, TAKT_S, saxpy)
TAKT_FORTRAN_NAMES(FORTRAN_AXPY, TAKT_D, daxpy)
TAKT_CBLAS_NAMES(CBLAS_SAXPY, TAKT_S, saxpy)
TAKT_CBLAS_NAMES(CBLAS_DAXPY, TAKT_D, daxpy)

/* ---- scal ------------------------------------------------------------------
 */

typedef void fortran_scal(pointer, pointer, void *, pointer);
typedef void cblas_sscal_type(int64_t, float, void *, int64_t);
typedef void cblas_dscal_type(int64_t, double, void *, int64_t);

/* Libraries differ in what 0 makes of a NaN. */
static bool intercept_scal(struct takt_intercept *intercept, int64_t n,
                           double alpha, void *x, int64_t incx)
{
    return is_plain_form(intercept, n, incx, 1) && alpha != 0 &&
           takt__intercept_vectors(
               intercept,
               &(struct takt_vectors){.n = (size_t)n, .alpha = alpha, .y = x},
               NULL);
}

TAKT_INLINE void scal_by_address(const struct takt_target *target,
                                 enum takt_blas_type type, pointer n,
                                 pointer alpha, void *x, pointer incx)
{
    fortran_scal *scal = (fortran_scal *)target->function;
    const int64_t n_ = takt__by_address(target, n);

    if (takt__is_trivial((double)n_, TAKT_LEAST_VECTOR)) {
        scal(n, alpha, x, incx);
        return;
    }
    struct takt_intercept intercept =
        takt__intercept_of(target, TAKT_SCAL, type, (double)n_);
    if (intercept_scal(&intercept, n_, takt__factor(type, alpha), x,
                       takt__by_address(target, incx)))
        return;
    takt__pass_begin(&intercept);
    scal(n, alpha, x, incx);
    takt__pass_end(&intercept);
}

TAKT_INLINE void scal_by_value(const struct takt_target *target,
                               enum takt_blas_type type, int64_t n,
                               double alpha, void *x, int64_t incx)
{
    const int64_t n_ = takt__by_value(target, n);
    const bool is_trivial = takt__is_trivial((double)n_, TAKT_LEAST_VECTOR);
    struct takt_intercept intercept;

    if (!is_trivial) {
        intercept = takt__intercept_of(target, TAKT_SCAL, type, (double)n_);
        if (intercept_scal(&intercept, n_, alpha, x,
                           takt__by_value(target, incx)))
            return;
        takt__pass_begin(&intercept);
    }
    if (type == TAKT_S)
        ((cblas_sscal_type *)target->function)(n, (float)alpha, x, incx);
    else
        ((cblas_dscal_type *)target->function)(n, alpha, x, incx);
    if (!is_trivial)
        takt__pass_end(&intercept);
}

#define FORTRAN_SCAL(name_, dialect_, letter_, word_)           \
    TAKT_ENTRY void name_(pointer, pointer, void *, pointer);   \
    void name_(pointer n, pointer alpha, void *x, pointer incx) \
    {                                                           \
        TAKT_SLOT(dialect_, word_);                             \
        scal_by_address(target, letter_, n, alpha, x, incx);    \
    }
#define CBLAS_SCAL(name_, dialect_, letter_, word_, type_)    \
    TAKT_ENTRY void name_(int64_t, type_, void *, int64_t);   \
    void name_(int64_t n, type_ alpha, void *x, int64_t incx) \
    {                                                         \
        TAKT_SLOT(dialect_, word_);                           \
        scal_by_value(target, letter_, n, alpha, x, incx);    \
    }
#define CBLAS_SSCAL(n_, d_, l_, w_) CBLAS_SCAL(n_, d_, l_, w_, float)
#define CBLAS_DSCAL(n_, d_, l_, w_) CBLAS_SCAL(n_, d_, l_, w_, double)

TAKT_FORTRAN_NAMES(FORTRAN_SCAL, TAKT_S, sscal)
TAKT_FORTRAN_NAMES(FORTRAN_SCAL, TAKT_D, dscal)
TAKT_CBLAS_NAMES(CBLAS_SSCAL, TAKT_S, sscal)
TAKT_CBLAS_NAMES(CBLAS_DSCAL, TAKT_D, dscal)

/* ---- dot -------------------------------------------------------------------
 * type_ is what is summed up and returned.
 */

#define DOT(type_, form_, read_, argument_)                                \
    TAKT_INLINE type_ dot_##form_##_##type_(                               \
        const struct takt_target *target, enum takt_blas_type type,        \
        argument_ n, pointer x, argument_ incx, pointer y, argument_ incy) \
    {                                                                      \
        type_ (*dot)(argument_, pointer, argument_, pointer, argument_) =  \
            (type_(*)(argument_, pointer, argument_, pointer,              \
                      argument_))target->function;                         \
        const int64_t n_ = read_(target, n);                               \
        type_ result;                                                      \
        if (takt__is_trivial((double)n_, TAKT_LEAST_VECTOR))               \
            return dot(n, x, incx, y, incy);                               \
        struct takt_intercept intercept =                                  \
            takt__intercept_of(target, TAKT_DOT, type, (double)n_);        \
        if (is_plain_form(&intercept, n_, read_(target, incx),             \
                          read_(target, incy)) &&                          \
            takt__intercept_vectors(                                       \
                &intercept,                                                \
                &(struct takt_vectors){                                    \
                    .n = (size_t)n_, .x = x, .y = (void *)(uintptr_t)y},   \
                &result))                                                  \
            return result;                                                 \
        takt__pass_begin(&intercept);                                      \
        result = dot(n, x, incx, y, incy);                                 \
        takt__pass_end(&intercept);                                        \
        return result;                                                     \
    }
DOT(float, by_address, takt__by_address, pointer)
DOT(double, by_address, takt__by_address, pointer)
DOT(float, by_value, takt__by_value, int64_t)
DOT(double, by_value, takt__by_value, int64_t)

#define DOT_ENTRY(name_, dialect_, letter_, word_, type_, form_, argument_)    \
    TAKT_ENTRY type_ name_(argument_, pointer, argument_, pointer, argument_); \
    type_ name_(argument_ n, pointer x, argument_ incx, pointer y,             \
                argument_ incy)                                                \
    {                                                                          \
        TAKT_SLOT(dialect_, word_);                                            \
        return dot_##form_##_##type_(target, letter_, n, x, incx, y, incy);    \
    }
#define FORTRAN_SDOT(n_, d_, l_, w_) \
    DOT_ENTRY(n_, d_, l_, w_, float, by_address, pointer)
#define FORTRAN_DDOT(n_, d_, l_, w_) \
    DOT_ENTRY(n_, d_, l_, w_, double, by_address, pointer)
#define CBLAS_SDOT(n_, d_, l_, w_) \
    DOT_ENTRY(n_, d_, l_, w_, float, by_value, int64_t)
#define CBLAS_DDOT(n_, d_, l_, w_) \
    DOT_ENTRY(n_, d_, l_, w_, double, by_value, int64_t)

TAKT_FORTRAN_NAMES(FORTRAN_SDOT, TAKT_S, sdot)
TAKT_FORTRAN_NAMES(FORTRAN_DDOT, TAKT_D, ddot)
TAKT_CBLAS_NAMES(CBLAS_SDOT, TAKT_S, sdot)
TAKT_CBLAS_NAMES(CBLAS_DDOT, TAKT_D, ddot)

/* ---- nrm2 and asum ---------------------------------------------------------
 */

#define NORM(type_, form_, read_, argument_)                                 \
    TAKT_INLINE type_ norm_##form_##_##type_(                                \
        const struct takt_target *target, enum takt_routine routine,         \
        enum takt_blas_type type, argument_ n, pointer x, argument_ incx)    \
    {                                                                        \
        type_ (*norm)(argument_, pointer, argument_) =                       \
            (type_(*)(argument_, pointer, argument_))target->function;       \
        const int64_t n_ = read_(target, n);                                 \
        type_ result;                                                        \
        if (takt__is_trivial((double)n_, TAKT_LEAST_VECTOR))                 \
            return norm(n, x, incx);                                         \
        struct takt_intercept intercept =                                    \
            takt__intercept_of(target, routine, type, (double)n_);           \
        if (is_plain_form(&intercept, n_, read_(target, incx), 1) &&         \
            takt__intercept_vectors(                                         \
                &intercept, &(struct takt_vectors){.n = (size_t)n_, .x = x}, \
                &result))                                                    \
            return result;                                                   \
        takt__pass_begin(&intercept);                                        \
        result = norm(n, x, incx);                                           \
        takt__pass_end(&intercept);                                          \
        return result;                                                       \
    }
NORM(float, by_address, takt__by_address, pointer)
NORM(double, by_address, takt__by_address, pointer)
NORM(float, by_value, takt__by_value, int64_t)
NORM(double, by_value, takt__by_value, int64_t)

#define NORM_ENTRY(name_, dialect_, letter_, word_, routine_, type_, form_,   \
                   argument_)                                                 \
    TAKT_ENTRY type_ name_(argument_, pointer, argument_);                    \
    type_ name_(argument_ n, pointer x, argument_ incx)                       \
    {                                                                         \
        TAKT_SLOT(dialect_, word_);                                           \
        return norm_##form_##_##type_(target, routine_, letter_, n, x, incx); \
    }
#define FORTRAN_SNRM2(n_, d_, l_, w_) \
    NORM_ENTRY(n_, d_, l_, w_, TAKT_NRM2, float, by_address, pointer)
#define FORTRAN_DNRM2(n_, d_, l_, w_) \
    NORM_ENTRY(n_, d_, l_, w_, TAKT_NRM2, double, by_address, pointer)
#define CBLAS_SNRM2(n_, d_, l_, w_) \
    NORM_ENTRY(n_, d_, l_, w_, TAKT_NRM2, float, by_value, int64_t)
#define CBLAS_DNRM2(n_, d_, l_, w_) \
    NORM_ENTRY(n_, d_, l_, w_, TAKT_NRM2, double, by_value, int64_t)
#define FORTRAN_SASUM(n_, d_, l_, w_) \
    NORM_ENTRY(n_, d_, l_, w_, TAKT_ASUM, float, by_address, pointer)
#define FORTRAN_DASUM(n_, d_, l_, w_) \
    NORM_ENTRY(n_, d_, l_, w_, TAKT_ASUM, double, by_address, pointer)
#define CBLAS_SASUM(n_, d_, l_, w_) \
    NORM_ENTRY(n_, d_, l_, w_, TAKT_ASUM, float, by_value, int64_t)
#define CBLAS_DASUM(n_, d_, l_, w_) \
    NORM_ENTRY(n_, d_, l_, w_, TAKT_ASUM, double, by_value, int64_t)

TAKT_FORTRAN_NAMES(FORTRAN_SNRM2, TAKT_S, snrm2)
TAKT_FORTRAN_NAMES(FORTRAN_DNRM2, TAKT_D, dnrm2)
TAKT_CBLAS_NAMES(CBLAS_SNRM2, TAKT_S, snrm2)
TAKT_CBLAS_NAMES(CBLAS_DNRM2, TAKT_D, dnrm2)
TAKT_FORTRAN_NAMES(FORTRAN_SASUM, TAKT_S, sasum)
TAKT_FORTRAN_NAMES(FORTRAN_DASUM, TAKT_D, dasum)
TAKT_CBLAS_NAMES(CBLAS_SASUM, TAKT_S, sasum)
TAKT_CBLAS_NAMES(CBLAS_DASUM, TAKT_D, dasum)

/* ---- iamax -----------------------------------------------------------------
 */

TAKT_INLINE int64_t count_iamax(const struct takt_target *target,
                                enum takt_blas_type type, int64_t n,
                                struct takt_intercept *intercept)
{
    *intercept = takt__intercept_of(target, TAKT_IAMAX, type, (double)n);
    intercept->why = n > 0 ? TAKT_WHY_ROUTINE : TAKT_WHY_WRONG;
    takt__pass_begin(intercept);
    return n;
}

#define IAMAX_ENTRY(name_, dialect_, letter_, word_, read_, argument_)   \
    TAKT_ENTRY int64_t name_(argument_, pointer, argument_);             \
    int64_t name_(argument_ n, pointer x, argument_ incx)                \
    {                                                                    \
        TAKT_SLOT(dialect_, word_);                                      \
        int64_t (*iamax)(argument_, pointer, argument_) =                \
            (int64_t(*)(argument_, pointer, argument_))target->function; \
        struct takt_intercept intercept;                                 \
        if (!takt__has_stats())                                          \
            return iamax(n, x, incx);                                    \
        count_iamax(target, letter_, read_(target, n), &intercept);      \
        const int64_t result = iamax(n, x, incx);                        \
        takt__pass_end(&intercept);                                      \
        return result;                                                   \
    }
#define FORTRAN_IAMAX(n_, d_, l_, w_) \
    IAMAX_ENTRY(n_, d_, l_, w_, takt__by_address, pointer)
#define CBLAS_IAMAX(n_, d_, l_, w_) \
    IAMAX_ENTRY(n_, d_, l_, w_, takt__by_value, int64_t)

TAKT_FORTRAN_NAMES(FORTRAN_IAMAX, TAKT_S, isamax)
TAKT_FORTRAN_NAMES(FORTRAN_IAMAX, TAKT_D, idamax)
TAKT_CBLAS_NAMES(CBLAS_IAMAX, TAKT_S, isamax)
TAKT_CBLAS_NAMES(CBLAS_IAMAX, TAKT_D, idamax)
