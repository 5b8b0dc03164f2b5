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

/* ---- people who love pointers */
double dotp(register const double *a, register const double *b, register int n)
{
    register double r = 0.0;
    for (; n; --n, ++a, ++b) //~ dot
        r += *a * *b;
    return r;
}

void vcopy(double *to, const double *from, const double *end)
{
    while (from != end) //~ copy
        *to++ = *from++;
}

void vneg(double *p, size_t n)
{
    double *const q = p + n;
    for (; p < q; p++) //~ neg
        *p = -*p;
}

double vmax(const double *p, size_t n)
{
    double m = *p;
    while (--n) //~ max
        if (*++p > m)
            m = *p;
    return m;
}

float *vscale(float *restrict y, const float *restrict x, float k, int n)
{
    float *start = y;
    while (n >= 4) { //~ scale
        y[0] = k * x[0];
        y[1] = k * x[1];
        y[2] = k * x[2];
        y[3] = k * x[3];
        x += 4, y += 4, n -= 4;
    }
    while (n-- > 0) //~ scale
        *y++ = k * *x++;
    return start;
}

double asum(const double *x, int n, int inc)
{
    double s = 0;
    for (int i = 0, ix = 0; i < n; i++, ix += inc) //~ norm1
        s += fabs(x[ix]);
    return s;
}

void gemv_rows(const matrix *A, const double *x, double *y)
{
    for (int i = 0; i < A->rows; i++) { //~ gemv
        const double *row = ROW(A, i);
        double s = 0;
        for (int j = 0; j < A->cols; j++)
            s += row[j] * x[j];
        y[i] = s;
    }
}

void gemm_rows(const matrix *A, const matrix *B, matrix *C)
{
    for (int i = 0; i < A->rows; i++) { //~ matmul
        double *c = ROW(C, i);
        const double *a = ROW(A, i);
        memset(c, 0, sizeof(double) * C->cols);
        for (int k = 0; k < A->cols; k++) {
            const double aik = a[k];
            const double *b = ROW(B, k);
            for (int j = 0; j < B->cols; j++)
                c[j] += aik * b[j];
        }
    }
}

void scale_rows(matrix *A, const double *d)
{
    for (int i = 0; i < A->rows; i++) { //~!
        double *row = ROW(A, i);
        const double f = d[i];
        for (int j = 0; j < A->cols; j++) //~ scale
            row[j] *= f;
    }
}

double max_row_sum(const matrix *A)
{
    double best = 0;
    for (int i = 0; i < A->rows; i++) { //~!
        double s = 0;
        for (int j = 0; j < A->cols; j++) //~ norm1
            s += fabs(A->data[i * A->ld + j]);
        if (s > best)
            best = s;
    }
    return best;
}

void pivot_rows(matrix *A, int p, int q)
{
    for (int j = 0; j < A->cols; j++) //~!
        swap(double, A->data[p * A->ld + j], A->data[q * A->ld + j]);
}

int find_pivot(const matrix *A, int k)
{
    int p = k;
    double best = fabs(A->data[k * A->ld + k]);
    for (int i = k + 1; i < A->rows; i++) { //~ fused
        double v = fabs(A->data[i * A->ld + k]);
        if (v > best) {
            best = v;
            p = i;
        }
    }
    return p;
}

void lu(matrix *A)
{
    double *a = A->data;
    const int n = A->rows, ld = A->ld;
    for (int k = 0; k < n; k++) { //~!
        for (int i = k + 1; i < n; i++) { //~!
            a[i * ld + k] /= a[k * ld + k];
            for (int j = k + 1; j < n; j++) //~ axpy
                a[i * ld + j] -= a[i * ld + k] * a[k * ld + j];
        }
    }
}

/* ---- small networks */
void dense_forward(const dense_t *l, const float in[64], float out[32])
{
    for (int o = 0; o < 32; ++o) //~ copy
        out[o] = l->b[o];
    for (int i = 0; i < 64; ++i) //~ gemv
        for (int o = 0; o < 32; ++o)
            out[o] += in[i] * l->w[i * 32 + o];
}

