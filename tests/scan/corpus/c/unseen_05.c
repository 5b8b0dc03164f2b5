/* SPDX-License-Identifier: MIT */
/* By people who had not met the judges: embedded, translated, libraries, models, games. */
#include <assert.h>
#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef float float32_t;
typedef int32_t q31_t;
typedef double REAL;
typedef REAL *VECTOR;
typedef struct { size_t size, stride; double *data; } gsl_vector;
typedef struct { size_t size1, size2, tda; double *data; } gsl_matrix;
typedef struct { float *weights, *biases; int nin, nout; float *grad; } layer_t;
typedef struct { float m[4][4]; } mat4;
typedef struct { float x, y, z; } vec3;

#define SQR(x) ((x) * (x))
#define ELEM(A, i, j) (A)->data[(i) * (A)->tda + (j)]
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define RESTRICT restrict
#define LOOP(n) for (int i = 0; i < (n); i++)

/* ================= games */
void mat4_mul(mat4 *out, const mat4 *a, const mat4 *b)
{
    for (int r = 0; r < 4; ++r) //~ matmul 4x4x4 f32
        for (int c = 0; c < 4; ++c) {
            out->m[r][c] = 0.0f;
            for (int k = 0; k < 4; ++k)
                out->m[r][c] += a->m[r][k] * b->m[k][c];
        }
}

void transform_points(const vec3 *in, vec3 *out, const mat4 *m, int n)
{
    for (int i = 0; i < n; i++) { //~!
        out[i].x = m->m[0][0] * in[i].x + m->m[0][1] * in[i].y + m->m[0][2] * in[i].z;
        out[i].y = m->m[1][0] * in[i].x + m->m[1][1] * in[i].y + m->m[1][2] * in[i].z;
        out[i].z = m->m[2][0] * in[i].x + m->m[2][1] * in[i].y + m->m[2][2] * in[i].z;
    }
}

void bounds(const vec3 *p, int n, vec3 *lo)
{
    for (int i = 0; i < n; i++) { //~!
        lo->x = fminf(lo->x, p[i].x);
        lo->y = fminf(lo->y, p[i].y);
    }
}

void falloff(float *height, int w, int h)
{
    for (int y = 0; y < h; y++) //~!
        for (int x = 0; x < w; x++)
            height[y * w + x] *= 1.0f - (float)(x * x + y * y) / (w * h);
}

bool any_collision(const float *x, const float *r, int n)
{
    bool hit = false;
    for (int i = 0; i < n && !hit; i++) //~!
        for (int j = i + 1; j < n; j++)
            hit |= fabsf(x[i] - x[j]) < r[i] + r[j];
    return hit;
}

/* ================= finance and data */
void returns(const double *price, double *r, int n)
{
    for (int i = 1; i < n; i++) //~!
        r[i - 1] = log(price[i] / price[i - 1]);
}

void moving_average(const double *x, double *y, int n, int w)
{
    double s = 0;
    for (int i = 0; i < n; i++) { //~!
        s += x[i];
        if (i >= w)
            s -= x[i - w];
        y[i] = s / w;
    }
}

double npv(const double *cash, int n, double rate)
{
    double v = 0, f = 1;
    for (int t = 0; t < n; t++) { //~!
        v += cash[t] * f;
        f /= 1 + rate;
    }
    return v;
}

double portfolio(const double *restrict w, const double *restrict ret, unsigned n)
{
    double total = 0.0;
    for (unsigned k = 0u; k < n; k += 1u) //~ dot
        total = total + w[k] * ret[k];
    return total;
}

void standardize(double *x, int n, double mean, double sd)
{
    for (int i = 0; i < n; i++) //~ fused
        x[i] = (x[i] - mean) / sd;
}

void winsorize(double *x, int n, double lo, double hi)
{
    for (int i = 0; i < n; i++) //~ clamp
        x[i] = fmin(fmax(x[i], lo), hi);
}

