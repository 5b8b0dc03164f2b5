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

/* -------- globals and old habits */
void apply_weights()
{
    register int i;
    for (i = 0; i < NPTS; i++) //~ mul 1024 f64
        signal_out[i] = signal_in[i] * weights[i];
}

double energy(x, n)
double *x;
int n;
{
    double e = 0.0;
    int i;
    for (i = 0; i < n; i++) //~ dot
        e += x[i] * x[i];
    return e;
}

long double wide_sum(void)
{
    long double s = 0;
    for (int i = 0; i < NPTS; i++) //~!
        s += wide[i];
    return s;
}

void push(float v)
{
    for (int i = NPTS - 1; i > 0; --i) //~!
        history[i] = history[i - 1];
    history[0] = v;
}

float push_and_sum(float v)
{
    float s = 0;
    memmove(history + 1, history, sizeof history - sizeof *history);
    history[0] = v;
    FOREACH(p, history, NPTS) //~!
        s += *p;
    return s;
}

void vla_product(int n, int m, int k, double a[n][k], double b[k][m], double c[n][m])
{
    for (int i = 0; i < n; i++) //~ matmul
        for (int j = 0; j < m; j++) {
            double acc = 0.0;
            for (int l = 0; l < k; l++)
                acc += a[i][l] * b[l][j];
            c[i][j] = acc;
        }
}

void rows_of_pointers(float **dst, float **a, float **b, int h, int w)
{
    for (int y = 0; y < h; y++) { //~ sub
        float *d = dst[y];
        const float *p = a[y], *q = b[y];
        for (int x = 0; x < w; x++)
            d[x] = p[x] - q[x];
    }
}

double goto_sum(const double *x, int n)
{
    int i = 0;
    double s = 0;
again:
    if (i < n) { //~!
        s += x[i++];
        goto again;
    }
    return s;
}

/* -------- control */
void kalman_predict(struct kalman *k)
{
    double nx[4];
    for (int i = 0; i < 4; i++) { //~ gemv 4x4 f64
        nx[i] = 0;
        for (int j = 0; j < 4; j++)
            nx[i] += k->F[i][j] * k->x[j];
    }
    memcpy(k->x, nx, sizeof nx);
}

void pid_step(double *err, double *out, int n, double kp, double ki)
{
    static double acc = 0;
    for (int i = 0; i < n; i++) { //~!
        acc += err[i];
        out[i] = kp * err[i] + ki * acc;
    }
}

void rk4_combine(double *y, const double *k1, const double *k2, const double *k3, const double *k4, double h, int n)
{
    for (int i = 0; i < n; i++) //~ axpy
        y[i] += h / 6.0 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
}

void euler(double *y, const double *dy, double h, int n)
{
    double *end = y + n;
    for (; y != end; ++y, ++dy) //~ axpy
        *y += h * *dy;
}

void lorenz(double *s, int steps)
{
    for (int i = 0; i < steps; i++) { //~!
        double dx = 10 * (s[1] - s[0]);
        double dy = s[0] * (28 - s[2]) - s[1];
        s[0] += 0.01 * dx;
        s[1] += 0.01 * dy;
    }
}

void thomas(const double *a, const double *b, double *c, double *d, int n)
{
    for (int i = 1; i < n; i++) { //~!
        double m = a[i] / b[i - 1];
        c[i] = c[i] - m * c[i - 1];
        d[i] = d[i] - m * d[i - 1];
    }
}

void conjugate_gradient(double *x, double *r, double *p, const double *ap, int n)
{
    double rr = 0, pap = 0;
    for (int i = 0; i < n; i++) { //~ dot
        rr += r[i] * r[i];
        pap += p[i] * ap[i];
    }
    const double alpha = rr / pap;
    for (int i = 0; i < n; i++) { //~ axpy
        x[i] += alpha * p[i];
        r[i] -= alpha * ap[i];
    }
}

/* -------- signals */
float fir_push(filter_t *f, float in)
{
    memmove(f->delay + 1, f->delay, (f->taps - 1) * sizeof(float));
    f->delay[0] = in;
    float out = 0;
    for (size_t i = 0; i < f->taps; i++) //~ dot
        out += f->coeffs[i] * f->delay[i];
    return out;
}

