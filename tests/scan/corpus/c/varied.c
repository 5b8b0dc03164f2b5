/* SPDX-License-Identifier: MIT */
/* The same things in other hands: other styles, names and detours. */
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ROWS 200
#define COLS (ROWS / 2)
#define IDX(r, c) ((r) * COLS + (c))
#define SQUARE(x) ((x) * (x))

typedef float vec_f[COLS];
typedef struct {
    size_t n;
    float *re, *im;
} signal_t;

static float weights[ROWS * COLS];

void macro_indices(const float *x, float *y)
{
    for (int r = 0; r < ROWS; r++) { //~ gemv 200x100
        y[r] = 0.0f;
        for (int c = 0; c < COLS; c++)
            y[r] += weights[IDX(r, c)] * x[c];
    }
}

void allocated(size_t n)
{
    double *a = malloc(n * sizeof *a);
    double *b = calloc(n, sizeof(double));
    if (!a || !b)
        return;
    for (size_t i = 0; i != n; ++i) //~ add
        b[i] = b[i] + a[i];
    free(a);
    free(b);
}

double old_style(x, y, n) double *x, *y; int n;
{
    register int i;
    double s = 0.;

    for (i = 0; i < n; i++) //~ dot
        s += x[i] * y[i];
    return (s);
}

void on_fields(signal_t *s, float gain)
{
    for (size_t i = 0; i < s->n; i++) { //~ scale
        s->re[i] *= gain;
        s->im[i] *= gain;
    }
}

void typed_rows(vec_f *m, int rows)
{
    for (int i = 0; i < rows; i++) //~ relu
        for (int j = 0; j < COLS; j++)
            m[i][j] = fmaxf(0.0f, m[i][j]);
}

float total_strided(const float *x, int n, int stride)
{
    float total = 0.0f;
    for (int i = 0; i < n; i++) //~ sum
        total += x[i * stride];
    return total;
}

float total_in_steps(const float *x, int n)
{
    float total = 0.0f;
    for (int i = 0; i < n; i += 2) //~ sum
        total += x[i];
    return total;
}

float root_mean_square(const float *x, int n)
{
    float energy = 0.0f;
    for (int i = 0; i < n; ++i) //~ dot
        energy += x[i] * x[i];
    return sqrtf(energy / n);
}

void matrix_times_matrix(int m, int n, int k, const double A[m][k], const double B[k][n], double C[m][n])
{
    for (int i = 0; i < m; ++i) //~!
        for (int j = 0; j < n; ++j)
            C[i][j] = 0;
    for (int i = 0; i < m; ++i) //~ matmul
        for (int p = 0; p < k; ++p)
            for (int j = 0; j < n; ++j)
                C[i][j] += A[i][p] * B[p][j];
}

void column_major(const double *a, const double *b, double *c, int m, int n, int k, int lda, int ldb, int ldc)
{
    int i, j, l;
    for (j = 0; j < n; j++) { //~ matmul
        for (l = 0; l < k; l++) {
            double temp = b[l + j * ldb];
            for (i = 0; i < m; i++)
                c[i + j * ldc] += temp * a[i + l * lda];
        }
    }
}

