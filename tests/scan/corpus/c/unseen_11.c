/* SPDX-License-Identifier: MIT */
/* By people who had not met the judges: pointers, networks, filters, odd loops. */
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#ifdef USE_DOUBLE
typedef double scalar;
#else
typedef float scalar;
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define ROW(m, i) ((m)->data + (i) * (m)->ld)
#define swap(type, a, b) do { type t_ = (a); (a) = (b); (b) = t_; } while (0)
#define VEC_OP(name, op) void name(float *d, const float *a, const float *b, int n) { for (int i = 0; i < n; i++) d[i] = a[i] op b[i]; } //~!

typedef struct matrix { int rows, cols, ld; double *data; } matrix;
typedef struct { int len; float *x; } fvec;
typedef struct { float w[64 * 32]; float b[32]; } dense_t;
typedef struct gru { int hidden; const float *wz, *wr; float *state; } gru;
typedef union { float f[4]; uint32_t u[4]; } lane;

static const double gauss_w[5] = {0.1, 0.2, 0.4, 0.2, 0.1};
static float scratch[32];

VEC_OP(vadd, +)
VEC_OP(vmul, *)

double squares_of_counts(const int *c, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~!
        s += (double)c[i] * c[i];
    return s;
}

void running_maximum(const double *x, double *m, int n)
{
    double best = -HUGE_VAL;
    for (int i = 0; i < n; i++) { //~!
        best = fmax(best, x[i]);
        m[i] = best;
    }
}

void previous(const double *x, double *y, int n)
{
    double last = 0;
    for (int i = 0; i < n; i++) { //~!
        y[i] = x[i] - last;
        last = x[i];
    }
}

double pi_by_darts(unsigned n)
{
    unsigned in = 0;
    for (unsigned i = 0; i < n; i++) { //~!
        double x = rand() / (double)RAND_MAX, y = rand() / (double)RAND_MAX;
        in += x * x + y * y <= 1;
    }
    return 4.0 * in / n;
}

void reset(void)
{
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) //~!
        scratch[i] = 0.0f;
}

void accumulate_scratch(const float *x)
{
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) //~ add
        scratch[i] += x[i];
}

void nested_scalar(double *x, int n, int times)
{
    for (int t = 0; t < times; t++) { //~!
        for (int i = 0; i < n; i++) //~ sqrt
            x[i] = sqrt(x[i]);
        printf("%d\n", t);
    }
}

double compare(const double *a, const double *b, int n)
{
    double worst = 0;
    for (int i = 0; i < n; i++) { //~ fused
        double rel = fabs(a[i] - b[i]) / fmax(fabs(a[i]), 1e-300);
        if (rel > worst)
            worst = rel;
    }
    return worst;
}

int equal(const double *a, const double *b, int n)
{
    int same = 1;
    for (int i = 0; i < n; i++) //~!
        same &= a[i] == b[i];
    return same;
}

void threshold(const float *x, uint8_t *y, int n, float t)
{
    for (int i = 0; i < n; i++) //~!
        y[i] = x[i] > t;
}

void cumulative_product(double *x, int n)
{
    for (int i = 1; i < n; i++) //~!
        x[i] *= x[i - 1];
}

void reciprocal(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        x[i] = 1.0f / x[i];
}

void rescale(const float *x, float *y, int n, float lo, float hi)
{
    for (int i = 0; i < n; i++) //~ fused
        y[i] = (x[i] - lo) / (hi - lo);
}

void product3(const float *a, const float *b, const float *c, float *o, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        o[i] = a[i] * b[i] * c[i];
}

void ratio(const float *a, const float *b, float *o, int n)
{
    for (int i = 0; i < n; i++) //~ div
        o[i] = a[i] / b[i];
}

void safe_ratio(const float *a, const float *b, float *o, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        o[i] = b[i] != 0 ? a[i] / b[i] : 0;
}
