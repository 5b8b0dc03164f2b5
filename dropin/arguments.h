/* SPDX-License-Identifier: MIT */
/*
 * arguments.h - the arguments of a BLAS call, and how to read them.
 *
 * Fortran passes every argument by address, CBLAS passes integers, options and
 * real factors by value. Both end in one structure (entries.c), from which the
 * calls are made that Takt routes.
 */
#pragma once

#include <stdint.h>

#include "baseline.h"
#include "triangular.h"

/* CBLAS's numbers for the order of a matrix in memory. */
enum { TAKT_BY_ROWS = 101, TAKT_BY_COLUMNS = 102 };

/* What a routine does not have is 0. Options are Fortran's letters, in capitals
 * and with 'T' for 'C'; 0: not a valid value. */
struct takt_arguments {
    enum takt_routine routine;
    enum takt_blas_type type;
    int order; /* TAKT_BY_ROWS, TAKT_BY_COLUMNS; any other number is wrong */
    char trans, transb, side, uplo, diag;
    int64_t m, n, k, lda;
    union {
        int64_t ldb, incx;
    };
    union {
        int64_t ldc, incy;
    };
    double alpha, beta; /* 0 if complex: those calls are not routed */
    const void *a;
    union {
        const void *b, *x;
    };
    union {
        void *c, *y;
    };
    double work;  /* takt__arguments_work() */
    void *result; /* of dot, nrm2 and asum: a float or a double; else NULL */
};

/* All 0. To copy it is faster than to clear a structure of this size, for which
 * compilers use `rep stos`: 10 ns. */
extern const struct takt_arguments takt__no_arguments;

/* Multiply-adds, or elements. Inline: the routine is a constant in entries. */
static inline double
takt__arguments_work(const struct takt_arguments *arguments)
{
    const double m = (double)arguments->m, n = (double)arguments->n;
    const double k = (double)arguments->k;
    const double order = arguments->side == 'R' ? n : m;

    switch (arguments->routine) {
    case TAKT_GEMM:
        return m * n * k;
    case TAKT_SYMM:
        return m * n * order;
    case TAKT_SYRK:
        return n * n * k / 2;
    case TAKT_SYR2K:
        return n * n * k;
    case TAKT_TRMM:
    case TAKT_TRSM:
        return m * n * order / 2;
    case TAKT_GEMV:
    case TAKT_GER:
        return m * n;
    default:
        return n;
    }
}

/* The same call by rows, as everywhere in Takt: a matrix by columns is the
 * transpose of the same memory by rows. False: the baseline library would
 * complain, or has nothing to do. */
bool takt__read_product(const struct takt_arguments *arguments,
                        struct takt_product *out);
bool takt__read_triangular(const struct takt_arguments *arguments,
                           struct takt_triangular *out);

/* ---- single arguments ---------------------------------------------------- */

/* An integer of CBLAS's. It is declared with 64 bits for all libraries; if
 * theirs has 32, the upper half may hold anything. */
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

/* Options of Fortran's. */
static inline char takt__fortran_option(const void *option)
{
    const char c = *(const char *)option;

    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* For real numbers 'C' is the same as 'T'. */
static inline char takt__fortran_trans(const void *option)
{
    const char c = takt__fortran_option(option);

    return c == 'C' ? 'T' : c;
}

/* Options of CBLAS's. */
static inline char takt__cblas_trans(int64_t number)
{
    return (int32_t)number == 111                             ? 'N'
           : (int32_t)number == 112 || (int32_t)number == 113 ? 'T'
                                                              : 0;
}

static inline char takt__cblas_uplo(int64_t number)
{
    return (int32_t)number == 121 ? 'U' : (int32_t)number == 122 ? 'L' : 0;
}

static inline char takt__cblas_diag(int64_t number)
{
    return (int32_t)number == 131 ? 'N' : (int32_t)number == 132 ? 'U' : 0;
}

static inline char takt__cblas_side(int64_t number)
{
    return (int32_t)number == 141 ? 'L' : (int32_t)number == 142 ? 'R' : 0;
}
