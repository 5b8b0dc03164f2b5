/* SPDX-License-Identifier: MIT */
/*
 * reduce_f64.c - sum, mean, norm1, dot and norm2 of doubles.
 *
 * Thirty-two vectors are added as a balanced tree, which rounds each element
 * five times at most, and the tree is added to a sum that keeps its rounding
 * errors (Knuth's two-sum): seven more operations per 32 vectors buy an error
 * that does not grow with n.
 */
#include "kernels/kernel.h"

#include <math.h>

#include "kernels/partial.h"
#include "kernels/vector/isa.h"

/* Below SHORT elements the lanes are added without compensation: three more
 * roundings, and ten nanoseconds less where the whole call takes thirty.
 * FAR: from here on two operands come from memory, not from a cache. */
enum { L = VF64_LANES, SHORT = 128 * L, FAR = 1 << 20 };

struct lanes {
    vf64 sum, rest;
};

#include "kernels/vector/f64.h"
#include "kernels/vector/reduce_tree.h"

VINLINE struct lanes grow(struct lanes lanes, vf64 x)
{
    const vf64 sum = vf64_add(lanes.sum, x);
    const vf64 part = vf64_sub(sum, lanes.sum);
    const vf64 error =
        vf64_add(vf64_sub(lanes.sum, vf64_sub(sum, part)), vf64_sub(x, part));

    return (struct lanes){sum, vf64_add(lanes.rest, error)};
}

/* The lanes, added one by one with all their errors. */
static void fold(struct lanes lanes, size_t n, struct takt_partial *out)
{
    double part[L];
    double sum = 0.0;
    double rest = vf64_sum(lanes.rest);

    vf64_store(part, lanes.sum);
    for (size_t i = 0; i < L; i++) {
        double error;
        sum = takt__two_sum(sum, part[i], &error);
        rest += error;
    }
    takt__partial_set(out, n, sum, rest);
}

VINLINE void reduce(enum term term, size_t n, const double *a, const double *b,
                    bool far, struct takt_partial *out)
{
    struct lanes lanes = {vf64_zero(), vf64_zero()};
    size_t i = 0;

    for (; n - i >= 32 * L; i += 32 * L) {
        if (far)
            fetch(b + i);
        lanes = grow(lanes, tree32(term, a + i, b + i));
    }
    const vf64 rest = tail(term, n - i, a + i, b + i);
    if (n < SHORT)
        takt__partial_set(out, n, vf64_sum(vf64_add(lanes.sum, rest)), 0.0);
    else
        fold(grow(lanes, rest), n, out);
}

/* clang-format off */
TAKT_REDUCE(TAKT_K(F(sum)), reduce(PLAIN, n, a, a, false, out))
TAKT_REDUCE(TAKT_K(F(mean)), TAKT_K(F(sum))(n, a, b, out))
TAKT_REDUCE(TAKT_K(F(norm1)), reduce(SIZE, n, a, a, false, out))
TAKT_REDUCE(TAKT_K(F(dot)), if (n < FAR)
                                reduce(PRODUCT, n, a, b, false, out);
                            else
                                reduce(PRODUCT, n, a, b, true, out))
/* clang-format on */

/* norm2 once more, each element multiplied by a power of two first. */
static void squares_scaled(size_t n, const double *a, double factor,
                           struct takt_partial *out)
{
    const vf64 by = vf64_set1(factor);
    struct lanes lanes = {vf64_zero(), vf64_zero()};

    for (size_t i = 0; i < n; i += L) {
        const size_t some = n - i < L ? n - i : L;
        const vf64 x = vf64_mul(vf64_load_n(a + i, some), by);
        lanes = grow(lanes, vf64_mul(x, x));
    }
    fold(lanes, n, out);
}

VINLINE void norm2(size_t n, const double *a, struct takt_partial *out)
{
    reduce(PRODUCT, n, a, a, false, out);
    if (out->value >= TAKT_SQUARES_MOST) {
        squares_scaled(n, a, TAKT_SCALE_DOWN_FACTOR, out);
        out->index = TAKT_SCALE_DOWN;
    } else if (out->value < TAKT_SQUARES_MIN) {
        squares_scaled(n, a, TAKT_SCALE_UP_FACTOR, out);
        out->index = TAKT_SCALE_UP;
    }
}

TAKT_REDUCE(TAKT_K(F(norm2)), norm2(n, a, out))
