/* SPDX-License-Identifier: MIT */
/*
 * attention.c - the definition of scaled dot product attention.
 *
 * The highest score is found first and every score is computed again where its
 * weight is needed, so that only the sums of one query are kept.
 */
#include "kernels/layers.h"

#include <math.h>

#include "base/size.h"

/* One query, what it sees, and where its result goes. */
struct attention_row {
    const float *q, *k, *v;
    const float *mask; /* NULL: none */
    float *out;
    size_t visible, depth;
    double scale;
};

static double score(const struct attention_row *is, size_t key)
{
    const float *k = is->k + key * is->depth;
    double sum = 0.0;

    for (size_t c = 0; c < is->depth; c++)
        sum += (double)is->q[c] * (double)k[c];
    sum *= is->scale;
    return is->mask == NULL ? sum : sum + (double)is->mask[key];
}

/* What exponents are taken from. A NaN is not the highest: it makes the sum
 * of the exponentials NaN anyway. */
static double highest_score(const struct attention_row *is)
{
    double most = -(double)INFINITY;

    for (size_t j = 0; j < is->visible; j++)
        most = fmax(most, score(is, j));
    return isinf(most) && most < 0 ? 0.0 : most;
}

/* Adds the weighted values up into `sums`; returns the sum of the weights. */
static double add_values(const struct attention_row *is, double from,
                         double *sums)
{
    double total = 0.0;

    for (size_t c = 0; c < is->depth; c++)
        sums[c] = 0.0;
    for (size_t j = 0; j < is->visible; j++) {
        const double weight = exp(score(is, j) - from);
        for (size_t c = 0; c < is->depth; c++)
            sums[c] += weight * (double)is->v[j * is->depth + c];
        total += weight;
    }
    return total;
}

static void attend(const struct attention_row *is, double *sums)
{
    const double total = add_values(is, highest_score(is), sums);

    for (size_t c = 0; c < is->depth; c++)
        is->out[c] = total == 0.0 ? 0.0F : (float)(sums[c] / total);
}

static struct attention_row row_at(const struct takt_attention_call *call,
                                   size_t head, size_t i)
{
    const size_t at = (head * call->queries + i) * call->depth;
    const size_t keys_at = head * call->keys * call->depth;

    return (struct attention_row){
        .q = takt__layer_at(call->q, at),
        .k = takt__layer_at(call->k, keys_at),
        .v = takt__layer_at(call->v, keys_at),
        .mask = call->mask == NULL ? NULL : call->mask + i * call->keys,
        .out = call->out + at,
        .visible = takt__attention_visible(call, i),
        .depth = call->depth,
        .scale = (double)call->scale,
    };
}

void takt__k_attention_f32_scalar(const struct takt_attention_call *call,
                                  size_t first, size_t count,
                                  const struct takt_gemm_blocks *blocks,
                                  void *scratch)
{
    const uintptr_t aligned = ((uintptr_t)scratch + 7) & ~(uintptr_t)7;

    (void)blocks;
    for (size_t u = first; u < first + count; u++) {
        const struct takt_attention_piece piece =
            takt__attention_piece(call, u);
        for (size_t i = 0; i < piece.count; i++) {
            const struct attention_row row =
                row_at(call, piece.head, piece.first + i);
            attend(&row, (double *)aligned);
        }
    }
}

size_t takt__k_attention_room_f32_scalar(const struct takt_attention_call *call,
                                         const struct takt_gemm_blocks *blocks)
{
    (void)blocks;
    return takt__size_add(takt__size_mul(call->depth, sizeof(double)), 7);
}