double drawdown(const double *equity, int n)
{
    double peak = equity[0], worst = 0;
    for (int i = 1; i < n; i++) { //~!
        if (equity[i] > peak)
            peak = equity[i];
        double dd = peak - equity[i];
        if (dd > worst)
            worst = dd;
    }
    return worst;
}

int rank_of(const double *x, int n, double v)
{
    int r = 0;
    for (int i = 0; i < n; i++) //~!
        r += x[i] < v;
    return r;
}

/* ================= SIMD by hand, tasks, loops of loops */
float sum_avx(const float *x, int n)
{
    __m256 acc = _mm256_setzero_ps();
    for (int i = 0; i < n; i += 8) //~!
        acc = _mm256_add_ps(acc, _mm256_loadu_ps(x + i));
    float t[8];
    _mm256_storeu_ps(t, acc);
    float s = 0;
    for (int i = 0; i < 8; i++) //~ sum 8 f32
        s += t[i];
    return s;
}

void run_tasks(void (**task)(void *), void **arg, int n)
{
    for (int i = 0; i < n; i++) //~!
        task[i](arg[i]);
}

void power_iteration(const double *A, double *v, double *w, int n, int iters)
{
    for (int it = 0; it < iters; it++) { //~!
        for (int i = 0; i < n; i++) { //~ gemv
            w[i] = 0;
            for (int j = 0; j < n; j++)
                w[i] += A[i * n + j] * v[j];
        }
        double norm = 0;
        for (int i = 0; i < n; i++) //~ norm2
            norm += w[i] * w[i];
        norm = sqrt(norm);
        for (int i = 0; i < n; i++) //~ scale
            v[i] = w[i] / norm;
    }
}

void gram_schmidt(double *q, int n, int k)
{
    for (int i = 0; i < k; i++) { //~!
        for (int j = 0; j < i; j++) { //~!
            double d = 0;
            for (int t = 0; t < n; t++) //~ dot
                d += q[i * n + t] * q[j * n + t];
            for (int t = 0; t < n; t++) //~ axpy
                q[i * n + t] -= d * q[j * n + t];
        }
    }
}

void gauss_eliminate(double *a, double *b, int n)
{
    for (int p = 0; p < n; p++) //~!
        for (int r = p + 1; r < n; r++) { //~!
            double f = a[r * n + p] / a[p * n + p];
            for (int c = p; c < n; c++) //~ axpy
                a[r * n + c] -= f * a[p * n + c];
            b[r] -= f * b[p];
        }
}

void wave(double *RESTRICT next, const double *RESTRICT cur, const double *RESTRICT prev, int n, double c2)
{
    for (int i = 1; i < n - 1; i++) //~!
        next[i] = 2 * cur[i] - prev[i] + c2 * (cur[i + 1] - 2 * cur[i] + cur[i - 1]);
}

void lattice(double f[9][64][64], double rho[64][64])
{
    for (int y = 0; y < 64; y++) //~!
        for (int x = 0; x < 64; x++) {
            double s = 0;
            for (int k = 0; k < 9; k++) //~ sum
                s += f[k][y][x];
            rho[y][x] = s;
        }
}

void tensor3(double a[8][16][32], double b[8][16][32])
{
    for (int i = 0; i < 8; i++) //~ sub 4096 f64
        for (int j = 0; j < 16; j++)
            for (int k = 0; k < 32; k++)
                a[i][j][k] -= b[i][j][k];
}

void rank_two(double *a, const double *x, const double *y, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < n; j++) //~ axpy
            a[i * n + j] += x[i] * y[j] + y[i] * x[j];
}

void kron(const double *a, const double *b, double *c, int n, int m)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < n; j++) //~!
            for (int k = 0; k < m; k++) //~ scale
                for (int l = 0; l < m; l++)
                    c[(i * m + k) * n * m + j * m + l] = a[i * n + j] * b[k * m + l];
}

void copy_block(const REAL *src, int lds, REAL *dst, int ldd, int rows, int cols)
{
    int i, j;
    for (j = 0; j < cols; j++) //~ copy
        for (i = 0; i < rows; i++)
            dst[i + j * ldd] = src[i + j * lds];
}

