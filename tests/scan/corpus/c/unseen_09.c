/* SPDX-License-Identifier: MIT */
/* By people who had not met the judges: seismics, molecules, rendering, data, codecs. */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double f64;
typedef float f32;
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef size_t usize;

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define FOR_I(n) for (usize i = 0; i < (n); i++)
#define at(m, r, c) ((m).v[(r) * (m).stride + (c)])
#define SQ(x) ((x) * (x))
#define CLAMP(x, lo, hi) ((x) < (lo) ? (lo) : ((x) > (hi) ? (hi) : (x)))
#define LERP(a, b, t) ((a) + ((b) - (a)) * (t))
#define IX(x, y) ((x) + (N + 2) * (y))
#define N 62

struct view { f32 *v; usize rows, cols, stride; };
struct trace { int ns; f32 data[2048]; };
struct atom { f64 r[3], f[3], q; };
struct column { f64 *values; u8 *null_mask; usize count; char name[32]; };
struct work { const f64 *x; usize from, to; f64 result; };
struct mesh { f32 *px, *py, *pz; f32 *nx, *ny, *nz; int nverts; int *tri; int ntris; };
enum { BANDS = 32 };

void overlap_add(f32 *restrict out, const f32 *restrict a, const f32 *restrict b, int n)
{
    int i;
    for (i = 0; i + 3 < n; i += 4) { //~ add
        out[i + 0] = a[i + 0] + b[i + 0];
        out[i + 1] = a[i + 1] + b[i + 1];
        out[i + 2] = a[i + 2] + b[i + 2];
        out[i + 3] = a[i + 3] + b[i + 3];
    }
    for (; i < n; ++i) //~ add
        out[i] = a[i] + b[i];
}

f32 energy4(const f32 *x, int n)
{
    f32 e = 0.f;
    for (int i = 0; i < n; i += 4) { //~ dot
        e += x[i] * x[i];
        e += x[i + 1] * x[i + 1];
        e += x[i + 2] * x[i + 2];
        e += x[i + 3] * x[i + 3];
    }
    return e;
}

void lpc_synth(const f32 *a, const f32 *e, f32 *y, int n, int p)
{
    for (int i = p; i < n; i++) { //~!
        f32 s = e[i];
        for (int k = 1; k <= p; k++) //~!
            s -= a[k] * y[i - k];
        y[i] = s;
    }
}

void lpc_residual(const f32 *a, const f32 *x, f32 *e, int n, int p)
{
    for (int i = p; i < n; i++) { //~ conv2d
        f32 s = 0;
        for (int k = 0; k <= p; k++)
            s += a[k] * x[i - k];
        e[i] = s;
    }
}

void band_energy(const f32 *x, const int *edge, f32 *e)
{
    for (int b = 0; b < BANDS; b++) { //~!
        f32 s = 0;
        for (int i = edge[b]; i < edge[b + 1]; i++) //~ dot
            s += x[i] * x[i];
        e[b] = s;
    }
}

void mono(const f32 *l, const f32 *r, f32 *m, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        m[i] = 0.5f * (l[i] + r[i]);
}

void mid_side(f32 *l, f32 *r, int n)
{
    for (int i = 0; i < n; i++) { //~!
        f32 m = l[i] + r[i], s = l[i] - r[i];
        l[i] = m;
        r[i] = s;
    }
}

void delay_line(const f32 *in, f32 *out, f32 *buf, int n, int len)
{
    static int w = 0;
    for (int i = 0; i < n; i++) { //~!
        out[i] = buf[w];
        buf[w] = in[i];
        if (++w == len)
            w = 0;
    }
}

void invert_phase(f32 *x, int n)
{
    while (--n >= 0) //~ neg
        x[n] = -x[n];
}

/* ---------------- odds and ends */
int count_spaces(const char *s)
{
    int n = 0;
    while (*s) //~!
        n += isspace((unsigned char)*s++) != 0;
    return n;
}

u32 crc(const u8 *p, usize n)
{
    u32 c = ~0u;
    while (n--) { //~!
        c ^= *p++;
        for (int k = 0; k < 8; k++) //~!
            c = c & 1 ? (c >> 1) ^ 0xedb88320u : c >> 1;
    }
    return ~c;
}

void sieve(u8 *a, int n)
{
    for (int i = 2; i * i < n; i++) //~!
        if (!a[i])
            for (int j = i * i; j < n; j += i) //~!
                a[j] = 1;
}

void primes_as_doubles(f64 *out, const int *p, int n)
{
    for (int i = 0; i < n; i++) //~!
        out[i] = (f64)p[i];
}

void narrow(const f64 *a, f32 *b, usize n)
{
    for (usize i = 0; i < n; i++) //~!
        b[i] = (f32)a[i];
}

f64 bisect(f64 (*f)(f64), f64 lo, f64 hi)
{
    for (int i = 0; i < 60; i++) { //~!
        f64 mid = 0.5 * (lo + hi);
        if (f(lo) * f(mid) <= 0)
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}

f64 interpolate(const f64 *xs, const f64 *ys, int n, f64 x)
{
    int i = 0;
    while (i < n - 2 && xs[i + 1] < x) //~!
        i++;
    return ys[i] + (ys[i + 1] - ys[i]) * (x - xs[i]) / (xs[i + 1] - xs[i]);
}

void logs(f64 *x, usize n)
{
    FOR_I(n) x[i] = log(x[i]); //~!
}

void decay(f64 *x, const f64 *t, usize n, f64 tau)
{
    for (usize i = 0; i < n; i++) //~ exp
        x[i] = exp(-t[i] / tau);
}

f64 horner_all(const f64 *c, int n, f64 x)
{
    f64 r = c[n - 1];
    for (int i = n - 2; i >= 0; --i) //~!
        r = fma(r, x, c[i]);
    return r;
}

f64 fused(const f64 *a, const f64 *b, usize n)
{
    f64 s = 0;
    for (usize i = 0; i < n; ++i) //~ dot
        s = fma(a[i], b[i], s);
    return s;
}

bool sorted(const f64 *x, usize n)
{
    for (usize i = 1; i < n; i++) //~!
        if (x[i - 1] > x[i])
            return false;
    return true;
}

usize nearest(const f64 *x, usize n, f64 v)
{
    usize best = 0;
    for (usize i = 1; i < n; i++) //~!
        if (fabs(x[i] - v) < fabs(x[best] - v))
            best = i;
    return best;
}

usize smallest(const f64 *x, usize n)
{
    usize best = 0;
    for (usize i = 1; i < n; i++) //~ argmin
        if (x[best] > x[i])
            best = i;
    return best;
}
