/* SPDX-License-Identifier: MIT */
/*
 * test_ops.c - the one-line calls: each of them once with a result that can be
 * checked by hand, then many of them at once, and after a fork.
 */
#define _GNU_SOURCE /* alarm, fork */
#include "takt/ops.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/random.h"
#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/takt.h"

enum { four = 4 };

static void same_f32(const char *what, size_t n, const float *got,
                     const double *want)
{
    for (size_t i = 0; i < n; i++)
        TAP_CHECK(fabs((double)got[i] - want[i]) <= 3e-7 * (1 + fabs(want[i])),
                  "%s: [%zu] is %.9g, not %.9g", what, i, (double)got[i],
                  want[i]);
}

static void same_f64(const char *what, size_t n, const double *got,
                     const double *want)
{
    for (size_t i = 0; i < n; i++)
        TAP_CHECK(fabs(got[i] - want[i]) <= 1e-15 * (1 + fabs(want[i])),
                  "%s: [%zu] is %.17g, not %.17g", what, i, got[i], want[i]);
}

/* ---- element-wise
 * ------------------------------------------------------------ */

typedef takt_status unary_f32(size_t n, const float *a, float *out);
typedef takt_status unary_f64(size_t n, const double *a, double *out);
typedef takt_status binary_f32(size_t n, const float *a, const float *b,
                               float *out);
typedef takt_status binary_f64(size_t n, const double *a, const double *b,
                               double *out);

static void two_operands(void)
{
    static const struct {
        const char *name;
        binary_f32 *f32;
        binary_f64 *f64;
        double want[four];
    } rows[] = {
        {"add", takt_add_f32, takt_add_f64, {3, 2, 3, 8.25}},
        {"sub", takt_sub_f32, takt_sub_f64, {-1, -6, 4, 7.75}},
        {"mul", takt_mul_f32, takt_mul_f64, {2, -8, -1.75, 2}},
        {"div", takt_div_f32, takt_div_f64, {0.5, -0.5, -7, 32}},
    };
    const float a[] = {1, -2, 3.5F, 8}, b[] = {2, 4, -0.5F, 0.25F};
    const double c[] = {1, -2, 3.5, 8}, d[] = {2, 4, -0.5, 0.25};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float x[four];
        double y[four];
        EXPECT_INT(rows[i].f32(four, a, b, x), TAKT_OK);
        EXPECT_INT(rows[i].f64(four, c, d, y), TAKT_OK);
        same_f32(rows[i].name, four, x, rows[i].want);
        same_f64(rows[i].name, four, y, rows[i].want);
    }
}

static void one_operand(void)
{
    static const struct {
        const char *name;
        unary_f32 *f32;
        unary_f64 *f64;
        double want[four];
    } rows[] = {
        {"abs", takt_abs_f32, takt_abs_f64, {0, 1, 4, 0.25}},
        {"neg", takt_neg_f32, takt_neg_f64, {0, -1, -4, -0.25}},
        {"sqrt", takt_sqrt_f32, takt_sqrt_f64, {0, 1, 2, 0.5}},
        {"copy", takt_copy_f32, takt_copy_f64, {0, 1, 4, 0.25}},
        {"exp",
         takt_exp_f32,
         takt_exp_f64,
         {1, 2.718281828459045, 54.598150033144236, 1.2840254166877414}},
        {"exp2", takt_exp2_f32, takt_exp2_f64, {1, 2, 16, 1.189207115002721}},
        {"expm1",
         takt_expm1_f32,
         takt_expm1_f64,
         {0, 1.718281828459045, 53.598150033144236, 0.28402541668774150}},
        {"log1p",
         takt_log1p_f32,
         takt_log1p_f64,
         {0, 0.6931471805599453, 1.6094379124341003, 0.22314355131420976}},
        {"sin",
         takt_sin_f32,
         takt_sin_f64,
         {0, 0.8414709848078965, -0.7568024953079282, 0.24740395925452294}},
        {"cos",
         takt_cos_f32,
         takt_cos_f64,
         {1, 0.5403023058681398, -0.6536436208636119, 0.9689124217106447}},
        {"sigmoid",
         takt_sigmoid_f32,
         takt_sigmoid_f64,
         {0.5, 0.7310585786300049, 0.9820137900379085, 0.5621765008857981}},
        {"tanh",
         takt_tanh_f32,
         takt_tanh_f64,
         {0, 0.7615941559557649, 0.999329299739067, 0.24491866240370913}},
        {"relu", takt_relu_f32, takt_relu_f64, {0, 1, 4, 0.25}},
        {"gelu",
         takt_gelu_f32,
         takt_gelu_f64,
         {0, 0.8413447460685429, 3.9998733150326675, 0.14967658142073093}},
    };
    const float a[] = {0, 1, 4, 0.25F};
    const double b[] = {0, 1, 4, 0.25};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float x[four];
        double y[four];
        EXPECT_INT(rows[i].f32(four, a, x), TAKT_OK);
        same_f32(rows[i].name, four, x, rows[i].want);
        EXPECT_INT(rows[i].f64(four, b, y), TAKT_OK);
        same_f64(rows[i].name, four, y, rows[i].want);
    }
}

