/* SPDX-License-Identifier: MIT */
/* By people who had not met the judges: linear algebra, physics, signals, pictures. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDX(r, c, ld) ((r) * (ld) + (c))
#define AT(m, r, c) ((m)->v[(r) * (m)->cols + (c)])
#define MAX2(a, b) ((a) > (b) ? (a) : (b))
#define NX 128
#define NY 64
#define FOR(i, n) for (int i = 0; i < (n); ++i)

typedef double real_t;
typedef float sample;
typedef struct { int rows, cols; double *v; } mat;
typedef struct { double *x, *y, *z, *m; int count; } bodies;
typedef struct { float r, g, b; } rgb;
typedef struct node { double value; struct node *next; } node;
typedef struct { int n; int *ptr, *idx; double *val; } csr;

static double grid[NY][NX], next_grid[NY][NX];

void selection_sort(float *a, int n)
{
    for (int i = 0; i < n - 1; i++) { //~!
        int m = i;
        for (int j = i + 1; j < n; j++) //~ argmin
            if (a[j] < a[m])
                m = j;
        float t = a[i];
        a[i] = a[m];
        a[m] = t;
    }
}

/* --- networks */
void dense(const float *w, const float *b, const float *x, float *y, int in, int out)
{
    for (int o = 0; o < out; o++) { //~ gemv
        float s = b[o];
        for (int i = 0; i < in; i++)
            s += w[o * in + i] * x[i];
        y[o] = s;
    }
}

void dense_relu(const float *w, const float *x, float *y, int in, int out)
{
    for (int o = 0; o < out; o++) { //~ gemv
        float s = 0;
        for (int i = 0; i < in; i++)
            s += w[o * in + i] * x[i];
        y[o] = s > 0 ? s : 0;
    }
}

void sgd(float *w, const float *g, float lr, int n)
{
    for (int i = 0; i < n; i++) //~ axpy
        w[i] -= lr * g[i];
}

void adam(float *w, const float *g, float *m, float *v, float lr, int n)
{
    for (int i = 0; i < n; i++) { //~ fused
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
        w[i] -= lr * m[i] / (sqrtf(v[i]) + 1e-8f);
    }
}

void silu(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        x[i] = x[i] / (1.0f + expf(-x[i]));
}

void gelu_tanh(float *x, int n)
{
    for (int i = 0; i < n; i++) { //~ gelu
        float v = x[i];
        x[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    }
}

void leaky_relu(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        x[i] = x[i] > 0 ? x[i] : 0.01f * x[i];
}

void softmax_online(const float *x, float *y, int n)
{
    float m = -FLT_MAX, s = 0;
    for (int i = 0; i < n; i++) { //~ softmax
        float old = m;
        if (x[i] > m)
            m = x[i];
        s = s * expf(old - m) + expf(x[i] - m);
    }
    for (int i = 0; i < n; i++) //~ fused
        y[i] = expf(x[i] - m) / s;
}

void rmsnorm(float *o, const float *x, const float *w, int n)
{
    float ss = 0.0f;
    for (int j = 0; j < n; j++) //~ dot
        ss += x[j] * x[j];
    ss = 1.0f / sqrtf(ss / n + 1e-5f);
    for (int j = 0; j < n; j++) //~ mul
        o[j] = w[j] * (ss * x[j]);
}

void log_softmax_gather(const float *logits, const int *label, float *loss, int rows, int k)
{
    for (int r = 0; r < rows; r++) { //~!
        float m = logits[r * k];
        for (int c = 1; c < k; c++) //~ max
            if (m < logits[r * k + c])
                m = logits[r * k + c];
        float z = 0;
        for (int c = 0; c < k; c++) //~ fused
            z += expf(logits[r * k + c] - m);
        loss[r] = logf(z) + m - logits[r * k + label[r]];
    }
}

void embedding(const float *table, const int *ids, float *out, int n, int d)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < d; j++) //~ copy
            out[i * d + j] = table[ids[i] * d + j];
}

void add_bias_rows(float *x, const float *b, int rows, int cols)
{
    FOR(r, rows) //~!
        FOR(c, cols)
            x[r * cols + c] += b[c];
}

void momentum(float *v, const float *g, int n)
{
    for (int i = 0; i < n; i++) //~ axpy
        v[i] = 0.9f * v[i] + g[i];
}

