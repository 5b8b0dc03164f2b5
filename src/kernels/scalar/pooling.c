/* SPDX-License-Identifier: MIT */
/* pooling.c - the definition of the maximum and the mean of windows. */
#include "kernels/layers.h"

#include <math.h>

/* The part of a window that lies inside the image: rows top..bottom - 1 and
 * columns left..right - 1. */
struct pooling_window {
    size_t top, bottom, left, right;
};

static size_t clamp(size_t x, size_t pad, size_t size)
{
    return x < pad ? 0 : x - pad < size ? x - pad : size;
}

static struct pooling_window window_at(const struct takt_pooling_call *call,
                                       size_t y, size_t x)
{
    const size_t down = y * call->stride, across = x * call->stride;

    return (struct pooling_window){
        clamp(down, call->pad, call->height),
        clamp(down + call->window, call->pad, call->height),
        clamp(across, call->pad, call->width),
        clamp(across + call->window, call->pad, call->width),
    };
}

static float max_of(const float *plane, size_t width, struct pooling_window at)
{
    float most = -INFINITY;

    for (size_t x = at.left; x < at.right; x++)
        for (size_t y = at.top; y < at.bottom; y++) {
            const float value = plane[y * width + x];
            if (value > most || isnan(value))
                most = value;
        }
    return most;
}

static float mean_of(const float *plane, size_t width, struct pooling_window at)
{
    const size_t count = (at.bottom - at.top) * (at.right - at.left);
    double sum = 0.0;

    for (size_t x = at.left; x < at.right; x++)
        for (size_t y = at.top; y < at.bottom; y++)
            sum += (double)plane[y * width + x];
    return (float)(sum / (double)count);
}

static void pool_row(const struct takt_pooling_call *call, const float *plane,
                     size_t y, size_t out_width, float *out)
{
    for (size_t x = 0; x < out_width; x++) {
        const struct pooling_window at = window_at(call, y, x);
        out[x] = call->is_mean ? mean_of(plane, call->width, at)
                               : max_of(plane, call->width, at);
    }
}

static void pool_rows(const struct takt_pooling_call *call,
                      struct takt_layer_rows rows)
{
    const size_t out_height = takt__pooling_height(call);
    const size_t out_width = takt__pooling_width(call);

    for (size_t y = rows.first; y < rows.first + rows.count; y++)
        pool_row(call, call->in + y / out_height * call->height * call->width,
                 y % out_height, out_width, call->out + y * out_width);
}

void takt__k_pooling_f32_scalar(const struct takt_pooling_call *call,
                                size_t first, size_t count, void *scratch)
{
    (void)scratch;
    for (size_t u = first; u < first + count; u++)
        pool_rows(call, takt__pooling_rows(call, u));
}

size_t takt__k_pooling_room_f32_scalar(const struct takt_pooling_call *call)
{
    (void)call;
    return 0;
}
