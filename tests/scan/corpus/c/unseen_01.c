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

/* --- a Fortran man's BLAS */
void my_daxpy(int n, double da, const double *dx, int incx, double *dy, int incy)
{
    int i, ix = 0, iy = 0;
    if (n <= 0 || da == 0.0)
        return;
    for (i = 0; i < n; i++) { //~ axpy
        dy[iy] += da * dx[ix];
        ix += incx;
        iy += incy;
    }
}

double my_ddot_unrolled(int n, const double *dx, const double *dy)
{
    double dtemp = 0.0;
    int i, m = n % 5;
    for (i = 0; i < m; i++) //~ dot
        dtemp += dx[i] * dy[i];
    for (i = m; i < n; i += 5) //~ dot
        dtemp += dx[i] * dy[i] + dx[i + 1] * dy[i + 1] + dx[i + 2] * dy[i + 2] +
                 dx[i + 3] * dy[i + 3] + dx[i + 4] * dy[i + 4];
    return dtemp;
}

void my_dscal(int n, double da, double *dx)
{
    int i;
    for (i = 0; i + 4 <= n; i += 4) { //~ scale
        dx[i] *= da;
        dx[i + 1] *= da;
        dx[i + 2] *= da;
        dx[i + 3] *= da;
    }
    for (; i < n; i++) //~ scale
        dx[i] *= da;
}

int my_idamax(int n, const double *dx)
{
    int i, imax = 0;
    double dmax = fabs(dx[0]);
    for (i = 1; i < n; i++) { //~ fused
        if (fabs(dx[i]) <= dmax)
            continue;
        imax = i;
        dmax = fabs(dx[i]);
    }
    return imax;
}

double my_dasum(int n, const double *x)
{
    double s = 0.;
    while (n-- > 0) //~ norm1
        s += fabs(*x++);
    return s;
}

void my_drot(int n, double *x, double *y, double c, double s)
{
    for (int i = 0; i < n; i++) { //~!
        double t = c * x[i] + s * y[i];
        y[i] = c * y[i] - s * x[i];
        x[i] = t;
    }
}

void my_dswap(int n, double *x, double *y)
{
    for (int i = 0; i < n; i++) { //~!
        double t = x[i];
        x[i] = y[i];
        y[i] = t;
    }
}

void dgemv_t(int m, int n, const double *a, int lda, const double *x, double *y)
{
    for (int j = 0; j < n; ++j) { //~ gemv
        double acc = 0;
        for (int i = 0; i < m; ++i)
            acc += a[i * lda + j] * x[i];
        y[j] = acc;
    }
}

void dgemv_cols(int m, int n, const double *a, const double *x, double *y)
{
    int i, j;
    memset(y, 0, sizeof(double) * m);
    for (j = 0; j < n; j++) { //~ gemv
        const double xj = x[j];
        const double *col = a + (size_t)j * m;
        for (i = 0; i < m; i++)
            y[i] += xj * col[i];
    }
}

void ger(int m, int n, double alpha, const double *x, const double *y, double *a)
{
    for (int i = 0; i < m; i++) //~!
        for (int j = 0; j < n; j++) //~ axpy
            a[i * n + j] += alpha * x[i] * y[j];
}

void forward_substitution(int n, const double *l, const double *b, double *x)
{
    for (int i = 0; i < n; i++) { //~!
        double s = b[i];
        for (int k = 0; k < i; k++) //~ dot
            s -= l[i * n + k] * x[k];
        x[i] = s / l[i * n + i];
    }
}

int cholesky(double *a, int n)
{
    for (int j = 0; j < n; j++) { //~!
        double d = a[j * n + j];
        if (d <= 0)
            return -1;
        d = sqrt(d);
        for (int i = j; i < n; i++) //~ scale
            a[i * n + j] /= d;
        for (int k = j + 1; k < n; k++) //~!
            for (int i = k; i < n; i++)
                a[i * n + k] -= a[i * n + j] * a[k * n + j];
    }
    return 0;
}

void csr_matvec(const csr *a, const double *x, double *y)
{
    for (int r = 0; r < a->n; r++) { //~!
        double t = 0;
        for (int p = a->ptr[r]; p < a->ptr[r + 1]; p++) //~!
            t += a->val[p] * x[a->idx[p]];
        y[r] = t;
    }
}