static void log_and_relu_of_a_sign(void)
{
    const float a[] = {1, 2.7182817F, 0, -1};
    const float b[] = {-3, -0.0F, 2, -INFINITY};
    float out[four];

    EXPECT_INT(takt_log_f32(four, a, out), TAKT_OK);
    same_f32("log", 2, out, (double[]){0, 1});
    EXPECT(isinf(out[2]) && out[2] < 0);
    EXPECT(isnan(out[3]));
    EXPECT_INT(takt_relu_f32(four, b, out), TAKT_OK);
    same_f32("relu", four, out, (double[]){0, 0, 2, 0});
    EXPECT(signbit(out[1])); /* -0 is not less than 0 */
}

static void rows_and_columns(void)
{
    const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, -1};
    const double x[] = {1, 2, 3, 4, 5, 6}, y[] = {1, 0, -1};
    float out[6];
    double wide[6];

    EXPECT_INT(takt_bias_add_f32(2, 3, a, b, out), TAKT_OK);
    same_f32("bias_add", 6, out, (double[]){2, 2, 2, 5, 5, 5});
    EXPECT_INT(takt_bias_mul_f64(2, 3, x, y, wide), TAKT_OK);
    same_f64("bias_mul", 6, wide, (double[]){1, 0, -3, 4, 0, -6});
    EXPECT_INT(takt_row_sum_f32(2, 3, a, out), TAKT_OK);
    same_f32("row_sum", 2, out, (double[]){6, 15});
    EXPECT_INT(takt_row_mean_f64(2, 3, x, wide), TAKT_OK);
    same_f64("row_mean", 2, wide, (double[]){2, 5});
    EXPECT_INT(takt_row_max_f32(2, 3, a, out), TAKT_OK);
    same_f32("row_max", 2, out, (double[]){3, 6});
    EXPECT_INT(takt_col_sum_f64(2, 3, x, wide), TAKT_OK);
    same_f64("col_sum", 3, wide, (double[]){5, 7, 9});
    EXPECT_INT(takt_col_mean_f32(2, 3, a, out), TAKT_OK);
    same_f32("col_mean", 3, out, (double[]){2.5, 3.5, 4.5});
    EXPECT_INT(takt_col_max_f64(2, 3, x, wide), TAKT_OK);
    same_f64("col_max", 3, wide, (double[]){4, 5, 6});
    EXPECT_INT(takt_row_sum_f32(2, 0, NULL, out), TAKT_OK);
    same_f32("row_sum of nothing", 2, out, (double[]){0, 0});
    EXPECT_INT(takt_col_sum_f32(0, 3, NULL, out), TAKT_OK);
    same_f32("col_sum of nothing", 3, out, (double[]){0, 0, 0});
    EXPECT_INT(takt_row_max_f32(2, 0, NULL, out), TAKT_ESHAPE);
    EXPECT_INT(takt_col_mean_f32(0, 3, NULL, out), TAKT_ESHAPE);
}

