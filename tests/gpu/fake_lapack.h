/* SPDX-License-Identifier: MIT */
/*
 * fake_lapack.h - what the fake cuSOLVER computes: the definitions, as loops
 * over matrices by columns without gaps. Each answers LAPACK's info.
 */
#pragma once

#include <stdbool.h>

int fake_potrf(bool is_upper, int n, double *a);
int fake_getrf(int m, int n, double *a, int *pivots);
void fake_getrs(int n, int k, const double *a, const int *pivots, double *b);
void fake_geqrf(int m, int n, double *a, double *tau);
void fake_orgqr(int m, int n, int k, double *a, const double *tau);

/* Vectors in place of A, in any case. */
int fake_syevd(bool is_upper, int n, double *a, double *w);

/* m >= n; U has `wide` columns, n or m. */
int fake_gesvd(int m, int n, int wide, const double *a, double *s, double *u,
               double *vt);