void correlate(const double *x, int nx, const double *h, int nh, double *y)
{
    for (int n = 0; n < nx - nh + 1; n++) { //~ conv2d
        y[n] = 0;
        for (int k = 0; k < nh; k++)
            y[n] += x[n + k] * h[k];
    }
}

void convolve_full(const float *x, int nx, const float *h, int nh, float *y)
{
    for (int n = 0; n < nx + nh - 1; n++) { //~ conv2d
        float s = 0;
        int lo = n < nh ? 0 : n - nh + 1;
        int hi = n < nx ? n : nx - 1;
        for (int k = lo; k <= hi; k++)
            s += x[k] * h[n - k];
        y[n] = s;
    }
}

void upsample_linear(const float *x, float *y, int n)
{
    for (int i = 0; i < n - 1; i++) { //~!
        y[2 * i] = x[i];
        y[2 * i + 1] = 0.5f * (x[i] + x[i + 1]);
    }
}

void decimate(const float *x, float *y, int n, int m)
{
    for (int i = 0; i < n / m; i++) //~ copy
        y[i] = x[i * m];
}

void butterfly(cplx *a, const cplx *w, int half)
{
    for (int k = 0; k < half; k++) { //~!
        cplx t = {a[k + half].re * w[k].re - a[k + half].im * w[k].im, 0};
        a[k + half].re = a[k].re - t.re;
        a[k].re += t.re;
    }
}

void complex_multiply(const double *ar, const double *ai, const double *br, const double *bi, double *cr, double *ci, int n)
{
    for (int i = 0; i < n; i++) { //~ fused
        cr[i] = ar[i] * br[i] - ai[i] * bi[i];
        ci[i] = ar[i] * bi[i] + ai[i] * br[i];
    }
}

void envelope(const float *x, float *e, int n, float attack, float release)
{
    float env = 0;
    for (int i = 0; i < n; i++) { //~!
        float v = fabsf(x[i]);
        env += (v > env ? attack : release) * (v - env);
        e[i] = env;
    }
}

void dc_remove(float *x, int n)
{
    float m = 0;
    for (int i = 0; i < n; i++) //~ mean
        m += x[i];
    m /= (float)n;
    for (int i = 0; i < n; i++) //~ fused
        x[i] -= m;
}

float normalize_peak(float *x, int n)
{
    float peak = x[0];
    for (int i = 1; i < n; i++) { //~ max
        if (!(x[i] > peak))
            continue;
        peak = x[i];
    }
    const float g = 1.0f / peak;
    for (int i = 0; i < n; i++) //~ scale
        x[i] = x[i] * g;
    return g;
}

void spectrum_add(struct spectrum *s, const struct spectrum *o)
{
    for (int i = 0; i < NPTS; i++) //~ add 1024 f64
        s->bins[i] += o->bins[i];
}

double spectrum_total(struct spectrum *s)
{
    s->total = 0;
    for (int i = 0; i < NPTS; i++) //~ sum 1024 f64
        s->total += s->bins[i];
    return s->total;
}

/* -------- learning */
void kmeans_assign(const double *x, const double *c, int *owner, int n, int k)
{
    for (int i = 0; i < n; i++) { //~!
        double best = 1e300;
        for (int j = 0; j < k; j++) { //~!
            double d = 0;
            for (int t = 0; t < DIM; t++) { //~ dot
                double e = x[i * DIM + t] - c[j * DIM + t];
                d += e * e;
            }
            if (d < best) {
                best = d;
                owner[i] = j;
            }
        }
    }
}

void kmeans_update(const double *x, const int *owner, double *c, int *count, int n)
{
    for (int i = 0; i < n; i++) { //~!
        count[owner[i]]++;
        for (int t = 0; t < DIM; t++) //~ add
            c[owner[i] * DIM + t] += x[i * DIM + t];
    }
}

void covariance_matrix(const double *x, double *cov, int n, int d)
{
    for (int a = 0; a < d; a++) //~ matmul
        for (int b = 0; b < d; b++) {
            double s = 0;
            for (int i = 0; i < n; i++)
                s += x[i * d + a] * x[i * d + b];
            cov[a * d + b] = s / (n - 1);
        }
}

void rbf_kernel(const double *x, double *k, int n, double gamma)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < n; j++) {
            double d = x[i] - x[j];
            k[i * n + j] = exp(-gamma * d * d);
        }
}

