/* SPDX-License-Identifier: MIT */
/* By people who had not met the judges: the sky, speech, robots, optimizers, sheets. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* astronomy, speech, robots, optimizers, a spreadsheet, and old examinations */

struct image { int nx, ny; float *pix; };
struct star { double flux, x, y; };
struct link { double mass, com[3], inertia[3][3]; };
typedef struct { unsigned n; double *lo, *hi, *x, *grad; } problem;
typedef struct sheet { int rows, cols; double **cell; } sheet;
#define PIX(im, i, j) ((im)->pix[(j) * (im)->nx + (i)])
#define NFFT 512
#define NMEL 40
#define REP(i, a, b) for (int i = a; i < b; ++i)

/* ---- images of the sky */
void subtract_bias(struct image *raw, const struct image *bias)
{
    long n = (long)raw->nx * raw->ny;
    for (long i = 0; i < n; i++) //~ sub
        raw->pix[i] -= bias->pix[i];
}

void flat_field(struct image *raw, const struct image *flat)
{
    for (int j = 0; j < raw->ny; j++) //~ div
        for (int i = 0; i < raw->nx; i++)
            PIX(raw, i, j) /= PIX(flat, i, j);
}

void coadd(float *sum, const float *frame, const uint8_t *bad, long n)
{
    for (long i = 0; i < n; i++) //~!
        if (!bad[i])
            sum[i] += frame[i];
}

float brightest(const struct image *im, int *x, int *y)
{
    float best = PIX(im, 0, 0);
    for (int j = 0; j < im->ny; j++) //~ argmax
        for (int i = 0; i < im->nx; i++)
            if (PIX(im, i, j) > best) {
                best = PIX(im, i, j);
                *x = i;
                *y = j;
            }
    return best;
}

double centroid_x(const struct image *im)
{
    double sx = 0, s = 0;
    for (int j = 0; j < im->ny; j++) //~!
        for (int i = 0; i < im->nx; i++) {
            sx += i * PIX(im, i, j);
            s += PIX(im, i, j);
        }
    return sx / s;
}

double total_flux(const struct star *s, int n)
{
    double f = 0;
    for (int i = 0; i < n; i++) //~!
        f += s[i].flux;
    return f;
}

void magnitudes(const double *flux, double *mag, int n, double zero)
{
    for (int i = 0; i < n; i++) //~ fused
        mag[i] = zero - 2.5 * log10(flux[i]);
}

void bin2(const struct image *in, struct image *out)
{
    for (int j = 0; j < out->ny; j++) //~ pooling
        for (int i = 0; i < out->nx; i++) {
            float s = 0;
            for (int dj = 0; dj < 2; dj++)
                for (int di = 0; di < 2; di++)
                    s += in->pix[(2 * j + dj) * in->nx + 2 * i + di];
            out->pix[j * out->nx + i] = s;
        }
}

void psf(const float *in, const float *k, float *out, int w, int h, int r)
{
    const int side = 2 * r + 1;
    for (int y = r; y < h - r; y++) { //~ conv2d
        for (int x = r; x < w - r; x++) {
            double acc = 0;
            for (int v = -r; v <= r; v++)
                for (int u = -r; u <= r; u++)
                    acc += in[(y + v) * w + x + u] * k[(v + r) * side + u + r];
            out[y * w + x] = (float)acc;
        }
    }
}

/* ---- speech */
void preemphasis(float *x, int n, float a)
{
    for (int i = n - 1; i > 0; i--) //~!
        x[i] -= a * x[i - 1];
}

void hamming(float *frame, const float *win)
{
    for (int i = 0; i < NFFT; i++) //~ mul 512 f32
        frame[i] *= win[i];
}

void power(const float *re, const float *im, float *p)
{
    for (int i = 0; i <= NFFT / 2; i++) //~ fused
        p[i] = re[i] * re[i] + im[i] * im[i];
}