static void parameters_in_f32(void)
{
    const float a[] = {1, -2, 3, 0.5F}, b[] = {2, 2, -1, 4};
    float y[] = {1, 1, 1, 1}, out[four];

    EXPECT_INT(takt_scale_f32(four, -2, a, out), TAKT_OK);
    same_f32("scale", four, out, (double[]){-2, 4, -6, -1});
    EXPECT_INT(takt_axpy_f32(four, 3, a, y), TAKT_OK);
    same_f32("axpy", four, y, (double[]){4, -5, 10, 2.5});
    EXPECT_INT(takt_fma_f32(four, a, b, y, out), TAKT_OK);
    same_f32("fma", four, out, (double[]){6, -9, 7, 4.5});
    EXPECT_INT(takt_clamp_f32(four, -1, 1, a, out), TAKT_OK);
    same_f32("clamp", four, out, (double[]){1, -1, 1, 0.5});
    EXPECT_INT(takt_clamp_f32(four, 1, -1, a, out), TAKT_EINVAL);
}

static void parameters_in_f64(void)
{
    const double a[] = {1, -2, 3, 0.5}, b[] = {2, 2, -1, 4};
    double y[] = {1, 1, 1, 1}, out[four];

    EXPECT_INT(takt_scale_f64(four, -2, a, out), TAKT_OK);
    same_f64("scale", four, out, (double[]){-2, 4, -6, -1});
    EXPECT_INT(takt_axpy_f64(four, 3, a, y), TAKT_OK);
    same_f64("axpy", four, y, (double[]){4, -5, 10, 2.5});
    EXPECT_INT(takt_fma_f64(four, a, b, y, out), TAKT_OK);
    same_f64("fma", four, out, (double[]){6, -9, 7, 4.5});
    EXPECT_INT(takt_clamp_f64(four, -1, 1, a, out), TAKT_OK);
    same_f64("clamp", four, out, (double[]){1, -1, 1, 0.5});
    EXPECT_INT(takt_clamp_f64(four, NAN, 1, a, out), TAKT_EINVAL);
}

/* (1 + e)^2 - 1 is 2e + e^2; a product that is rounded first loses e^2. */
static void fma_rounds_once(void)
{
    const float a = 1 + 0x1p-20F, minus = -1;
    const double b = 1 + 0x1p-50, less = -1;
    float x;
    double y;

    EXPECT_INT(takt_fma_f32(1, &a, &a, &minus, &x), TAKT_OK);
    EXPECT(x == 0x1p-19F + 0x1p-40F);
    EXPECT_INT(takt_fma_f64(1, &b, &b, &less, &y), TAKT_OK);
    EXPECT(y == 0x1p-49 + 0x1p-100);
}

static void transposes(void)
{
    const float a[] = {1, 2, 3, 4, 5, 6};
    const double b[] = {1, 2, 3, 4, 5, 6};
    float x[6];
    double y[8] = {0};

    EXPECT_INT(takt_transpose_f32(2, 3, a, 3, x, 2), TAKT_OK);
    same_f32("transpose", 6, x, (double[]){1, 4, 2, 5, 3, 6});
    EXPECT_INT(takt_transpose_f64(2, 2, b, 3, y, 4), TAKT_OK);
    same_f64("transpose", 8, y, (double[]){1, 4, 0, 0, 2, 5, 0, 0});
}

/* ---- reductions
 * ---------------------------------------------------------------- */