void gru_gate(const gru *g, float *z)
{
    for (int i = 0; i < g->hidden; i++) { //~ gemv
        float acc = 0;
        for (int j = 0; j < g->hidden; j++)
            acc += g->wz[i * g->hidden + j] * g->state[j];
        z[i] = 1.0f / (1.0f + expf(-acc));
    }
}

void gru_blend(gru *g, const float *z, const float *h)
{
    for (int i = 0; i < g->hidden; i++) //~ fused
        g->state[i] = (1.0f - z[i]) * g->state[i] + z[i] * h[i];
}

void elementwise_tanh(fvec v)
{
    for (int i = 0; i < v.len; i++) //~ tanh
        v.x[i] = tanhf(v.x[i]);
}

void swish(fvec v)
{
    for (int i = 0; i < v.len; i++) //~ fused
        v.x[i] *= 1.0f / (1.0f + expf(-v.x[i]));
}

void softplus(fvec v)
{
    for (int i = 0; i < v.len; i++) //~ fused
        v.x[i] = logf(1.0f + expf(v.x[i]));
}

void l2_normalize(fvec v)
{
    float n = 0;
    for (int i = 0; i < v.len; i++) //~ norm2
        n += v.x[i] * v.x[i];
    n = sqrtf(n);
    for (int i = 0; i < v.len; i++) //~ scale
        v.x[i] /= n;
}

void attention_scores(const float *q, const float *k, float *s, int n, int m, int d)
{
    const float inv = 1.0f / sqrtf((float)d);
    for (int i = 0; i < n; i++) //~ matmul
        for (int j = 0; j < m; j++) {
            float t = 0;
            for (int c = 0; c < d; c++)
                t += q[i * d + c] * k[j * d + c];
            s[i * m + j] = t * inv;
        }
}

void causal_mask(float *s, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = i + 1; j < n; j++)
            s[i * n + j] = -INFINITY;
}

void avgpool(const float *in, float *out, int h, int w, int k)
{
    const int oh = h / k, ow = w / k;
    for (int y = 0; y < oh; y++) //~ pooling
        for (int x = 0; x < ow; x++) {
            float s = 0;
            for (int i = 0; i < k; i++)
                for (int j = 0; j < k; j++)
                    s += in[(y * k + i) * w + x * k + j];
            out[y * ow + x] = s / (k * k);
        }
}

void conv_multi(const float *in, const float *wt, const float *bias, float *out, int ci, int co, int h, int w)
{
    for (int o = 0; o < co; o++) { //~ conv2d
        for (int y = 0; y < h - 2; y++) {
            for (int x = 0; x < w - 2; x++) {
                float v = bias[o];
                for (int c = 0; c < ci; c++)
                    for (int ky = 0; ky < 3; ky++)
                        for (int kx = 0; kx < 3; kx++)
                            v += in[c * h * w + (y + ky) * w + (x + kx)] * wt[((o * ci + c) * 3 + ky) * 3 + kx];
                out[(o * (h - 2) + y) * (w - 2) + x] = v > 0.0f ? v : 0.0f;
            }
        }
    }
}

float bce(const float *p, const float *y, int n)
{
    float l = 0;
    for (int i = 0; i < n; i++) //~ fused
        l += y[i] * logf(p[i]) + (1 - y[i]) * logf(1 - p[i]);
    return -l / n;
}

float accuracy(const float *p, const int *y, int n, int k)
{
    int hits = 0;
    for (int i = 0; i < n; i++) { //~!
        int best = 0;
        for (int c = 1; c < k; c++) //~ argmax
            if (p[i * k + c] > p[i * k + best])
                best = c;
        hits += best == y[i];
    }
    return (float)hits / n;
}

void shuffle(int *idx, int n)
{
    for (int i = n - 1; i > 0; i--) { //~!
        int j = rand() % (i + 1);
        int t = idx[i];
        idx[i] = idx[j];
        idx[j] = t;
    }
}

