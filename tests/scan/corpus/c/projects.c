/* SPDX-License-Identifier: MIT */
/* Pieces as they stand in programs: models, filters, solvers, games. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int dim, hidden, heads, length;
} Config;

typedef struct {
    float *x, *xb, *q, *k, *v, *att, *logits;
} State;

void rmsnorm(float *o, float *x, float *weight, int size)
{
    float ss = 0.0f;
    for (int j = 0; j < size; j++) { //~ dot
        ss += x[j] * x[j];
    }
    ss /= size;
    ss += 1e-5f;
    ss = 1.0f / sqrtf(ss);
    for (int j = 0; j < size; j++) { //~ mul
        o[j] = weight[j] * (ss * x[j]);
    }
}

void softmax_in_place(float *x, int size)
{
    float max_val = x[0];
    for (int i = 1; i < size; i++) { //~ softmax
        if (x[i] > max_val) {
            max_val = x[i];
        }
    }
    float sum = 0.0f;
    for (int i = 0; i < size; i++) {
        x[i] = expf(x[i] - max_val);
        sum += x[i];
    }
    for (int i = 0; i < size; i++) {
        x[i] /= sum;
    }
}

void linear(float *xout, float *x, float *w, int n, int d)
{
    int i;
#pragma omp parallel for private(i)
    for (i = 0; i < d; i++) { //~ gemv
        float val = 0.0f;
        for (int j = 0; j < n; j++) {
            val += w[i * n + j] * x[j];
        }
        xout[i] = val;
    }
}

void residual(State *s, int dim)
{
    for (int i = 0; i < dim; i++) { //~ add
        s->x[i] += s->xb[i];
    }
}

void swiglu(float *hb, const float *hb2, int hidden_dim)
{
    for (int i = 0; i < hidden_dim; i++) { //~ fused
        float val = hb[i];
        val *= (1.0f / (1.0f + expf(-val)));
        val *= hb2[i];
        hb[i] = val;
    }
}

void weighted_values(State *s, Config *p, int pos, int head_size, float *xb, float *att)
{
    memset(xb, 0, head_size * sizeof(float));
    for (int t = 0; t <= pos; t++) { //~ gemv
        float *v = s->v + t * p->dim;
        float a = att[t];
        for (int i = 0; i < head_size; i++) {
            xb[i] += a * v[i];
        }
    }
}

int sample_argmax(float *probabilities, int n)
{
    int max_i = 0;
    float max_p = probabilities[0];
    for (int i = 1; i < n; i++) { //~ argmax
        if (probabilities[i] > max_p) {
            max_i = i;
            max_p = probabilities[i];
        }
    }
    return max_i;
}

int sample_random(float *probabilities, int n, float coin)
{
    float cdf = 0.0f;
    for (int i = 0; i < n; i++) { //~!
        cdf += probabilities[i];
        if (coin < cdf)
            return i;
    }
    return n - 1;
}

void gemm_nn(int M, int N, int K, float ALPHA, float *A, int lda, float *B, int ldb, float *C, int ldc)
{
    int i, j, k;
    for (i = 0; i < M; ++i) { //~ matmul
        for (k = 0; k < K; ++k) {
            register float A_PART = ALPHA * A[i * lda + k];
            for (j = 0; j < N; ++j) {
                C[i * ldc + j] += A_PART * B[k * ldb + j];
            }
        }
    }
}

void axpy_cpu(int N, float ALPHA, float *X, int INCX, float *Y, int INCY)
{
    int i;
    for (i = 0; i < N; ++i) Y[i * INCY] += ALPHA * X[i * INCX]; //~ axpy
}

void mean_cpu(float *x, int batch, int filters, int spatial, float *mean)
{
    float scale = 1. / (batch * spatial);
    int i, j, k;
    for (i = 0; i < filters; ++i) { //~!
        mean[i] = 0;
        for (j = 0; j < batch; ++j) { //~ sum
            for (k = 0; k < spatial; ++k) {
                int index = j * filters * spatial + i * spatial + k;
                mean[i] += x[index];
            }
        }
        mean[i] *= scale;
    }
}

void im2col(const float *data_im, int channels, int height, int width, int ksize, float *data_col)
{
    int channels_col = channels * ksize * ksize;
    for (int c = 0; c < channels_col; ++c) { //~!
        int w_offset = c % ksize;
        int h_offset = (c / ksize) % ksize;
        int c_im = c / ksize / ksize;
        for (int h = 0; h < height; ++h) { //~ copy
            for (int w = 0; w < width; ++w) {
                data_col[(c * height + h) * width + w] = data_im[(c_im * height + h + h_offset) * width + w + w_offset];
            }
        }
    }
}

void adam(float *w, const float *g, float *m, float *v, int n, float lr)
{
    for (int i = 0; i < n; i++) { //~ fused
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
        w[i] -= lr * m[i] / (sqrtf(v[i]) + 1e-8f);
    }
}

float loss(const float *predicted, const float *actual, int n)
{
    float total = 0;
    for (int i = 0; i < n; i++) { //~ dot
        float error = predicted[i] - actual[i];
        total += error * error;
    }
    return 0.5f * total;
}

float cross_entropy(const float *p, const float *y, int n)
{
    float h = 0;
    for (int i = 0; i < n; i++) //~ fused
        h -= y[i] * logf(p[i]);
    return h;
}

void kmeans_assign(const double *points, const double *centers, int *owner, int n, int k, int dims)
{
    for (int i = 0; i < n; i++) { //~!
        double best = INFINITY;
        for (int c = 0; c < k; c++) { //~!
            double d = 0;
            for (int j = 0; j < dims; j++) { //~ dot
                double t = points[i * dims + j] - centers[c * dims + j];
                d += t * t;
            }
            if (d < best) {
                best = d;
                owner[i] = c;
            }
        }
    }
}

void jacobi(const double *a, const double *b, const double *x, double *next, int n)
{
    for (int i = 0; i < n; i++) { //~!
        double sigma = 0;
        for (int j = 0; j < n; j++) //~!
            if (j != i)
                sigma += a[i * n + j] * x[j];
        next[i] = (b[i] - sigma) / a[i * n + i];
    }
}

void conjugate_gradient(double *x, double *r, double *p, const double *ap, int n, double alpha, double beta)
{
    for (int i = 0; i < n; i++) //~ axpy
        x[i] += alpha * p[i];
    for (int i = 0; i < n; i++) //~ axpy
        r[i] -= alpha * ap[i];
    for (int i = 0; i < n; i++) //~ axpy
        p[i] = r[i] + beta * p[i];
}

void butterflies(float *re, float *im, const float *wr, const float *wi, int n, int half)
{
    for (int i = 0; i < n; i += 2 * half) //~!
        for (int k = 0; k < half; k++) { //~!
            float tr = re[i + k + half] * wr[k] - im[i + k + half] * wi[k];
            float ti = re[i + k + half] * wi[k] + im[i + k + half] * wr[k];
            re[i + k + half] = re[i + k] - tr;
            im[i + k + half] = im[i + k] - ti;
            re[i + k] += tr;
            im[i + k] += ti;
        }
}

void to_gray(const float *rgb, float *gray, int pixels)
{
    for (int i = 0; i < pixels; i++) //~!
        gray[i] = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
}

void nbody(double (*pos)[3], double (*acc)[3], const double *mass, int n)
{
    for (int i = 0; i < n; i++) //~!
        for (int j = 0; j < n; j++) { //~!
            double d[3], r2 = 1e-9;
            for (int c = 0; c < 3; c++) { //~ sub
                d[c] = pos[j][c] - pos[i][c];
                r2 += d[c] * d[c];
            }
            for (int c = 0; c < 3; c++) //~ axpy
                acc[i][c] += mass[j] * d[c] / (r2 * sqrt(r2));
        }
}

void read_weights(float *w, int n, FILE *f)
{
    for (int i = 0; i < n; i++) //~!
        if (fscanf(f, "%f", &w[i]) != 1)
            exit(1);
}

float bilinear(const float *image, int w, float x, float y)
{
    const int ix = (int)x, iy = (int)y;
    return image[iy * w + ix] * (1 - x + ix) + image[iy * w + ix + 1] * (x - ix); //~!
}

double trace(const double *m, int n)
{
    double t = 0;
    for (int i = 0; i < n; i++) //~ sum
        t += m[i * n + i];
    return t;
}

void identity(double m[4][4])
{
    for (int i = 0; i < 4; i++) //~!
        for (int j = 0; j < 4; j++)
            m[i][j] = i == j;
}

void transform(const double m[4][4], const double in[4], double out[4])
{
    for (int i = 0; i < 4; i++) //~!
        out[i] = m[i][0] * in[0] + m[i][1] * in[1] + m[i][2] * in[2] + m[i][3] * in[3];
}

long checksum_of_floats(const float *v, int n)
{
    long h = 0;
    for (int i = 0; i < n; i++) //~!
        h = h * 31 + (long)(v[i] * 1000);
    return h;
}

void scaled_product(const float *a, const float *b, float *c, int n, float alpha)
{
    for (int i = 0; i < n; i++) //~ matmul
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            s *= alpha;
            c[i * n + j] = s;
        }
}

void clipped(const float *in, float *out, int n)
{
    for (int i = 0; i < n; i++) { //~ scale
        float v = in[i];
        v = v * 0.5f;
        out[i] = v;
    }
}

/* A pixel, or 0 where there is no image. */
struct picture { int w, h, c; float *data; };

static inline float pixel_at(struct picture m, int x, int y, int c)
{
    return m.data ? m.data[c * m.h * m.w + y * m.w + x] : 0.0f;
}

void weigh(struct picture im, struct picture gray, const float *scale, int j)
{
    for (int k = 0; k < im.c; ++k) //~ gemv
        for (int i = 0; i < im.w; ++i)
            gray.data[i + im.w * j] += scale[k] * pixel_at(im, i, j, k);
}