/* --- matrices of a careful person */
void mat_mul(mat *out, const mat *a, const mat *b)
{
    for (int r = 0; r < a->rows; r++) //~ matmul
        for (int c = 0; c < b->cols; c++) {
            double t = 0;
            for (int k = 0; k < a->cols; k++)
                t += AT(a, r, k) * AT(b, k, c);
            AT(out, r, c) = t;
        }
}

void mat_mul_fields(mat *out, const mat *a, const mat *b)
{
    for (int r = 0; r < a->rows; r++) { //~ matmul
        for (int c = 0; c < b->cols; c++) {
            double t = 0;
            for (int k = 0; k < a->cols; k++)
                t += a->v[r * a->cols + k] * b->v[k * b->cols + c];
            out->v[r * out->cols + c] = t;
        }
    }
}

void mat_add(mat *out, const mat *a, const mat *b)
{
    const int n = a->rows * a->cols;
    for (int i = 0; i < n; i++) //~ add
        out->v[i] = a->v[i] + b->v[i];
}

void mat_transpose(mat *out, const mat *a)
{
    for (int r = 0; r < a->rows; r++) //~ transpose
        for (int c = 0; c < a->cols; c++)
            out->v[c * out->cols + r] = a->v[r * a->cols + c];
}

void square_transpose_in_place(double *a, int n)
{
    for (int i = 0; i < n; i++) //~ transpose
        for (int j = i + 1; j < n; j++) {
            double t = a[i * n + j];
            a[i * n + j] = a[j * n + i];
            a[j * n + i] = t;
        }
}

double mat_trace(const mat *a)
{
    double t = 0;
    for (int i = 0; i < a->rows; i++) //~ sum
        t += a->v[i * a->cols + i];
    return t;
}

double frobenius(const mat *a)
{
    double t = 0;
    for (int i = 0; i < a->rows; i++) //~ norm2
        for (int j = 0; j < a->cols; j++)
            t += a->v[i * a->cols + j] * a->v[i * a->cols + j];
    return sqrt(t);
}

void identity(double *a, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < n; j++)
            a[i * n + j] = (i == j) ? 1.0 : 0.0;
}

void blocked(const float *restrict A, const float *restrict B, float *restrict C, int n)
{
    enum { BS = 32 };
    for (int ii = 0; ii < n; ii += BS) //~ matmul
        for (int jj = 0; jj < n; jj += BS)
            for (int kk = 0; kk < n; kk += BS)
                for (int i = ii; i < ii + BS && i < n; i++)
                    for (int j = jj; j < jj + BS && j < n; j++) {
                        float s = C[i * n + j];
                        for (int k = kk; k < kk + BS && k < n; k++)
                            s += A[i * n + k] * B[k * n + j];
                        C[i * n + j] = s;
                    }
}

void bt_product(const float *a, const float *bt, float *c, int m, int n, int k)
{
    const float *pa, *pb;
    for (int i = 0; i < m; i++) { //~ matmul
        for (int j = 0; j < n; j++) {
            pa = a + i * k;
            pb = bt + j * k;
            float s = 0.f;
            for (int p = k; p > 0; p--)
                s += *pa++ * *pb++;
            *c++ = s;
        }
    }
}

void index_macro(const float *a, const float *b, float *c, int m, int n, int k)
{
    int i, j, l;
    for (i = 0; i < m; i++) //~ matmul
        for (j = 0; j < n; j++) {
            c[IDX(i, j, n)] = 0.0f;
            for (l = 0; l < k; l++)
                c[IDX(i, j, n)] += a[IDX(i, l, k)] * b[IDX(l, j, n)];
        }
}

void warshall(double *d, int n)
{
    for (int k = 0; k < n; k++) //~!
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (d[i * n + k] + d[k * n + j] < d[i * n + j])
                    d[i * n + j] = d[i * n + k] + d[k * n + j];
}

void int_product(const int *a, const int *b, int *c, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < n; j++) {
            int s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}

void min_plus(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < n; j++) {
            float best = FLT_MAX;
            for (int k = 0; k < n; k++) //~ fused
                best = fminf(best, a[i * n + k] + b[k * n + j]);
            c[i * n + j] = best;
        }
}

/* --- physics */
void jacobi(void)
{
    for (int y = 1; y < NY - 1; y++) //~!
        for (int x = 1; x < NX - 1; x++)
            next_grid[y][x] = 0.25 * (grid[y - 1][x] + grid[y + 1][x] + grid[y][x - 1] + grid[y][x + 1]);
}