void gather_batch(const float *x, const int *idx, float *out, int b, int d)
{
    for (int i = 0; i < b; i++) //~!
        memcpy(out + i * d, x + idx[i] * d, d * sizeof *x);
}

void clip_gradient(float *g, int n, float limit)
{
    for (int i = 0; i < n; i++) { //~ clamp
        if (g[i] > limit) g[i] = limit;
        if (g[i] < -limit) g[i] = -limit;
    }
}

void weight_decay(float *w, int n, float lr, float wd)
{
    const float keep = 1.0f - lr * wd;
    for (int i = 0; i < n; i++) //~ scale
        w[i] *= keep;
}

void polyak(float *avg, const float *w, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        avg[i] = 0.99f * avg[i] + 0.01f * w[i];
}

/* ---- filters */
void smooth5(const double *x, double *y, int n)
{
    for (int i = 2; i < n - 2; i++) { //~ conv2d
        double s = 0;
        for (int k = -2; k <= 2; k++)
            s += gauss_w[k + 2] * x[i + k];
        y[i] = s;
    }
}

void smooth3(const double *x, double *y, int n)
{
    for (int i = 1; i < n - 1; i++) //~!
        y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1];
}

void comb(float *x, int n, int d, float g)
{
    for (int i = d; i < n; i++) //~!
        x[i] += g * x[i - d];
}

void fir_block(const float *x, const float *h, float *y, int n, int taps)
{
    for (int i = taps - 1; i < n; i++) { //~ conv2d
        const float *p = x + i;
        float acc = 0.0f;
        for (int k = 0; k < taps; k++)
            acc += h[k] * *p--;
        y[i] = acc;
    }
}

void lms(float *w, const float *x, float e, float mu, int n)
{
    for (int i = 0; i < n; i++) //~ axpy
        w[i] += 2 * mu * e * x[i];
}

void haar(const float *x, float *lo, float *hi, int n)
{
    for (int i = 0; i < n / 2; i++) { //~!
        lo[i] = (x[2 * i] + x[2 * i + 1]) * 0.70710678f;
        hi[i] = (x[2 * i] - x[2 * i + 1]) * 0.70710678f;
    }
}

void goertzel(const float *x, int n, float c, float *out)
{
    float s1 = 0, s2 = 0;
    for (int i = 0; i < n; i++) { //~!
        float s = x[i] + c * s1 - s2;
        s2 = s1;
        s1 = s;
    }
    *out = s1 * s1 + s2 * s2 - c * s1 * s2;
}

void hysteresis(const float *x, uint8_t *gate, int n)
{
    bool on = false;
    for (int i = 0; i < n; i++) { //~!
        if (x[i] > 0.6f)
            on = true;
        else if (x[i] < 0.4f)
            on = false;
        gate[i] = on;
    }
}

void median_window(const float *x, float *y, int n)
{
    for (int i = 2; i < n - 2; i++) { //~!
        float w[5];
        memcpy(w, x + i - 2, sizeof w);
        qsort(w, 5, sizeof *w, NULL);
        y[i] = w[2];
    }
}

void lane_abs(lane *v, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int k = 0; k < 4; k++)
            v[i].u[k] &= 0x7fffffffu;
}

/* ---- odd loops */
scalar scalar_sum(const scalar *x, int n)
{
    scalar s = 0;
    for (int i = 0; i < n; i++) //~ sum
        s += x[i];
    return s;
}

double va_sum(int n, ...)
{
    va_list ap;
    double s = 0;
    va_start(ap, n);
    for (int i = 0; i < n; i++) //~!
        s += va_arg(ap, double);
    va_end(ap);
    return s;
}

double file_sum(FILE *f)
{
    double s = 0, x;
    while (fscanf(f, "%lf", &x) == 1) //~!
        s += x;
    return s;
}

double guarded(const double *x, int n)
{
    double s = 0;
    if (likely(n > 0))
        for (int i = 0; i < n; i++) //~ sum
            s += x[i];
    return s;
}

double every_other(const double *x, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) { //~!
        if (i % 2)
            continue;
        s += x[i];
    }
    return s;
}
