/* SPDX-License-Identifier: MIT */
/*
 * program.h - the BLAS that the test programs call, as any header of CBLAS and
 * Fortran has it, and some work for it.
 *
 * All numbers are small and whole, so that every way of computing gives the
 * same bits and a program must print the same wherever its calls ran.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void cblas_dgemm(int order, int transa, int transb, int m, int n, int k,
                 double alpha, const double *a, int lda, const double *b,
                 int ldb, double beta, double *c, int ldc);
void cblas_zgemm(int order, int transa, int transb, int m, int n, int k,
                 const void *alpha, const void *a, int lda, const void *b,
                 int ldb, const void *beta, void *c, int ldc);
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda,
            const double *beta, double *c, const int *ldc, size_t, size_t);
void cblas_dsyrk(int order, int uplo, int trans, int n, int k, double alpha,
                 const double *a, int lda, double beta, double *c, int ldc);
void cblas_dgemv(int order, int trans, int m, int n, double alpha,
                 const double *a, int lda, const double *x, int incx,
                 double beta, double *y, int incy);
double cblas_ddot(int n, const double *x, int incx, const double *y, int incy);
void cblas_dger(int order, int m, int n, double alpha, const double *x,
                int incx, const double *y, int incy, double *a, int lda);
void cblas_daxpy(int n, double alpha, const double *x, int incx, double *y,
                 int incy);
uint64_t baseline_calls(void);
int baseline_mark(void);

/* A product, a triangle and a dot product of order n; a number that depends on
 * all of it. Three calls. */
static inline double some_work(int n)
{
    const size_t elements = (size_t)n * (size_t)n;
    double *a = malloc(3 * elements * sizeof *a);
    double *b = a + elements, *c = b + elements;
    const double one = 1;

    if (a == NULL)
        abort();
    for (size_t i = 0; i < elements; i++) {
        a[i] = (double)(i * 7 % 11) - 5;
        b[i] = (double)(i * 5 % 13) - 6;
        c[i] = (double)(i % 3);
    }
    cblas_dgemm(101, 111, 112, n, n, n, 2, a, n, b, n, 1, c, n);
    dsyrk_("U", "N", &n, &n, &one, a, &n, &one, c, &n, 1, 1);
    const double sum = cblas_ddot((int)elements, b, 1, c, 1);
    free(a);
    return sum;
}

/* The same again and again must come to the same. */
static inline double steady_work(int n, int times)
{
    const double first = some_work(n);

    for (int i = 1; i < times; i++)
        if (some_work(n) != first) {
            printf("other results\n");
            fflush(stdout);
            abort();
        }
    return first;
}
