/* SPDX-License-Identifier: MIT */
/* Products of matrices and vectors that are written as loops. */
#include <stddef.h>
#include <string.h>

#define N 512
enum { ROWS = 128, COLS = 64 };
typedef double real;
typedef float matrix[N][N];

static float left[N][N], right[N][N], product[N][N];

void multiply_globals(void)
{
    for (int i = 0; i < N; i++) //~ matmul 512x512x512 f32
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                product[i][j] += left[i][k] * right[k][j];
}

void multiply_flat(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++) { //~ matmul
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++)
                sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
    }
}

void multiply_rows_first(const double *restrict a, const double *restrict b, double *restrict c, size_t n)
{
    memset(c, 0, n * n * sizeof *c);
    for (size_t i = 0; i < n; ++i) //~ matmul
        for (size_t k = 0; k < n; ++k) {
            const double aik = a[i * n + k];
            for (size_t j = 0; j < n; ++j)
                c[i * n + j] += aik * b[k * n + j];
        }
}

void multiply_depth_first(real a[ROWS][COLS], real b[COLS][ROWS], real c[ROWS][ROWS])
{
    for (int k = 0; k < COLS; k++) //~ matmul 128x128x64 f64
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < ROWS; j++)
                c[i][j] = c[i][j] + a[i][k] * b[k][j];
}

void multiply_with_pointers(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++) { //~ matmul
        const float *row = a + (size_t)i * n;
        float *out = c + (size_t)i * n;
        for (int j = 0; j < n; j++) {
            const float *column = b + j;
            double s = 0;
            for (int k = 0; k < n; k++, column += n)
                s += row[k] * *column;
            out[j] = (float)s;
        }
    }
}

void multiply_row_tables(double **a, double **b, double **c, int n)
{
    int i, j, k;

    for (i = 0; i < n; i++) //~ matmul
        for (j = 0; j < n; j++) {
            c[i][j] = 0.0;
            for (k = 0; k < n; k++)
                c[i][j] += a[i][k] * b[k][j];
        }
}

void multiply_tiles(matrix a, matrix b, matrix c)
{
    const int tile = 32;
    for (int ii = 0; ii < N; ii += tile) //~ matmul 512x512x512 f32
        for (int kk = 0; kk < N; kk += tile)
            for (int i = ii; i < ii + tile; i++)
                for (int k = kk; k < kk + tile; k++)
                    for (int j = 0; j < N; j++)
                        c[i][j] += a[i][k] * b[k][j];
}

void multiply_transposed(const float *a, const float *bt, float *c, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) //~ matmul
        for (int j = 0; j < n; j++) {
            float acc = 0.f;
            for (int k = 0; k < n; k++)
                acc += a[i * n + k] * bt[j * n + k];
            c[i * n + j] += 0.5f * acc;
        }
}

void multiply_batches(const float *a, const float *b, float *c, int count)
{
    for (int s = 0; s < count; s++) //~ batched_matmul 0x16x16x16 f32
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 16; j++) {
                float acc = 0;
                for (int k = 0; k < 16; k++)
                    acc += a[s * 256 + i * 16 + k] * b[s * 256 + k * 16 + j];
                c[s * 256 + i * 16 + j] = acc;
            }
}

void apply(const double *m, const double *x, double *y, int rows, int cols)
{
    for (int r = 0; r < rows; r++) { //~ gemv
        double t = 0.0;
        for (int c = 0; c < cols; c++)
            t += m[r * cols + c] * x[c];
        y[r] = t;
    }
}

void apply_transposed(float m[ROWS][COLS], const float *x, float *y)
{
    for (int r = 0; r < ROWS; r++) //~ gemv 64x128 f32
        for (int c = 0; c < COLS; c++)
            y[c] += m[r][c] * x[r];
}

void dense(const float *w, const float *bias, const float *x, float *y, int out, int in)
{
    for (int o = 0; o < out; o++) { //~ gemv
        float sum = bias[o];
        for (int i = 0; i < in; i++)
            sum += w[o * in + i] * x[i];
        y[o] = sum > 0.0f ? sum : 0.0f;
    }
}

struct mat {
    int rows, cols;
    double *data;
};

int multiply_structs(const struct mat *a, const struct mat *b, struct mat *c)
{
    int i, j, k;
    if (a->cols != b->rows)
        return -1;
    for (i = 0; i < a->rows; i++) { //~ matmul
        for (j = 0; j < b->cols; j++) {
            double total = 0.0;
            for (k = 0; k < a->cols; k++) {
                total += a->data[i * a->cols + k] * b->data[k * b->cols + j];
            }
            c->data[i * c->cols + j] = total;
        }
    }
    return 0;
}

float quadratic(const float *x, const float *y, int n, int repeat)
{
    float s = 0;
    for (int r = 0; r < repeat; r++)
        for (int i = 0; i < n; i++) //~ dot
            s += x[i] * y[i];
    return s;
}

/* The order of the indices is that of no product. */
void odd_indices(float a[N][N], float b[N][N], float *c)
{
    for (int i = 0; i < N; i++) //~!
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                c[i ^ j] += a[k & i][k | j] * b[j ^ k][i];
}

/* Paths, not products: the semiring is (min, +). */
void shortest_paths(double d[N][N])
{
    for (int k = 0; k < N; k++) //~!
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (d[i][k] + d[k][j] < d[i][j])
                    d[i][j] = d[i][k] + d[k][j];
}

/* Elimination: what is read in a step was written in the one before. */
void eliminate(double a[N][N])
{
    for (int k = 0; k < N; k++) //~!
        for (int i = k + 1; i < N; i++) {
            const double f = a[i][k] / a[k][k];
            for (int j = k + 1; j < N; j++) //~ axpy
                a[i][j] -= f * a[k][j];
        }
}

void multiply_integers(const int *a, const int *b, int *c, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

void multiply_modulo(unsigned long a[4][4], unsigned long b[4][4], unsigned long c[4][4])
{
    for (int i = 0; i < 4; i++) //~!
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                c[i][j] = (c[i][j] + a[i][k] * b[k][j]) % 1000000007UL;
}

void reachable(char g[N][N])
{
    for (int k = 0; k < N; k++) //~!
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                g[i][j] |= g[i][k] & g[k][j];
}

#if 0
void multiply_disabled(float a[N][N], float b[N][N], float c[N][N])
{
    for (int i = 0; i < N; i++) //~!
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                c[i][j] += a[i][k] * b[k][j];
}
#endif

void multiply_logged(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) { //~!
                c[i * n + j] += a[i * n + k] * b[k * n + j];
                log_step(i, j, k);
            }
}

void scaled_first(int n, float alpha, float beta, float c[N][N], float a[N][N], float b[N][N])
{
    for (int i = 0; i < n; i++) { //~ matmul
        for (int j = 0; j < n; j++)
            c[i][j] *= beta;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i][j] += alpha * a[i][k] * b[k][j];
    }
}

void backwards(int n, double **upper, const double *y, double *x)
{
    for (int i = n - 1; i >= 0; i--) {
        x[i] = y[i];
        for (int j = i + 1; j < n; j++) //~ dot
            x[i] -= x[j] * upper[i][j];
        x[i] /= upper[i][i];
    }
}

void backwards_all(int n, double *x)
{
    for (int j = 0; j < n; j++) //~!
        x[2] -= x[j] * x[j];
}
