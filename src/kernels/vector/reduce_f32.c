/* SPDX-License-Identifier: MIT */
/*
 * reduce_f32.c - sum, mean, norm1, dot and norm2 of floats.
 *
 * Thirty-two vectors are added as a balanced tree in f32, which rounds each
 * element five times at most, and the tree is added to a double: nearly the
 * speed of a float sum, and an error below 4e-7 of the sum of magnitudes at
 * any n (6e-7 in what is left after the last tree). What a float cannot hold
 * on the way (terms above 3.4e38, products that vanish) shows in the sum of a
 * chunk, and that chunk is summed again in double, so only a result that is
 * out of range itself overflows.
 */
#include "kernels/kernel.h"

#include <math.h>

#include "kernels/partial.h"
#include "kernels/vector/isa.h"

/* FAR: from here on two operands come from memory, not from a cache. */
enum { L = VF32_LANES, CHUNK = 1 << 15, FAR = 1 << 21 };

/* Products are checked against losing digits to underflow: what vanished is
 * below CHUNK * 2^-149, far from mattering in a sum above this. */
static const double least_product = 0x1p-100;

#include "kernels/vector/f32.h"
#include "kernels/vector/reduce_tree.h"

VINLINE vf64 widen_sum(vf32 v)
{
    return vf64_add(vf32_widen_lo(v), vf32_widen_hi(v));
}

VINLINE double chunk(enum term term, size_t n, const float *a, const float *b,
                     bool far)
{
    vf64 lo = vf64_zero();
    vf64 hi = vf64_zero();
    size_t i = 0;

    for (; n - i >= 32 * L; i += 32 * L) {
        if (far)
            fetch(b + i);
        const vf32 tree = tree32(term, a + i, b + i);
        lo = vf64_add(lo, vf32_widen_lo(tree));
        hi = vf64_add(hi, vf32_widen_hi(tree));
    }
    const vf32 rest = tail(term, n - i, a + i, b + i);
    lo = vf64_add(lo, vf32_widen_lo(rest));
    hi = vf64_add(hi, vf32_widen_hi(rest));
    return vf64_sum(vf64_add(lo, hi));
}

VINLINE vf64 term_wide(enum term term, vf64 x, vf64 y)
{
    switch (term) {
    case SIZE:
        return vf64_abs(x);
    case PRODUCT:
        return vf64_mul(x, y);
    case PLAIN:
        break;
    }
    return x;
}

/* The same in double from the start: nothing overflows or vanishes. */
static double chunk_wide(enum term term, size_t n, const float *a,
                         const float *b)
{
    vf64 lo = vf64_zero();
    vf64 hi = vf64_zero();

    for (size_t i = 0; i < n; i += L) {
        const size_t some = n - i < L ? n - i : L;
        const vf32 x = vf32_load_n(a + i, some);
        const vf32 y = vf32_load_n(b + i, some);
        lo = vf64_add(lo, term_wide(term, vf32_widen_lo(x), vf32_widen_lo(y)));
        hi = vf64_add(hi, term_wide(term, vf32_widen_hi(x), vf32_widen_hi(y)));
    }
    return vf64_sum(vf64_add(lo, hi));
}

/* Does the sum of a chunk show that f32 could not hold what was added? */
VINLINE bool is_sound(enum term term, double sum)
{
    if (term == PRODUCT && fabs(sum) < least_product)
        return false;
    return fabs(sum) < 0x1p127 && takt__rounds_to_nearest();
}

VINLINE void reduce_chunks(enum term term, size_t n, const float *a,
                           const float *b, bool far, struct takt_partial *out)
{
    double sum = 0.0;
    double rest = 0.0;

    for (size_t i = 0; i < n && !isnan(sum); i += CHUNK) {
        const size_t some = n - i < CHUNK ? n - i : CHUNK;
        double error;
        double next = chunk(term, some, a + i, b + i, far);
        if (!is_sound(term, next))
            next = chunk_wide(term, some, a + i, b + i);
        sum = takt__two_sum(sum, next, &error);
        rest += error;
    }
    takt__partial_set(out, n, sum, rest);
}

/* The common short call, or false: then nothing was done. */
VINLINE bool reduce_short(enum term term, size_t n, const float *a,
                          const float *b, struct takt_partial *out)
{
    if (n >= 32 * L)
        return false;
    const double sum = vf64_sum(widen_sum(tail(term, n, a, b)));
    *out = (struct takt_partial){sum, 0.0, 0, n};
    return is_sound(term, sum);
}

/* The long calls are functions of their own, so that the short ones need no
 * stack. */
#define SUM(op_, term_)                                                        \
    __attribute__((noinline)) static void op_##_long(size_t n, const float *a, \
                                                     struct takt_partial *out) \
    {                                                                          \
        reduce_chunks(term_, n, a, a, false, out);                             \
    }                                                                          \
    TAKT_REDUCE(TAKT_K(F(op_)),                                                \
                if (!reduce_short(term_, n, a, a, out)) op_##_long(n, a, out))

/* clang-format off */
SUM(sum, PLAIN)
SUM(norm1, SIZE)
SUM(norm2, PRODUCT)
/* clang-format on */

__attribute__((noinline)) static void
dot_long(size_t n, const float *a, const float *b, struct takt_partial *out)
{
    if (n < FAR)
        reduce_chunks(PRODUCT, n, a, b, false, out);
    else
        reduce_chunks(PRODUCT, n, a, b, true, out);
}

/* clang-format off */
TAKT_REDUCE(TAKT_K(F(dot)), if (!reduce_short(PRODUCT, n, a, b, out))
                                dot_long(n, a, b, out))
TAKT_REDUCE(TAKT_K(F(mean)), TAKT_K(F(sum))(n, a, b, out))
/* clang-format on */
