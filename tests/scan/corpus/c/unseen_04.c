/* SPDX-License-Identifier: MIT */
/* By people who had not met the judges: embedded, translated, libraries, models, games. */
#include <assert.h>
#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef float float32_t;
typedef int32_t q31_t;
typedef double REAL;
typedef REAL *VECTOR;
typedef struct { size_t size, stride; double *data; } gsl_vector;
typedef struct { size_t size1, size2, tda; double *data; } gsl_matrix;
typedef struct { float *weights, *biases; int nin, nout; float *grad; } layer_t;
typedef struct { float m[4][4]; } mat4;
typedef struct { float x, y, z; } vec3;

#define SQR(x) ((x) * (x))
#define ELEM(A, i, j) (A)->data[(i) * (A)->tda + (j)]
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define RESTRICT restrict
#define LOOP(n) for (int i = 0; i < (n); i++)

/* ================= an embedded DSP library */
void dsp_add_f32(const float32_t *pSrcA, const float32_t *pSrcB, float32_t *pDst, uint32_t blockSize)
{
    uint32_t blkCnt;
    blkCnt = blockSize >> 2U;
    while (blkCnt > 0U) { //~ add
        *pDst++ = (*pSrcA++) + (*pSrcB++);
        *pDst++ = (*pSrcA++) + (*pSrcB++);
        *pDst++ = (*pSrcA++) + (*pSrcB++);
        *pDst++ = (*pSrcA++) + (*pSrcB++);
        blkCnt--;
    }
    blkCnt = blockSize % 0x4U;
    while (blkCnt > 0U) { //~ add
        *pDst++ = (*pSrcA++) + (*pSrcB++);
        blkCnt--;
    }
}

void dsp_dot_prod_f32(const float32_t *pSrcA, const float32_t *pSrcB, uint32_t blockSize, float32_t *result)
{
    float32_t sum = 0.0f;
    uint32_t blkCnt = blockSize;
    while (blkCnt > 0U) { //~ dot
        sum += (*pSrcA++) * (*pSrcB++);
        blkCnt--;
    }
    *result = sum;
}

void dsp_max_f32(const float32_t *pSrc, uint32_t blockSize, float32_t *pResult, uint32_t *pIndex)
{
    float32_t maxVal, out;
    uint32_t blkCnt, outIndex;
    outIndex = 0U;
    out = *pSrc++;
    blkCnt = (blockSize - 1U);
    while (blkCnt > 0U) { //~ argmax
        maxVal = *pSrc++;
        if (out < maxVal) {
            out = maxVal;
            outIndex = blockSize - blkCnt;
        }
        blkCnt--;
    }
    *pResult = out;
    *pIndex = outIndex;
}

void dsp_scale_q31(const q31_t *pSrc, q31_t scale, q31_t *pDst, uint32_t n)
{
    while (n > 0) { //~!
        *pDst++ = (q31_t)(((int64_t)*pSrc++ * scale) >> 31);
        n--;
    }
}

void dsp_abs_f32(const float32_t *pSrc, float32_t *pDst, uint32_t blockSize)
{
    uint32_t k = blockSize;
    do { //~ abs
        *pDst++ = fabsf(*pSrc++);
    } while (--k);
}

void dsp_offset(const float32_t *src, float32_t offset, float32_t *dst, uint32_t n)
{
    while (n-- > 0) //~ fused
        *dst++ = *src++ + offset;
}

void dsp_cmplx_mag(const float32_t *src, float32_t *dst, uint32_t n)
{
    while (n > 0) { //~ fused
        float32_t re = *src++;
        float32_t im = *src++;
        *dst++ = sqrtf(re * re + im * im);
        n--;
    }
}

void dsp_rms(const float32_t *pSrc, uint32_t blockSize, float32_t *pResult)
{
    float32_t sum = 0.0f, in;
    uint32_t blkCnt = blockSize;
    while (blkCnt > 0U) { //~ dot
        in = *pSrc++;
        sum += in * in;
        blkCnt--;
    }
    *pResult = sqrtf(sum / (float32_t)blockSize);
}

void dsp_iir_one_pole(float32_t *x, uint32_t n, float32_t a, float32_t *state)
{
    float32_t z = *state;
    for (uint32_t i = 0; i < n; i++) { //~!
        z += a * (x[i] - z);
        x[i] = z;
    }
    *state = z;
}

/* ================= recipes, 1-based */
void lubksb(float **a, int n, int *indx, float b[])
{
    int i, ii = 0, ip, j;
    float sum;
    for (i = 1; i <= n; i++) { //~!
        ip = indx[i];
        sum = b[ip];
        b[ip] = b[i];
        if (ii)
            for (j = ii; j <= i - 1; j++) //~ dot
                sum -= a[i][j] * b[j];
        else if (sum)
            ii = i;
        b[i] = sum;
    }
}

