/* SPDX-License-Identifier: MIT */
/*
 * ops_vector.c - the one-line calls on vectors: maps and reductions.
 *
 * A call on a few elements goes directly to the best kernel of this machine
 * (direct.h). Everything else is described as a takt_call and takes the common
 * path.
 */

#include "call/call.h"
#include "call/direct.h"
#include "kernels/partial.h"
#include "takt/ops.h"

/* Inlined for sure, so that op and dtype are constants in each public call. */
#define INLINE static inline __attribute__((always_inline))

/* Whether the operands of a direct call can be used as they are; the common
 * path finds the status for those that cannot. None of them is NULL, nor so
 * near the end of the address space that it would wrap: one comparison for all
 * of them. */
INLINE bool are_sane(const void *a, const void *b, const void *c, const void *d)
{
    const uintptr_t all = ((uintptr_t)a - 1) | ((uintptr_t)b - 1) |
                          ((uintptr_t)c - 1) | ((uintptr_t)d - 1);
    return all >> 56 == 0;
}

/* ---- maps ---------------------------------------------------------------- */

/* Arguments one by one: a struct that is passed on would be written to memory
 * by every call that does not need it. */
static __attribute__((noinline)) takt_status
route_map(enum takt_op_id op, takt_dtype dtype, size_t n, const void *a,
          const void *b, const void *c, void *out, double p, double q)
{
    takt_call call;

    takt__call_begin(&call, op, dtype);
    call.shape.rank = 1;
    call.shape.dim[0] = n;
    call.in[0] = a;
    call.in[1] = b;
    call.in[2] = c;
    call.out = out;
    call.alpha = p;
    call.beta = q;
    call.flags = TAKT_CALL_ALPHA_ZERO;
    return takt__call_indirect(&call, call.shape.dim[0] >= TAKT_LEAST_TIMED);
}

/* Whether an input and the output are the same array or apart. The distance
 * less one is below the length less one when the input begins inside the
 * output; the other way round it is its complement that is. */
INLINE bool can_read(const void *in, const void *out, size_t bytes)
{
    const uintptr_t distance = (uintptr_t)in - (uintptr_t)out;
    return distance - 1 >= bytes - 1 && ~distance >= bytes - 1;
}

INLINE takt_status run_map(enum takt_op_id op, takt_dtype dtype,
                           unsigned inputs, size_t n, const void *a,
                           const void *b, const void *c, void *out, double p,
                           double q)
{
    takt_ctx *ctx =
        atomic_load_explicit(&takt__default_ctx, memory_order_acquire);
    const size_t bytes = n * (dtype == TAKT_F32 ? 4 : 8);

    if (ctx != NULL && takt__direct_take(ctx, dtype, op, n) &&
        are_sane(a, inputs < 2 ? out : b, inputs < 3 ? out : c, out) &&
        can_read(a, out, bytes) && (inputs < 2 || can_read(b, out, bytes)) &&
        (inputs < 3 || can_read(c, out, bytes))) {
        ctx->direct.kernel_set->map[dtype][op](n, a, b, c, out, p, q);
        return TAKT_OK;
    }
    return route_map(op, dtype, n, a, b, c, out, p, q);
}

#define MAP1(op_, dtype_, id_, real_)                                       \
    takt_status takt_##op_##_##dtype_(size_t n, const real_ *a, real_ *out) \
    {                                                                       \
        return run_map(TAKT_OP_##op_, id_, 1, n, a, NULL, NULL, out, 0, 0); \
    }

#define MAP2(op_, dtype_, id_, real_)                                    \
    takt_status takt_##op_##_##dtype_(size_t n, const real_ *a,          \
                                      const real_ *b, real_ *out)        \
    {                                                                    \
        return run_map(TAKT_OP_##op_, id_, 2, n, a, b, NULL, out, 0, 0); \
    }

#define MAPS(dtype_, id_, real_)                                            \
    MAP2(add, dtype_, id_, real_)                                           \
    MAP2(sub, dtype_, id_, real_)                                           \
    MAP2(mul, dtype_, id_, real_)                                           \
    MAP2(div, dtype_, id_, real_)                                           \
    MAP1(abs, dtype_, id_, real_)                                           \
    MAP1(neg, dtype_, id_, real_)                                           \
    MAP1(sqrt, dtype_, id_, real_)                                          \
    MAP1(copy, dtype_, id_, real_)                                          \
    MAP1(exp, dtype_, id_, real_)                                           \
    MAP1(exp2, dtype_, id_, real_)                                          \
    MAP1(expm1, dtype_, id_, real_)                                         \
    MAP1(log, dtype_, id_, real_)                                           \
    MAP1(log2, dtype_, id_, real_)                                          \
    MAP1(log1p, dtype_, id_, real_)                                         \
    MAP1(sin, dtype_, id_, real_)                                           \
    MAP1(cos, dtype_, id_, real_)                                           \
    MAP1(sigmoid, dtype_, id_, real_)                                       \
    MAP1(tanh, dtype_, id_, real_)                                          \
    MAP1(relu, dtype_, id_, real_)                                          \
    MAP1(gelu, dtype_, id_, real_)                                          \
    takt_status takt_scale_##dtype_(size_t n, real_ alpha, const real_ *a,  \
                                    real_ *out)                             \
    {                                                                       \
        return run_map(TAKT_OP_scale, id_, 1, n, a, NULL, NULL, out, alpha, \
                       0);                                                  \
    }                                                                       \
    takt_status takt_axpy_##dtype_(size_t n, real_ alpha, const real_ *x,   \
                                   real_ *y)                                \
    {                                                                       \
        return run_map(TAKT_OP_axpy, id_, 2, n, x, y, NULL, y, alpha, 0);   \
    }                                                                       \
    takt_status takt_fma_##dtype_(size_t n, const real_ *a, const real_ *b, \
                                  const real_ *c, real_ *out)               \
    {                                                                       \
        return run_map(TAKT_OP_fma, id_, 3, n, a, b, c, out, 0, 0);         \
    }                                                                       \
    takt_status takt_clamp_##dtype_(size_t n, real_ low, real_ high,        \
                                    const real_ *a, real_ *out)             \
    {                                                                       \
        if (!(low <= high))                                                 \
            return TAKT_EINVAL;                                             \
        return run_map(TAKT_OP_clamp, id_, 1, n, a, NULL, NULL, out, low,   \
                       high);                                               \
    }

