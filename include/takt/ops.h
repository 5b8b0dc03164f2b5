/* SPDX-License-Identifier: MIT */
/*
 * takt/ops.h - the operations, one call each.
 *
 * Each call is routed to the expert that should finish it first, in the
 * default context (takt_ctx_default()). For a context of your own, describe
 * the call and pass it to takt_run() in takt/call.h.
 *
 *     const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
 *     float c[4], total;
 *
 *     if (takt_matmul_f32(2, 2, 2, a, b, c) != TAKT_OK ||
 *         takt_add_f32(4, a, c, c) != TAKT_OK ||
 *         takt_sum_f32(4, c, &total) != TAKT_OK)
 *         return 1;
 *     printf("%g\n", total);
 *
 * Rules that hold for all of them:
 * - Memory belongs to the caller, is read or written only during the call,
 *   and needs no alignment beyond that of its type.
 * - An output may be the same array as an input where the op is element-wise
 *   or row-wise; any other overlap of an output with an input is refused, but
 *   for blocks of one matrix that lie side by side, which takt_matmul takes.
 * - Sizes of 0 are legal and touch nothing, except where a result needs at
 *   least one element (mean, max, min, argmax, argmin, variance).
 * - How accurate each op is, and what it does with NaN, infinities, -0 and
 *   denormals: docs/numerics.md.
 *
 * TAKT_EINVAL: a pointer is NULL that should not be, or arrays overlap; nothing
 *   was touched.
 * TAKT_ESHAPE: sizes make no sense together, a leading dimension is too small,
 *   or an operand does not fit an address space (PTRDIFF_MAX / 8 elements),
 *   where a size of 0 counts as 1, the last row of a matrix as a whole one, and
 *   an image with its padding and a stride more on each side; nothing was
 *   touched.
 * TAKT_ENOMEM: there is no default context, or no expert could allocate its
 *   working memory.
 *
 * Threads: every call may be made from any number of threads at once.
 */
#ifndef TAKT_OPS_H
#define TAKT_OPS_H

#include <stddef.h>

#include <takt/export.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- element-wise: out[i] = f(a[i], ...) -------------------------------- */

/* Adds, subtracts, multiplies or divides, element by element: out = a + b, a -
 * b, a * b, a / b. */
TAKT_API takt_status takt_add_f32(size_t n, const float *a, const float *b,
                                  float *out);
TAKT_API takt_status takt_add_f64(size_t n, const double *a, const double *b,
                                  double *out);
TAKT_API takt_status takt_sub_f32(size_t n, const float *a, const float *b,
                                  float *out);
TAKT_API takt_status takt_sub_f64(size_t n, const double *a, const double *b,
                                  double *out);
TAKT_API takt_status takt_mul_f32(size_t n, const float *a, const float *b,
                                  float *out);
TAKT_API takt_status takt_mul_f64(size_t n, const double *a, const double *b,
                                  double *out);
TAKT_API takt_status takt_div_f32(size_t n, const float *a, const float *b,
                                  float *out);
TAKT_API takt_status takt_div_f64(size_t n, const double *a, const double *b,
                                  double *out);

/* Multiplies by a number: out = alpha * a. */
TAKT_API takt_status takt_scale_f32(size_t n, float alpha, const float *a,
                                    float *out);
TAKT_API takt_status takt_scale_f64(size_t n, double alpha, const double *a,
                                    double *out);

/* Adds a multiple: y = alpha * x + y. It rounds once where the expert can. */
TAKT_API takt_status takt_axpy_f32(size_t n, float alpha, const float *x,
                                   float *y);
TAKT_API takt_status takt_axpy_f64(size_t n, double alpha, const double *x,
                                   double *y);

/* Multiplies and adds with one rounding: out = a * b + c. */
TAKT_API takt_status takt_fma_f32(size_t n, const float *a, const float *b,
                                  const float *c, float *out);
TAKT_API takt_status takt_fma_f64(size_t n, const double *a, const double *b,
                                  const double *c, double *out);

/* Absolute value, negation, square root, copy, element by element. */
TAKT_API takt_status takt_abs_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_abs_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_neg_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_neg_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_sqrt_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_sqrt_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_copy_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_copy_f64(size_t n, const double *a, double *out);

/* Limits elements to [low, high].
 * TAKT_EINVAL: also unless low <= high. */
TAKT_API takt_status takt_clamp_f32(size_t n, float low, float high,
                                    const float *a, float *out);
TAKT_API takt_status takt_clamp_f64(size_t n, double low, double high,
                                    const double *a, double *out);

/* Functions of mathematics and of neural networks, element by element. expm1 is
 * exp(a) - 1, log1p is log(1 + a), both accurate near 0; sigmoid is 1 / (1 +
 * exp(-a)), relu is a, or 0 where a < 0, gelu is a times the normal
 * distribution of a. */
