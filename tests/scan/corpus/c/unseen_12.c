/* SPDX-License-Identifier: MIT */
/* By people who had not met the judges: climate, statistics, graphics, radio. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- a climate model in C, by somebody who thinks in Fortran */
#define NLON 144
#define NLAT 72
#define NLEV 20
#define DEG2RAD 0.017453292519943295
#define fmaxd(a, b) ((a) > (b) ? (a) : (b))

static double temp[NLEV][NLAT][NLON], tend[NLEV][NLAT][NLON], mask[NLAT][NLON];
static double coslat[NLAT], area[NLAT][NLON];

void apply_tendency(double dt)
{
    int i, j, k;
    for (k = 0; k < NLEV; k++) //~ axpy 207360 f64
        for (j = 0; j < NLAT; j++)
            for (i = 0; i < NLON; i++)
                temp[k][j][i] += dt * tend[k][j][i];
}

double area_mean(int k)
{
    double s = 0, a = 0;
    for (int j = 0; j < NLAT; j++) //~ dot
        for (int i = 0; i < NLON; i++) {
            s += area[j][i] * temp[k][j][i];
            a += area[j][i];
        }
    return s / a;
}

void latitudes(void)
{
    for (int j = 0; j < NLAT; j++) //~!
        coslat[j] = cos((-90.0 + (j + 0.5) * 180.0 / NLAT) * DEG2RAD);
}

void zonal_mean(double out[NLEV][NLAT])
{
    for (int k = 0; k < NLEV; k++) //~!
        for (int j = 0; j < NLAT; j++) {
            double s = 0;
            for (int i = 0; i < NLON; i++) //~ mean
                s += temp[k][j][i];
            out[k][j] = s / NLON;
        }
}

void diffuse(double kappa)
{
    for (int k = 0; k < NLEV; k++) //~!
        for (int j = 1; j < NLAT - 1; j++)
            for (int i = 1; i < NLON - 1; i++)
                tend[k][j][i] = kappa * (temp[k][j][i + 1] + temp[k][j][i - 1] + temp[k][j + 1][i] + temp[k][j - 1][i] - 4 * temp[k][j][i]);
}

void mask_ocean(void)
{
    for (int k = 0; k < NLEV; k++) //~ mul
        for (int j = 0; j < NLAT; j++)
            for (int i = 0; i < NLON; i++)
                temp[k][j][i] *= mask[j][i];
}

void advect(const double *u, const double *q, double *qn, int n, double c)
{
    for (int i = 1; i < n; i++) //~!
        qn[i] = q[i] - c * u[i] * (q[i] - q[i - 1]);
}

void saturation(const double *t, double *es, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        es[i] = 611.2 * exp(17.67 * (t[i] - 273.15) / (t[i] - 29.65));
}

double hottest(void)
{
    double m = -DBL_MAX;
    for (int j = 0; j < NLAT; j++) //~ max 10368 f64
        for (int i = 0; i < NLON; i++)
            m = fmaxd(m, temp[0][j][i]);
    return m;
}

/* ---- statistics package */
typedef struct { size_t n; double *x; } sample;

static int is_missing(double v)
{
    return v != v;
}

double sample_mean(const sample *s, int *err)
{
    double t = 0.0;
    size_t i;
    if (s->n == 0) {
        *err = EINVAL;
        return NAN;
    }
    for (i = 0; i < s->n; ++i) { //~ mean
        t += s->x[i];
    }
    return t / s->n;
}

double sample_var(const sample *s, double m)
{
    double t = 0.0;
    for (size_t i = 0; i < s->n; ++i) { //~ variance
        const double d = s->x[i] - m;
        t += d * d;
    }
    return t / (s->n - 1);
}

double skewness(const sample *s, double m, double sd)
{
    double t = 0.0;
    for (size_t i = 0; i < s->n; ++i) { //~ fused
        double z = (s->x[i] - m) / sd;
        t += z * z * z;
    }
    return t / s->n;
}

size_t count_missing(const sample *s)
{
    size_t c = 0;
    for (size_t i = 0; i < s->n; i++) //~!
        if (is_missing(s->x[i]))
            ++c;
    return c;
}

double log_sum_exp(const double *x, int n)
{
    double m = x[0], s = 0;
    for (int i = 1; i < n; i++) //~ max
        if (x[i] > m)
            m = x[i];
    for (int i = 0; i < n; i++) //~ fused
        s += exp(x[i] - m);
    return m + log(s);
}

void ranks(const double *x, double *r, int n)
{
    for (int i = 0; i < n; i++) { //~!
        int below = 0;
        for (int j = 0; j < n; j++) //~!
            below += x[j] < x[i];
        r[i] = below + 1;
    }
}

void cumulative(const double *p, double *c, int n)
{
    c[0] = p[0];
    for (int i = 1; i < n; i++) //~!
        c[i] = c[i - 1] + p[i];
}

int pick(const double *c, int n, double u)
{
    int k = 0;
    while (k < n - 1 && c[k] < u) //~!
        ++k;
    return k;
}

void design_gram(const double *X, double *G, int n, int p)
{
    for (int a = 0; a < p; a++) //~ matmul
        for (int b = 0; b < p; b++) {
            G[a * p + b] = 0;
            for (int i = 0; i < n; i++)
                G[a * p + b] += X[i * p + a] * X[i * p + b];
        }
}

