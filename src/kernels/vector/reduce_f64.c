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

takt_reduce_kernel TAKT_K(sum_f64), TAKT_K(mean_f64), TAKT_K(norm1_f64);
takt_reduce_kernel TAKT_K(dot_f64), TAKT_K(norm2_f64);

/* Below SHORT elements the lanes are added without compensation: three more
 * roundings, and ten nanoseconds less where the whole call takes thirty.
 * FAR: from here on two operands come from memory, not from a cache. */
enum { L = VF64_LANES, SHORT = 128 * L, FAR = 1 << 20 };

enum term { PLAIN, SIZE, PRODUCT }; /* x, |x|, x*y */

struct lanes {
    vf64 sum, rest;
};

VINLINE vf64 first(enum term term, vf64 x, vf64 y)
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

VINLINE vf64 more(enum term term, vf64 x, vf64 y, vf64 sum)
{
    return term == PRODUCT ? vf64_fma(x, y, sum)
                           : vf64_add(sum, first(term, x, y));
}

/* Trees are written left before right: loads then go up through memory, as
 * the prefetchers expect (measured: a third of the bandwidth otherwise). */
VINLINE vf64 tree2(enum term term, const double *a, const double *b)
{
    const vf64 left = first(term, vf64_load(a), vf64_load(b));
    v_order();
    return more(term, vf64_load(a + L), vf64_load(b + L), left);
}

VINLINE vf64 tree4(enum term term, const double *a, const double *b)
{
    const vf64 left = tree2(term, a, b);
    v_order();
    return vf64_add(left, tree2(term, a + 2 * L, b + 2 * L));
}

VINLINE vf64 tree8(enum term term, const double *a, const double *b)
{
    const vf64 left = tree4(term, a, b);
    v_order();
    return vf64_add(left, tree4(term, a + 4 * L, b + 4 * L));
}

VINLINE vf64 tree16(enum term term, const double *a, const double *b)
{
    const vf64 left = tree8(term, a, b);
    v_order();
    return vf64_add(left, tree8(term, a + 8 * L, b + 8 * L));
}

VINLINE vf64 tree32(enum term term, const double *a, const double *b)
{
    const vf64 left = tree16(term, a, b);
    v_order();
    return vf64_add(left, tree16(term, a + 16 * L, b + 16 * L));
}

/* Whole groups of four vectors, fewer than eight of them. */
VINLINE vf64 fours(enum term term, size_t n, const double *a, const double *b)
{
    vf64 sum = vf64_zero();
    size_t i = 0;

    if ((n & (16 * L)) != 0) {
        sum = tree16(term, a, b);
        i = 16 * L;
    }
    if ((n & (8 * L)) != 0) {
        sum = vf64_add(sum, tree8(term, a + i, b + i));
        i += 8 * L;
    }
    if ((n & (4 * L)) != 0)
        sum = vf64_add(sum, tree4(term, a + i, b + i));
    return sum;
}

/* Fewer than 32 vectors: one branch per size, the shortest with fewest, then
 * what is less than one vector. */
VINLINE vf64 tail(enum term term, size_t n, const double *a, const double *b)
{
    vf64 sum = vf64_zero();
    size_t i = 0;

    if (n >= 4 * L) {
        sum = fours(term, n, a, b);
        i = n & ~(size_t)(4 * L - 1);
    }
    if ((n & (2 * L)) != 0) {
        sum = vf64_add(sum, tree2(term, a + i, b + i));
        i += 2 * L;
    }
    if ((n & L) != 0) {
        sum = more(term, vf64_load(a + i), vf64_load(b + i), sum);
        i += L;
    }
    if (i == n)
        return sum;
    return more(term, vf64_load_n(a + i, n - i), vf64_load_n(b + i, n - i),
                sum);
}

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

/* Asks for the block of the second operand before the loads of the first:
 * two streams that advance by turns get less out of the prefetchers. */
VINLINE void fetch(const double *b)
{
    for (size_t i = 0; i < 32 * L; i += 64 / sizeof *b)
        v_prefetch(b + i);
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

void TAKT_K(sum_f64)(size_t n, const void *a, const void *b,
                     struct takt_partial *out)
{
    (void)b;
    reduce(PLAIN, n, a, a, false, out);
}

void TAKT_K(mean_f64)(size_t n, const void *a, const void *b,
                      struct takt_partial *out)
{
    TAKT_K(sum_f64)(n, a, b, out);
}

void TAKT_K(norm1_f64)(size_t n, const void *a, const void *b,
                       struct takt_partial *out)
{
    (void)b;
    reduce(SIZE, n, a, a, false, out);
}

void TAKT_K(dot_f64)(size_t n, const void *a, const void *b,
                     struct takt_partial *out)
{
    if (n < FAR)
        reduce(PRODUCT, n, a, b, false, out);
    else
        reduce(PRODUCT, n, a, b, true, out);
}

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

void TAKT_K(norm2_f64)(size_t n, const void *a, const void *b,
                       struct takt_partial *out)
{
    (void)b;
    reduce(PRODUCT, n, a, a, false, out);
    if (isinf(out->value)) {
        squares_scaled(n, a, TAKT_SCALE_DOWN_FACTOR, out);
        out->index = TAKT_SCALE_DOWN;
    } else if (out->value < TAKT_SQUARES_MIN) {
        squares_scaled(n, a, TAKT_SCALE_UP_FACTOR, out);
        out->index = TAKT_SCALE_UP;
    }
}
