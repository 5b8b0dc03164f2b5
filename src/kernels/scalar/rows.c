/* SPDX-License-Identifier: MIT */
/*
 * rows.c - the definition of softmax and layernorm.
 *
 * softmax: a row that holds a NaN or +inf, or nothing but -inf, becomes NaN
 * throughout; -inf beside finite elements becomes 0.
 */
#include "kernels/kernel.h"

#include <math.h>

takt_rows_kernel takt__k_softmax_f32_scalar, takt__k_layernorm_f32_scalar;

static void softmax(size_t cols, const float *x, float *out)
{
    double most = -(double)INFINITY;
    double sum = 0.0;

    for (size_t j = 0; j < cols; j++)
        most = fmax(most, (double)x[j]);
    for (size_t j = 0; j < cols; j++) {
        out[j] = (float)exp((double)x[j] - most);
        sum += (double)out[j];
    }
    for (size_t j = 0; j < cols; j++)
        out[j] = (float)((double)out[j] / sum);
}

void takt__k_softmax_f32_scalar(size_t rows, size_t cols, const void *in,
                                const void *gain, const void *bias, void *out,
                                double epsilon)
{
    const float *x = in;
    float *y = out;

    (void)gain;
    (void)bias;
    (void)epsilon;
    for (size_t i = 0; i < rows; i++)
        softmax(cols, x + i * cols, y + i * cols);
}

struct scalar_affine {
    const float *gain, *bias; /* NULL: one, zero */
};

static double mean(size_t cols, const float *x)
{
    double sum = 0.0;

    for (size_t j = 0; j < cols; j++)
        sum += (double)x[j];
    return sum / (double)cols;
}

static double variance(size_t cols, const float *x, double from)
{
    double sum = 0.0;

    for (size_t j = 0; j < cols; j++)
        sum += ((double)x[j] - from) * ((double)x[j] - from);
    return sum / (double)cols;
}

static void layernorm(size_t cols, const float *x, struct scalar_affine affine,
                      double epsilon, float *out)
{
    const double from = mean(cols, x);
    const double spread = sqrt(variance(cols, x, from) + epsilon);

    for (size_t j = 0; j < cols; j++) {
        const double gain = affine.gain == NULL ? 1.0 : (double)affine.gain[j];
        const double bias = affine.bias == NULL ? 0.0 : (double)affine.bias[j];
        out[j] = (float)(((double)x[j] - from) / spread * gain + bias);
    }
}

void takt__k_layernorm_f32_scalar(size_t rows, size_t cols, const void *in,
                                  const void *gain, const void *bias, void *out,
                                  double epsilon)
{
    const float *x = in;
    float *y = out;

    for (size_t i = 0; i < rows; i++)
        layernorm(cols, x + i * cols, (struct scalar_affine){gain, bias},
                  epsilon, y + i * cols);
}