void matmul_recipes(double **a, double **b, double **c, int n)
{
    int i, j, k;
    for (i = 1; i <= n; i++) //~ matmul
        for (j = 1; j <= n; j++) {
            for (c[i][j] = 0.0, k = 1; k <= n; k++)
                c[i][j] += a[i][k] * b[k][j];
        }
}

double *alloc_and_fill(int n)
{
    double *v = malloc(n * sizeof *v);
    int i;
    for (i = 0; i < n; ++i) //~!
        v[i] = 1.0 / (i + 1);
    return v;
}

void moments(const double data[], int n, double *ave, double *var)
{
    int j;
    double s = 0.0, ep = 0.0, p;
    for (j = 0; j < n; j++) //~ mean
        s += data[j];
    *ave = s / n;
    *var = 0;
    for (j = 0; j < n; j++) { //~ fused
        s = data[j] - *ave;
        ep += s;
        p = s * s;
        *var += p;
    }
    *var = (*var - ep * ep / n) / (n - 1);
}

/* ================= f2c */
int daxpy_f2c(int *n, double *da, double *dx, int *incx, double *dy, int *incy)
{
    int i__1, i__, ix, iy;
    --dy;
    --dx;
    if (*n <= 0)
        return 0;
    ix = 1;
    iy = 1;
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) { //~ axpy
        dy[iy] += *da * dx[ix];
        ix += *incx;
        iy += *incy;
    }
    return 0;
}

double dnrm1_f2c(int *n, double *dx)
{
    double dtemp = 0.;
    int i__, i__1 = *n;
    --dx;
    for (i__ = 1; i__ <= i__1; ++i__) { //~ norm1
        dtemp += fabs(dx[i__]);
    }
    return dtemp;
}

/* ================= GSL-like */
double vector_sum(const gsl_vector *v)
{
    double s = 0;
    for (size_t i = 0; i < v->size; i++) //~ sum
        s += v->data[i * v->stride];
    return s;
}

int vector_mul(gsl_vector *a, const gsl_vector *b)
{
    const size_t N = a->size;
    if (b->size != N)
        return -1;
    {
        const size_t stride_a = a->stride;
        const size_t stride_b = b->stride;
        size_t i;
        for (i = 0; i < N; i++) { //~ mul
            a->data[i * stride_a] *= b->data[i * stride_b];
        }
    }
    return 0;
}

void matrix_times_vector(const gsl_matrix *A, const gsl_vector *x, gsl_vector *y)
{
    for (size_t i = 0; i < A->size1; i++) { //~ gemv
        double t = 0;
        for (size_t j = 0; j < A->size2; j++)
            t += ELEM(A, i, j) * x->data[j * x->stride];
        y->data[i * y->stride] = t;
    }
}

void matrix_add_constant(gsl_matrix *a, double x)
{
    for (size_t i = 0; i < a->size1; i++) //~ fused
        for (size_t j = 0; j < a->size2; j++)
            a->data[i * a->tda + j] += x;
}

void matrix_scale(gsl_matrix *a, double x)
{
    for (size_t i = 0; i < a->size1; i++) //~ scale
        for (size_t j = 0; j < a->size2; j++)
            a->data[i * a->tda + j] *= x;
}

void matrix_max_index(const gsl_matrix *m, size_t *imax, size_t *jmax)
{
    double max = m->data[0];
    for (size_t i = 0; i < m->size1; i++) { //~ argmax
        for (size_t j = 0; j < m->size2; j++) {
            double x = m->data[i * m->tda + j];
            if (x > max) {
                max = x;
                *imax = i;
                *jmax = j;
            }
        }
    }
}

int vector_isnull(const gsl_vector *v)
{
    for (size_t j = 0; j < v->size; j++) //~!
        if (v->data[v->stride * j] != 0.0)
            return 0;
    return 1;
}

/* ================= machine learning in plain C */
void forward(layer_t *l, const float *input, float *output)
{
    for (int i = 0; i < l->nout; i++) { //~ gemv
        output[i] = l->biases[i];
        for (int j = 0; j < l->nin; j++)
            output[i] += l->weights[i * l->nin + j] * input[j];
    }
}

void backward(layer_t *l, const float *delta, float *prev)
{
    for (int j = 0; j < l->nin; j++) { //~ gemv
        float acc = 0;
        for (int i = 0; i < l->nout; i++)
            acc += delta[i] * l->weights[i * l->nin + j];
        prev[j] = acc;
    }
}

void accumulate_gradient(layer_t *l, const float *delta, const float *input)
{
    for (int i = 0; i < l->nout; i++) { //~!
        const float d = delta[i];
        float *g = l->grad + i * l->nin;
        for (int j = 0; j < l->nin; j++) //~ axpy
            g[j] += d * input[j];
    }
}

