/* SPDX-License-Identifier: MIT */
/*
 * map.c - what the element-wise ops mean, one line each.
 *
 * `a`, `b` and `c` are elements, `p` and `q` the call's parameters rounded to
 * the dtype. fma and axpy are fused by definition. The transcendental ops of
 * floats are computed in double and rounded once. Comparisons are written so
 * that a NaN falls through to itself.
 */
#include "kernels/kernel.h"

#include <math.h>

#include "kernels/gelu.h"

#define MAP(op, dtype, real, operands, result)                             \
    takt_map_kernel takt__k_##op##_##dtype##_scalar;                       \
    void takt__k_##op##_##dtype##_scalar(size_t n, const void *va,         \
                                         const void *vb, const void *vc,   \
                                         void *vout, double vp, double vq) \
    {                                                                      \
        const real *as = va, *bs = vb, *cs = vc;                           \
        const real p = (real)vp, q = (real)vq;                             \
        real *out = vout;                                                  \
                                                                           \
        for (size_t i = 0; i < n; i++) {                                   \
            const real a = as[i];                                          \
            const real b = operands > 1 ? bs[i] : 0;                       \
            const real c = operands > 2 ? cs[i] : 0;                       \
            (void)b, (void)c, (void)p, (void)q;                            \
            out[i] = result;                                               \
        }                                                                  \
    }

#define MAPS(op, operands, result)        \
    MAP(op, f32, float, operands, result) \
    MAP(op, f64, double, operands, result)

MAPS(add, 2, a + b)
MAPS(sub, 2, a - b)
MAPS(mul, 2, a *b)
MAPS(div, 2, a / b)
MAPS(scale, 1, p *a)
MAPS(neg, 1, -a)
MAPS(clamp, 1, a<p ? p : a> q ? q : a)
MAPS(copy, 1, a)
MAP(axpy, f32, float, 2, fmaf(p, a, b))
MAP(axpy, f64, double, 2, fma(p, a, b))
MAP(fma, f32, float, 3, fmaf(a, b, c))
MAP(fma, f64, double, 3, fma(a, b, c))
MAP(abs, f32, float, 1, fabsf(a))
MAP(abs, f64, double, 1, fabs(a))
MAP(sqrt, f32, float, 1, sqrtf(a))
MAP(sqrt, f64, double, 1, sqrt(a))
MAPS(relu, 1, a < 0 ? 0 : a)

/* Two roundings of a double would be too many for some. From exp(-|x|), which
 * cannot overflow. */
static double sigmoid(double x)
{
    const long double e = expl(-fabsl((long double)x));
    return (double)((x < 0 ? e : 1.0L) / (1.0L + e));
}

/* glibc's tanh is off by more than 2 units. */
static double hyperbolic(double x)
{
    return (double)tanhl((long double)x);
}

static double gelu(double x)
{
    const double root_half = 0.70710678118654752440;
    return x * 0.5 * erfc(-x * root_half);
}

#define FUNCTION(op)                               \
    MAP(op, f32, float, 1, (float)(op)((double)a)) \
    MAP(op, f64, double, 1, (op)(a))

FUNCTION(exp)
FUNCTION(exp2)
FUNCTION(expm1)
FUNCTION(log)
FUNCTION(log2)
FUNCTION(log1p)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(sigmoid)
MAP(tanh, f32, float, 1, (float)tanh((double)a))
MAP(tanh, f64, double, 1, hyperbolic(a))
MAP(gelu, f32, float, 1, (float)gelu((double)a))
MAP(gelu, f64, double, 1, takt__gelu(a))
