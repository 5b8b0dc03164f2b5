/* SPDX-License-Identifier: MIT */
/* fake_lapack.c - factors, eigenvalues and singular values, by definition. */
#include "gpu/fake_lapack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(a_, i_, j_, ld_) ((a_)[(size_t)(i_) + (size_t)(j_) * (size_t)(ld_)])

/* ---- factors ------------------------------------------------------------- */

/* The element of row i and column j of L. */
static double *lower(bool is_upper, int n, double *a, int i, int j)
{
    return is_upper ? &AT(a, j, i, n) : &AT(a, i, j, n);
}

int fake_potrf(bool is_upper, int n, double *a)
{
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double *at = lower(is_upper, n, a, i, j), sum = *at;
            for (int k = 0; k < j; k++)
                sum -=
                    *lower(is_upper, n, a, i, k) * *lower(is_upper, n, a, j, k);
            if (i == j && !(sum > 0))
                return j + 1;
            *at = i == j ? sqrt(sum) : sum / *lower(is_upper, n, a, j, j);
        }
    return 0;
}

static void swap_rows(int n, double *a, int ld, int i, int j)
{
    for (int k = 0; k < n; k++) {
        const double kept = AT(a, i, k, ld);
        AT(a, i, k, ld) = AT(a, j, k, ld);
        AT(a, j, k, ld) = kept;
    }
}

static int largest_in_column(int m, const double *a, int j)
{
    int found = j;

    for (int i = j + 1; i < m; i++)
        if (fabs(AT(a, i, j, m)) > fabs(AT(a, found, j, m)))
            found = i;
    return found;
}

int fake_getrf(int m, int n, double *a, int *pivots)
{
    int info = 0;

    for (int j = 0; j < m && j < n; j++) {
        const int pivot = largest_in_column(m, a, j);
        pivots[j] = pivot + 1;
        swap_rows(n, a, m, j, pivot);
        if (AT(a, j, j, m) == 0) {
            info = info == 0 ? j + 1 : info;
            continue;
        }
        for (int i = j + 1; i < m; i++) {
            AT(a, i, j, m) /= AT(a, j, j, m);
            for (int k = j + 1; k < n; k++)
                AT(a, i, k, m) -= AT(a, i, j, m) * AT(a, j, k, m);
        }
    }
    return info;
}

void fake_getrs(int n, int k, const double *a, const int *pivots, double *b)
{
    for (int i = 0; i < n; i++)
        swap_rows(k, b, n, i, pivots[i] - 1);
    for (int c = 0; c < k; c++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                AT(b, i, c, n) -= AT(a, i, j, n) * AT(b, j, c, n);
        for (int i = n - 1; i >= 0; i--) {
            for (int j = i + 1; j < n; j++)
                AT(b, i, c, n) -= AT(a, i, j, n) * AT(b, j, c, n);
            AT(b, i, c, n) /= AT(a, i, i, n);
        }
    }
}

/* ---- reflections --------------------------------------------------------- */

/* I - tau v v', applied to a column from row j on; v is 1 there and below it
 * what lies in column j. */
static void reflect(int m, double *a, int j, double tau, double *column)
{
    double sum = column[j];

    for (int i = j + 1; i < m; i++)
        sum += AT(a, i, j, m) * column[i];
    column[j] -= tau * sum;
    for (int i = j + 1; i < m; i++)
        column[i] -= tau * sum * AT(a, i, j, m);
}

static double make_reflection(int m, double *a, int j)
{
    const double first = AT(a, j, j, m);
    double sum = 0;

    for (int i = j + 1; i < m; i++)
        sum += AT(a, i, j, m) * AT(a, i, j, m);
    if (sum == 0)
        return 0;
    const double beta = -copysign(sqrt(first * first + sum), first);
    for (int i = j + 1; i < m; i++)
        AT(a, i, j, m) /= first - beta;
    AT(a, j, j, m) = beta;
    return (beta - first) / beta;
}

void fake_geqrf(int m, int n, double *a, double *tau)
{
    for (int j = 0; j < m && j < n; j++) {
        tau[j] = make_reflection(m, a, j);
        for (int k = j + 1; k < n; k++)
            reflect(m, a, j, tau[j], &AT(a, 0, k, m));
    }
}

void fake_orgqr(int m, int n, int k, double *a, const double *tau)
{
    double *q = calloc((size_t)m * (size_t)n, sizeof *q);

    for (int c = 0; c < n; c++) {
        AT(q, c, c, m) = 1;
        for (int j = k - 1; j >= 0; j--)
            reflect(m, a, j, tau[j], &AT(q, 0, c, m));
    }
    memcpy(a, q, (size_t)m * (size_t)n * sizeof *q);
    free(q);
}

/* ---- rotations ----------------------------------------------------------- */

enum { most_sweeps = 60 };

static void rotate(int m, double *x, double *y, double c, double s)
{
    for (int i = 0; i < m; i++) {
        const double kept = x[i];
        x[i] = c * kept - s * y[i];
        y[i] = s * kept + c * y[i];
    }
}

/* Columns p and q of A, and those of V, so that the first become orthogonal.
 * False: they were. */
static bool make_orthogonal(int m, int n, double *a, double *v, int p, int q)
{
    double pp = 0, qq = 0, pq = 0;

    for (int i = 0; i < m; i++) {
        pp += AT(a, i, p, m) * AT(a, i, p, m);
        qq += AT(a, i, q, m) * AT(a, i, q, m);
        pq += AT(a, i, p, m) * AT(a, i, q, m);
    }
    if (!(fabs(pq) > 1e-15 * sqrt(pp * qq)))
        return false;
    const double zeta = (qq - pp) / (2 * pq);
    const double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta));
    const double c = 1 / sqrt(1 + t * t);
    rotate(m, &AT(a, 0, p, m), &AT(a, 0, q, m), c, c * t);
    rotate(n, &AT(v, 0, p, n), &AT(v, 0, q, n), c, c * t);
    return true;
}