TAKT_API takt_status takt_exp_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_exp_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_exp2_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_exp2_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_expm1_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_expm1_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_log_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_log_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_log2_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_log2_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_log1p_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_log1p_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_sin_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_sin_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_cos_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_cos_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_sigmoid_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_sigmoid_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_tanh_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_tanh_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_relu_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_relu_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_gelu_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_gelu_f64(size_t n, const double *a, double *out);

/* ---- transpose --------------------------------------------------------- */

/* Transposes a matrix: out[j * ld_out + i] = a[i * ld_a + j]. */
TAKT_API takt_status takt_transpose_f32(size_t rows, size_t cols,
                                        const float *a, size_t ld_a, float *out,
                                        size_t ld_out);
TAKT_API takt_status takt_transpose_f64(size_t rows, size_t cols,
                                        const double *a, size_t ld_a,
                                        double *out, size_t ld_out);

/* ---- reductions: n elements to one --------------------------------------- */

/* Sum, mean, extremes and their positions, dot product, norms and variance.
 * argmax and argmin find the first one; norm1 is the sum of absolute values,
 * norm2 the square root of the sum of squares, variance the mean squared
 * distance from the mean. A NaN among the elements makes max and min NaN, and
 * is what argmax and argmin find.
 * TAKT_ESHAPE: also where n is 0 in mean, max, min, argmax, argmin or
 *   variance. */
TAKT_API takt_status takt_sum_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_sum_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_mean_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_mean_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_max_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_max_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_min_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_min_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_argmax_f32(size_t n, const float *a, size_t *out);
TAKT_API takt_status takt_argmax_f64(size_t n, const double *a, size_t *out);
TAKT_API takt_status takt_argmin_f32(size_t n, const float *a, size_t *out);
TAKT_API takt_status takt_argmin_f64(size_t n, const double *a, size_t *out);
TAKT_API takt_status takt_dot_f32(size_t n, const float *a, const float *b,
                                  float *out);
TAKT_API takt_status takt_dot_f64(size_t n, const double *a, const double *b,
                                  double *out);
TAKT_API takt_status takt_norm1_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_norm1_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_norm2_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_norm2_f64(size_t n, const double *a, double *out);
TAKT_API takt_status takt_variance_f32(size_t n, const float *a, float *out);
TAKT_API takt_status takt_variance_f64(size_t n, const double *a, double *out);

/* ---- row by row: `rows` rows of `cols` elements, one after the other ------
 */

/* Softmax of each row: exp(a - max) / sum of those. */
TAKT_API takt_status takt_softmax_f32(size_t rows, size_t cols, const float *a,
                                      float *out);

/* Normalises each row: (a - mean) / sqrt(variance + epsilon) * gain + bias;
 * `gain` and `bias` have `cols` elements, or are NULL for 1 and 0. */
TAKT_API takt_status takt_layernorm_f32(size_t rows, size_t cols,
                                        const float *a, const float *gain,
                                        const float *bias, float epsilon,
                                        float *out);

/* Adds a vector to each row, or multiplies each row by it: out[i][j] = a[i][j]
 * + b[j], or a[i][j] * b[j]. `b` has `cols` elements. */
TAKT_API takt_status takt_bias_add_f32(size_t rows, size_t cols, const float *a,
                                       const float *b, float *out);
TAKT_API takt_status takt_bias_add_f64(size_t rows, size_t cols,
                                       const double *a, const double *b,
                                       double *out);
TAKT_API takt_status takt_bias_mul_f32(size_t rows, size_t cols, const float *a,
                                       const float *b, float *out);
TAKT_API takt_status takt_bias_mul_f64(size_t rows, size_t cols,
                                       const double *a, const double *b,
                                       double *out);

/* Sum, mean or largest element of each row, or of each column. `out` has `rows`
 * elements, or `cols`.
 * TAKT_ESHAPE: also the mean or maximum of nothing. */
TAKT_API takt_status takt_row_sum_f32(size_t rows, size_t cols, const float *a,
                                      float *out);
TAKT_API takt_status takt_row_sum_f64(size_t rows, size_t cols, const double *a,
                                      double *out);
TAKT_API takt_status takt_row_mean_f32(size_t rows, size_t cols, const float *a,
                                       float *out);
TAKT_API takt_status takt_row_mean_f64(size_t rows, size_t cols,
                                       const double *a, double *out);
TAKT_API takt_status takt_row_max_f32(size_t rows, size_t cols, const float *a,
                                      float *out);
TAKT_API takt_status takt_row_max_f64(size_t rows, size_t cols, const double *a,
                                      double *out);
TAKT_API takt_status takt_col_sum_f32(size_t rows, size_t cols, const float *a,
                                      float *out);