void logistic(float *z, int n)
{
    for (int i = 0; i < n; i++) //~ sigmoid
        z[i] = SIGMOID(z[i]);
}

void relu_backward(const float *x, const float *dy, float *dx, int n)
{
    for (int i = 0; i < n; i++) //~!
        dx[i] = x[i] > 0 ? dy[i] : 0;
}

void batchnorm(struct tensor *t, const float *mean, const float *var, const float *g, const float *b)
{
    int plane = t->h * t->w;
    for (int n = 0; n < t->n; n++) //~!
        for (int c = 0; c < t->c; c++) {
            float s = g[c] / sqrtf(var[c] + 1e-5f);
            float *p = t->data + (n * t->c + c) * plane;
            for (int i = 0; i < plane; i++) //~ fused
                p[i] = (p[i] - mean[c]) * s + b[c];
        }
}

void global_average(const struct tensor *t, float *out)
{
    const int plane = t->h * t->w;
    for (int c = 0; c < t->c; c++) { //~!
        float s = 0;
        const float *p = &t->data[c * plane];
        for (int i = 0; i < plane; i++) //~ mean
            s += p[i];
        out[c] = s / plane;
    }
}

void conv1x1(const float *in, const float *w, float *out, int cin, int cout, int pixels)
{
    for (int o = 0; o < cout; o++) //~ matmul
        for (int p = 0; p < pixels; p++) {
            float s = 0;
            for (int i = 0; i < cin; i++)
                s += w[o * cin + i] * in[i * pixels + p];
            out[o * pixels + p] = s;
        }
}

void depthwise(const float *in, const float *k, float *out, int c, int h, int w)
{
    for (int ch = 0; ch < c; ch++) //~ conv2d
        for (int y = 0; y < h - 2; y++)
            for (int x = 0; x < w - 2; x++) {
                float s = 0;
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        s += in[(ch * h + y + i) * w + x + j] * k[ch * 9 + i * 3 + j];
                out[(ch * (h - 2) + y) * (w - 2) + x] = s;
            }
}

void attention_one(const float *q, const float *K, const float *V, float *out, float *att, int T, int hs)
{
    for (int t = 0; t < T; t++) { //~ attention
        float score = 0.0f;
        for (int i = 0; i < hs; i++)
            score += q[i] * K[t * hs + i];
        att[t] = score / sqrtf(hs);
    }
    float max_val = att[0];
    for (int i = 1; i < T; i++)
        if (att[i] > max_val)
            max_val = att[i];
    float sum = 0.0f;
    for (int i = 0; i < T; i++) {
        att[i] = expf(att[i] - max_val);
        sum += att[i];
    }
    for (int i = 0; i < T; i++)
        att[i] /= sum;
    for (int i = 0; i < hs; i++) {
        float acc = 0;
        for (int t = 0; t < T; t++)
            acc += att[t] * V[t * hs + i];
        out[i] = acc;
    }
}

void embed_add(const float *tok, const float *pos, float *x, int id, int p, int d)
{
    const float *a = tok + (size_t)id * d;
    const float *b = pos + (size_t)p * d;
    for (int i = 0; i < d; i++) //~ add
        x[i] = a[i] + b[i];
}

float perplexity(const float *logp, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++) //~ mean
        s -= logp[i];
    return expf(s / n);
}

/* -------- dynamic programming, text, bits */
void viterbi(const double *trans, const double *emit, double *v, double *w, int *back, int s)
{
    for (int j = 0; j < s; j++) { //~!
        double best = -1e300;
        for (int i = 0; i < s; i++) { //~ fused
            double c = v[i] + trans[i * s + j];
            if (c > best) {
                best = c;
                back[j] = i;
            }
        }
        w[j] = best + emit[j];
    }
}

void dtw(const double *a, const double *b, double *d, int n, int m)
{
    for (int i = 1; i <= n; i++) //~!
        for (int j = 1; j <= m; j++) {
            double c = fabs(a[i - 1] - b[j - 1]);
            d[i * (m + 1) + j] = c + fmin(d[(i - 1) * (m + 1) + j], d[i * (m + 1) + j - 1]);
        }
}

int edit_distance(const char *a, const char *b, int *row)
{
    for (int i = 0; a[i]; i++) //~!
        for (int j = 0; b[j]; j++)
            row[j + 1] = row[j] + (a[i] != b[j]);
    return row[strlen(b)];
}