void ones_based(double **a, double **b, double **c, int n)
{
    for (int i = 1; i <= n; i++) //~ matmul
        for (int j = 1; j <= n; j++) {
            double sum = 0.0;
            for (int k = 1; k <= n; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

void pointers_to_rows(float *restrict out, const float *restrict in, const float *restrict w, int rows, int cols)
{
    const float *row = w;
    for (int r = 0; r < rows; r++, row += cols) { //~ gemv
        float acc = 0.0f;
        for (int c = 0; c < cols; c++)
            acc += row[c] * in[c];
        out[r] = acc;
    }
}

void lerp(const float *a, const float *b, float *out, float t, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        out[i] = (1.0f - t) * a[i] + t * b[i];
}

void normalize(float *v, int n, float length)
{
    const float inverse = 1.0f / length;
    float *p = v, *end = v + n;
    while (p < end) //~ scale
        *p++ *= inverse;
}

void mix(float *left, float *right, const float *mono, int n)
{
    for (int i = 0; i < n; i++) //~ copy
        left[i] = right[i] = mono[i];
}

double sum_of_column(double table[][COLS], int rows, int c)
{
    double s = 0;
    for (int r = 0; r < rows; r++) //~ sum
        s += table[r][c];
    return s;
}

float peak(const float *x, size_t n)
{
    float best = 0;
    for (size_t i = 0; i < n; i++) { //~ max
        const float magnitude = fabsf(x[i]);
        if (magnitude > best)
            best = magnitude;
    }
    return best;
}

void gaussian(const float src[64][64], float dst[64][64])
{
    static const float k[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
    for (int i = 1; i < 63; i++) { //~ conv2d
        for (int j = 1; j < 63; j++) {
            float sum = 0;
            for (int u = -1; u <= 1; u++) {
                for (int v = -1; v <= 1; v++) {
                    sum += src[i + u][j + v] * k[u + 1][v + 1];
                }
            }
            dst[i][j] = sum / 16;
        }
    }
}

/* ---- not these --------------------------------------------------------- */

void multiply_complex(double complex *a, const double complex *b, int n)
{
    for (int i = 0; i < n; i++) //~!
        a[i] *= b[i];
}

double monte_carlo(int n)
{
    double inside = 0;
    for (int i = 0; i < n; i++) { //~!
        double x = drand48(), y = drand48();
        if (x * x + y * y < 1)
            inside += 1;
    }
    return 4 * inside / n;
}

float interpolate(const float *xs, const float *ys, int n, float x)
{
    int i = 0;
    while (i < n - 2 && xs[i + 1] < x) //~!
        i++;
    return ys[i] + (ys[i + 1] - ys[i]) * (x - xs[i]) / (xs[i + 1] - xs[i]);
}

void euler(double *state, double dt, int steps)
{
    for (int i = 0; i < steps; i++) { //~!
        const double a = -state[0];
        state[1] += a * dt;
        state[0] += state[1] * dt;
    }
}

bool all_positive(const float *x, int n)
{
    bool yes = true;
    for (int i = 0; i < n; i++) //~!
        yes = yes && x[i] > 0;
    return yes;
}

void write_all(FILE *f, const double *x, int n)
{
    for (int i = 0; i < n; i++) //~!
        fwrite(&x[i], sizeof x[i], 1, f);
}

void reverse(float *a, const float *b, int n)
{
    for (int i = 0, j = n - 1; i < n; i++, j--) //~!
        a[i] = b[index_of(j)];
}

unsigned long long factorial(int n)
{
    unsigned long long f = 1;
    for (int i = 2; i <= n; i++) //~!
        f *= i;
    return f;
}

double power(double x, int n)
{
    double p = 1;
    for (int i = 0; i < n; i++) //~!
        p *= x;
    return p;
}

void strings(char **names, const char **from, int n)
{
    for (int i = 0; i < n; i++) //~!
        names[i] = strdup(from[i]);
}

void pointers(float **to, float **from, int n)
{
    for (int i = 0; i < n; i++) //~!
        to[i] = from[i];
}

void solve_lower(const double *l, double *x, int n)
{
    for (int i = 0; i < n; i++) { //~!
        for (int j = 0; j < i; j++) //~ dot
            x[i] -= l[i * n + j] * x[j];
        x[i] /= l[i * n + i];
    }
}

void quantize(const float *x, signed char *q, int n, float scale)
{
    for (int i = 0; i < n; i++) //~!
        q[i] = (signed char)(x[i] * scale);
}

int bins(const double *x, int n, double width)
{
    int used = 0;
    for (int i = 0; i < n; i++) //~!
        used |= 1 << (int)(x[i] / width);
    return used;
}

void threshold(float *x, int n, float limit)
{
    for (int i = 0; i < n; i++) { //~!
        if (x[i] > limit)
            x[i] = limit;
        else if (x[i] < -limit)
            report(i, x[i]);
    }
}

float energy(const float *x, int n, volatile int *stop)
{
    float e = 0;
    for (int i = 0; i < n && !*stop; i++) //~!
        e += x[i] * x[i];
    return e;
}
