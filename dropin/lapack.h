/* SPDX-License-Identifier: MIT */
/*
 * lapack.h - calls of LAPACK: the baseline library runs them, on as many of its
 * threads as were measured to be the fastest for calls of their kind, or Takt's
 * own kernels or a GPU do (lapack_other.h).
 *
 * Calls of one routine, type and options whose work is within half an octave,
 * in a program with so many threads, are of one kind. Most routines of a
 * library are slower on all threads than on a few unless matrices are large.
 *
 * Calls of BLAS that LAPACK makes by name are intercepted like any other while
 * the program's own number of threads is used; otherwise they are part of the
 * call.
 */
#pragma once

#include "baseline.h"

/* Runs a call: its arguments in order, without the lengths of options. */
void takt__lapack_run(struct takt_blas_entry *entry, const void *caller,
                      enum takt_lapack routine, enum takt_blas_type type,
                      void *const *argument);