MAPS(f32, TAKT_F32, float)
MAPS(f64, TAKT_F64, double)

/* ---- reductions ---------------------------------------------------------- */

static __attribute__((noinline)) takt_status
route_reduce(enum takt_op_id op, takt_dtype dtype, size_t n, const void *a,
             const void *b, void *out)
{
    takt_call call;

    takt__call_begin(&call, op, dtype);
    call.shape.rank = 1;
    call.shape.dim[0] = n;
    call.in[0] = a;
    call.in[1] = b;
    call.out = out;
    return takt__call_indirect(&call, call.shape.dim[0] >= TAKT_LEAST_TIMED);
}

/* Whether an array and a single value are apart. */
INLINE bool can_reduce(const void *in, size_t bytes, const void *out,
                       size_t out_bytes)
{
    return (uintptr_t)out - (uintptr_t)in + out_bytes - 1 >=
           bytes + out_bytes - 1;
}

INLINE takt_status run_reduce(enum takt_op_id op, enum takt_partial_kind kind,
                              takt_dtype dtype, unsigned inputs, size_t n,
                              const void *a, const void *b, void *out,
                              size_t out_bytes)
{
    takt_ctx *ctx =
        atomic_load_explicit(&takt__default_ctx, memory_order_acquire);
    const size_t bytes = n * (dtype == TAKT_F32 ? 4 : 8);
    struct takt_partial partial;

    if (ctx != NULL && takt__direct_take(ctx, dtype, op, n) &&
        are_sane(a, inputs < 2 ? out : b, out, out) &&
        can_reduce(a, bytes, out, out_bytes) &&
        (inputs < 2 || can_reduce(b, bytes, out, out_bytes))) {
        ctx->direct.kernel_set->reduce[dtype][op](n, a, b, &partial);
        takt__partial_write(kind, &partial, dtype == TAKT_F64, out);
        return TAKT_OK;
    }
    return route_reduce(op, dtype, n, a, b, out);
}

#define REDUCE(op_, kind_, dtype_, id_, real_, result_)                       \
    takt_status takt_##op_##_##dtype_(size_t n, const real_ *a, result_ *out) \
    {                                                                         \
        return run_reduce(TAKT_OP_##op_, TAKT_PARTIAL_##kind_, id_, 1, n, a,  \
                          NULL, out, sizeof *out);                            \
    }

#define REDUCTIONS(dtype_, id_, real_)                                         \
    REDUCE(sum, SUM, dtype_, id_, real_, real_)                                \
    REDUCE(mean, MEAN, dtype_, id_, real_, real_)                              \
    REDUCE(max, MAX, dtype_, id_, real_, real_)                                \
    REDUCE(min, MIN, dtype_, id_, real_, real_)                                \
    REDUCE(argmax, ARGMAX, dtype_, id_, real_, size_t)                         \
    REDUCE(argmin, ARGMIN, dtype_, id_, real_, size_t)                         \
    REDUCE(norm1, SUM, dtype_, id_, real_, real_)                              \
    REDUCE(norm2, NORM2, dtype_, id_, real_, real_)                            \
    REDUCE(variance, VARIANCE, dtype_, id_, real_, real_)                      \
    takt_status takt_dot_##dtype_(size_t n, const real_ *a, const real_ *b,    \
                                  real_ *out)                                  \
    {                                                                          \
        return run_reduce(TAKT_OP_dot, TAKT_PARTIAL_SUM, id_, 2, n, a, b, out, \
                          sizeof *out);                                        \
    }

REDUCTIONS(f32, TAKT_F32, float)
REDUCTIONS(f64, TAKT_F64, double)