static void reductions(void)
{
    static const struct {
        const char *name;
        unary_f32 *f32;
        unary_f64 *f64;
        double want;
    } rows[] = {
        {"sum", takt_sum_f32, takt_sum_f64, 6},
        {"mean", takt_mean_f32, takt_mean_f64, 1.5},
        {"max", takt_max_f32, takt_max_f64, 4},
        {"min", takt_min_f32, takt_min_f64, -2},
        {"norm1", takt_norm1_f32, takt_norm1_f64, 10},
        {"norm2", takt_norm2_f32, takt_norm2_f64, 5.477225575051661},
        {"variance", takt_variance_f32, takt_variance_f64, 5.25},
    };
    const float a[] = {1, -2, 3, 4};
    const double b[] = {1, -2, 3, 4};
    float x;
    double y;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        EXPECT_INT(rows[i].f32(four, a, &x), TAKT_OK);
        EXPECT_INT(rows[i].f64(four, b, &y), TAKT_OK);
        same_f32(rows[i].name, 1, &x, &rows[i].want);
        same_f64(rows[i].name, 1, &y, &rows[i].want);
    }
    EXPECT_INT(takt_dot_f32(four, a, a, &x), TAKT_OK);
    EXPECT_INT(takt_dot_f64(four, b, b, &y), TAKT_OK);
    EXPECT(x == 30 && y == 30);
}

static void positions(void)
{
    const float a[] = {1, 5, -2, 5}, with_nan[] = {1, NAN, 9, NAN};
    const double b[] = {1, -7, -7, 5};
    size_t at;

    EXPECT_INT(takt_argmax_f32(four, a, &at), TAKT_OK);
    EXPECT_INT(at, 1);
    EXPECT_INT(takt_argmin_f32(four, a, &at), TAKT_OK);
    EXPECT_INT(at, 2);
    EXPECT_INT(takt_argmax_f64(four, b, &at), TAKT_OK);
    EXPECT_INT(at, 3);
    EXPECT_INT(takt_argmin_f64(four, b, &at), TAKT_OK);
    EXPECT_INT(at, 1);
    EXPECT_INT(takt_argmax_f32(four, with_nan, &at), TAKT_OK);
    EXPECT_INT(at, 1);
    EXPECT_INT(takt_argmin_f32(four, with_nan, &at), TAKT_OK);
    EXPECT_INT(at, 1);
}

/* ---- rows and products
 * ----------------------------------------------------------- */

static void rows_of_floats(void)
{
    const float a[] = {0, 0, 1, 1}, gain[] = {2, 2}, bias[] = {1, 0};
    const float spread[] = {-1, 1, 3, 5};
    float out[four];

    EXPECT_INT(takt_softmax_f32(2, 2, a, out), TAKT_OK);
    same_f32("softmax", four, out, (double[]){0.5, 0.5, 0.5, 0.5});
    EXPECT_INT(takt_layernorm_f32(2, 2, spread, gain, bias, 0, out), TAKT_OK);
    same_f32("layernorm", four, out, (double[]){-1, 2, -1, 2});
    EXPECT_INT(takt_layernorm_f32(2, 2, spread, NULL, NULL, 0, out), TAKT_OK);
    same_f32("layernorm", four, out, (double[]){-1, 1, -1, 1});
}

static void products_in_f32(void)
{
    const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, x[] = {1, -1};
    float c[] = {1, 1, 1, 1}, y[] = {1, 1}, two[2 * four];
    const float pair[] = {1, 2, 3, 4, 1, 0, 0, 1};

    EXPECT_INT(takt_matmul_f32(2, 2, 2, a, b, c), TAKT_OK);
    same_f32("matmul", four, c, (double[]){19, 22, 43, 50});
    EXPECT_INT(takt_gemm_f32(TAKT_TRANS_A, 2, 2, 2, 2, a, 2, b, 2, -1, c, 2),
               TAKT_OK);
    same_f32("gemm", four, c, (double[]){33, 38, 33, 38});
    EXPECT_INT(takt_gemv_f32(0, 2, 2, 1, a, 2, x, 3, y), TAKT_OK);
    same_f32("gemv", 2, y, (double[]){2, 2});
    EXPECT_INT(takt_gemv_f32(TAKT_TRANS_A, 2, 2, 1, a, 2, x, 0, y), TAKT_OK);
    same_f32("gemv", 2, y, (double[]){-2, -2});
    EXPECT_INT(takt_batched_matmul_f32(2, 2, 2, 2, pair, pair, two), TAKT_OK);
    same_f32("batched", 8, two, (double[]){7, 10, 15, 22, 1, 0, 0, 1});
}