void mel(const float fb[NMEL][NFFT / 2 + 1], const float *p, float *out)
{
    for (int m = 0; m < NMEL; m++) { //~ gemv
        float e = 0;
        for (int k = 0; k <= NFFT / 2; k++)
            e += fb[m][k] * p[k];
        out[m] = logf(e + 1e-10f);
    }
}

void dct(const float *x, float *c, int n, int m)
{
    for (int k = 0; k < m; k++) { //~!
        float s = 0;
        for (int i = 0; i < n; i++) //~ fused
            s += x[i] * cosf(3.14159265f * k * (i + 0.5f) / n);
        c[k] = s;
    }
}

void cmvn(float *feat, int frames, int dim)
{
    for (int d = 0; d < dim; d++) { //~!
        float m = 0;
        for (int t = 0; t < frames; t++) //~ mean
            m += feat[t * dim + d];
        m /= frames;
        for (int t = 0; t < frames; t++) //~ fused
            feat[t * dim + d] -= m;
    }
}

float frame_energy(const float *x)
{
    float e = 0;
    const float *end = x + NFFT;
    while (x < end) { //~ dot
        e += *x * *x;
        x++;
    }
    return e;
}

int zero_crossings(const float *x, int n)
{
    int z = 0;
    REP(i, 1, n) z += (x[i] > 0) != (x[i - 1] > 0); //~!
    return z;
}

/* ---- robots */
void jacobian_transpose(const double *J, const double *f, double *tau, int m, int n)
{
    for (int c = 0; c < n; c++) //~ gemv
    {
        double t = 0;
        for (int r = 0; r < m; r++)
            t += J[r * n + c] * f[r];
        tau[c] = t;
    }
}

double total_mass(const struct link *l, int n)
{
    double m = 0;
    for (int i = 0; i < n; i++) //~!
        m += l[i].mass;
    return m;
}

void limit_torque(double *tau, const double *max, int n)
{
    for (int i = 0; i < n; i++) { //~!
        if (tau[i] > max[i])
            tau[i] = max[i];
        else if (tau[i] < -max[i])
            tau[i] = -max[i];
    }
}

void joint_error(const double *want, const double *have, double *err, int n)
{
    double *e = err;
    for (const double *w = want, *h = have; w < want + n; w++, h++) //~ sub
        *e++ = *w - *h;
}

void controller(const double *err, const double *derr, double *u, double kp, double kd, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        u[i] = kp * err[i] + kd * derr[i];
}

void covariance_update(double *P, const double *K, const double *HP, int n, int m)
{
    for (int i = 0; i < n; i++) //~ matmul
        for (int j = 0; j < n; j++)
            for (int k = 0; k < m; k++)
                P[i * n + j] -= K[i * m + k] * HP[k * n + j];
}

void symmetrize(double *P, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < i; j++)
            P[i * n + j] = P[j * n + i] = 0.5 * (P[i * n + j] + P[j * n + i]);
}

/* ---- optimizers */
void project_box(problem *p)
{
    for (unsigned i = 0; i < p->n; i++) { //~!
        if (p->x[i] < p->lo[i]) p->x[i] = p->lo[i];
        if (p->x[i] > p->hi[i]) p->x[i] = p->hi[i];
    }
}

void descend(problem *p, double step)
{
    for (unsigned i = 0; i < p->n; i++) //~ axpy
        p->x[i] = p->x[i] - step * p->grad[i];
}

double grad_norm(const problem *p)
{
    double s = 0;
    for (unsigned i = 0; i < p->n; i++) //~ norm2
        s += p->grad[i] * p->grad[i];
    return sqrt(s);
}

double infinity_norm(const double *g, unsigned n)
{
    double m = 0;
    for (unsigned i = 0; i < n; i++) //~ max
        m = fmax(m, fabs(g[i]));
    return m;
}