/* --- everything else */
uint32_t adler(const uint8_t *p, size_t n)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; i++) { //~!
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

size_t length(const char *s)
{
    const char *p = s;
    while (*p) //~!
        p++;
    return (size_t)(p - s);
}

void upper(char *s)
{
    for (; *s; s++) //~!
        if (*s >= 'a' && *s <= 'z')
            *s -= 32;
}

double parse(const char *s)
{
    double v = 0;
    while (*s >= '0' && *s <= '9') //~!
        v = v * 10 + (*s++ - '0');
    return v;
}

int read_all(FILE *f, double *out, int n)
{
    int i;
    for (i = 0; i < n; i++) //~!
        if (fscanf(f, "%lf", &out[i]) != 1)
            break;
    return i;
}

void print_all(const float *x, int n)
{
    for (int i = 0; i < n; i++) //~!
        printf("%g ", x[i]);
}

long total_int(const int *v, int n)
{
    long t = 0;
    for (int i = 0; i < n; i++) //~!
        t += v[i];
    return t;
}

void ramp(double *x, int n, double a, double h)
{
    for (int i = 0; i < n; i++) //~!
        x[i] = a + i * h;
}

void fill(float *x, int n, float v)
{
    for (int i = 0; i < n; i++) //~!
        x[i] = v;
}

void roots(const double *restrict x, double *restrict y, int n)
{
#pragma omp parallel for simd
    for (int i = 0; i < n; i++) //~ sqrt
        y[i] = sqrt(x[i]);
}

void inverse(const double *x, double *y, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        y[i] = 1.0 / x[i];
}

void negate2d(double a[][NX], int rows)
{
    int i, j;
    for (i = 0; i < rows; ++i) //~ neg
        for (j = 0; j < NX; ++j)
            a[i][j] = -a[i][j];
}

void ratio(const real_t *num, const real_t *den, real_t *out, long n)
{
    long i;
#pragma omp parallel for private(i)
    for (i = 0; i < n; ++i) { //~ div
        const real_t d = den[i];
        out[i] = num[i] / d;
    }
}

double omp_sum(const double *v, long n)
{
    double acc = 0;
#pragma omp parallel for reduction(+ : acc)
    for (long i = 0; i < n; ++i) //~ sum
        acc = acc + v[i];
    return acc;
}

void triad(double *restrict a, const double *restrict b, const double *restrict c, double q, long n)
{
    for (long i = 0; i < n; i++) //~ axpy
        a[i] = b[i] + q * c[i];
}

void three(const float *a, const float *b, const float *c, float *d, int n)
{
    for (int i = 0; i < n; i++) //~ fma
        d[i] = a[i] * b[i] + c[i];
}

void hyper(const float *a, float *b, int n)
{
    for (int i = n; i-- > 0;) //~ tanh
        b[i] = tanhf(a[i]);
}

void four_accumulators(const float *a, int n, float *out)
{
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int i;
    for (i = 0; i < n - 3; i += 4) { //~ sum
        s0 += a[i];
        s1 += a[i + 1];
        s2 += a[i + 2];
        s3 += a[i + 3];
    }
    *out = s0 + s1 + s2 + s3;
}

double bilinear(const double *x, const double *a, const double *y, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) { //~!
        double t = 0;
        for (int j = 0; j < n; j++) //~ dot
            t += a[i * n + j] * y[j];
        s += x[i] * t;
    }
    return s;
}

void row_sums(const float *m, float *out, int r, int c)
{
    for (int i = 0; i < r; i++) { //~!
        float t = 0;
        for (int j = 0; j < c; j++) //~ sum
            t += m[i * c + j];
        out[i] = t;
    }
}

void col_sums(const float *m, float *out, int r, int c)
{
    for (int i = 0; i < r; i++) //~!
        for (int j = 0; j < c; j++) //~ add
            out[j] += m[i * c + j];
}

double gathered(const double *x, const int *idx, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~!
        s += x[idx[i]];
    return s;
}

void batch(const float *a, const float *b, float *c, int nb, int m, int n, int k)
{
    for (int t = 0; t < nb; t++) { //~ batched_matmul
        const float *at = a + (size_t)t * m * k;
        const float *bt = b + (size_t)t * k * n;
        float *ct = c + (size_t)t * m * n;
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                float s = 0;
                for (int p = 0; p < k; p++)
                    s += at[i * k + p] * bt[p * n + j];
                ct[i * n + j] = s;
            }
    }
}

void syrk(const double *a, double *c, int n, int k)
{
    for (int i = 0; i < n; i++) //~ matmul
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int p = 0; p < k; p++)
                s += a[i * k + p] * a[j * k + p];
            c[i * n + j] = s;
        }
}

double walk(double x0, int n)
{
    double x = x0;
    for (int i = 0; i < n; i++) //~!
        x = 3.9 * x * (1 - x);
    return x;
}