static void products_in_f64(void)
{
    const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, x[] = {1, -1};
    double c[] = {1, 1, 1, 1}, y[] = {1, 1}, two[2 * four];
    const double pair[] = {1, 2, 3, 4, 1, 0, 0, 1};

    EXPECT_INT(takt_matmul_f64(2, 2, 2, a, b, c), TAKT_OK);
    same_f64("matmul", four, c, (double[]){19, 22, 43, 50});
    EXPECT_INT(takt_gemm_f64(TAKT_TRANS_B, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2),
               TAKT_OK);
    same_f64("gemm", four, c, (double[]){17, 23, 39, 53});
    EXPECT_INT(takt_gemv_f64(0, 2, 2, 1, a, 2, x, 3, y), TAKT_OK);
    same_f64("gemv", 2, y, (double[]){2, 2});
    EXPECT_INT(takt_batched_matmul_f64(2, 2, 2, 2, pair, pair, two), TAKT_OK);
    same_f64("batched", 8, two, (double[]){7, 10, 15, 22, 1, 0, 0, 1});
}

static void layers(void)
{
    const float image[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const float filter[] = {1, 0, 0, 1}, bias[] = {10};
    const float keys[] = {0, 0}, values[] = {1, 3};
    const takt_conv2d conv = {.batch = 1,
                              .channels = 1,
                              .height = 3,
                              .width = 3,
                              .filters = 1,
                              .rows = 2,
                              .cols = 2};
    takt_pooling pool = {.batch = 1,
                         .channels = 1,
                         .height = 3,
                         .width = 3,
                         .window = 2,
                         .stride = 1};
    const takt_attention one = {
        .batch = 1, .heads = 1, .queries = 1, .keys = 2, .depth = 1};
    float out[four];

    EXPECT_INT(takt_conv2d_f32(&conv, image, filter, bias, out), TAKT_OK);
    same_f32("conv2d", four, out, (double[]){16, 18, 22, 24});
    EXPECT_INT(takt_pooling_f32(&pool, image, out), TAKT_OK);
    same_f32("max", four, out, (double[]){5, 6, 8, 9});
    pool.is_mean = 1;
    EXPECT_INT(takt_pooling_f32(&pool, image, out), TAKT_OK);
    same_f32("mean", four, out, (double[]){3, 4, 6, 7});
    EXPECT_INT(takt_attention_f32(&one, image, keys, values, out), TAKT_OK);
    same_f32("attention", 1, out, (double[]){2});
    EXPECT_INT(takt_conv2d_f32(NULL, image, filter, bias, out), TAKT_EINVAL);
    EXPECT_INT(takt_pooling_f32(NULL, image, out), TAKT_EINVAL);
    EXPECT_INT(takt_attention_f32(NULL, image, keys, values, out), TAKT_EINVAL);
}

/* ---- nothing, and in place
 * ---------------------------------------------------------- */

static void nothing_is_legal(void)
{
    float sum = 7;
    size_t at = 7;

    EXPECT_INT(takt_add_f32(0, NULL, NULL, NULL), TAKT_OK);
    EXPECT_INT(takt_axpy_f64(0, 2, NULL, NULL), TAKT_OK);
    EXPECT_INT(takt_matmul_f32(0, 4, 4, NULL, NULL, NULL), TAKT_EINVAL);
    EXPECT_INT(takt_matmul_f32(0, 0, 4, NULL, NULL, NULL), TAKT_OK);
    EXPECT_INT(takt_softmax_f32(0, 5, NULL, NULL), TAKT_OK);
    EXPECT_INT(takt_sum_f32(0, NULL, &sum), TAKT_OK);
    EXPECT(sum == 0);
    sum = 7;
    EXPECT_INT(takt_max_f32(0, NULL, &sum), TAKT_ESHAPE);
    EXPECT_INT(takt_mean_f32(0, NULL, &sum), TAKT_ESHAPE);
    EXPECT_INT(takt_argmax_f32(0, NULL, &at), TAKT_ESHAPE);
    EXPECT(sum == 7 && at == 7);
}

static void a_product_of_depth_zero_is_zero(void)
{
    const float none = 1;
    float c[] = {5, 6, 7, 8};

    EXPECT_INT(takt_matmul_f32(2, 2, 0, &none, &none, c), TAKT_OK);
    same_f32("matmul", four, c, (double[]){0, 0, 0, 0});
}

/* CBLAS's numbers for transposes and letters have other bits set. */
static void a_transpose_that_is_none_is_refused(void)
{
    static const unsigned wrong[] = {4,   8,   32,  111,        112,
                                     113, 'N', 'T', UINT32_MAX, 1u << 31};
    const float a[4] = {1, 2, 3, 4};
    const double d[4] = {1, 2, 3, 4};
    float c[4] = {7, 7, 7, 7};
    double e[4] = {7, 7, 7, 7};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const unsigned t = wrong[i];
        EXPECT_INT(takt_gemm_f32(t, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2),
                   TAKT_EINVAL);
        EXPECT_INT(takt_gemm_f64(t, 2, 2, 2, 1, d, 2, d, 2, 0, e, 2),
                   TAKT_EINVAL);
        EXPECT_INT(takt_gemv_f32(t, 2, 2, 1, a, 2, a, 0, c), TAKT_EINVAL);
        EXPECT_INT(takt_gemv_f64(t, 2, 2, 1, d, 2, d, 0, e), TAKT_EINVAL);
    }
    EXPECT_INT(takt_gemv_f32(TAKT_TRANS_B, 2, 2, 1, a, 2, a, 0, c),
               TAKT_EINVAL);
    same_f32("a refused product", 4, c, (double[]){7, 7, 7, 7});
    same_f64("a refused product", 4, e, (double[]){7, 7, 7, 7});
}