void swap_grids(void)
{
    for (int y = 0; y < NY; y++) //~ copy
        for (int x = 0; x < NX; x++)
            grid[y][x] = next_grid[y][x];
}

double residual(void)
{
    double worst = 0;
    for (int y = 0; y < NY; y++) //~ fused
        for (int x = 0; x < NX; x++) {
            double d = fabs(next_grid[y][x] - grid[y][x]);
            if (d > worst)
                worst = d;
        }
    return worst;
}

void heat1d(const double *u, double *v, int n, double k)
{
    for (int i = 1; i < n - 1; i++) //~!
        v[i] = u[i] + k * (u[i - 1] - 2 * u[i] + u[i + 1]);
}

void gauss_seidel(double *u, int n)
{
    for (int i = 1; i < n - 1; i++) //~!
        u[i] = 0.5 * (u[i - 1] + u[i + 1]);
}

void drift(bodies *b, const double *vx, const double *vy, double dt)
{
    for (int i = 0; i < b->count; i++) //~ axpy
        b->x[i] += vx[i] * dt;
    for (int i = 0; i < b->count; i++) { //~ axpy
        b->y[i] = b->y[i] + dt * vy[i];
    }
}

double total_mass(const bodies *b)
{
    double m = 0.0;
    for (int i = b->count - 1; i >= 0; i--) //~ sum
        m += b->m[i];
    return m;
}

double kinetic(const bodies *b, const double *v)
{
    double e = 0;
    for (int i = 0; i < b->count; i++) //~ fused
        e += 0.5 * b->m[i] * v[i] * v[i];
    return e;
}

double center_of_mass(const bodies *b)
{
    double mx = 0, m = 0;
    for (int i = 0; i < b->count; i++) { //~ dot
        mx += b->m[i] * b->x[i];
        m += b->m[i];
    }
    return mx / m;
}

void gravity(bodies *b, double *ax)
{
    for (int i = 0; i < b->count; i++) { //~!
        ax[i] = 0;
        for (int j = 0; j < b->count; j++) { //~!
            if (i == j)
                continue;
            double dx = b->x[j] - b->x[i];
            ax[i] += b->m[j] * dx / (fabs(dx) * dx * dx + 1e-9);
        }
    }
}

/* --- signals */
void fir_ring(const float *taps, int ntaps, float *history, int *pos, const float *in, float *out, int n)
{
    for (int i = 0; i < n; i++) { //~!
        history[*pos] = in[i];
        float acc = 0;
        int p = *pos;
        for (int t = 0; t < ntaps; t++) { //~!
            acc += taps[t] * history[p];
            p = p == 0 ? ntaps - 1 : p - 1;
        }
        *pos = (*pos + 1) % ntaps;
        out[i] = acc;
    }
}

void biquad(const float *in, float *out, int n, float b0, float b1, float a1)
{
    float x1 = 0, y1 = 0;
    for (int i = 0; i < n; i++) { //~!
        float y = b0 * in[i] + b1 * x1 - a1 * y1;
        x1 = in[i];
        y1 = y;
        out[i] = y;
    }
}

void leaky(float *x, int n, float a)
{
    for (int i = 1; i < n; i++) //~!
        x[i] += a * x[i - 1];
}

void window(sample *buf, const sample *win, int n)
{
    sample *end = buf + n;
    while (buf < end) //~ mul
        *buf++ *= *win++;
}

void hann(float *w, int n)
{
    for (int i = 0; i < n; i++) //~!
        w[i] = 0.5f - 0.5f * cosf(6.2831853f * i / (n - 1));
}

void mix(const float *a, const float *b, float *out, size_t n)
{
    size_t i = 0;
    do { //~ add
        out[i] = a[i] + b[i];
    } while (++i < n);
}

void gain_and_clip(float *s, int n, float lo, float hi)
{
    for (int i = 0; i < n; i++) { //~ clamp
        if (s[i] < lo)
            s[i] = lo;
        else if (s[i] > hi)
            s[i] = hi;
    }
}

void clip_ternary(const float *in, float *out, int n)
{
    for (int i = 0; i < n; i++) //~ clamp
        out[i] = in[i] < -1.f ? -1.f : in[i] > 1.f ? 1.f : in[i];
}