void sigmoid_prime(const float *y, float *dy, int n)
{
    for (int i = 0; i < n; i++) //~ fused
        dy[i] = y[i] * (1 - y[i]);
}

float cross_entropy(const float *p, const float *t, int n)
{
    float loss = 0;
    for (int i = 0; i < n; i++) //~ fused
        loss -= t[i] * logf(p[i] + 1e-9f);
    return loss / n;
}

float mse(const float *p, const float *t, int n)
{
    float e = 0;
    for (int i = 0; i < n; i++) //~ dot
        e += SQR(p[i] - t[i]);
    return e / n;
}

int argmax_row(const float *logits, int V)
{
    int max_i = 0;
    float max_p = logits[0];
    for (int i = 1; i < V; i++) { //~ argmax
        if (logits[i] > max_p) {
            max_i = i;
            max_p = logits[i];
        }
    }
    return max_i;
}

void softmax_rows(float *restrict x, int rows, int cols, float temperature)
{
    for (int i = 0; i < rows * cols; i++) //~ scale
        x[i] /= temperature;
    for (int r = 0; r < rows; r++, x += cols) { //~ softmax
        float hi = x[0];
        for (int c = 1; c < cols; c++)
            if (x[c] > hi)
                hi = x[c];
        float z = 0.f;
        for (int c = 0; c < cols; c++)
            z += (x[c] = expf(x[c] - hi));
        float inv = 1.f / z;
        for (int c = 0; c < cols; c++)
            x[c] *= inv;
    }
}

void layer_norm(float *out, const float *inp, const float *weight, const float *bias, int B, int C)
{
    float eps = 1e-5f;
    for (int b = 0; b < B; b++) { //~ layernorm
        const float *x = inp + b * C;
        float m = 0.0f;
        for (int i = 0; i < C; i++) {
            m += x[i];
        }
        m = m / C;
        float v = 0.0f;
        for (int i = 0; i < C; i++) {
            float xshift = x[i] - m;
            v += xshift * xshift;
        }
        v = v / C;
        float s = 1.0f / sqrtf(v + eps);
        float *out_b = out + b * C;
        for (int i = 0; i < C; i++) {
            float n = (s * (x[i] - m));
            float o = n * weight[i] + bias[i];
            out_b[i] = o;
        }
    }
}

void dropout(float *x, int n, float p)
{
    for (int i = 0; i < n; i++) //~!
        x[i] = (rand() / (float)RAND_MAX) < p ? 0 : x[i] / (1 - p);
}

void one_hot(float *out, const int *labels, int n, int classes)
{
    memset(out, 0, sizeof(float) * n * classes);
    for (int i = 0; i < n; i++) //~!
        out[i * classes + labels[i]] = 1.0f;
}

void maxpool2(const float *in, float *out, int c, int h, int w)
{
    for (int ch = 0; ch < c; ch++) //~ pooling
        for (int i = 0; i < h / 2; i++)
            for (int j = 0; j < w / 2; j++) {
                float best = -1e30f;
                for (int di = 0; di < 2; di++)
                    for (int dj = 0; dj < 2; dj++) {
                        float v = in[ch * h * w + (2 * i + di) * w + (2 * j + dj)];
                        best = v > best ? v : best;
                    }
                out[ch * (h / 2) * (w / 2) + i * (w / 2) + j] = best;
            }
}

void conv_padded(const float *in, const float *k, float *out, int h, int w, int ks)
{
    int pad = ks / 2;
    for (int y = 0; y < h; y++) //~ conv2d
        for (int x = 0; x < w; x++) {
            float sum = 0;
            for (int ky = 0; ky < ks; ky++)
                for (int kx = 0; kx < ks; kx++) {
                    int iy = y + ky - pad, ix = x + kx - pad;
                    if (iy >= 0 && iy < h && ix >= 0 && ix < w)
                        sum += in[iy * w + ix] * k[ky * ks + kx];
                }
            out[y * w + x] = sum;
        }
}

void rope(float *q, int dim, int pos)
{
    for (int i = 0; i < dim; i += 2) { //~!
        float th = pos / powf(10000.f, (float)i / dim);
        float c = cosf(th), s = sinf(th);
        float a = q[i], b = q[i + 1];
        q[i] = a * c - b * s;
        q[i + 1] = a * s + b * c;
    }
}

void quantize(const float *x, int8_t *q, float scale, int n)
{
    for (int i = 0; i < n; i++) //~!
        q[i] = (int8_t)roundf(x[i] / scale);
}

void dequantize(const int8_t *q, float *x, float scale, int n)
{
    for (int i = 0; i < n; i++) //~!
        x[i] = q[i] * scale;
}

float quantized_dot(const int8_t *a, const int8_t *b, int n)
{
    int32_t s = 0;
    for (int i = 0; i < n; i++) //~!
        s += (int32_t)a[i] * b[i];
    return (float)s;
}
