/* SPDX-License-Identifier: MIT */
/*
 * entries.c - the exported names of BLAS, made from one list per routine.
 *
 * One routine has many names: Fortran's and CBLAS's, each as it is, with
 * integers of 64 bits, and with the prefix of the copies in NumPy's and SciPy's
 * wheels. The list of a routine's arguments gives the parameters of all its
 * names, the call of the baseline library, and the arguments that are read.
 *
 * An entry passes a small call through with one jump. Any other call goes to
 * the function for large calls of its routine, type and language, which tries
 * to route it, and otherwise passes it through as it came.
 */
#include "arguments.h"
#include "intercepted.h"
#include "mode.h"
#include "naming.h"
#include "numpy.h"

#define ENTRY __attribute__((visibility("default")))
#define NOINLINE __attribute__((noinline))

/* In an entry: the name, the code that called it, and the function that it
 * stands for, if that is known. */
#define LOOK_UP(naming_, word_)                                  \
    static struct takt_blas_entry entry = {.naming = &(naming_), \
                                           .routine = #word_};   \
    const void *caller = __builtin_return_address(0);            \
    const struct takt_target *target = takt__blas_entry_known(&entry, caller)

/* ---- the arguments of each routine -----------------------------------------
 * use_ says what is made of each argument, type_ is s, d, c or z. Arrays have
 * the names of struct takt_arguments: what trmm and trsm call B is c here, and
 * what scal calls x is y, since those are written.
 */

#define PRODUCT(use_, type_) /* two matrices into a third */              \
    use_##_FACTOR(type_, alpha), use_##_ARRAY(a), use_##_INTEGER(lda),    \
        use_##_ARRAY(b), use_##_INTEGER(ldb), use_##_FACTOR(type_, beta), \
        use_##_ARRAY(c), use_##_INTEGER(ldc)
#define GEMM(use_, type_)                                        \
    use_##_OPTION(trans, trans), use_##_OPTION(trans, transb),   \
        use_##_INTEGER(m), use_##_INTEGER(n), use_##_INTEGER(k), \
        PRODUCT(use_, type_)
#define SYMM(use_, type_)                                                    \
    use_##_OPTION(side, side), use_##_OPTION(uplo, uplo), use_##_INTEGER(m), \
        use_##_INTEGER(n), PRODUCT(use_, type_)
#define SYRK(use_, type_)                                                      \
    use_##_OPTION(uplo, uplo), use_##_OPTION(trans, trans), use_##_INTEGER(n), \
        use_##_INTEGER(k), use_##_FACTOR(type_, alpha), use_##_ARRAY(a),       \
        use_##_INTEGER(lda), use_##_FACTOR(type_, beta), use_##_ARRAY(c),      \
        use_##_INTEGER(ldc)
#define SYR2K(use_, type_)                                                     \
    use_##_OPTION(uplo, uplo), use_##_OPTION(trans, trans), use_##_INTEGER(n), \
        use_##_INTEGER(k), PRODUCT(use_, type_)
#define TRMM(use_, type_)                                                  \
    use_##_OPTION(side, side), use_##_OPTION(uplo, uplo),                  \
        use_##_OPTION(trans, trans), use_##_OPTION(diag, diag),            \
        use_##_INTEGER(m), use_##_INTEGER(n), use_##_FACTOR(type_, alpha), \
        use_##_ARRAY(a), use_##_INTEGER(lda), use_##_ARRAY(c),             \
        use_##_INTEGER(ldc)
#define TRSM(use_, type_) TRMM(use_, type_)
#define GEMV(use_, type_)                                                  \
    use_##_OPTION(trans, trans), use_##_INTEGER(m), use_##_INTEGER(n),     \
        use_##_FACTOR(type_, alpha), use_##_ARRAY(a), use_##_INTEGER(lda), \
        use_##_ARRAY(x), use_##_INTEGER(incx), use_##_FACTOR(type_, beta), \
        use_##_ARRAY(y), use_##_INTEGER(incy)
#define GER(use_, type_)                                               \
    use_##_INTEGER(m), use_##_INTEGER(n), use_##_FACTOR(type_, alpha), \
        use_##_ARRAY(x), use_##_INTEGER(incx), use_##_ARRAY(y),        \
        use_##_INTEGER(incy), use_##_ARRAY(a), use_##_INTEGER(lda)
#define AXPY(use_, type_)                                            \
    use_##_INTEGER(n), use_##_FACTOR(type_, alpha), use_##_ARRAY(x), \
        use_##_INTEGER(incx), use_##_ARRAY(y), use_##_INTEGER(incy)
#define DOT(use_, type_)                                                       \
    use_##_INTEGER(n), use_##_ARRAY(x), use_##_INTEGER(incx), use_##_ARRAY(y), \
        use_##_INTEGER(incy)
#define SCAL(use_, type_)                                            \
    use_##_INTEGER(n), use_##_FACTOR(type_, alpha), use_##_ARRAY(y), \
        use_##_INTEGER(incy)
#define NRM2(use_, type_) \
    use_##_INTEGER(n), use_##_ARRAY(x), use_##_INTEGER(incx)
#define ASUM(use_, type_) NRM2(use_, type_)
#define IAMAX(use_, type_) NRM2(use_, type_)

/* ---- calls that are too small to route -------------------------------------
 * read_ is takt__by_address or takt__by_value. In any but the default mode no
 * call is small: all are counted, or routed.
 */

static inline bool is_small(double work, double least)
{
    return !(work >= least) && takt__is_default_mode();
}

/* Which of the sizes is the order of the triangle depends on an option. */
static inline bool is_small_triangle(int64_t size, int64_t other)
{
    return size < TAKT_LEAST_ORDER && other < TAKT_LEAST_ORDER &&
           takt__is_default_mode();
}

#define READ(read_, argument_) read_(target, argument_)
#define IS_SMALL_GEMM(read_)                                   \
    is_small((double)READ(read_, m) * (double)READ(read_, n) * \
                 (double)READ(read_, k),                       \
             TAKT_LEAST_PRODUCT)
#define IS_SMALL_SYMM(read_) is_small_triangle(READ(read_, m), READ(read_, n))
#define IS_SMALL_SYRK(read_)                                   \
    is_small((double)READ(read_, n) * (double)READ(read_, n) * \
                 (double)READ(read_, k),                       \
             2.0 * TAKT_LEAST_PRODUCT)
#define IS_SMALL_SYR2K(read_) is_small_triangle(READ(read_, n), READ(read_, k))
#define IS_SMALL_TRMM(read_) IS_SMALL_SYMM(read_)
#define IS_SMALL_TRSM(read_) IS_SMALL_SYMM(read_)
#define IS_SMALL_GEMV(read_) \
    is_small((double)READ(read_, m) * (double)READ(read_, n), TAKT_LEAST_MATVEC)
#define IS_SMALL_AXPY(read_) is_small((double)READ(read_, n), TAKT_LEAST_VECTOR)
#define IS_SMALL_DOT(read_) IS_SMALL_AXPY(read_)
#define IS_SMALL_SCAL(read_) IS_SMALL_AXPY(read_)
#define IS_SMALL_NRM2(read_) IS_SMALL_AXPY(read_)
#define IS_SMALL_ASUM(read_) IS_SMALL_AXPY(read_)
/* Takt has nothing better for these two: they are only counted. */
#define IS_SMALL_GER(read_) (!takt__mode_has(TAKT_MODE_STATS))
#define IS_SMALL_IAMAX(read_) (!takt__mode_has(TAKT_MODE_STATS))

/* ---- what is made of an argument ----------------------------------------- */

/* Parameters. */
#define FORTRAN_OPTION(kind_, name_) void *name_
#define FORTRAN_INTEGER(name_) void *name_
#define FORTRAN_FACTOR(type_, name_) void *name_
#define FORTRAN_ARRAY(name_) void *name_
#define CBLAS_OPTION(kind_, name_) int64_t name_
#define CBLAS_INTEGER(name_) int64_t name_
#define CBLAS_FACTOR(type_, name_) CBLAS_FACTOR_##type_ name_
#define CBLAS_FACTOR_s float
#define CBLAS_FACTOR_d double
#define CBLAS_FACTOR_c void *
#define CBLAS_FACTOR_z void *
#define CBLAS_ARRAY(name_) void *name_

/* Arguments of a call. */
#define PASS_OPTION(kind_, name_) name_
#define PASS_INTEGER(name_) name_
#define PASS_FACTOR(type_, name_) name_
#define PASS_ARRAY(name_) name_

/* Assignments to members of struct takt_arguments. */
#define BY_ADDRESS_OPTION(kind_, name_) arguments.name_ = FORTRAN_##kind_(name_)
#define FORTRAN_trans takt__fortran_trans
#define FORTRAN_uplo takt__fortran_option
#define FORTRAN_side takt__fortran_option
#define FORTRAN_diag takt__fortran_option
#define BY_ADDRESS_INTEGER(name_) \
    arguments.name_ = takt__by_address(target, name_)
#define BY_ADDRESS_FACTOR(type_, name_) \
    arguments.name_ = FACTOR_AT_##type_(name_)
#define FACTOR_AT_s(name_) (double)*(const float *)(name_)
#define FACTOR_AT_d(name_) *(const double *)(name_)
#define FACTOR_AT_c(name_) 0
#define FACTOR_AT_z(name_) 0
#define BY_ADDRESS_ARRAY(name_) arguments.name_ = name_
#define BY_VALUE_OPTION(kind_, name_) \
    arguments.name_ = takt__cblas_##kind_(name_)
#define BY_VALUE_INTEGER(name_) arguments.name_ = takt__by_value(target, name_)
#define BY_VALUE_FACTOR(type_, name_) arguments.name_ = FACTOR_OF_##type_(name_)
#define FACTOR_OF_s(name_) (double)(name_)
#define FACTOR_OF_d(name_) name_
#define FACTOR_OF_c(name_) 0
#define FACTOR_OF_z(name_) 0
#define BY_VALUE_ARRAY(name_) arguments.name_ = name_

/* CBLAS's matrix routines begin with the order. */
#define ORDERED(...) __VA_ARGS__
#define UNORDERED(...)

/* Fortran's hidden arguments: the length of each option. */
#define LENGTH_TYPES_0
#define LENGTH_TYPES_1 , size_t
#define LENGTH_TYPES_2 , size_t, size_t
#define LENGTH_TYPES_4 , size_t, size_t, size_t, size_t
#define LENGTHS_0
#define LENGTHS_1 , 1
#define LENGTHS_2 , 1, 1
#define LENGTHS_4 , 1, 1, 1, 1

#define TYPE_s TAKT_S
#define TYPE_d TAKT_D
#define TYPE_c TAKT_C
#define TYPE_z TAKT_Z

/* Only functions with a result have something to return. */
#define RESULT_void(...)
#define RESULT_float(...) __VA_ARGS__
#define RESULT_double(...) __VA_ARGS__
#define RESULT_int64_t(...) __VA_ARGS__

/* ---- functions ----------------------------------------------------------- */

/* A name that code calls for the first time may have come with NumPy. */
static const struct takt_target *target_of(struct takt_blas_entry *entry,
                                           const void *caller)
{
    const struct takt_target *target = takt__blas_entry_known(entry, caller);

    if (target == NULL) {
        target = takt__blas_entry_target(entry, caller);
        takt__numpy_notice(target->baseline);
    }
    return target;
}

/* The body of a function for large calls. call_ runs the baseline library; what
 * follows sets the members of `arguments`. */
#define INTERCEPT(routine_, type_, returns_, call_, ...)            \
    const struct takt_target *target = target_of(entry, caller);    \
    struct takt_arguments arguments = takt__no_arguments;           \
    struct takt_intercept intercept;                                \
    RESULT_##returns_(returns_ result; arguments.result = &result;) \
        arguments.routine = TAKT_##routine_;                        \
    arguments.type = TYPE_##type_;                                  \
    __VA_ARGS__;                                                    \
    arguments.work = takt__arguments_work(&arguments);              \
    if (takt__intercept_begin(&intercept, target, &arguments))      \
        return RESULT_##returns_(result);                           \
    RESULT_##returns_(result =) call_;                              \
    takt__intercept_end(&intercept);                                \
    return RESULT_##returns_(result);

#define FORTRAN_LARGE(word_, routine_, type_, lengths_, returns_)         \
    typedef returns_ fortran_##word_##_type(routine_(FORTRAN, type_)      \
                                                LENGTH_TYPES_##lengths_); \
    static NOINLINE returns_ fortran_large_##word_(                       \
        struct takt_blas_entry *entry, const void *caller,                \
        routine_(FORTRAN, type_))                                         \
    {                                                                     \
        INTERCEPT(routine_, type_, returns_,                              \
                  ((fortran_##word_##_type *)target->function)(           \
                      routine_(PASS, type_) LENGTHS_##lengths_),          \
                  arguments.order = TAKT_BY_COLUMNS,                      \
                  routine_(BY_ADDRESS, type_))                            \
    }

#define FORTRAN_ENTRY(name_, naming_, word_, routine_, type_, lengths_,       \
                      returns_)                                               \
    ENTRY returns_ name_(routine_(FORTRAN, type_));                           \
    returns_ name_(routine_(FORTRAN, type_))                                  \
    {                                                                         \
        LOOK_UP(naming_, word_);                                              \
        if (target != NULL && IS_SMALL_##routine_(takt__by_address))          \
            RESULT_##returns_(return )(                                       \
                (fortran_##word_##_type *)target->function)(                  \
                routine_(PASS, type_) LENGTHS_##lengths_);                    \
        else                                                                  \
            RESULT_##returns_(return )                                        \
                fortran_large_##word_(&entry, caller, routine_(PASS, type_)); \
    }

/* Where six arguments are in registers and the others on the stack, those lie
 * there as a structure of them would. Passed on as such they stay where they
 * are, and the entry ends with a jump; gcc copies single ones twice. LAPACK
 * calls these two once or twice for each column.
 */
#if defined(__x86_64__)

struct rest_of_gemv {
    void *x, *incx, *beta, *y, *incy;
    size_t length; /* of the option, if the caller gave it */
};
#define GEMV_FIRST trans, m, n, alpha, a, lda
#define GEMV_REST rest_of_gemv
#define GEMV_STACKED GEMV_FIRST, rest.x, rest.incx, rest.beta, rest.y, rest.incy

struct rest_of_ger {
    void *incy, *a, *lda;
};
#define GER_FIRST m, n, alpha, x, incx, y
#define GER_REST rest_of_ger
#define GER_STACKED GER_FIRST, rest.incy, rest.a, rest.lda

#define SIX(...) SIX_ADDRESSES(__VA_ARGS__)
#define SIX_ADDRESSES(a_, b_, c_, d_, e_, f_) \
    void *a_, void *b_, void *c_, void *d_, void *e_, void *f_

#define STACKED_ENTRY(name_, naming_, word_, routine_)                    \
    ENTRY void name_(SIX(routine_##_FIRST), struct routine_##_REST rest); \
    void name_(SIX(routine_##_FIRST), struct routine_##_REST rest)        \
    {                                                                     \
        LOOK_UP(naming_, word_);                                          \
        if (target != NULL && IS_SMALL_##routine_(takt__by_address))      \
            ((void (*)(SIX(routine_##_FIRST), struct routine_##_REST))    \
                 target->function)(routine_##_FIRST, rest);               \
        else                                                              \
            fortran_large_##word_(&entry, caller, routine_##_STACKED);    \
    }

#endif

#define CBLAS_LARGE(word_, routine_, type_, order_, returns_)          \
    typedef returns_ cblas_##word_##_type(order_(int64_t order, )      \
                                              routine_(CBLAS, type_)); \
    static NOINLINE returns_ cblas_large_##word_(                      \
        struct takt_blas_entry *entry, const void *caller,             \
        order_(int64_t order, ) routine_(CBLAS, type_))                \
    {                                                                  \
        INTERCEPT(routine_, type_, returns_,                           \
                  ((cblas_##word_##_type *)target->function)(          \
                      order_(order, ) routine_(PASS, type_)),          \
                  order_(arguments.order = (int32_t)order, )           \
                      routine_(BY_VALUE, type_))                       \
    }

#define CBLAS_ENTRY(name_, naming_, word_, routine_, type_, order_, returns_) \
    ENTRY returns_ name_(order_(int64_t order, ) routine_(CBLAS, type_));     \
    returns_ name_(order_(int64_t order, ) routine_(CBLAS, type_))            \
    {                                                                         \
        LOOK_UP(naming_, word_);                                              \
        if (target != NULL && IS_SMALL_##routine_(takt__by_value))            \
            RESULT_##returns_(return )(                                       \
                (cblas_##word_##_type *)target->function)(                    \
                order_(order, ) routine_(PASS, type_));                       \
        else                                                                  \
            RESULT_##returns_(return ) cblas_large_##word_(                   \
                &entry, caller, order_(order, ) routine_(PASS, type_));       \
    }

/* ---- names --------------------------------------------------------------- */

static const struct takt_naming cblas = {"cblas_%s", "%s_", false};
static const struct takt_naming cblas64 = {"cblas_%s64_", "%s_64_", true};
static const struct takt_naming cblas_64 = {"cblas_%s_64", "%s_64_", true};
static const struct takt_naming cblas_scipy = {"scipy_cblas_%s", "scipy_%s_",
                                               false};
static const struct takt_naming cblas_scipy64 = {"scipy_cblas_%s64_",
                                                 "scipy_%s_64_", true};

#define FORTRAN_NAMES(word_, ...)                                      \
    FORTRAN_LARGE(word_, __VA_ARGS__)                                  \
    FORTRAN_ENTRY(word_##_, fortran, word_, __VA_ARGS__)               \
    FORTRAN_ENTRY(word_##_64_, fortran64, word_, __VA_ARGS__)          \
    FORTRAN_ENTRY(scipy_##word_##_, fortran_scipy, word_, __VA_ARGS__) \
    FORTRAN_ENTRY(scipy_##word_##_64_, fortran_scipy64, word_, __VA_ARGS__)

#define CBLAS_NAMES(word_, ...)                                       \
    CBLAS_LARGE(word_, __VA_ARGS__)                                   \
    CBLAS_ENTRY(cblas_##word_, cblas, word_, __VA_ARGS__)             \
    CBLAS_ENTRY(cblas_##word_##64_, cblas64, word_, __VA_ARGS__)      \
    CBLAS_ENTRY(cblas_##word_##_64, cblas_64, word_, __VA_ARGS__)     \
    CBLAS_ENTRY(scipy_cblas_##word_, cblas_scipy, word_, __VA_ARGS__) \
    CBLAS_ENTRY(scipy_cblas_##word_##64_, cblas_scipy64, word_, __VA_ARGS__)

#define NAMES(word_, routine_, type_, order_, lengths_, returns_) \
    FORTRAN_NAMES(word_, routine_, type_, lengths_, returns_)     \
    CBLAS_NAMES(word_, routine_, type_, order_, returns_)

#define REAL_NAMES(stem_, routine_, order_, lengths_)    \
    NAMES(s##stem_, routine_, s, order_, lengths_, void) \
    NAMES(d##stem_, routine_, d, order_, lengths_, void)

#if defined(__x86_64__)
#define STACKED_NAMES(word_, routine_, type_, lengths_)                  \
    FORTRAN_LARGE(word_, routine_, type_, lengths_, void)                \
    STACKED_ENTRY(word_##_, fortran, word_, routine_)                    \
    STACKED_ENTRY(word_##_64_, fortran64, word_, routine_)               \
    STACKED_ENTRY(scipy_##word_##_, fortran_scipy, word_, routine_)      \
    STACKED_ENTRY(scipy_##word_##_64_, fortran_scipy64, word_, routine_) \
    CBLAS_NAMES(word_, routine_, type_, ORDERED, void)
#else
#define STACKED_NAMES(word_, routine_, type_, lengths_) \
    NAMES(word_, routine_, type_, ORDERED, lengths_, void)
#endif

#define MATRIX_NAMES(stem_, routine_, lengths_)           \
    REAL_NAMES(stem_, routine_, ORDERED, lengths_)        \
    NAMES(c##stem_, routine_, c, ORDERED, lengths_, void) \
    NAMES(z##stem_, routine_, z, ORDERED, lengths_, void)

#define SUM_NAMES(stem_, routine_)                    \
    NAMES(s##stem_, routine_, s, UNORDERED, 0, float) \
    NAMES(d##stem_, routine_, d, UNORDERED, 0, double)

MATRIX_NAMES(gemm, GEMM, 2)
MATRIX_NAMES(symm, SYMM, 2)
MATRIX_NAMES(syrk, SYRK, 2)
MATRIX_NAMES(syr2k, SYR2K, 2)
MATRIX_NAMES(trmm, TRMM, 4)
MATRIX_NAMES(trsm, TRSM, 4)
STACKED_NAMES(sgemv, GEMV, s, 1)
STACKED_NAMES(dgemv, GEMV, d, 1)
STACKED_NAMES(sger, GER, s, 0)
STACKED_NAMES(dger, GER, d, 0)
REAL_NAMES(axpy, AXPY, UNORDERED, 0)
REAL_NAMES(scal, SCAL, UNORDERED, 0)
SUM_NAMES(dot, DOT)
SUM_NAMES(nrm2, NRM2)
SUM_NAMES(asum, ASUM)
NAMES(isamax, IAMAX, s, UNORDERED, 0, int64_t)
NAMES(idamax, IAMAX, d, UNORDERED, 0, int64_t)
