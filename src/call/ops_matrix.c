/* SPDX-License-Identifier: MIT */
/*
 * ops_matrix.c - the one-line calls on matrices: rows, products and layers.
 *
 * As with vectors, a small product goes directly to the best kernel.
 */
#include <string.h>

#include "base/sized.h"
#include "call/call.h"
#include "call/direct.h"
#include "op/admit.h"
#include "takt/ops.h"

/* A call of an op on two inputs at most; the caller fills in the rest. */
static void begin(takt_call *call, enum takt_op_id op, takt_dtype dtype,
                  unsigned rank, const size_t *dim, const void *a,
                  const void *b, void *out)
{
    takt__call_begin(call, op, dtype);
    call->shape.rank = rank;
    memcpy(call->shape.dim, dim, rank * sizeof dim[0]);
    call->in[0] = a;
    call->in[1] = b;
    call->out = out;
}

/* ---- rows and columns ---------------------------------------------------- */

#define BIAS(op_, dtype_, id_, real_)                                         \
    takt_status takt_##op_##_##dtype_(                                        \
        size_t rows, size_t cols, const real_ *a, const real_ *b, real_ *out) \
    {                                                                         \
        takt_call call;                                                       \
                                                                              \
        begin(&call, TAKT_OP_##op_, id_, 2, (size_t[]){rows, cols}, a, b,     \
              out);                                                           \
        return takt__call(&call);                                             \
    }

#define AXIS(op_, dtype_, id_, real_)                                        \
    takt_status takt_##op_##_##dtype_(size_t rows, size_t cols,              \
                                      const real_ *a, real_ *out)            \
    {                                                                        \
        takt_call call;                                                      \
                                                                             \
        begin(&call, TAKT_OP_##op_, id_, 2, (size_t[]){rows, cols}, a, NULL, \
              out);                                                          \
        return takt__call(&call);                                            \
    }

#define AXES(dtype_, id_, real_)       \
    BIAS(bias_add, dtype_, id_, real_) \
    BIAS(bias_mul, dtype_, id_, real_) \
    AXIS(row_sum, dtype_, id_, real_)  \
    AXIS(row_mean, dtype_, id_, real_) \
    AXIS(row_max, dtype_, id_, real_)  \
    AXIS(col_sum, dtype_, id_, real_)  \
    AXIS(col_mean, dtype_, id_, real_) \
    AXIS(col_max, dtype_, id_, real_)

AXES(f32, TAKT_F32, float)
AXES(f64, TAKT_F64, double)

takt_status takt_softmax_f32(size_t rows, size_t cols, const float *a,
                             float *out)
{
    takt_call call;

    begin(&call, TAKT_OP_softmax, TAKT_F32, 2, (size_t[]){rows, cols}, a, NULL,
          out);
    return takt__call(&call);
}

takt_status takt_layernorm_f32(size_t rows, size_t cols, const float *a,
                               const float *gain, const float *bias,
                               float epsilon, float *out)
{
    takt_call call;

    begin(&call, TAKT_OP_layernorm, TAKT_F32, 2, (size_t[]){rows, cols}, a,
          gain, out);
    call.in[2] = bias;
    call.alpha = epsilon;
    return takt__call(&call);
}

/* ---- transpose ----------------------------------------------------------- */

#define TRANSPOSE(dtype_, id_, real_)                                      \
    takt_status takt_transpose_##dtype_(size_t rows, size_t cols,          \
                                        const real_ *a, size_t ld_a,       \
                                        real_ *out, size_t ld_out)         \
    {                                                                      \
        takt_call call;                                                    \
                                                                           \
        begin(&call, TAKT_OP_transpose, id_, 2, (size_t[]){rows, cols}, a, \
              NULL, out);                                                  \
        call.ld[0] = ld_a;                                                 \
        call.ld[2] = ld_out;                                               \
        return takt__call(&call);                                          \
    }

TRANSPOSE(f32, TAKT_F32, float)
TRANSPOSE(f64, TAKT_F64, double)

/* ---- products ------------------------------------------------------------ */

/* Runs a small product; false: the call has to take the common path, which also
 * finds the right status for what is wrong with it. */
static bool multiply_directly(takt_dtype dtype, const struct takt_gemm *gemm)
{
    const takt_ctx *ctx =
        atomic_load_explicit(&takt__default_ctx, memory_order_acquire);
    const size_t m = gemm->m, n = gemm->n, k = gemm->k;
    const size_t size = dtype == TAKT_F32 ? 4 : 8;

    if (ctx == NULL || (m | n | k) >> 10 != 0 ||
        !takt__direct_take(ctx, dtype, TAKT_OP_matmul, m * n * k))
        return false;
    const struct takt_kernel_set *kernel_set = ctx->direct.kernel_set;
    if (takt__admit_product(m * k * size, gemm->a, k * n * size, gemm->b,
                            m * n * size, gemm->c) != TAKT_OK ||
        kernel_set->gemm[dtype]->room(gemm, &kernel_set->blocks[dtype]) != 0)
        return false;
    kernel_set->gemm[dtype]->run(gemm, &kernel_set->blocks[dtype], NULL);
    return true;
}