TAKT_API takt_status takt_col_sum_f64(size_t rows, size_t cols, const double *a,
                                      double *out);
TAKT_API takt_status takt_col_mean_f32(size_t rows, size_t cols, const float *a,
                                       float *out);
TAKT_API takt_status takt_col_mean_f64(size_t rows, size_t cols,
                                       const double *a, double *out);
TAKT_API takt_status takt_col_max_f32(size_t rows, size_t cols, const float *a,
                                      float *out);
TAKT_API takt_status takt_col_max_f64(size_t rows, size_t cols, const double *a,
                                      double *out);

/* ---- products -------------------------------------------------------------
 *
 * Matrices are row-major; a leading dimension is the distance between rows.
 * With beta = 0 the output is not read; with alpha = 0 the inputs are not. */

/* Which operands of a product are stored transposed. */
#define TAKT_TRANS_A 1u /* use the transpose of A */
#define TAKT_TRANS_B 2u /* use the transpose of B */

/* Multiplies two matrices, C = A B: A is m x k, B is k x n, C is m x n, without
 * gaps. */
TAKT_API takt_status takt_matmul_f32(size_t m, size_t n, size_t k,
                                     const float *a, const float *b, float *c);
TAKT_API takt_status takt_matmul_f64(size_t m, size_t n, size_t k,
                                     const double *a, const double *b,
                                     double *c);

/* Multiplies two matrices, with factors, leading dimensions and transposes: C =
 * alpha * op(A) op(B) + beta * C, where `trans` says which operands are stored
 * transposed: op(A) is m x k, op(B) is k x n.
 * TAKT_EINVAL: also where `trans` has other bits than TAKT_TRANS_A and
 *   TAKT_TRANS_B; the numbers of CBLAS (111, 112, 113) and letters are not
 *   understood. */
TAKT_API takt_status takt_gemm_f32(unsigned trans, size_t m, size_t n, size_t k,
                                   float alpha, const float *a, size_t ld_a,
                                   const float *b, size_t ld_b, float beta,
                                   float *c, size_t ld_c);
TAKT_API takt_status takt_gemm_f64(unsigned trans, size_t m, size_t n, size_t k,
                                   double alpha, const double *a, size_t ld_a,
                                   const double *b, size_t ld_b, double beta,
                                   double *c, size_t ld_c);

/* Multiplies a matrix and a vector: y = alpha * op(A) x + beta * y, where A is
 * stored m x n.
 * TAKT_EINVAL: also where `trans` is neither 0 nor TAKT_TRANS_A. */
TAKT_API takt_status takt_gemv_f32(unsigned trans, size_t m, size_t n,
                                   float alpha, const float *a, size_t ld_a,
                                   const float *x, float beta, float *y);
TAKT_API takt_status takt_gemv_f64(unsigned trans, size_t m, size_t n,
                                   double alpha, const double *a, size_t ld_a,
                                   const double *x, double beta, double *y);

/* Multiplies the matrices of two batches: C[i] = A[i] B[i] for each of `batch`
 * matrices, one after the other. */
TAKT_API takt_status takt_batched_matmul_f32(size_t batch, size_t m, size_t n,
                                             size_t k, const float *a,
                                             const float *b, float *c);
TAKT_API takt_status takt_batched_matmul_f64(size_t batch, size_t m, size_t n,
                                             size_t k, const double *a,
                                             const double *b, double *c);

/* ---- linear algebra ---------------------------------------------------------
 *
 * Matrices are row-major; a leading dimension is the distance between rows, 0
 * for no gaps. Inputs are not changed, and outputs are apart from them. What is
 * wrong with a matrix is found while it is worked on; then every element of the
 * output is NaN, and the status is TAKT_EDEFINITE or TAKT_ESINGULAR.
 * TAKT_ENOMEM: no working memory (solve: n * n elements); nothing was
 *   touched. */

/* Factors a positive definite matrix, A = L L': A is symmetric and positive
 * definite, n x n, and L is lower triangular with a positive diagonal. The
 * lower triangle of A alone is read; all of L is written, with zeros above its
 * diagonal.
 * TAKT_EDEFINITE: a pivot is not positive, or not finite: A is not positive
 *   definite within rounding, or has a NaN or an infinity in it. */
TAKT_API takt_status takt_cholesky_f32(size_t n, const float *a, size_t ld_a,
                                       float *l, size_t ld_l);
TAKT_API takt_status takt_cholesky_f64(size_t n, const double *a, size_t ld_a,
                                       double *l, size_t ld_l);

/* Solves linear equations, A X = B: A is n x n, B and X have nrhs columns. By
 * LU factors with partial pivoting.
 * TAKT_ESINGULAR: a pivot is 0, or not finite: A is singular, or has a NaN or
 *   an infinity in it. A matrix that is singular but for rounding mostly
 *   passes, with a large X. */
