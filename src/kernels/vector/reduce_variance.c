/* SPDX-License-Identifier: MIT */
/*
 * reduce_variance.c - mean and squared distances of any number of elements.
 *
 * Chunks are merged like the digits of a binary counter: each only with a
 * neighbour of its own size, so that the rounding errors of merging grow with
 * the logarithm of n and every element is fetched from memory once. Means are
 * merged relative to the first element, because their differences count.
 */
#include "kernels/kernel.h"

#include <math.h>

#include "kernels/partial.h"
#include "kernels/vector/isa.h"
#include "kernels/vector/reduce_moments.h"

takt_reduce_kernel TAKT_K(variance_f32), TAKT_K(variance_f64);
takt_reduce_kernel takt__k_variance_f64_scalar;

enum { CHUNK_F32 = 8192, CHUNK_F64 = 1024 * VF64_LANES };

static void set(struct takt_partial *out, struct moments moments, size_t n)
{
    *out = (struct takt_partial){moments.base + moments.shift, moments.around,
                                 0, n};
}

/* Partials of 2^k chunks each, k falling from bottom to top; their means are
 * relative to the origin. */
struct counter {
    double origin;
    size_t chunks, height;
    struct takt_partial stack[64];
};

static void start(struct counter *counter, double origin)
{
    counter->origin = origin;
    counter->chunks = 0;
    counter->height = 0;
}

static void merge_top(struct counter *counter)
{
    counter->height--;
    takt__partial_merge(TAKT_PARTIAL_VARIANCE,
                        &counter->stack[counter->height - 1],
                        &counter->stack[counter->height]);
}

static void push(struct counter *counter, struct moments moments, size_t n)
{
    const double mean = moments.base - counter->origin + moments.shift;

    counter->stack[counter->height++] =
        (struct takt_partial){mean, moments.around, 0, n};
    counter->chunks++;
    for (size_t c = counter->chunks; (c & 1) == 0; c /= 2)
        merge_top(counter);
}

static void finish(struct counter *counter, size_t n, struct takt_partial *out)
{
    while (counter->height > 1)
        merge_top(counter);
    *out = counter->stack[0];
    out->value += counter->origin;
    out->count = n;
}

#define VARIANCE_CHUNKS(dtype_, real_, chunk_)                       \
    static void variance_chunks_##dtype_(size_t n, const real_ *a,   \
                                         struct takt_partial *out)   \
    {                                                                \
        real_ guess = guess_##dtype_(n, a);                          \
        struct counter counter;                                      \
                                                                     \
        start(&counter, (double)a[0]);                               \
        for (size_t i = 0; i < n; i += (chunk_)) {                   \
            const size_t some = n - i < (chunk_) ? n - i : (chunk_); \
            const struct moments moments =                           \
                moments_##dtype_(some, a + i, guess);                \
            push(&counter, moments, some);                           \
            if (isnan(moments.around))                               \
                break; /* and so is the result */                    \
            guess = (real_)(moments.base + moments.shift);           \
        }                                                            \
        finish(&counter, n, out);                                    \
    }

/* clang-format off */
VARIANCE_CHUNKS(f32, float, CHUNK_F32)
/* clang-format on */

void TAKT_K(variance_f32)(size_t n, const void *a, const void *b,
                          struct takt_partial *out)
{
    (void)b;
    if (n <= CHUNK_F32)
        set(out, moments_f32(n, a, guess_f32(n, a)), n);
    else
        variance_chunks_f32(n, a, out);
}

/* The same sweep in f64. */

VINLINE struct sweep sweep_f64(size_t n, const double *a, double guess)
{
    const vf64 around = vf64_set1(guess);
    struct pair_f64 sum = {vf64_zero(), vf64_zero()};
    size_t i = 0;

    for (; n - i >= 8 * VF64_LANES; i += 8 * VF64_LANES)
        sum = pair_add_f64(sum, pair_eight_f64(a + i, around));
    for (; n - i >= 2 * VF64_LANES; i += 2 * VF64_LANES)
        sum = pair_add_f64(sum, pair_two_f64(a + i, around));
    if (n - i >= VF64_LANES) {
        const vf64 x = vf64_sub(vf64_load(a + i), around);
        sum = pair_add_f64(sum, (struct pair_f64){x, vf64_mul(x, x)});
        i += VF64_LANES;
    }
    if (i < n)
        sum = pair_add_f64(sum, pair_part_f64(a + i, n - i, around));
    return (struct sweep){vf64_sum(sum.apart), vf64_sum(sum.squares)};
}

/* Around the mean that a first sweep found. Not inline: it is rare. */
__attribute__((noinline)) static struct moments
moments_again_f64(size_t n, const double *a, double mean)
{
    return moments_of(sweep_f64(n, a, mean), mean, n);
}

VINLINE struct moments moments_f64(size_t n, const double *a, double guess)
{
    const struct sweep sweep = sweep_f64(n, a, guess);
    const struct moments moments = moments_of(sweep, guess, n);

    if (is_near(sweep, moments))
        return moments;
    return moments_again_f64(n, a, moments.base + moments.shift);
}

/* clang-format off */
VARIANCE_CHUNKS(f64, double, CHUNK_F64)
/* clang-format on */

/* Squares that overflow make the sums above NaN where the definition says
 * infinity, so what is not finite is left to the definition; and so is all in
 * directions in which an overflow does not show. */
void TAKT_K(variance_f64)(size_t n, const void *a, const void *b,
                          struct takt_partial *out)
{
    if (n <= CHUNK_F64)
        set(out, moments_f64(n, a, guess_f64(n, a)), n);
    else
        variance_chunks_f64(n, a, out);
    if (!isfinite(out->rest) || !takt__rounds_to_nearest())
        takt__k_variance_f64_scalar(n, a, b, out);
}
