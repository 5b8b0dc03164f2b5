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

/* ---------------- seismics */
void stack_traces(const struct trace *t, int ntr, f32 *out, int ns)
{
    for (int k = 0; k < ntr; k++) //~!
        for (int i = 0; i < ns; i++) //~ add
            out[i] += t[k].data[i];
}

void agc(f32 *x, int n, int w)
{
    for (int i = w; i < n - w; i++) { //~!
        f32 e = 0;
        for (int k = -w; k <= w; k++) //~ dot
            e += x[i + k] * x[i + k];
        x[i] /= sqrtf(e / (2 * w + 1)) + 1e-6f;
    }
}

void mute(f32 *x, int first, int n)
{
    for (int i = 0; i < first && i < n; i++) //~!
        x[i] = 0;
}

void taper(f32 *x, int n, int m)
{
    for (int i = 0; i < m; i++) { //~!
        f32 w = 0.5f * (1 - cosf((f32)M_PI * i / m));
        x[i] *= w;
        x[n - 1 - i] *= w;
    }
}

void crosscorrelate(const f32 *a, const f32 *b, f32 *c, int n, int maxlag)
{
    for (int lag = 0; lag < maxlag; lag++) { //~ conv2d
        f64 s = 0;
        for (int i = 0; i < n - maxlag; i++)
            s += (f64)a[i] * b[i + lag];
        c[lag] = (f32)s;
    }
}

f32 semblance(const f32 *const *tr, int ntr, int i)
{
    f32 num = 0, den = 0;
    for (int k = 0; k < ntr; k++) { //~ sum
        num += tr[k][i];
        den += tr[k][i] * tr[k][i];
    }
    return num * num / (ntr * den);
}

/* ---------------- molecular dynamics */
f64 coulomb(const struct atom *a, int n)
{
    f64 e = 0;
    for (int i = 0; i < n; i++) //~!
        for (int j = i + 1; j < n; j++) {
            f64 d2 = SQ(a[i].r[0] - a[j].r[0]) + SQ(a[i].r[1] - a[j].r[1]);
            e += a[i].q * a[j].q / sqrt(d2);
        }
    return e;
}

void half_kick(f64 *restrict v, const f64 *restrict f, const f64 *restrict im, f64 dt, usize n)
{
    for (usize i = 0; i < n; ++i) //~ fused
        v[i] += 0.5 * dt * f[i] * im[i];
}

void positions(f64 *restrict r, const f64 *restrict v, f64 dt, usize n)
{
    for (usize i = n; i--;) //~ axpy
        r[i] += dt * v[i];
}

f64 kinetic_energy(const f64 *m, const f64 *v, usize n)
{
    f64 e = 0;
    FOR_I(n) e += m[i] * SQ(v[i]); //~!
    return 0.5 * e;
}

f64 virial(const f64 *x, const f64 *f, usize n)
{
    f64 w = 0;
    const f64 *stop = x + n;
    do //~ dot
        w += *x++ * *f++;
    while (x < stop);
    return w;
}

void wrap(f64 *x, usize n, f64 box)
{
    for (usize i = 0; i < n; i++) //~ fused
        x[i] -= box * floor(x[i] / box);
}

void zero_forces(struct atom *a, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int k = 0; k < 3; k++)
            a[i].f[k] = 0.0;
}

/* ---------------- matrices as views */
void view_gemm(struct view c, struct view a, struct view b)
{
    for (usize i = 0; i < c.rows; i++) { //~ matmul
        for (usize j = 0; j < c.cols; j++) {
            f32 acc = 0;
            for (usize k = 0; k < a.cols; k++)
                acc += at(a, i, k) * at(b, k, j);
            at(c, i, j) = acc;
        }
    }
}

void view_fill(struct view m, f32 x)
{
    for (usize r = 0; r < m.rows; r++) //~!
        for (usize c = 0; c < m.cols; c++)
            at(m, r, c) = x;
}

void view_relu(struct view m)
{
    for (usize r = 0; r < m.rows; r++) //~ relu
        for (usize c = 0; c < m.cols; c++)
            if (at(m, r, c) < 0)
                at(m, r, c) = 0;
}

void view_outer(struct view m, const f32 *x, const f32 *y)
{
    for (usize r = 0; r < m.rows; r++) //~!
        for (usize c = 0; c < m.cols; c++) //~ scale
            at(m, r, c) = x[r] * y[c];
}

