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
#ifndef TAKT_KERNELS_VECTOR_REDUCE_MOMENTS_H
#define TAKT_KERNELS_VECTOR_REDUCE_MOMENTS_H

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

struct pair32 {
    vf32 apart, squares;
};

VINLINE struct pair32 pair32_add(struct pair32 a, struct pair32 b)
{
    return (struct pair32){vf32_add(a.apart, b.apart),
                           vf32_add(a.squares, b.squares)};
}

VINLINE struct pair32 pair32_two(const float *a, vf32 guess)
{
    const vf32 x = vf32_sub(vf32_load(a), guess);
    const vf32 y = vf32_sub(vf32_load(a + VF32_LANES), guess);
    return (struct pair32){vf32_add(x, y), vf32_fma(y, y, vf32_mul(x, x))};
}

VINLINE struct pair32 pair32_four(const float *a, vf32 guess)
{
    const struct pair32 left = pair32_two(a, guess);
    return pair32_add(left, pair32_two(a + 2 * VF32_LANES, guess));
}

VINLINE struct pair32 pair32_eight(const float *a, vf32 guess)
{
    const struct pair32 left = pair32_four(a, guess);
    v_order(); /* up through memory, as the prefetchers expect */
    return pair32_add(left, pair32_four(a + 4 * VF32_LANES, guess));
}

/* The first n < LANES elements; the other lanes are zero. */
VINLINE struct pair32 pair32_part(const float *a, size_t n, vf32 guess)
{
    static const float ramp[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                 8, 9, 10, 11, 12, 13, 14, 15};
    const vm32 inside = vf32_lt(vf32_load(ramp), vf32_set1((float)n));
    const vf32 x =
        vf32_select(inside, vf32_sub(vf32_load_n(a, n), guess), vf32_zero());

    return (struct pair32){x, vf32_mul(x, x)};
}

/* Fewer than 16 vectors. */
VINLINE struct pair32 pair32_tail(const float *a, size_t n, vf32 guess)
{
    struct pair32 sum = {vf32_zero(), vf32_zero()};
    size_t i = 0;

    if ((n & (8 * VF32_LANES)) != 0) {
        sum = pair32_eight(a, guess);
        i = 8 * VF32_LANES;
    }
    for (; n - i >= 2 * VF32_LANES; i += 2 * VF32_LANES)
        sum = pair32_add(sum, pair32_two(a + i, guess));
    if (n - i >= VF32_LANES) {
        const vf32 x = vf32_sub(vf32_load(a + i), guess);
        sum = pair32_add(sum, (struct pair32){x, vf32_mul(x, x)});
        i += VF32_LANES;
    }
    if (i < n)
        sum = pair32_add(sum, pair32_part(a + i, n - i, guess));
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
        const struct pair32 left = pair32_eight(a + i, around);
        v_order();
        const struct pair32 tree =
            pair32_add(left, pair32_eight(a + i + 8 * VF32_LANES, around));
        apart = vf64_add(apart, widen_sum(tree.apart));
        squares = vf64_add(squares, widen_sum(tree.squares));
    }
    const struct pair32 rest = pair32_tail(a + i, n - i, around);
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

/* A first guess: the mean of the first vector, or a single element. */
VINLINE float guess_f32(size_t n, const float *a)
{
    return n < VF32_LANES ? a[0] : vf32_sum(vf32_load(a)) / VF32_LANES;
}

VINLINE bool fits_f32(struct sweep sweep)
{
    return sweep.squares >= 0x1p-80 && sweep.squares < (double)INFINITY;
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

#endif