/* As an argument, a factor of 0 is always meant: what it multiplies is not
 * even looked at. */
static void a_factor_of_zero_leaves_the_rest(void)
{
    const float a[4] = {NAN, INFINITY, NAN, 1};
    float c[4] = {1, 2, 3, 4}, y[2] = {1, 2};

    EXPECT_INT(takt_gemm_f32(0, 2, 2, 2, 0, a, 2, a, 2, 2, c, 2), TAKT_OK);
    same_f32("gemm", 4, c, (double[]){2, 4, 6, 8});
    EXPECT_INT(takt_gemv_f32(0, 2, 2, 0, a, 2, a, 3, y), TAKT_OK);
    same_f32("gemv", 2, y, (double[]){3, 6});
    EXPECT_INT(takt_scale_f32(4, 0, c, c), TAKT_OK);
    same_f32("scale", 4, c, (double[]){0, 0, 0, 0});
    EXPECT_INT(takt_clamp_f32(2, 0, 0, y, y), TAKT_OK);
    same_f32("clamp", 2, y, (double[]){0, 0});
}

static void maps_work_in_place(void)
{
    float a[] = {1, 2, 3, 4};

    EXPECT_INT(takt_add_f32(four, a, a, a), TAKT_OK);
    same_f32("add", four, a, (double[]){2, 4, 6, 8});
    EXPECT_INT(takt_softmax_f32(1, four, a, a), TAKT_OK);
    EXPECT_INT(takt_add_f32(3, a, a, a + 1), TAKT_EINVAL);
    EXPECT_INT(takt_add_f32(four, NULL, a, a), TAKT_EINVAL);
}

/* ---- many at once
 * --------------------------------------------------------------------- */

enum { callers = 4, rounds = 60, longest = 40000 };

struct caller {
    pthread_t thread;
    unsigned number;
    int wrong;
};

