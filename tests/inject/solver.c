/* SPDX-License-Identifier: MIT */
/*
 * solver.c - a program that knows nothing of Takt and solves equations by
 * LAPACK. 0: all is well. 3: a result is wrong.
 */
#include <math.h>
#include <stdio.h>

enum { order = 160, rounds = 12 };

void dgesv_(const int *n, const int *columns, double *a, const int *lda,
            int *pivots, double *b, const int *ldb, int *info);
void dpotrf_(const char *part, const int *n, double *a, const int *lda,
             int *info);

static double a[order * order], b[order];
static int pivots[order];

/* Diagonally dominant, and its solution is all ones. */
static void fill(int round)
{
    for (int i = 0; i < order * order; i++)
        a[i] = (double)((i * 7919 + round) % 101) / 101;
    for (int i = 0; i < order; i++)
        a[i * order + i] += order;
    for (int i = 0; i < order; i++) {
        b[i] = 0;
        for (int j = 0; j < order; j++)
            b[i] += a[j * order + i];
    }
}

static int is_solved(int round)
{
    const int n = order, one = 1;
    int info;

    fill(round);
    dgesv_(&n, &one, a, &n, pivots, b, &n, &info);
    for (int i = 0; i < order; i++)
        if (info != 0 || fabs(b[i] - 1) > 1e-9)
            return 0;
    for (int i = 0; i < order * order; i++)
        a[i] = i % (order + 1) == 0 ? 4 : 0;
    dpotrf_("L", &n, a, &n, &info);
    return info == 0 && fabs(a[0] - 2) < 1e-12;
}

int main(void)
{
    for (int round = 0; round < rounds; round++)
        if (!is_solved(round)) {
            fputs("solver: wrong\n", stderr);
            return 3;
        }
    return 0;
}
