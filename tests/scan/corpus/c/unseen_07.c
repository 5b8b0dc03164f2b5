/* SPDX-License-Identifier: MIT */
/* By people who had not met the judges: control, filters, learning, bits. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NPTS 1024
#define DIM 3
#define ABS(x) ((x) < 0 ? -(x) : (x))
#define MAT(i, j) mat[(i) * ncol + (j)]
#define SIGMOID(x) (1.0f / (1.0f + expf(-(x))))
#define FOREACH(p, a, n) for (float *p = (a); p < (a) + (n); p++)

typedef struct filter { float *coeffs; float *delay; size_t taps; } filter_t;
typedef struct { double re, im; } cplx;
struct tensor { int n, c, h, w; float *data; };
struct kalman { double x[4]; double P[4][4]; double F[4][4]; };
struct particle { float pos[3], vel[3]; };
struct spectrum { double bins[NPTS]; double total; };

static float history[NPTS];
static double weights[NPTS], signal_in[NPTS], signal_out[NPTS];
static long double wide[NPTS];

unsigned popcount_all(const uint32_t *w, size_t n)
{
    unsigned c = 0;
    while (n--) //~!
        c += (unsigned)__builtin_popcount(*w++);
    return c;
}

double parse_list(char *s, double *out, int n)
{
    double total = 0;
    for (int i = 0; i < n; i++) { //~!
        out[i] = strtod(s, &s);
        total += out[i];
    }
    return total;
}

void random_walk(float *x, int n, unsigned seed)
{
    for (int i = 1; i < n; i++) { //~!
        seed = seed * 1664525u + 1013904223u;
        x[i] = x[i - 1] + (float)(seed >> 16) / 65536.0f - 0.5f;
    }
}

void mandel(float *out, int w, int h)
{
    for (int y = 0; y < h; y++) //~!
        for (int x = 0; x < w; x++) {
            float zr = 0, zi = 0;
            int n = 0;
            while (zr * zr + zi * zi < 4 && n < 255) { //~!
                float t = zr * zr - zi * zi + x;
                zi = 2 * zr * zi + y;
                zr = t;
                n++;
            }
            out[y * w + x] = (float)n;
        }
}

void bilateral(const float *in, float *out, int n, float s)
{
    for (int i = 2; i < n - 2; i++) { //~!
        float acc = 0, norm = 0;
        for (int k = -2; k <= 2; k++) { //~!
            float d = in[i + k] - in[i];
            float w = expf(-d * d / s);
            acc += w * in[i + k];
            norm += w;
        }
        out[i] = acc / norm;
    }
}

void csc_product(const int *colp, const int *rowi, const double *v, const double *x, double *y, int n)
{
    for (int j = 0; j < n; j++) //~!
        for (int p = colp[j]; p < colp[j + 1]; p++) //~!
            y[rowi[p]] += v[p] * x[j];
}

void permute(const double *x, double *y, const int *perm, int n)
{
    for (int i = 0; i < n; i++) //~!
        y[perm[i]] = x[i];
}

void polynomial(const double *x, double *y, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        y[i] = ((2.0 * x[i] - 1.0) * x[i] + 3.0) * x[i];
}

void temperature(const double *c, double *f, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        f[i] = c[i] * 9.0 / 5.0 + 32.0;
}

void degrees(const double *rad, double *deg, int n)
{
    for (int i = 0; i < n; i++) //~ scale
        deg[i] = rad[i] * 180.0 / 3.14159265358979;
}

void sine_table(double *t, int n)
{
    for (int i = 0; i < n; i++) //~!
        t[i] = sin(2 * 3.14159265358979 * i / n);
}

void sines(const double *x, double *y, int n)
{
    for (int i = 0; i < n; i++) //~ sin
        y[i] = sin(x[i]);
}

void hypotenuse(const double *x, const double *y, double *r, int n)
{
    for (int i = 0; i < n; i++) //~!
        r[i] = hypot(x[i], y[i]);
}

void move_all(struct particle *p, int n, float dt)
{
    for (int i = 0; i < n; i++) //~!
        for (int d = 0; d < 3; d++) //~ axpy
            p[i].pos[d] += dt * p[i].vel[d];
}

double cumulative_max(double *x, int n)
{
    for (int i = 1; i < n; i++) //~!
        if (x[i] < x[i - 1])
            x[i] = x[i - 1];
    return x[n - 1];
}

double weighted_mean(const double *x, const double *w, int n)
{
    double num = 0., den = 0.;
    int i = n;
    while (i-- > 0) { //~ dot
        num += w[i] * x[i];
        den += w[i];
    }
    return num / den;
}

double geometric_mean(const double *x, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~ fused
        s += log(x[i]);
    return exp(s / n);
}

double manhattan(const double *a, const double *b, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~ fused
        s += ABS(a[i] - b[i]);
    return s;
}

double taxi(const double *a, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~ norm1
        s += ABS(a[i]);
    return s;
}

void column_means(const double *mat, double *mean, int nrow, int ncol)
{
    for (int j = 0; j < ncol; j++) { //~!
        mean[j] = 0;
        for (int i = 0; i < nrow; i++) //~ sum
            mean[j] += MAT(i, j);
        mean[j] /= nrow;
    }
}

void center_columns(double *mat, const double *mean, int nrow, int ncol)
{
    for (int i = 0; i < nrow; i++) //~ sub
        for (int j = 0; j < ncol; j++)
            MAT(i, j) -= mean[j];
}

void lower_triangle(double *a, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = i + 1; j < n; j++)
            a[i * n + j] = 0;
}

void mirror(double *a, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < i; j++)
            a[j * n + i] = a[i * n + j];
}

void max_with(float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++) //~!
        a[i] = fmaxf(a[i], b[i]);
}

void floor_at(float *a, float lo, int n)
{
    for (int i = 0; i < n; i++) //~ clamp
        if (a[i] < lo)
            a[i] = lo;
}
