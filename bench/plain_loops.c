/* SPDX-License-Identifier: MIT */
/*
 * plain_loops.c - see plain_loops.h; PLAIN_LOOPS is the name of the list.
 *
 * Written as a user would who wants them fast and knows that the arrays do not
 * overlap: plain subscripts, restrict, nothing unrolled.
 */
#include "plain_loops.h"

#include <math.h>

/* clang-format off */
#define MAP(op, type, dtype, expression)                                   \
    static void op##_##dtype(size_t n, const void *in_a, const void *in_b, \
                             const void *in_c, void *to, double p,         \
                             double q)                                     \
    {                                                                      \
        const type *restrict a = in_a, *restrict b = in_b;                 \
        const type *restrict c = in_c;                                     \
        type *restrict out = to;                                           \
        const type alpha = (type)p, beta = (type)q;                        \
        (void)a, (void)b, (void)c, (void)alpha, (void)beta;                \
        for (size_t i = 0; i < n; i++)                                     \
            out[i] = expression;                                           \
    }

#define MAPS(type, dtype, f)                                               \
    MAP(add, type, dtype, a[i] + b[i])                                     \
    MAP(sub, type, dtype, a[i] - b[i])                                     \
    MAP(mul, type, dtype, a[i] * b[i])                                     \
    MAP(div, type, dtype, a[i] / b[i])                                     \
    MAP(scale, type, dtype, alpha * a[i])                                  \
    MAP(fma, type, dtype, a[i] * b[i] + c[i])                              \
    MAP(abs, type, dtype, fabs##f(a[i]))                                   \
    MAP(neg, type, dtype, -a[i])                                           \
    MAP(clamp, type, dtype,                                                \
        a[i] < alpha ? alpha : a[i] > beta ? beta : a[i])                  \
    MAP(sqrt, type, dtype, sqrt##f(a[i]))                                  \
    MAP(copy, type, dtype, a[i])

MAPS(float, f32, f)
MAPS(double, f64, )

#define FUNCTIONS(type, dtype, f)                                          \
    MAP(relu, type, dtype, a[i] > 0 ? a[i] : 0)                            \
    MAP(exp, type, dtype, exp##f(a[i]))                                    \
    MAP(exp2, type, dtype, exp2##f(a[i]))                                  \
    MAP(expm1, type, dtype, expm1##f(a[i]))                                \
    MAP(log, type, dtype, log##f(a[i]))                                    \
    MAP(log2, type, dtype, log2##f(a[i]))                                  \
    MAP(log1p, type, dtype, log1p##f(a[i]))                                \
    MAP(sin, type, dtype, sin##f(a[i]))                                    \
    MAP(cos, type, dtype, cos##f(a[i]))                                    \
    MAP(sigmoid, type, dtype, 1 / (1 + exp##f(-a[i])))                     \
    MAP(tanh, type, dtype, tanh##f(a[i]))                                  \
    MAP(gelu, type, dtype,                                                 \
        (type)0.5 * a[i] * (1 + erf##f(a[i] * (type)0.70710678118654752)))
FUNCTIONS(float, f32, f)
FUNCTIONS(double, f64, )

/* y is read and written, so it is no restrict to itself. */
#define AXPY(type, dtype)                                                   \
    static void axpy_##dtype(size_t n, const void *in_a, const void *in_b,  \
                             const void *in_c, void *to, double p, double q)\
    {                                                                       \
        const type *restrict x = in_a;                                      \
        type *restrict y = to;                                              \
        const type alpha = (type)p;                                         \
        (void)in_b, (void)in_c, (void)q;                                    \
        for (size_t i = 0; i < n; i++)                                      \
            y[i] = alpha * x[i] + y[i];                                     \
    }
AXPY(float, f32)
AXPY(double, f64)

#define REDUCE(op, type, dtype, start, step, finish)                       \
    static void op##_##dtype(size_t n, const void *in_a, const void *in_b, \
                             struct takt_partial *out)                     \
    {                                                                      \
        const type *restrict a = in_a, *restrict b = in_b;                 \
        type r = start;                                                    \
        (void)b;                                                           \
        for (size_t i = 0; i < n; i++)                                     \
            r = step;                                                      \
        out->value = (double)(finish);                                     \
    }

#define FIND(op, type, dtype, is_better)                                   \
    static void op##_##dtype(size_t n, const void *in_a, const void *in_b, \
                             struct takt_partial *out)                     \
    {                                                                      \
        const type *restrict a = in_a;                                     \
        size_t at = 0;                                                     \
        (void)in_b;                                                        \
        for (size_t i = 1; i < n; i++)                                     \
            if (a[i] is_better a[at])                                      \
                at = i;                                                    \
        out->index = at;                                                   \
    }

#define VARIANCE(type, dtype)                                              \
    static void variance_##dtype(size_t n, const void *in_a,               \
                                 const void *in_b,                         \
                                 struct takt_partial *out)                 \
    {                                                                      \
        const type *restrict a = in_a;                                     \
        type sum = 0, squares = 0;                                         \
        (void)in_b;                                                        \
        for (size_t i = 0; i < n; i++)                                     \
            sum += a[i];                                                   \
        const type mean = sum / (type)n;                                   \
        for (size_t i = 0; i < n; i++)                                     \
            squares += (a[i] - mean) * (a[i] - mean);                      \
        out->value = (double)(squares / (type)n);                          \
    }

#define REDUCTIONS(type, dtype, f)                                         \
    REDUCE(sum, type, dtype, 0, r + a[i], r)                               \
    REDUCE(mean, type, dtype, 0, r + a[i], r / (type)n)                    \
    REDUCE(max, type, dtype, a[0], a[i] > r ? a[i] : r, r)                 \
    REDUCE(min, type, dtype, a[0], a[i] < r ? a[i] : r, r)                 \
    REDUCE(dot, type, dtype, 0, r + a[i] * b[i], r)                        \
    REDUCE(norm1, type, dtype, 0, r + fabs##f(a[i]), r)                    \
    REDUCE(norm2, type, dtype, 0, r + a[i] * a[i], sqrt##f(r))             \
    FIND(argmax, type, dtype, >)                                           \
    FIND(argmin, type, dtype, <)                                           \
    VARIANCE(type, dtype)

REDUCTIONS(float, f32, f)
REDUCTIONS(double, f64, )

static void softmax_row(size_t n, const float *restrict a, float *restrict out)
{
    float most = a[0], sum = 0;

    for (size_t i = 1; i < n; i++)
        most = a[i] > most ? a[i] : most;
    for (size_t i = 0; i < n; i++)
        out[i] = expf(a[i] - most);
    for (size_t i = 0; i < n; i++)
        sum += out[i];
    for (size_t i = 0; i < n; i++)
        out[i] /= sum;
}

static void softmax_f32(size_t rows, size_t cols, const void *in,
                        const void *gain, const void *bias, void *out,
                        double epsilon)
{
    (void)gain, (void)bias, (void)epsilon;
    for (size_t i = 0; i < rows; i++)
        softmax_row(cols, (const float *)in + i * cols, (float *)out + i * cols);
}

static void layernorm_row(size_t n, const float *restrict a,
                          float *restrict out, float epsilon)
{
    float sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++)
        sum += a[i];
    const float mean = sum / (float)n;
    for (size_t i = 0; i < n; i++)
        squares += (a[i] - mean) * (a[i] - mean);
    const float factor = 1 / sqrtf(squares / (float)n + epsilon);
    for (size_t i = 0; i < n; i++)
        out[i] = (a[i] - mean) * factor;
}

static void layernorm_f32(size_t rows, size_t cols, const void *in,
                          const void *gain, const void *bias, void *out,
                          double epsilon)
{
    (void)gain, (void)bias;
    for (size_t i = 0; i < rows; i++)
        layernorm_row(cols, (const float *)in + i * cols,
                      (float *)out + i * cols, (float)epsilon);
}

#define TRANSPOSE(type, dtype)                                              \
    static void transpose_##dtype(size_t rows, size_t cols, const void *in, \
                                  size_t ld_in, void *to, size_t ld_out)    \
    {                                                                       \
        const type *restrict a = in;                                        \
        type *restrict out = to;                                            \
        for (size_t i = 0; i < rows; i++)                                   \
            for (size_t j = 0; j < cols; j++)                               \
                out[j * ld_out + i] = a[i * ld_in + j];                     \
    }
TRANSPOSE(float, f32)
TRANSPOSE(double, f64)

#define BIAS(op, type, dtype, sign)                                         \
    static void op##_##dtype(size_t rows, size_t cols, const void *in,      \
                             const void *bias, void *to)                    \
    {                                                                       \
        const type *restrict a = in, *restrict b = bias;                    \
        type *restrict out = to;                                            \
        for (size_t i = 0; i < rows; i++)                                   \
            for (size_t j = 0; j < cols; j++)                               \
                out[i * cols + j] = a[i * cols + j] sign b[j];              \
    }

/* Columns as one goes through memory, rows one after the other. */
#define AXIS(op, type, dtype, step, factor)                                 \
    static void col_##op##_##dtype(size_t rows, size_t cols, const void *in,\
                                   size_t ld, void *to)                     \
    {                                                                       \
        const type *restrict a = in;                                        \
        type *restrict out = to;                                            \
        for (size_t j = 0; j < cols; j++)                                   \
            out[j] = a[j];                                                  \
        for (size_t i = 1; i < rows; i++)                                   \
            for (size_t j = 0; j < cols; j++) {                             \
                const type x = a[i * ld + j], r = out[j];                   \
                out[j] = step;                                              \
            }                                                               \
        for (size_t j = 0; j < cols; j++)                                   \
            out[j] *= (type)(factor);                                       \
        (void)rows;                                                         \
    }                                                                       \
    static void row_##op##_##dtype(size_t cols, size_t rows, const void *in,\
                                   size_t ld, void *to)                     \
    {                                                                       \
        const type *restrict a = in;                                        \
        type *restrict out = to;                                            \
        for (size_t i = 0; i < cols; i++) {                                 \
            type r = a[i * ld];                                             \
            for (size_t j = 1; j < rows; j++) {                             \
                const type x = a[i * ld + j];                               \
                r = step;                                                   \
            }                                                               \
            out[i] = r * (type)(factor);                                    \
        }                                                                   \
    }

#define AXES(type, dtype)                                                   \
    BIAS(bias_add, type, dtype, +)                                          \
    BIAS(bias_mul, type, dtype, *)                                          \
    AXIS(sum, type, dtype, r + x, 1)                                        \
    AXIS(mean, type, dtype, r + x, 1 / (type)rows)                          \
    AXIS(max, type, dtype, x > r ? x : r, 1)
AXES(float, f32)
AXES(double, f64)

#define M(name, dtype_) {.op = #name, .dtype = TAKT_KERNEL_##dtype_, .map = name##_##dtype_}
#define R(name, dtype_) {.op = #name, .dtype = TAKT_KERNEL_##dtype_, .reduce = name##_##dtype_}
#define BOTH(dtype_) \
    M(add, dtype_), M(sub, dtype_), M(mul, dtype_), M(div, dtype_),         \
    M(scale, dtype_), M(fma, dtype_), M(abs, dtype_), M(neg, dtype_),       \
    M(clamp, dtype_), M(sqrt, dtype_), M(copy, dtype_), M(axpy, dtype_),    \
    R(sum, dtype_), R(mean, dtype_), R(max, dtype_), R(min, dtype_),        \
    R(dot, dtype_), R(norm1, dtype_), R(norm2, dtype_), R(argmax, dtype_),  \
    R(argmin, dtype_), R(variance, dtype_),                                 \
    {.op = "transpose", .dtype = TAKT_KERNEL_##dtype_, .transpose = transpose_##dtype_}

#define MATH(dtype)                                                        \
    M(relu, dtype), M(exp, dtype), M(exp2, dtype), M(expm1, dtype),        \
    M(log, dtype), M(log2, dtype), M(log1p, dtype), M(sin, dtype),         \
    M(cos, dtype), M(sigmoid, dtype), M(tanh, dtype), M(gelu, dtype)

#define B(name, dtype_) {.op = #name, .dtype = TAKT_KERNEL_##dtype_, .bias = name##_##dtype_}
#define C(name, dtype_) {.op = #name, .dtype = TAKT_KERNEL_##dtype_, .columns = name##_##dtype_}
#define BY_AXES(dtype)                                                     \
    B(bias_add, dtype), B(bias_mul, dtype), C(col_sum, dtype),              \
    C(col_mean, dtype), C(col_max, dtype), C(row_sum, dtype),               \
    C(row_mean, dtype), C(row_max, dtype)

const struct plain_loop PLAIN_LOOPS[] = {
    BOTH(f32), BOTH(f64),
    MATH(f32), MATH(f64),
    BY_AXES(f32), BY_AXES(f64),
    {.op = "softmax", .dtype = TAKT_KERNEL_f32, .rows = softmax_f32},
    {.op = "layernorm", .dtype = TAKT_KERNEL_f32, .rows = layernorm_f32},
    {0},
};
/* clang-format on */