/* Until all columns are orthogonal; false: they do not become so. */
static bool sweep_all(int m, int n, double *a, double *v)
{
    for (int sweep = 0; sweep < most_sweeps; sweep++) {
        bool is_changed = false;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                is_changed |= make_orthogonal(m, n, a, v, p, q);
        if (!is_changed)
            return true;
    }
    return false;
}

static double norm(int m, const double *x)
{
    double sum = 0;

    for (int i = 0; i < m; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* Column j as a unit vector that is orthogonal to those before it. */
static void complete(int m, double *u, int j)
{
    for (int start = 0; start < m; start++) {
        double *x = &AT(u, 0, j, m);
        memset(x, 0, (size_t)m * sizeof *x);
        x[start] = 1;
        for (int twice = 0; twice < 2; twice++)
            for (int k = 0; k < j; k++) {
                double sum = 0;
                for (int i = 0; i < m; i++)
                    sum += AT(u, i, k, m) * x[i];
                for (int i = 0; i < m; i++)
                    x[i] -= sum * AT(u, i, k, m);
            }
        const double length = norm(m, x);
        if (length < 0.1 / sqrt((double)m))
            continue;
        for (int i = 0; i < m; i++)
            x[i] /= length;
        return;
    }
}

/* The column of the largest norm among those from j on. */
static int longest(int m, int n, const double *a, int j)
{
    int found = j;

    for (int i = j + 1; i < n; i++)
        if (norm(m, &AT(a, 0, i, m)) > norm(m, &AT(a, 0, found, m)))
            found = i;
    return found;
}

static void swap_columns(int m, double *a, int i, int j)
{
    for (int k = 0; k < m; k++) {
        const double kept = AT(a, k, i, m);
        AT(a, k, i, m) = AT(a, k, j, m);
        AT(a, k, j, m) = kept;
    }
}

int fake_gesvd(int m, int n, int wide, const double *a, double *s, double *u,
               double *vt)
{
    double *x = malloc((size_t)m * (size_t)n * sizeof *x);
    double *v = calloc((size_t)n * (size_t)n, sizeof *v);

    memcpy(x, a, (size_t)m * (size_t)n * sizeof *x);
    for (int i = 0; i < n; i++)
        AT(v, i, i, n) = 1;
    const bool is_done = sweep_all(m, n, x, v);
    for (int j = 0; j < n; j++) {
        const int next = longest(m, n, x, j);
        swap_columns(m, x, j, next);
        swap_columns(n, v, j, next);
        s[j] = norm(m, &AT(x, 0, j, m));
        for (int i = 0; i < m && s[j] > 0; i++)
            AT(u, i, j, m) = AT(x, i, j, m) / s[j];
        if (s[j] == 0)
            complete(m, u, j);
        for (int i = 0; i < n; i++)
            AT(vt, j, i, n) = AT(v, i, j, n);
    }
    for (int j = n; j < wide; j++)
        complete(m, u, j);
    free(x);
    free(v);
    return is_done ? 0 : n;
}

/* ---- eigenvalues --------------------------------------------------------- */

/* Rotates rows and columns p and q of a symmetric matrix, and columns of V, so
 * that element (p, q) becomes 0. */
static void annihilate(int n, double *a, double *v, int p, int q)
{
    const double pq = AT(a, p, q, n);
    const double zeta = (AT(a, q, q, n) - AT(a, p, p, n)) / (2 * pq);
    const double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta));
    const double c = 1 / sqrt(1 + t * t), s = c * t;

    rotate(n, &AT(a, 0, p, n), &AT(a, 0, q, n), c, s);
    for (int i = 0; i < n; i++) {
        const double kept = AT(a, p, i, n);
        AT(a, p, i, n) = c * kept - s * AT(a, q, i, n);
        AT(a, q, i, n) = s * kept + c * AT(a, q, i, n);
    }
    rotate(n, &AT(v, 0, p, n), &AT(v, 0, q, n), c, s);
}

static bool diagonalise(int n, double *a, double *v)
{
    const double least = 1e-16 * norm(n * n, a);

    for (int sweep = 0; sweep < most_sweeps; sweep++) {
        bool is_changed = false;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (fabs(AT(a, p, q, n)) > least) {
                    annihilate(n, a, v, p, q);
                    is_changed = true;
                }
        if (!is_changed)
            return true;
    }
    return false;
}

int fake_syevd(bool is_upper, int n, double *a, double *w)
{
    double *v = calloc((size_t)n * (size_t)n, sizeof *v);

    for (int j = 0; j < n; j++) {
        AT(v, j, j, n) = 1;
        for (int i = j + 1; i < n; i++)
            if (is_upper)
                AT(a, i, j, n) = AT(a, j, i, n);
            else
                AT(a, j, i, n) = AT(a, i, j, n);
    }
    const bool is_done = diagonalise(n, a, v);
    for (int j = 0; j < n; j++)
        w[j] = AT(a, j, j, n);
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < n; i++)
            if (w[i] < w[j]) {
                const double kept = w[i];
                w[i] = w[j];
                w[j] = kept;
                swap_columns(n, v, i, j);
            }
    memcpy(a, v, (size_t)n * (size_t)n * sizeof *a);
    free(v);
    return is_done ? 0 : n;
}