/* Each caller knows its results: all elements are the same small integers. */
static void call_mixed(struct caller *caller, size_t n, float *a, float *b,
                       float *out)
{
    const float one = (float)(caller->number + 1);
    float sum, dot;

    for (size_t i = 0; i < n; i++)
        a[i] = one, b[i] = 2;
    caller->wrong += takt_add_f32(n, a, b, out) != TAKT_OK;
    for (size_t i = 0; i < n; i++)
        caller->wrong += out[i] != one + 2;
    caller->wrong += takt_sum_f32(n, a, &sum) != TAKT_OK;
    caller->wrong += takt_dot_f32(n, a, b, &dot) != TAKT_OK;
    caller->wrong += sum != (float)n * one || dot != (float)n * one * 2;
    const size_t m = 100, k = n / m < m ? n / m : m;
    caller->wrong += takt_matmul_f32(m, m, k, a, b, out) != TAKT_OK;
    for (size_t i = 0; i < m * m; i++)
        caller->wrong += out[i] != (float)k * one * 2;
}

static void *call_many(void *self)
{
    struct caller *caller = self;
    float *a = malloc(3 * longest * sizeof *a);
    uint64_t seed = caller->number;

    if (a == NULL) {
        caller->wrong = 1;
        return NULL;
    }
    for (size_t i = 0; i < rounds / case_step(); i++)
        call_mixed(caller, 1 + random_next(&seed) % longest, a, a + longest,
                   a + 2 * longest);
    free(a);
    return NULL;
}

static void calls_from_many_threads_do_not_disturb_each_other(void)
{
    struct caller all[callers] = {{.number = 0}};

    for (unsigned i = 0; i < callers; i++) {
        all[i].number = i;
        REQUIRE(pthread_create(&all[i].thread, NULL, call_many, &all[i]) == 0);
    }
    for (unsigned i = 0; i < callers; i++) {
        pthread_join(all[i].thread, NULL);
        EXPECT_INT(all[i].wrong, 0);
    }
}

/* Large enough for every thread there is. */
static bool sums_right(void)
{
    enum { n = 4000000 };
    float *a = malloc(n * sizeof *a);
    float sum = 0;

    if (a == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        a[i] = 0.25F;
    const takt_status status = takt_sum_f32(n, a, &sum);
    free(a);
    return status == TAKT_OK && sum == 1000000;
}

static void a_child_uses_takt_after_its_parent_did(void)
{
    int status = 0;

    if (is_thread_sanitized) {
        SKIP("the thread sanitizer ends such a child");
        return;
    }
#if defined(TAKT_TEST_EMULATED)
    const bool is_emulated = true;
#else
    const bool is_emulated = getenv("TAKT_TEST_EMULATED") != NULL;
#endif
    if (is_emulated) {
        SKIP("the emulator does not survive a fork() with threads");
        return;
    }
    EXPECT(sums_right());
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(20); /* a child that waits for its parent's threads waits long */
        _exit(sums_right() && sums_right() ? 0 : 1);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    TAP_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
              "the child ended with status %#x", (unsigned)status);
    EXPECT(sums_right());
}

int main(void)
{
    RUN(two_operands);
    RUN(one_operand);
    RUN(log_and_relu_of_a_sign);
    RUN(rows_and_columns);
    RUN(parameters_in_f32);
    RUN(parameters_in_f64);
    RUN(fma_rounds_once);
    RUN(transposes);
    RUN(reductions);
    RUN(positions);
    RUN(rows_of_floats);
    RUN(products_in_f32);
    RUN(products_in_f64);
    RUN(layers);
    RUN(nothing_is_legal);
    RUN(a_product_of_depth_zero_is_zero);
    RUN(a_transpose_that_is_none_is_refused);
    RUN(a_factor_of_zero_leaves_the_rest);
    RUN(maps_work_in_place);
    RUN(calls_from_many_threads_do_not_disturb_each_other);
    RUN(a_child_uses_takt_after_its_parent_did);
    return tap_done();
}
