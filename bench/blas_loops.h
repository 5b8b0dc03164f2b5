/* SPDX-License-Identifier: MIT */
/*
 * blas_loops.h - OpenBLAS and BLIS as a user's program calls them.
 *
 * Opened here and not through Takt, so that nothing of ours is in the way.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct blas {
    const char *name;
    void (*set_threads)(long threads); /* BLIS takes a long, OpenBLAS an int */
    void (*sgemm)(int order, int ta, int tb, int m, int n, int k, float alpha,
                  const float *a, int lda, const float *b, int ldb, float beta,
                  float *c, int ldc);
    void (*dgemm)(int order, int ta, int tb, int m, int n, int k, double alpha,
                  const double *a, int lda, const double *b, int ldb,
                  double beta, double *c, int ldc);
    void (*saxpy)(int n, float alpha, const float *x, int dx, float *y, int dy);
    void (*daxpy)(int n, double alpha, const double *x, int dx, double *y,
                  int dy);
    void (*scopy)(int n, const float *x, int dx, float *y, int dy);
    void (*dcopy)(int n, const double *x, int dx, double *y, int dy);
    float (*sdot)(int n, const float *x, int dx, const float *y, int dy);
    double (*ddot)(int n, const double *x, int dx, const double *y, int dy);
    float (*sasum)(int n, const float *x, int dx);
    double (*dasum)(int n, const double *x, int dx);
    float (*snrm2)(int n, const float *x, int dx);
    double (*dnrm2)(int n, const double *x, int dx);
};

/* Fills out[0..2) with those that are found; returns how many. */
size_t blas_open(struct blas out[2]);

/* An op on vectors. */
struct blas_call {
    const char *op;
    bool is_f64;
    int n;
    double alpha;
    const void *a, *b;
    void *out;
};

/* Runs it; false: the library has no function for it. */
bool blas_run(const struct blas *blas, const struct blas_call *call);
