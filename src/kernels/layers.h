/* SPDX-License-Identifier: MIT */
/*
 * layers.h - convolution, pooling and attention of floats on one thread.
 *
 * A call is cut into units: stretches of the output of about equal cost that
 * need nothing from each other. A caller with several threads gives each some
 * units in a row and a scratch of its own. How a call is cut depends on its
 * sizes alone, and each unit is computed alike beside any others, so the result
 * has the same bits on any number of threads.
 *
 * Sizes are validated and complete: stride, groups and scale are not 0, every
 * operand fits an address space, also with 1 in the place of a size that is 0,
 * and so does an image with its padding and a stride more on each side; the
 * output overlaps no input.
 *
 * Threads: units of a call may run at once, each thread with its own scratch.
 */
#pragma once

#include <stdbool.h>

#include "kernels/gemm.h"

/* Images are batch x channels x height x width, weights are filters x
 * channels / groups x rows x cols, out is batch x filters x out height x out
 * width. The padding takes part as zeros: with an infinite weight it gives
 * NaN.
 *
 * Definition: the sum in double, plus the bias, rounded once. Every other
 * kernel stays within 4 * sqrt(k) * eps of the sum of the magnitudes, bias
 * included, with k = channels / groups * rows * cols. */
struct takt_conv2d_call {
    size_t batch, channels, height, width;
    size_t filters, rows, cols;
    size_t stride, pad, groups;
    const float *in, *weights;
    const float *bias; /* NULL: none */
    float *out;
};

/* Images as above, out is batch x channels x out height x out width. Padding
 * never takes part; a window without any element has the maximum -inf and the
 * mean NaN.
 *
 * Definition: a NaN in the window is the result; of equal maxima (zeros of
 * either sign) the first is, column by column; a mean is summed and divided
 * in double and rounded once. Every kernel's maximum is the same, its mean is
 * within 4 * eps of the mean magnitude. */
struct takt_pooling_call {
    size_t batch, channels, height, width;
    size_t window, stride, pad;
    bool is_mean;
    const float *in;
    float *out;
};

/* Queries and out are batch x heads x queries x depth, keys and values batch x
 * heads x keys x depth: out = softmax(scale * Q K' + mask) V.
 *
 * A causal query i sees keys up to i + keys - queries; what it does not see
 * has no influence, not even a NaN. A query that sees no key, or only keys at
 * a score of -inf, gets zeros. A NaN or +inf among its scores makes it NaN.
 *
 * Definition: all in double, rounded once. Every other kernel stays within
 * eps * (8 + 2 * s) of the largest magnitude among the visible values, where
 * s is the largest of |scale| * sum |q k| + |mask| among the keys that count,
 * those whose score is at most 20 below the highest. */
struct takt_attention_call {
    size_t batch, heads, queries, keys, depth;
    float scale;
    bool is_causal;
    const float *mask; /* queries x keys, added to the scores; NULL: none */
    const float *q, *k, *v;
    float *out;
};

/* Sizes of the output: how often a window fits along the padded image; 0 when
 * it is larger. */
size_t takt__conv2d_height(const struct takt_conv2d_call *call);
size_t takt__conv2d_width(const struct takt_conv2d_call *call);
size_t takt__pooling_height(const struct takt_pooling_call *call);
size_t takt__pooling_width(const struct takt_pooling_call *call);

/* Units of a call; 0 when there is no output. */
size_t takt__conv2d_units(const struct takt_conv2d_call *call);
size_t takt__pooling_units(const struct takt_pooling_call *call);
size_t takt__attention_units(const struct takt_attention_call *call);

/* Bytes of scratch for one thread, whatever units it computes; SIZE_MAX: more
 * than there can be. */
typedef size_t takt_conv2d_room(const struct takt_conv2d_call *call,
                                const struct takt_gemm_blocks *blocks);
typedef size_t takt_pooling_room(const struct takt_pooling_call *call);
typedef size_t takt_attention_room(const struct takt_attention_call *call,
                                   const struct takt_gemm_blocks *blocks);

/* Computes `count` units from `first` on. `blocks` are those of the products
 * of floats on the same instruction set; `scratch` has the room asked for
 * above, at any alignment, and may be NULL where that is 0. */
typedef void takt_conv2d_kernel(const struct takt_conv2d_call *call,
                                size_t first, size_t count,
                                const struct takt_gemm_blocks *blocks,
                                void *scratch);
typedef void takt_pooling_kernel(const struct takt_pooling_call *call,
                                 size_t first, size_t count, void *scratch);
typedef void takt_attention_kernel(const struct takt_attention_call *call,
                                   size_t first, size_t count,
                                   const struct takt_gemm_blocks *blocks,
                                   void *scratch);

#define TAKT_LAYERS_DECLARE(isa)                          \
    takt_conv2d_room takt__k_conv2d_room_f32_##isa;       \
    takt_conv2d_kernel takt__k_conv2d_f32_##isa;          \
    takt_pooling_room takt__k_pooling_room_f32_##isa;     \
    takt_pooling_kernel takt__k_pooling_f32_##isa;        \
    takt_attention_room takt__k_attention_room_f32_##isa; \
    takt_attention_kernel takt__k_attention_f32_##isa;

TAKT_LAYERS_DECLARE(scalar)
TAKT_LAYERS_DECLARE(sse2)
TAKT_LAYERS_DECLARE(avx2)
TAKT_LAYERS_DECLARE(avx512)
TAKT_LAYERS_DECLARE(neon)

#undef TAKT_LAYERS_DECLARE

/* Operands without elements may be NULL. */
static inline const float *takt__layer_at(const float *first, size_t at)
{
    return first == NULL ? NULL : first + at;
}

/* Element (y, x) of a channel, counted from the corner of the padding, which
 * is zeros. */
static inline float takt__conv2d_element(const struct takt_conv2d_call *call,
                                         const float *plane, size_t y, size_t x)
{
    const bool inside = y >= call->pad && y - call->pad < call->height &&
                        x >= call->pad && x - call->pad < call->width;

    if (!inside)
        return 0.0F;
    return plane[(y - call->pad) * call->width + (x - call->pad)];
}

/* What the kernels need to find a unit. */

/* `count` rows of the output from row `first` on, counted through all its
 * planes: the units of pooling and of depthwise convolutions. */
struct takt_layer_rows {
    size_t first, count;
};

struct takt_layer_rows takt__pooling_rows(const struct takt_pooling_call *call,
                                          size_t unit);

/* Each filter sees one channel only: nothing to multiply as a matrix. */
bool takt__conv2d_is_depthwise(const struct takt_conv2d_call *call);

struct takt_layer_rows takt__conv2d_rows(const struct takt_conv2d_call *call,
                                         size_t unit);

/* Otherwise a unit is a rectangle of one group's filters and the places (row
 * by row) where they are put on one image. */
struct takt_conv2d_piece {
    size_t image, group;
    size_t filter, filters; /* within the group */
    size_t place, places;
    size_t alike; /* units from this one on that share image, group, places */
};

struct takt_conv2d_piece takt__conv2d_piece(const struct takt_conv2d_call *call,
                                            size_t unit);

/* Queries `first` on of one head, counted through the batch. */
struct takt_attention_piece {
    size_t head;
    size_t first, count;
};

struct takt_attention_piece
takt__attention_piece(const struct takt_attention_call *call, size_t unit);

/* How many keys query i of a head sees: the first ones. */
size_t takt__attention_visible(const struct takt_attention_call *call,
                               size_t i);
