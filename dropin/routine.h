/* SPDX-License-Identifier: MIT */
/*
 * routine.h - the routines of BLAS that come through here.
 */
#ifndef TAKT_DROPIN_ROUTINE_H
#define TAKT_DROPIN_ROUTINE_H

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

/* What a name of BLAS begins with: s, d, c or z. */
enum takt_blas_type { TAKT_S, TAKT_D, TAKT_C, TAKT_Z, TAKT_BLAS_TYPES };

#endif