f32 view_trace(struct view m)
{
    f32 t = 0;
    for (usize r = 0; r < m.rows; r++) //~ sum
        t += at(m, r, r);
    return t;
}

void gemm_2x(const f32 *a, const f32 *b, f32 *c, int n)
{
    for (int i = 0; i < n; i += 2) //~ matmul
        for (int j = 0; j < n; j++) {
            f32 s0 = 0, s1 = 0;
            for (int k = 0; k < n; k++) {
                s0 += a[i * n + k] * b[k * n + j];
                s1 += a[(i + 1) * n + k] * b[k * n + j];
            }
            c[i * n + j] = s0;
            c[(i + 1) * n + j] = s1;
        }
}

void band_product(const f64 *ab, const f64 *x, f64 *y, int n, int kl)
{
    for (int i = 0; i < n; i++) { //~!
        y[i] = 0;
        for (int j = i > kl ? i - kl : 0; j <= i; j++) //~!
            y[i] += ab[(i - j) * n + j] * x[j];
    }
}

void back_substitute(const f64 *u, const f64 *b, f64 *x, int n)
{
    for (int i = n - 1; i >= 0; i--) { //~!
        f64 s = b[i];
        for (int j = i + 1; j < n; j++) //~ dot
            s -= u[i * n + j] * x[j];
        x[i] = s / u[i * n + i];
    }
}

void householder(f64 *a, const f64 *v, f64 beta, int m, int n)
{
    for (int j = 0; j < n; j++) { //~!
        f64 d = 0;
        for (int i = 0; i < m; i++) //~ dot
            d += v[i] * a[i * n + j];
        d *= beta;
        for (int i = 0; i < m; i++) //~ axpy
            a[i * n + j] -= d * v[i];
    }
}

void givens(f64 *r1, f64 *r2, f64 c, f64 s, int n)
{
    for (int k = 0; k < n; k++) { //~!
        const f64 a = r1[k], b = r2[k];
        r1[k] = c * a + s * b;
        r2[k] = c * b - s * a;
    }
}

/* ---------------- stable fluids */
void set_bnd(f32 *x)
{
    for (int i = 1; i <= N; i++) { //~!
        x[IX(0, i)] = -x[IX(1, i)];
        x[IX(N + 1, i)] = -x[IX(N, i)];
    }
}

void add_source(f32 *x, const f32 *s, f32 dt)
{
    int i, size = (N + 2) * (N + 2);
    for (i = 0; i < size; i++) x[i] += dt * s[i]; //~ axpy
}

void lin_solve(f32 *x, const f32 *x0, f32 a, f32 c)
{
    for (int k = 0; k < 20; k++) //~!
        for (int i = 1; i <= N; i++) //~!
            for (int j = 1; j <= N; j++)
                x[IX(i, j)] = (x0[IX(i, j)] + a * (x[IX(i - 1, j)] + x[IX(i + 1, j)] + x[IX(i, j - 1)] + x[IX(i, j + 1)])) / c;
}

/* ---------------- rendering */
void scale_mesh(struct mesh *m, f32 s)
{
    for (int i = 0; i < m->nverts; i++) { //~ scale
        m->px[i] *= s;
        m->py[i] *= s;
        m->pz[i] *= s;
    }
}

void translate_mesh(struct mesh *m, f32 x)
{
    for (int i = 0; i < m->nverts; i++) //~ fused
        m->px[i] += x;
}

void project(const struct mesh *m, f32 *sx, f32 *sy)
{
    for (int i = 0; i < m->nverts; i++) { //~ div
        sx[i] = m->px[i] / m->pz[i];
        sy[i] = m->py[i] / m->pz[i];
    }
}

void smooth_normals(struct mesh *m)
{
    for (int t = 0; t < m->ntris; t++) { //~!
        int a = m->tri[3 * t];
        m->nx[a] += m->px[a];
        m->ny[a] += m->py[a];
    }
}

f32 lowest_point(const struct mesh *m)
{
    f32 lo = m->pz[0];
    for (int i = 1; i < m->nverts; i++) //~ min
        lo = fminf(lo, m->pz[i]);
    return lo;
}

void tone_map(f32 *c, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        c[i] = c[i] / (1.0f + c[i]);
}

void expose(f32 *c, int n, f32 k)
{
    for (int i = 0; i < n; i++) //~ fused
        c[i] = 1.0f - expf(-k * c[i]);
}