void xty(const double *X, const double *y, double *out, int n, int p)
{
    for (int a = 0; a < p; a++) //~!
        out[a] = 0;
    for (int i = 0; i < n; i++) //~ gemv
        for (int a = 0; a < p; a++)
            out[a] += X[i * p + a] * y[i];
}

void residuals(const double *y, const double *fit, double *r, int n)
{
    int i = 0;
    for (;;) { //~ sub
        if (i >= n)
            break;
        r[i] = y[i] - fit[i];
        i++;
    }
}

void residuals2(const double *y, const double *fit, double *r, int n)
{
    int i = -1;
    while (++i < n) //~ sub
        r[i] = y[i] - fit[i];
}

/* ---- graphics with fixed arrays */
typedef float vec4[4];
typedef vec4 mat44[4];

void mat44_mul(mat44 r, mat44 a, mat44 b)
{
    int i, j, k;
    for (i = 0; i < 4; ++i) //~ matmul 4x4x4 f32
        for (j = 0; j < 4; ++j) {
            r[i][j] = 0.f;
            for (k = 0; k < 4; ++k)
                r[i][j] += a[k][j] * b[i][k];
        }
}

void mat44_mul_vec4(vec4 r, mat44 m, const vec4 v)
{
    int i, j;
    for (j = 0; j < 4; ++j) { //~ gemv 4x4 f32
        r[j] = 0.f;
        for (i = 0; i < 4; ++i)
            r[j] += m[i][j] * v[i];
    }
}

float vec4_len(const vec4 v)
{
    float p = 0.f;
    int i;
    for (i = 0; i < 4; ++i) //~ norm2 4 f32
        p += v[i] * v[i];
    return sqrtf(p);
}

void mat44_identity(mat44 m)
{
    int i, j;
    for (i = 0; i < 4; ++i) //~!
        for (j = 0; j < 4; ++j)
            m[i][j] = i == j ? 1.f : 0.f;
}

void mat44_dup(mat44 m, mat44 n)
{
    int i, j;
    for (i = 0; i < 4; ++i) //~ copy 16 f32
        for (j = 0; j < 4; ++j)
            m[i][j] = n[i][j];
}

/* ---- an interpreter's arrays */
typedef struct value { int tag; union { double num; struct value *list; } as; } value;
typedef struct { double *items; int count, capacity; } numbers;

void numbers_push(numbers *a, double v)
{
    if (a->count == a->capacity) {
        a->capacity = a->capacity ? 2 * a->capacity : 8;
        a->items = realloc(a->items, a->capacity * sizeof(double));
    }
    a->items[a->count++] = v;
}

double values_sum(const value *v, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) //~!
        s += v[i].as.num;
    return s;
}

double numbers_sum(const numbers *a)
{
    double s = 0;
    for (int i = 0; i < a->count; i++) //~ sum
        s += a->items[i];
    return s;
}

void numbers_filter(const numbers *a, numbers *out, double k)
{
    for (int i = 0; i < a->count; i++) //~!
        if (a->items[i] > k)
            numbers_push(out, a->items[i]);
}

void numbers_each(numbers *a, double (*f)(double, void *), void *ctx)
{
    for (int i = 0; i < a->count; i++) //~!
        a->items[i] = f(a->items[i], ctx);
}

void numbers_reverse(const numbers *a, numbers *b)
{
    for (int i = 0; i < a->count; i++) //~!
        b->items[a->count - 1 - i] = a->items[i];
}

void numbers_scale_into(const numbers *a, double k, numbers *b)
{
    for (b->count = 0; b->count < a->count; b->count++) //~!
        b->items[b->count] = k * a->items[b->count];
}

/* ---- hardware */
void adc_average(volatile uint16_t *adc, float *out, int n)
{
    for (int i = 0; i < n; i++) //~!
        out[i] = 0.9f * out[i] + 0.1f * *adc;
}

void dma_copy(volatile float *reg, const float *src, int n)
{
    for (int i = 0; i < n; i++) //~!
        *reg = src[i];
}

void ema_block(float *y, const float *x, float a, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        y[i] = y[i] + a * (x[i] - y[i]);
}

void iq_mix(const float *i_, const float *q_, const float *c, const float *s, float *oi, int n)
{
    for (int k = 0; k < n; k++) //~ fused
        oi[k] = i_[k] * c[k] - q_[k] * s[k];
}

void iq_gain(float *i_, float *q_, float g, int n)
{
    for (int k = 0; k < n; k++) { //~ scale
        i_[k] *= g;
        q_[k] *= g;
    }
}

void phase_unwrap(float *p, int n)
{
    for (int k = 1; k < n; k++) { //~!
        float d = p[k] - p[k - 1];
        if (d > 3.14159265f)
            p[k] -= 6.2831853f;
    }
}

float rssi(const float *x, int n)
{
    float e = FLT_MIN;
    for (int k = 0; k < n; ++k) //~ dot
        e = e + x[k] * x[k];
    return 10.f * log10f(e / n);
}

void beamform(const float *const *ch, const float *w, float *out, int nch, int n)
{
    for (int k = 0; k < n; k++) { //~ gemv
        float acc = 0;
        for (int c = 0; c < nch; c++)
            acc += w[c] * ch[c][k];
        out[k] = acc;
    }
}

void polyphase(const float *x, const float *h, float *y, int n, int m, int taps)
{
    for (int i = 0; i < n; i++) { //~ conv2d
        float acc = 0;
        for (int k = 0; k < taps; k++)
            acc += x[i * 2 + k] * h[k];
        y[i] = acc;
    }
}
