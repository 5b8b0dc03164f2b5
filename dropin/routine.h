/* SPDX-License-Identifier: MIT */
/*
 * routine.h - the routines of BLAS and LAPACK that are intercepted, and their
 * types.
 */
#pragma once

#include <stdint.h>
#include <string.h>

/* Products of matrices first, then matrices with vectors, then vectors. */
enum takt_routine {
    TAKT_GEMM,
    TAKT_SYMM,
    TAKT_SYRK,
    TAKT_SYR2K,
    TAKT_TRMM,
    TAKT_TRSM,
    TAKT_GEMV,
    TAKT_GER,
    TAKT_AXPY,
    TAKT_DOT,
    TAKT_SCAL,
    TAKT_NRM2,
    TAKT_ASUM,
    TAKT_IAMAX,
    TAKT_ROUTINES
};

/* Those of LAPACK. */
enum takt_lapack {
#define TAKT_LAPACK(stem_, ...) TAKT_LAPACK_##stem_,
#include "lapack.def"
    TAKT_LAPACKS
};

/* The first letter of a name: real or complex, single or double precision. */
enum takt_blas_type { TAKT_S, TAKT_D, TAKT_C, TAKT_Z, TAKT_BLAS_TYPES };

/* The binary logarithm of some work, rounded down; 0 below 1. Without libm,
 * which a process that calls no BLAS should not have to load. */
static inline unsigned takt__exponent(double work)
{
    uint64_t bits;

    if (!(work >= 1))
        return 0;
    memcpy(&bits, &work, sizeof bits);
    return (unsigned)(bits >> 52) - 1023;
}