void saturate(f32 *c, int n)
{
    for (int i = 0; i < n; i++) //~ clamp
        c[i] = CLAMP(c[i], 0.0f, 1.0f);
}

void fade(const f32 *a, const f32 *b, f32 *o, int n, f32 t)
{
    for (int i = 0; i < n; i++) //~ fused
        o[i] = LERP(a[i], b[i], t);
}

void to_bytes(const f32 *c, u8 *o, int n)
{
    for (int i = 0; i < n; i++) //~!
        o[i] = (u8)(255.0f * c[i] + 0.5f);
}

void premultiply(f32 *rgba, int n)
{
    for (int i = 0; i < n; i++) { //~!
        f32 a = rgba[4 * i + 3];
        rgba[4 * i] *= a;
        rgba[4 * i + 1] *= a;
        rgba[4 * i + 2] *= a;
    }
}

void depth_test(const f32 *z, f32 *zbuf, u32 *color, u32 c, int n)
{
    for (int i = 0; i < n; i++) //~!
        if (z[i] < zbuf[i]) {
            zbuf[i] = z[i];
            color[i] = c;
        }
}

void flip_vertical(f32 *img, int w, int h)
{
    for (int y = 0; y < h / 2; y++) //~!
        for (int x = 0; x < w; x++) {
            f32 t = img[y * w + x];
            img[y * w + x] = img[(h - 1 - y) * w + x];
            img[(h - 1 - y) * w + x] = t;
        }
}

void crop(const f32 *src, int sw, f32 *dst, int dw, int dh, int x0, int y0)
{
    for (int y = 0; y < dh; ++y) //~ copy
        for (int x = 0; x < dw; ++x)
            dst[y * dw + x] = src[(y + y0) * sw + (x + x0)];
}

void rotate90(const f32 *src, f32 *dst, int w, int h)
{
    for (int y = 0; y < h; ++y) //~!
        for (int x = 0; x < w; ++x) //~ copy
            dst[x * h + (h - 1 - y)] = src[y * w + x];
}

/* ---------------- a database */
f64 column_sum(const struct column *c)
{
    f64 total = 0;
    for (usize i = 0; i < c->count; i++) //~ sum
        total += c->values[i];
    return total;
}

f64 column_sum_valid(const struct column *c)
{
    f64 total = 0;
    for (usize i = 0; i < c->count; i++) //~!
        if (!c->null_mask[i])
            total += c->values[i];
    return total;
}

f64 column_max(const struct column *c)
{
    f64 m = c->values[0];
    usize i = 1;
    while (i < c->count) { //~ max
        if (c->values[i] > m)
            m = c->values[i];
        ++i;
    }
    return m;
}

usize filter_gt(const struct column *c, f64 k, u32 *sel)
{
    usize n = 0;
    for (usize i = 0; i < c->count; i++) { //~!
        sel[n] = (u32)i;
        n += c->values[i] > k;
    }
    return n;
}

void hash_group(const u64 *key, const f64 *val, usize n, f64 *sums, usize buckets)
{
    for (usize i = 0; i < n; i++) //~!
        sums[key[i] % buckets] += val[i];
}

void *worker(void *arg)
{
    struct work *w = arg;
    f64 acc = 0;
    for (usize i = w->from; i < w->to; i++) //~ sum
        acc += w->x[i];
    w->result = acc;
    return NULL;
}

f64 join_all(pthread_t *t, struct work *w, int n)
{
    f64 s = 0;
    for (int i = 0; i < n; i++) { //~!
        pthread_join(t[i], NULL);
        s += w[i].result;
    }
    return s;
}

/* ---------------- audio codecs */
void mdct_naive(const f32 *in, f32 *out, int n)
{
    for (int k = 0; k < n; k++) { //~!
        f32 s = 0;
        for (int i = 0; i < 2 * n; i++) //~ fused
            s += in[i] * cosf((f32)M_PI / n * (i + 0.5f + n * 0.5f) * (k + 0.5f));
        out[k] = s;
    }
}

void dct_table(const f32 *in, f32 *out, const f32 t[BANDS][BANDS])
{
    for (int k = 0; k < BANDS; k++) { //~ gemv 32x32 f32
        out[k] = 0;
        for (int i = 0; i < BANDS; i++)
            out[k] += t[k][i] * in[i];
    }
}
