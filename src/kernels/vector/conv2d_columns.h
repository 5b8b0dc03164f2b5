/* SPDX-License-Identifier: MIT */
/*
 * conv2d_columns.h - lays an image out so that a convolution is a product.
 *
 * Row (channel, r, c) of the layout has, for each place of the filter, the
 * element that its weight (r, c) meets there. Along an output row those are
 * neighbours in the image with zeros at the ends, a stretch, whose shape is
 * the same for all channels: they are the inner loop.
 *
 * Rows are written from left to right, whole vectors at a time. What is
 * written too far is overwritten by the next stretch or is slack at the end.
 */
#pragma once

#include "kernels/layers.h"
#include "kernels/vector/isa.h"

/* Where the layout of `channels` channels goes, for some places in a row. */
struct columns {
    const struct takt_conv2d_call *call;
    const float *from; /* the first channel */
    size_t channels;
    size_t place, places;
    size_t pitch; /* of a row: VF32_LANES more than places, or 1 for one */
    float *to;
};

/* A piece of an output row: zeros, `inside` elements, zeros. */
struct conv2d_stretch {
    size_t left, inside, right;
};

VINLINE void write_zeros(size_t n, float *to)
{
    for (size_t i = 0; i < n; i += VF32_LANES)
        vf32_store(to + i, vf32_zero());
}

VINLINE void write_neighbours(size_t n, const float *from, float *to)
{
    size_t i = 0;

    for (; n - i >= VF32_LANES; i += VF32_LANES)
        vf32_store(to + i, vf32_load(from + i));
    if (i < n)
        vf32_store(to + i, vf32_load_n(from + i, n - i));
}

/* Compilers turn the loop into shuffles where the step is a constant. */
VINLINE void write_every(size_t n, size_t step, const float *restrict from,
                         float *restrict to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i * step];
}

VINLINE void write_inside(size_t n, size_t stride, const float *from, float *to)
{
    if (stride == 1)
        write_neighbours(n, from, to);
    else if (stride == 2)
        write_every(n, 2, from, to);
    else
        write_every(n, stride, from, to);
}

/* The stretch in all channels. */
static void write_stretch(const struct columns *is, struct conv2d_stretch has,
                          const float *from, float *to)
{
    const struct takt_conv2d_call *call = is->call;
    const size_t plane = call->height * call->width;
    const size_t step = call->rows * call->cols * is->pitch;

    for (size_t i = 0; i < is->channels; i++) {
        write_zeros(has.left, to);
        write_inside(has.inside, call->stride, from, to + has.left);
        write_zeros(has.right, to + has.left + has.inside);
        from += plane;
        to += step;
    }
}

VINLINE size_t clamp(size_t x, size_t low, size_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* How many of the places x with x * stride + at < end there are. */
VINLINE size_t places_before(size_t end, size_t at, size_t stride)
{
    return end <= at ? 0 : (end - at - 1) / stride + 1;
}

/* Places x .. x + n - 1 of output row y. */
struct conv2d_run {
    size_t y, x, n;
};

/* What weights of column c meet along a run. */
VINLINE struct conv2d_stretch stretch_at(const struct takt_conv2d_call *call,
                                         size_t c, struct conv2d_run at)
{
    const size_t begin = places_before(call->pad, c, call->stride);
    const size_t end = places_before(call->pad + call->width, c, call->stride);
    const size_t left = clamp(begin, at.x, at.x + at.n) - at.x;
    const size_t inside = clamp(end, at.x + left, at.x + at.n) - at.x - left;
    return (struct conv2d_stretch){left, inside, at.n - left - inside};
}

/* A run in the layout's rows (r, c). */
VINLINE void write_run(const struct columns *is, size_t r, size_t c,
                       struct conv2d_run at, float *to)
{
    const struct takt_conv2d_call *call = is->call;
    const size_t row = at.y * call->stride + r;

    if (row < call->pad || row - call->pad >= call->height) {
        write_stretch(is, (struct conv2d_stretch){at.n, 0, 0}, is->from, to);
        return;
    }
    const struct conv2d_stretch has = stretch_at(call, c, at);
    const size_t col = (at.x + has.left) * call->stride + c - call->pad;
    const size_t from = (row - call->pad) * call->width + col;
    write_stretch(is, has, has.inside == 0 ? is->from : is->from + from, to);
}

static void write_tap(const struct columns *is, size_t out_width, size_t r,
                      size_t c)
{
    float *to = is->to + (r * is->call->cols + c) * is->pitch;
    size_t left = is->places;
    struct conv2d_run at = {is->place / out_width, is->place % out_width, 0};

    for (; left > 0; left -= at.n, to += at.n, at.x = 0, at.y++) {
        at.n = left < out_width - at.x ? left : out_width - at.x;
        write_run(is, r, c, at, to);
    }
}

/* All that the filter meets at a single place, without gaps. */
static void write_column(const struct columns *is, size_t out_width)
{
    const struct takt_conv2d_call *call = is->call;
    const size_t y = is->place / out_width * call->stride;
    const size_t x = is->place % out_width * call->stride;
    const float *plane = is->from;
    float *to = is->to;

    for (size_t i = 0; i < is->channels; i++) {
        for (size_t r = 0; r < call->rows; r++)
            for (size_t c = 0; c < call->cols; c++)
                *to++ = takt__conv2d_element(call, plane, y + r, x + c);
        plane += call->height * call->width;
    }
}

static void write_columns(const struct columns *is)
{
    const struct takt_conv2d_call *call = is->call;
    const size_t out_width = takt__conv2d_width(call);

    if (is->pitch == 1) {
        write_column(is, out_width);
        return;
    }
    for (size_t r = 0; r < call->rows; r++)
        for (size_t c = 0; c < call->cols; c++)
            write_tap(is, out_width, r, c);
}
