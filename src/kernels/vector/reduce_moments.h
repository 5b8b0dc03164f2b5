/* SPDX-License-Identifier: MIT */
/*
 * reduce_moments.h - mean and squared distances of one chunk.
 *
 * One sweep adds up the distances from a guess of the mean, and their
 * squares. The squares lose digits only when the guess is bad, measured by
 * the spread of the elements; then the sweep is repeated around the mean it
 * found. Neighbouring chunks have similar means, so that is rare.
 *
 * Distances of floats are summed in f32 as balanced trees of 16 vectors and
 * the trees in double; what f32 cannot hold is swept again in double.
 */
#pragma once

#include <math.h>

#include "kernels/vector/isa.h"

/* Sums of x - guess and of its square over a chunk. */
struct sweep {
    double apart, squares;
};

/* The mean of a chunk is base + shift: the base has the magnitude of the
 * elements, the shift that of their spread, and so keeps the digits that a
 * single number would lose. `around` is the sum of squared distances. */
struct moments {
    double base, shift, around;
};

/* The moments that a sweep around `guess` found. The quotient 1 / n is ready
 * before the sums are, so multiplying by it shortens the way to the result. */
VINLINE struct moments moments_of(struct sweep sweep, double guess, size_t n)
{
    const double shift = sweep.apart * (1.0 / (double)n);
    const double around = sweep.squares - sweep.apart * shift;

    return (struct moments){guess, shift, around < 0.0 ? 0.0 : around};
}

/* False when three quarters of the squares cancel: two bits are lost. */
VINLINE bool is_near(struct sweep sweep, struct moments moments)
{
    return moments.around >= 0.25 * sweep.squares;
}

#include "kernels/vector/f32.h"
#include "kernels/vector/reduce_pair.h"

#include "kernels/vector/f64.h"
#include "kernels/vector/reduce_pair.h"

#include "kernels/vector/no_dtype.h"

/* Fewer than 16 vectors. */
VINLINE struct pair_f32 pair_tail_f32(const float *a, size_t n, vf32 guess)
{
    struct pair_f32 sum = {vf32_zero(), vf32_zero()};
    size_t i = 0;

    if ((n & (8 * VF32_LANES)) != 0) {
        sum = pair_eight_f32(a, guess);
        i = 8 * VF32_LANES;
    }
    for (; n - i >= 2 * VF32_LANES; i += 2 * VF32_LANES)
        sum = pair_add_f32(sum, pair_two_f32(a + i, guess));
    if (n - i >= VF32_LANES) {
        const vf32 x = vf32_sub(vf32_load(a + i), guess);
        sum = pair_add_f32(sum, (struct pair_f32){x, vf32_mul(x, x)});
        i += VF32_LANES;
    }
    if (i < n)
        sum = pair_add_f32(sum, pair_part_f32(a + i, n - i, guess));
    return sum;
}

VINLINE vf64 widen_sum(vf32 v)
{
    return vf64_add(vf32_widen_lo(v), vf32_widen_hi(v));
}

VINLINE struct sweep sweep_f32(size_t n, const float *a, float guess)
{
    const vf32 around = vf32_set1(guess);
    vf64 apart = vf64_zero();
    vf64 squares = vf64_zero();
    size_t i = 0;

    for (; n - i >= 16 * VF32_LANES; i += 16 * VF32_LANES) {
        const struct pair_f32 left = pair_eight_f32(a + i, around);
        v_order();
        const struct pair_f32 tree =
            pair_add_f32(left, pair_eight_f32(a + i + 8 * VF32_LANES, around));
        apart = vf64_add(apart, widen_sum(tree.apart));
        squares = vf64_add(squares, widen_sum(tree.squares));
    }
    const struct pair_f32 rest = pair_tail_f32(a + i, n - i, around);
    return (struct sweep){vf64_sum(vf64_add(apart, widen_sum(rest.apart))),
                          vf64_sum(vf64_add(squares, widen_sum(rest.squares)))};
}

/* In double, for chunks whose squares leave the range of a float. */
static inline struct sweep sweep_wide(size_t n, const float *a, double guess)
{
    const vf64 around = vf64_set1(guess);
    vf64 apart = vf64_zero();
    vf64 squares = vf64_zero();
    size_t i = 0;

    for (; n - i >= VF32_LANES; i += VF32_LANES) {
        const vf32 both = vf32_load(a + i);
        const vf64 x = vf64_sub(vf32_widen_lo(both), around);
        const vf64 y = vf64_sub(vf32_widen_hi(both), around);
        apart = vf64_add(apart, vf64_add(x, y));
        squares = vf64_add(squares, vf64_fma(y, y, vf64_mul(x, x)));
    }
    struct sweep sum = {vf64_sum(apart), vf64_sum(squares)};
    for (; i < n; i++) {
        const double x = (double)a[i] - guess;
        sum.apart += x;
        sum.squares += x * x;
    }
    return sum;
}

static inline struct moments moments_wide(size_t n, const float *a)
{
    const double mean = sweep_wide(n, a, 0.0).apart / (double)n;
    return moments_of(sweep_wide(n, a, mean), mean, n);
}

VINLINE bool fits_f32(struct sweep sweep)
{
    return sweep.squares >= 0x1p-80 && sweep.squares < 0x1p127;
}

/* Around the mean that a first sweep found. Not inline: it is rare. */
__attribute__((noinline)) static struct moments
moments_again(size_t n, const float *a, float mean)
{
    const struct sweep sweep = sweep_f32(n, a, mean);

    return fits_f32(sweep) ? moments_of(sweep, (double)mean, n)
                           : moments_wide(n, a);
}

/* Moments of n >= 1 floats. */
VINLINE struct moments moments_f32(size_t n, const float *a, float guess)
{
    const struct sweep sweep = sweep_f32(n, a, guess);
    const struct moments moments = moments_of(sweep, (double)guess, n);

    if (is_near(sweep, moments) && fits_f32(sweep))
        return moments;
    return moments_again(n, a, (float)(moments.base + moments.shift));
}
