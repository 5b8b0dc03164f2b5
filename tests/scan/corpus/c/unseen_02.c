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

void rectify(float *x, int n)
{
    for (int i = 0; i < n; i++) //~ abs
        if (x[i] < 0)
            x[i] = -x[i];
}

void half_wave(float *x, int n)
{
    for (float *p = x; p != x + n; ++p) //~ relu
        if (*p < 0.0f)
            *p = 0.0f;
}

void gate(float *x, int n, float floor)
{
    for (int i = 0; i < n; i++) //~!
        if (fabsf(x[i]) < floor)
            x[i] = 0;
}

float peak(const float *x, int n)
{
    float p = 0;
    for (int i = 0; i < n; i++) { //~ max
        float a = fabsf(x[i]);
        p = a > p ? a : p;
    }
    return p;
}

float rms(const float *x, int n)
{
    double acc = 0;
    for (int i = 0; i < n; i++) //~ dot
        acc += (double)x[i] * x[i];
    return (float)sqrt(acc / n);
}

int zero_crossings(const float *x, int n)
{
    int c = 0;
    for (int i = 1; i < n; i++) //~!
        c += (x[i] >= 0) != (x[i - 1] >= 0);
    return c;
}

void autocorrelation(const float *x, int n, float *r, int lags)
{
    for (int l = 0; l < lags; l++) { //~ conv2d
        float s = 0;
        for (int i = 0; i < n - l; i++)
            s += x[i] * x[i + l];
        r[l] = s;
    }
}

void integrate(const float *x, float *y, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++) { //~!
        s += x[i];
        y[i] = s;
    }
}

void cumulative_in_place(double *x, int n)
{
    for (int i = 1; i < n; i++) //~!
        x[i] = x[i] + x[i - 1];
}

void differences(const double *x, double *d, int n)
{
    for (int i = 0; i + 1 < n; i++) //~ sub
        d[i] = x[i + 1] - x[i];
}

void dft_naive(const float *in, float complex *out, int n)
{
    for (int k = 0; k < n; k++) { //~!
        float complex s = 0;
        for (int t = 0; t < n; t++) //~!
            s += in[t] * cexpf(-2.0f * 3.14159265f * I * k * t / n);
        out[k] = s;
    }
}

void power_spectrum(const float *re, const float *im, float *p, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        p[i] = re[i] * re[i] + im[i] * im[i];
}

void decibels(const float *p, float *db, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        db[i] = 10.0f * log10f(p[i] + 1e-12f);
}

void pcm_to_float(const int16_t *in, float *out, int n)
{
    for (int i = 0; i < n; i++) //~!
        out[i] = in[i] * (1.0f / 32768.0f);
}

void float_to_pcm(const float *in, int16_t *out, int n)
{
    for (int i = 0; i < n; i++) //~!
        out[i] = (int16_t)lrintf(in[i] * 32767.0f);
}

void q15_gain(int16_t *x, int n, int16_t g)
{
    for (int i = 0; i < n; i++) //~!
        x[i] = (int16_t)((x[i] * g) >> 15);
}

void interleave(const float *l, const float *r, float *out, int n)
{
    for (int i = 0; i < n; i++) { //~ copy
        *out++ = l[i];
        *out++ = r[i];
    }
}

void reverse_in_place(float *x, int n)
{
    for (int i = 0, j = n - 1; i < j; i++, j--) { //~!
        float t = x[i];
        x[i] = x[j];
        x[j] = t;
    }
}

/* --- pictures */
void gray(const rgb *in, float *out, int n)
{
    for (int i = 0; i < n; i++) //~!
        out[i] = 0.299f * in[i].r + 0.587f * in[i].g + 0.114f * in[i].b;
}

void convolve3(const float *src, float *dst, int w, int h, const float k[9])
{
    for (int y = 1; y < h - 1; y++) //~ conv2d
        for (int x = 1; x < w - 1; x++) {
            float acc = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++)
                    acc += src[(y + j) * w + (x + i)] * k[(j + 1) * 3 + (i + 1)];
            dst[y * w + x] = acc;
        }
}

void box_blur(const float *src, float *dst, int w, int h, int r)
{
    for (int y = r; y < h - r; y++) //~ pooling
        for (int x = r; x < w - r; x++) {
            float acc = 0;
            for (int j = -r; j <= r; j++)
                for (int i = -r; i <= r; i++)
                    acc += src[(y + j) * w + x + i];
            dst[y * w + x] = acc / ((2 * r + 1) * (2 * r + 1));
        }
}

void median3(const float *src, float *dst, int n)
{
    for (int i = 1; i < n - 1; i++) { //~!
        float a = src[i - 1], b = src[i], c = src[i + 1];
        dst[i] = fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
    }
}

void sobel(const float *s, float *d, int w, int h)
{
    for (int y = 1; y < h - 1; y++) //~!
        for (int x = 1; x < w - 1; x++) {
            float gx = s[(y - 1) * w + x + 1] - s[(y - 1) * w + x - 1] + 2 * (s[y * w + x + 1] - s[y * w + x - 1]);
            float gy = s[(y + 1) * w + x] - s[(y - 1) * w + x];
            d[y * w + x] = sqrtf(gx * gx + gy * gy);
        }
}

void integral_image(const float *s, double *ii, int w, int h)
{
    for (int y = 0; y < h; y++) { //~!
        double row = 0;
        for (int x = 0; x < w; x++) { //~!
            row += s[y * w + x];
            ii[y * w + x] = row + (y > 0 ? ii[(y - 1) * w + x] : 0.0);
        }
    }
}