void numeric_gradient(problem *p, double (*f)(const double *, unsigned))
{
    for (unsigned i = 0; i < p->n; i++) { //~!
        double keep = p->x[i];
        p->x[i] += 1e-6;
        double up = f(p->x, p->n);
        p->x[i] = keep;
        p->grad[i] = (up - f(p->x, p->n)) / 1e-6;
    }
}

void bfgs_direction(const double *H, const double *g, double *d, int n)
{
    for (int i = 0; i < n; i++) { //~ gemv
        d[i] = 0;
        for (int j = 0; j < n; j++)
            d[i] -= H[i * n + j] * g[j];
    }
}

bool converged(const double *a, const double *b, int n, double tol)
{
    for (int i = 0; i < n; i++) //~!
        if (fabs(a[i] - b[i]) > tol)
            return false;
    return true;
}

void anneal(double *x, int n, double t)
{
    for (int i = 0; i < n; i++) //~!
        x[i] += t * (rand() / (double)RAND_MAX - 0.5);
}

void simplex_centroid(double **v, double *c, int n)
{
    for (int j = 0; j < n; j++) { //~!
        double s = 0;
        for (int i = 0; i < n; i++) //~ mean
            s += v[i][j];
        c[j] = s / n;
    }
}

/* ---- a spreadsheet */
double sum_range(const sheet *s, int r0, int r1, int c)
{
    double t = 0;
    for (int r = r0; r <= r1; r++) //~ sum
        t += s->cell[r][c];
    return t;
}

double average_if(const sheet *s, int c, double above)
{
    double t = 0;
    int n = 0;
    for (int r = 0; r < s->rows; r++) //~!
        if (s->cell[r][c] > above) {
            t += s->cell[r][c];
            n++;
        }
    return n ? t / n : 0;
}

void fill_series(sheet *s, int c, double start, double step)
{
    for (int r = 0; r < s->rows; r++) //~!
        s->cell[r][c] = start + r * step;
}

void add_columns(sheet *s, int a, int b, int out)
{
    for (int r = 0; r < s->rows; r++) //~ add
        s->cell[r][out] = s->cell[r][a] + s->cell[r][b];
}

void csv_row(FILE *f, const double *v, int n)
{
    for (int i = 0; i < n; i++) //~!
        fprintf(f, "%s%g", i ? "," : "", v[i]);
}

double compound(double p, const double *rate, int years)
{
    for (int y = 0; y < years; y++) //~!
        p *= 1 + rate[y];
    return p;
}

/* ---- examinations */
int is_prime(int n)
{
    for (int d = 2; d * d <= n; d++) //~!
        if (n % d == 0)
            return 0;
    return 1;
}

double power_of(double x, unsigned n)
{
    double r = 1;
    while (n) { //~!
        if (n & 1)
            r *= x;
        x *= x;
        n >>= 1;
    }
    return r;
}

float largest(float a[], int n)
{
    float max = a[0];
    int i;
    for (i = 1; i < n; i++) //~ max
    {
        if (a[i] > max)
        {
            max = a[i];
        }
    }
    return max;
}

void second_largest(const float *a, int n, float *out)
{
    float m1 = -1e30f, m2 = -1e30f;
    for (int i = 0; i < n; i++) { //~!
        if (a[i] > m1) {
            m2 = m1;
            m1 = a[i];
        } else if (a[i] > m2)
            m2 = a[i];
    }
    *out = m2;
}

void multiply_matrices(int r1, int c1, int c2, float first[10][10], float second[10][10], float result[10][10])
{
    for (int i = 0; i < r1; ++i) { //~!
        for (int j = 0; j < c2; ++j) {
            result[i][j] = 0;
        }
    }
    for (int i = 0; i < r1; ++i) { //~ matmul
        for (int j = 0; j < c2; ++j) {
            for (int k = 0; k < c1; ++k) {
                result[i][j] += first[i][k] * second[k][j];
            }
        }
    }
}