static takt_status multiply(takt_dtype dtype, size_t m, size_t n, size_t k,
                            const void *a, const void *b, void *c)
{
    const struct takt_gemm gemm = {m, n, k, a, k, 1, b, n, 1, c, n, 1, 0};
    takt_call call;

    if (multiply_directly(dtype, &gemm))
        return TAKT_OK;
    begin(&call, TAKT_OP_matmul, dtype, 3, (size_t[]){m, n, k}, a, b, c);
    call.alpha = 1;
    return takt__call_indirect(&call, true);
}

/* C = alpha * op(A) op(B) + beta * C, also for a B and a C of one column. */
static takt_status multiply_scaled(takt_call *call, unsigned trans,
                                   double alpha, double beta,
                                   const size_t ld[3])
{
    memcpy(call->ld, ld, sizeof call->ld);
    call->alpha = alpha;
    call->beta = beta;
    call->flags = trans | TAKT_CALL_ALPHA_ZERO;
    return takt__call(call);
}

/* The longest of the public signatures, and BLAS users know it by heart. */
#define PRODUCTS(dtype_, id_, real_)                                           \
    takt_status takt_matmul_##dtype_(size_t m, size_t n, size_t k,             \
                                     const real_ *a, const real_ *b, real_ *c) \
    {                                                                          \
        return multiply(id_, m, n, k, a, b, c);                                \
    }                                                                          \
    takt_status takt_gemm_##dtype_(unsigned trans, size_t m, size_t n,         \
                                   size_t k, real_ alpha, const real_ *a,      \
                                   size_t ld_a, const real_ *b, size_t ld_b,   \
                                   real_ beta, real_ *c, size_t ld_c)          \
    {                                                                          \
        takt_call call;                                                        \
                                                                               \
        if ((trans & ~(TAKT_TRANS_A | TAKT_TRANS_B)) != 0)                     \
            return TAKT_EINVAL;                                                \
        begin(&call, TAKT_OP_matmul, id_, 3, (size_t[]){m, n, k}, a, b, c);    \
        return multiply_scaled(&call, trans, (double)alpha, (double)beta,      \
                               (size_t[]){ld_a, ld_b, ld_c});                  \
    }                                                                          \
    takt_status takt_gemv_##dtype_(unsigned trans, size_t m, size_t n,         \
                                   real_ alpha, const real_ *a, size_t ld_a,   \
                                   const real_ *x, real_ beta, real_ *y)       \
    {                                                                          \
        takt_call call;                                                        \
                                                                               \
        if ((trans & ~TAKT_TRANS_A) != 0)                                      \
            return TAKT_EINVAL;                                                \
        begin(&call, TAKT_OP_gemv, id_, 2, (size_t[]){m, n}, a, x, y);         \
        return multiply_scaled(&call, trans, (double)alpha, (double)beta,      \
                               (size_t[]){ld_a, 0, 0});                        \
    }                                                                          \
    takt_status takt_batched_matmul_##dtype_(size_t batch, size_t m, size_t n, \
                                             size_t k, const real_ *a,         \
                                             const real_ *b, real_ *c)         \
    {                                                                          \
        takt_call call;                                                        \
                                                                               \
        begin(&call, TAKT_OP_batched_matmul, id_, 4,                           \
              (size_t[]){batch, m, n, k}, a, b, c);                            \
        call.alpha = 1;                                                        \
        return takt__call(&call);                                              \
    }

PRODUCTS(f32, TAKT_F32, float)
PRODUCTS(f64, TAKT_F64, double)

/* ---- layers -------------------------------------------------------------- */

takt_status takt_conv2d_f32(const takt_conv2d *sizes, const float *in,
                            const float *filters, const float *bias, float *out)
{
    takt_call call;
    takt_conv2d s;

    if (sizes == NULL || !takt__sized_read(sizes, &s))
        return TAKT_EINVAL;
    begin(&call, TAKT_OP_conv2d, TAKT_F32, 10,
          (size_t[]){s.batch, s.channels, s.height, s.width, s.filters, s.rows,
                     s.cols, s.stride, s.pad, s.groups},
          in, filters, out);
    call.in[2] = bias;
    return takt__call(&call);
}

takt_status takt_pooling_f32(const takt_pooling *sizes, const float *in,
                             float *out)
{
    takt_call call;
    takt_pooling s;

    if (sizes == NULL || !takt__sized_read(sizes, &s))
        return TAKT_EINVAL;
    begin(&call, TAKT_OP_pooling, TAKT_F32, 7,
          (size_t[]){s.batch, s.channels, s.height, s.width, s.window, s.stride,
                     s.pad},
          in, NULL, out);
    call.flags = s.is_mean ? TAKT_CALL_MEAN_POOL : 0;
    return takt__call(&call);
}

takt_status takt_attention_f32(const takt_attention *sizes,
                               const float *queries, const float *keys,
                               const float *values, float *out)
{
    takt_call call;
    takt_attention s;

    if (sizes == NULL || !takt__sized_read(sizes, &s))
        return TAKT_EINVAL;
    begin(&call, TAKT_OP_attention, TAKT_F32, 5,
          (size_t[]){s.batch, s.heads, s.queries, s.keys, s.depth}, queries,
          keys, out);
    call.in[2] = values;
    call.in[3] = s.mask;
    call.alpha = (double)s.scale;
    call.flags = s.is_causal ? TAKT_CALL_CAUSAL : 0;
    return takt__call(&call);
}