void histogram(const float *s, int n, int *bins, int nbins)
{
    for (int i = 0; i < n; i++) { //~!
        int b = (int)(s[i] * nbins);
        bins[b < 0 ? 0 : b >= nbins ? nbins - 1 : b]++;
    }
}

void flip_rows(const float *in, float *out, int w, int h)
{
    for (int y = 0; y < h; y++) //~!
        memcpy(out + (size_t)(h - 1 - y) * w, in + (size_t)y * w, w * sizeof(float));
}

void blend(float *dst, const float *src, int n, float a)
{
    for (int i = 0; i < n; i++) //~ fused
        dst[i] = a * src[i] + (1 - a) * dst[i];
}

void gamma_correct(float *x, int n)
{
    for (int i = 0; i < n; i++) //~!
        x[i] = powf(x[i], 1.0f / 2.2f);
}

void lookup(const uint8_t *in, const float *lut, float *out, int n)
{
    while (n--) //~!
        *out++ = lut[*in++];
}

void downsample(const float *in, float *out, int w, int h)
{
    for (int y = 0; y < h / 2; ++y) //~ pooling
        for (int x = 0; x < w / 2; ++x)
            out[y * (w / 2) + x] = 0.25f * (in[2 * y * w + 2 * x] + in[2 * y * w + 2 * x + 1] +
                                            in[(2 * y + 1) * w + 2 * x] + in[(2 * y + 1) * w + 2 * x + 1]);
}

/* --- statistics */
double average(const double *a, size_t n)
{
    double s = 0;
    size_t i;
    for (i = 0; i != n; ++i) //~ mean
        s += a[i];
    return n ? s / (double)n : 0.0;
}

double kahan(const double *a, size_t n)
{
    double sum = 0.0, c = 0.0;
    for (size_t i = 0; i < n; i++) { //~!
        double y = a[i] - c;
        double t = sum + y;
        c = (t - sum) - y;
        sum = t;
    }
    return sum;
}

double sample_variance(const double *a, int n)
{
    double mean = 0, v = 0;
    for (int i = 0; i < n; i++) //~ mean
        mean += a[i];
    mean /= n;
    for (int i = 0; i < n; i++) //~ variance
        v += (a[i] - mean) * (a[i] - mean);
    return v / (n - 1);
}

double welford(const double *a, int n)
{
    double m = 0, s = 0;
    for (int i = 0; i < n; i++) { //~!
        double d = a[i] - m;
        m += d / (i + 1);
        s += d * (a[i] - m);
    }
    return s / n;
}

double covariance(const double *a, const double *b, double ma, double mb, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~ fused
        s += (a[i] - ma) * (b[i] - mb);
    return s / n;
}

double product_of(const double *a, int n)
{
    double p = 1;
    for (int i = 0; i < n; i++) //~!
        p *= a[i];
    return p;
}

double entropy(const double *p, int n)
{
    double h = 0;
    for (int i = 0; i < n; i++) //~ fused
        if (p[i] > 0)
            h -= p[i] * log(p[i]);
    return h;
}

void extremes(const double *a, int n, double *lo, double *hi)
{
    double l = a[0], h = a[0];
    for (int i = 1; i < n; i++) { //~ min
        l = fmin(l, a[i]);
        h = fmax(h, a[i]);
    }
    *lo = l;
    *hi = h;
}

double biggest(const double *a, int n)
{
    double m = -DBL_MAX;
    for (const double *p = a, *e = a + n; p < e; p++) //~ max
        m = MAX2(m, *p);
    return m;
}

int best_class(const float *scores, int n)
{
    int best = 0;
    for (int k = 1; k < n; k++) //~ argmax
        if (scores[k] > scores[best])
            best = k;
    return best;
}

size_t nearest(const double *dist, size_t n)
{
    double d = HUGE_VAL;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) { //~ argmin
        if (dist[i] < d) {
            d = dist[i];
            at = i;
        }
    }
    return at;
}

int find_first(const double *a, int n, double x)
{
    for (int i = 0; i < n; i++) //~!
        if (a[i] > x)
            return i;
    return -1;
}

int all_finite(const double *a, int n)
{
    int ok = 1;
    for (int i = 0; i < n && ok; i++) //~!
        ok = isfinite(a[i]);
    return ok;
}

int count_above(const double *a, int n, double x)
{
    int c = 0;
    for (int i = 0; i < n; i++) //~!
        if (a[i] > x)
            c++;
    return c;
}

double sum_above(const double *a, int n, double x)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~ fused
        if (a[i] > x)
            s += a[i];
    return s;
}

double until_limit(const double *a, int n, double limit)
{
    double s = 0;
    for (int i = 0; i < n && s < limit; i++) //~!
        s += a[i];
    return s;
}

double list_sum(const node *l)
{
    double s = 0;
    for (; l; l = l->next) //~!
        s += l->value;
    return s;
}

double horner(const double *c, int n, double x)
{
    double r = 0;
    for (int i = n - 1; i >= 0; i--) //~!
        r = r * x + c[i];
    return r;
}

double leibniz(int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~!
        s += (i & 1 ? -1.0 : 1.0) / (2 * i + 1);
    return s;
}

double trapezoid(const double *y, int n, double h)
{
    double s = 0.5 * (y[0] + y[n - 1]);
    for (int i = 1; i < n - 1; i++) //~ sum
        s += y[i];
    return s * h;
}

void insertion_sort(double *a, int n)
{
    for (int i = 1; i < n; i++) { //~!
        double v = a[i];
        int j = i;
        while (j > 0 && a[j - 1] > v) { //~!
            a[j] = a[j - 1];
            j--;
        }
        a[j] = v;
    }
}

void shift_left(double *a, int n)
{
    for (int i = 0; i + 1 < n; i++) //~!
        a[i] = a[i + 1];
}