void pack_transposed(const float *a, int lda, float *buf, int m, int k)
{
    for (int p = 0; p < k; p++) //~ transpose
        for (int i = 0; i < m; i++)
            buf[p * m + i] = a[i * lda + p];
}

void diag_times(const double *d, double *a, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < n; j++) //~ scale
            a[i * n + j] *= d[i];
}

void shift_right(double *x, int n)
{
    for (int i = n - 1; i > 0; i--) //~!
        x[i] = x[i - 1];
}

void bubble(float *v, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j + 1 < n - i; j++) //~!
            if (v[j] > v[j + 1]) {
                float t = v[j];
                v[j] = v[j + 1];
                v[j + 1] = t;
            }
}

int lower_bound(const double *a, int n, double x)
{
    int lo = 0, hi = n;
    while (lo < hi) { //~!
        int mid = (lo + hi) / 2;
        if (a[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

double newton(double x, double eps)
{
    double d;
    do { //~!
        d = (x * x - 2) / (2 * x);
        x -= d;
    } while (fabs(d) > eps);
    return x;
}

double simpson(const double *y, int n, double h)
{
    double s = y[0] + y[n - 1];
    for (int i = 1; i < n - 1; i++) //~!
        s += (i % 2 ? 4 : 2) * y[i];
    return s * h / 3;
}

double alternating(const double *y, int n)
{
    double s = 0;
    int sign = 1;
    for (int i = 0; i < n; i++) { //~!
        s += sign * y[i];
        sign = -sign;
    }
    return s;
}

uint64_t fnv(const void *p, size_t n)
{
    const uint8_t *b = p;
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < n; i++) //~!
        h = (h ^ b[i]) * 1099511628211u;
    return h;
}

size_t utf8_length(const char *s)
{
    size_t n = 0;
    for (; *s; ++s) //~!
        n += (*s & 0xc0) != 0x80;
    return n;
}

void swap_bytes(uint32_t *w, int n)
{
    LOOP(n) //~!
        w[i] = __builtin_bswap32(w[i]);
}

double checked_sum(const double *x, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) { //~ sum
        assert(i < n);
        s += x[i];
    }
    return s;
}

double skip_nan(const double *x, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) { //~!
        if (isnan(x[i]))
            continue;
        s += x[i];
    }
    return s;
}

double smallest_gap(const double *x, int n)
{
    double g = x[1] - x[0];
    for (int i = 2; i < n; i++) //~!
        g = min(g, x[i] - x[i - 1]);
    return g;
}

double lowest(const VECTOR x, int n)
{
    double g = x[0];
    for (int i = 1; i < n; i++) //~ min
        g = min(g, x[i]);
    return g;
}

static inline double relu1(double x)
{
    return x > 0 ? x : 0;
}

void apply_relu(double *x, int n)
{
    for (int i = 0; i < n; i++) //~ relu
        x[i] = relu1(x[i]);
}

void apply_pointer(double *x, int n, double (*f)(double))
{
    for (int i = 0; i < n; i++) //~!
        x[i] = f(x[i]);
}

void abs_if(float *x, int n)
{
    for (int i = 0; i < n; ++i) { //~ abs
        if (x[i] < 0.0f)
            x[i] *= -1.0f;
    }
}

void select_relu(const float *x, float *y, int n)
{
    for (int i = 0; i < n; ++i) { //~ relu
        if (x[i] > 0)
            y[i] = x[i];
        else
            y[i] = 0;
    }
}

void range_of(const float *x, int n, float *lo, float *hi)
{
    *lo = *hi = x[0];
    for (int i = 1; i < n; i++) { //~ min
        if (x[i] < *lo)
            *lo = x[i];
        if (x[i] > *hi)
            *hi = x[i];
    }
}

void two_sums(const float *x, int n, float *s1, float *s2)
{
    *s1 = *s2 = 0;
    for (int i = 0; i < n; i++) { //~ sum
        *s1 += x[i];
        *s2 += x[i] * x[i];
    }
}
