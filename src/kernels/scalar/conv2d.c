/* SPDX-License-Identifier: MIT */
/* conv2d.c - the definition of the two-dimensional convolution. */
#include "kernels/layers.h"

/* One channel of a filter, put on one channel of an image at (y, x). */
static double channel_sum(const struct takt_conv2d_call *call,
                          const float *plane, const float *weights, size_t y,
                          size_t x)
{
    double sum = 0.0;

    for (size_t r = 0; r < call->rows; r++)
        for (size_t c = 0; c < call->cols; c++)
            sum += (double)weights[r * call->cols + c] *
                   (double)takt__conv2d_element(call, plane, y + r, x + c);
    return sum;
}

static float convolve(const struct takt_conv2d_call *call, size_t image,
                      size_t filter, size_t y, size_t x)
{
    const size_t depth = call->channels / call->groups;
    const size_t group = filter / (call->filters / call->groups);
    const size_t first = image * call->channels + group * depth;
    const size_t taps = call->rows * call->cols;
    double sum = 0.0;

    for (size_t i = 0; i < depth; i++)
        sum += channel_sum(call,
                           call->in + (first + i) * call->height * call->width,
                           call->weights + (filter * depth + i) * taps, y, x);
    if (call->bias != NULL)
        sum += (double)call->bias[filter];
    return (float)sum;
}

/* Output (y, x) of plane `plane`, counted through the batch. */
static void put(const struct takt_conv2d_call *call, size_t plane, size_t y,
                size_t x)
{
    const size_t height = takt__conv2d_height(call);
    const size_t width = takt__conv2d_width(call);

    call->out[(plane * height + y) * width + x] =
        convolve(call, plane / call->filters, plane % call->filters,
                 y * call->stride, x * call->stride);
}

static void convolve_rows(const struct takt_conv2d_call *call,
                          struct takt_layer_rows rows)
{
    const size_t height = takt__conv2d_height(call);
    const size_t width = takt__conv2d_width(call);

    for (size_t y = rows.first; y < rows.first + rows.count; y++)
        for (size_t x = 0; x < width; x++)
            put(call, y / height, y % height, x);
}

static void convolve_piece(const struct takt_conv2d_call *call,
                           struct takt_conv2d_piece piece)
{
    const size_t width = takt__conv2d_width(call);
    const size_t filter =
        piece.group * (call->filters / call->groups) + piece.filter;
    const size_t plane = piece.image * call->filters + filter;

    for (size_t i = 0; i < piece.filters; i++)
        for (size_t p = piece.place; p < piece.place + piece.places; p++)
            put(call, plane + i, p / width, p % width);
}

void takt__k_conv2d_f32_scalar(const struct takt_conv2d_call *call,
                               size_t first, size_t count,
                               const struct takt_gemm_blocks *blocks,
                               void *scratch)
{
    (void)blocks;
    (void)scratch;
    for (size_t u = first; u < first + count; u++)
        if (takt__conv2d_is_depthwise(call))
            convolve_rows(call, takt__conv2d_rows(call, u));
        else
            convolve_piece(call, takt__conv2d_piece(call, u));
}

size_t takt__k_conv2d_room_f32_scalar(const struct takt_conv2d_call *call,
                                      const struct takt_gemm_blocks *blocks)
{
    (void)call;
    (void)blocks;
    return 0;
}