TAKT_API takt_status takt_solve_f32(size_t n, size_t nrhs, const float *a,
                                    size_t ld_a, const float *b, size_t ld_b,
                                    float *x, size_t ld_x);
TAKT_API takt_status takt_solve_f64(size_t n, size_t nrhs, const double *a,
                                    size_t ld_a, const double *b, size_t ld_b,
                                    double *x, size_t ld_x);

/* Factors a matrix, A = Q R: A is m x n with m >= n, Q is m x n with columns at
 * right angles and of length 1, R is n x n and upper triangular with no
 * negative element on its diagonal. `qr` has m + n rows of n elements: Q, and
 * below it R with zeros below its diagonal. By Householder reflections. A NaN
 * or an infinity in A makes results NaN.
 * TAKT_ESHAPE: also where m < n.
 * TAKT_ENOMEM: no working memory: m * n elements and more. */
TAKT_API takt_status takt_qr_f32(size_t m, size_t n, const float *a,
                                 size_t ld_a, float *qr, size_t ld_qr);
TAKT_API takt_status takt_qr_f64(size_t m, size_t n, const double *a,
                                 size_t ld_a, double *qr, size_t ld_qr);

/* Solves least squares: X minimises the norm of each column of A X - B. A is m
 * x n with m >= n and independent columns, B has nrhs columns, X is n x nrhs.
 * By Householder reflections.
 * TAKT_ESHAPE: also where m < n.
 * TAKT_ESINGULAR: an element on the diagonal of R is 0, or not finite: columns
 *   of A depend on each other, or it has a NaN or an infinity in it. Columns
 *   that depend on each other but for rounding mostly pass, with a large X.
 * TAKT_ENOMEM: no working memory: m * (n + nrhs) elements and more. */
TAKT_API takt_status takt_lstsq_f32(size_t m, size_t n, size_t nrhs,
                                    const float *a, size_t ld_a, const float *b,
                                    size_t ld_b, float *x, size_t ld_x);
TAKT_API takt_status takt_lstsq_f64(size_t m, size_t n, size_t nrhs,
                                    const double *a, size_t ld_a,
                                    const double *b, size_t ld_b, double *x,
                                    size_t ld_x);

/* ---- layers ----------------------------------------------------------------
 */

/* The sizes of a two-dimensional convolution. Images are batch x channels x
 * height x width, filters are filters x channels / groups x rows x cols. */
typedef struct takt_conv2d {
    size_t size; /* sizeof(takt_conv2d): see takt/takt.h */
    size_t batch, channels, height, width;
    size_t filters, rows, cols;
    size_t stride; /* 0 means 1 */
    size_t pad;    /* zeros around each image; less than rows and cols */
    size_t groups; /* 0 means 1 */
} takt_conv2d;

/* Convolves images with filters: out is batch x filters x out_height x
 * out_width, where out_height is (height + 2 pad - rows) / stride + 1; `bias`
 * has one element per filter, or is NULL. */
TAKT_API takt_status takt_conv2d_f32(const takt_conv2d *sizes, const float *in,
                                     const float *filters, const float *bias,
                                     float *out);

/* The sizes of a pooling. */
typedef struct takt_pooling {
    size_t size; /* sizeof(takt_pooling): see takt/takt.h */
    size_t batch, channels, height, width;
    size_t window; /* its height and width */
    size_t stride; /* 0 means `window` */
    size_t pad;    /* around each image, never part of a result */
    int is_mean;   /* 0: the maximum; else the mean of the elements inside */
} takt_pooling;

/* Takes the maximum or mean over square windows of images. out is batch x
 * channels x out_height x out_width, where out_height is (height + 2 pad -
 * window) / stride + 1. */
TAKT_API takt_status takt_pooling_f32(const takt_pooling *sizes,
                                      const float *in, float *out);

/* The sizes of an attention. Queries are batch x heads x queries x depth; keys
 * and values batch x heads x keys x depth; out is like the queries. */
typedef struct takt_attention {
    size_t size; /* sizeof(takt_attention): see takt/takt.h */
    size_t batch, heads, queries, keys, depth;
    float scale;       /* of the scores; 0 means 1 / sqrt(depth) */
    int is_causal;     /* query i sees keys up to i + keys - queries */
    const float *mask; /* queries x keys, added to the scores; NULL: none */
} takt_attention;

/* Attention: softmax(Q K' * scale + mask) V, for each of a batch and head. */
TAKT_API takt_status takt_attention_f32(const takt_attention *sizes,
                                        const float *queries, const float *keys,
                                        const float *values, float *out);

#ifdef __cplusplus
}
#endif

#endif
