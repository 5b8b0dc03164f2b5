/* SPDX-License-Identifier: MIT */
/*
 * conv2d_depthwise.h - convolutions whose filters see one channel each.
 *
 * The rows of the channel that a piece needs are copied once, with their
 * padding, and with the columns sorted by their remainder modulo the stride
 * (phases). Then what one weight meets along an output row is contiguous for
 * every stride, and no loop has borders.
 */
#pragma once

#include "base/size.h"
#include "kernels/layers.h"
#include "kernels/vector/conv2d_columns.h"
#include "kernels/vector/isa.h"

/* Output rows that are summed up side by side, to hide the latency of fma. */
enum { ROWS_AT_ONCE = 4 };

/* The copy: element (row, column) of the padded channel, counted from the
 * first row that is needed, is at
 * rows[row * step + column % stride * pitch + column / stride]. */
struct phases {
    float *rows;
    size_t pitch, step;
};

static size_t phase_pitch(const struct takt_conv2d_call *call)
{
    const size_t width = call->width + 2 * call->pad;
    const size_t slack = 2 * VF32_LANES; /* vectors reach beyond the end */
    return (width / call->stride + 1 + slack) / VF32_LANES * VF32_LANES;
}

/* Output rows that are computed from one copy, of `rows` asked for. */
static size_t depthwise_batch(const struct takt_conv2d_call *call, size_t rows)
{
    const size_t height = takt__conv2d_height(call);
    return rows < height ? rows : height;
}

static size_t depthwise_room(const struct takt_conv2d_call *call)
{
    const size_t rows = depthwise_batch(call, takt__conv2d_rows(call, 0).count);
    const size_t lines = (rows - 1) * call->stride + call->rows;
    const size_t line = takt__size_mul(call->stride, phase_pitch(call));
    return takt__size_mul(takt__size_mul(lines, line), sizeof(float));
}

/* One row of a channel, padding included. `from` is NULL outside the image. */
static void sort_row(const struct takt_conv2d_call *call, const float *from,
                     size_t pitch, float *to)
{
    for (size_t phase = 0; phase < call->stride; phase++, to += pitch) {
        const size_t width = call->width + 2 * call->pad;
        const size_t n = places_before(width, phase, call->stride);
        const struct conv2d_stretch has =
            stretch_at(call, phase, (struct conv2d_run){0, 0, n});
        if (from == NULL || has.inside == 0) {
            write_zeros(n, to);
            continue;
        }
        const size_t at = has.left * call->stride + phase - call->pad;
        write_zeros(has.left, to);
        write_inside(has.inside, call->stride, from + at, to + has.left);
        write_zeros(has.right, to + has.left + has.inside);
    }
}

/* The rows that output rows y .. y + n - 1 need. */
static void sort_rows(const struct takt_conv2d_call *call, const float *plane,
                      size_t y, size_t n, const struct phases *to)
{
    const size_t lines = (n - 1) * call->stride + call->rows;

    for (size_t i = 0; i < lines; i++) {
        const size_t row = y * call->stride + i;
        const bool inside = row >= call->pad && row - call->pad < call->height;
        sort_row(call, inside ? plane + (row - call->pad) * call->width : NULL,
                 to->pitch, to->rows + i * to->step);
    }
}

/* A filter and the plane it makes. */
struct plane {
    struct phases in;
    const float *weights;
    float bias;
    size_t width; /* of the output */
};

/* Constants of an instance, known for the common filters. */
struct taps {
    size_t rows, cols, stride;
    size_t at_once; /* output rows */
};

/* Adds what one row of weights gives. */
VINLINE void add_taps(struct taps by, const struct phases *in,
                      const float *from, const float *weights,
                      vf32 sum[ROWS_AT_ONCE])
{
    size_t phase = 0;

    for (size_t c = 0; c < by.cols; c++) {
        const vf32 weight = vf32_set1(weights[c]);
        for (size_t i = 0; i < by.at_once; i++)
            sum[i] = vf32_fma(
                weight, vf32_load(from + i * by.stride * in->step), sum[i]);
        from += in->pitch;
        if (++phase == by.stride) {
            from -= by.stride * in->pitch - 1;
            phase = 0;
        }
    }
}

/* One vector in each of some output rows, or the first `lanes` of it. */
VINLINE void convolve_lanes(struct taps by, const struct plane *is,
                            const float *from, size_t lanes, float *out)
{
    const vf32 bias = vf32_set1(is->bias);
    vf32 sum[ROWS_AT_ONCE];

    for (size_t i = 0; i < by.at_once; i++)
        sum[i] = vf32_zero();
    for (size_t r = 0; r < by.rows; r++)
        add_taps(by, &is->in, from + r * is->in.step, is->weights + r * by.cols,
                 sum);
    for (size_t i = 0; i < by.at_once; i++)
        if (lanes == VF32_LANES)
            vf32_store(out + i * is->width, vf32_add(sum[i], bias));
        else
            vf32_store_n(out + i * is->width, vf32_add(sum[i], bias), lanes);
}

VINLINE void convolve_few(struct taps by, const struct plane *is,
                          const float *from, float *out)
{
    size_t x = 0;

    for (; is->width - x >= VF32_LANES; x += VF32_LANES)
        convolve_lanes(by, is, from + x, VF32_LANES, out + x);
    if (x < is->width)
        convolve_lanes(by, is, from + x, is->width - x, out + x);
}

/* `n` output rows, as many as the copy serves. */
VINLINE void convolve_by(struct taps by, const struct plane *is, size_t n,
                         float *out)
{
    const struct taps one = {by.rows, by.cols, by.stride, 1};
    const float *from = is->in.rows;
    const size_t step = by.stride * is->in.step;
    size_t i = 0;

    for (; n - i >= ROWS_AT_ONCE; i += ROWS_AT_ONCE)
        convolve_few(by, is, from + i * step, out + i * is->width);
    for (; i < n; i++)
        convolve_few(one, is, from + i * step, out + i * is->width);
}

static void convolve_copy(const struct takt_conv2d_call *call,
                          const struct plane *is, size_t n, float *out)
{
    const struct taps by = {call->rows, call->cols, call->stride, ROWS_AT_ONCE};

    if (by.rows == 3 && by.cols == 3 && by.stride == 1)
        convolve_by((struct taps){3, 3, 1, ROWS_AT_ONCE}, is, n, out);
    else if (by.rows == 3 && by.cols == 3 && by.stride == 2)
        convolve_by((struct taps){3, 3, 2, ROWS_AT_ONCE}, is, n, out);
    else
        convolve_by(by, is, n, out);
}

/* Output rows y .. y + n - 1 of plane `plane`, counted through the batch. */
static void convolve_plane(const struct takt_conv2d_call *call, size_t plane,
                           size_t y, size_t n, float *scratch)
{
    const size_t height = takt__conv2d_height(call);
    const size_t image = plane / call->filters, filter = plane % call->filters;
    const size_t channel = filter / (call->filters / call->groups);
    const size_t from = image * call->channels + channel;
    const size_t pitch = phase_pitch(call);
    const struct plane is = {
        .in = {scratch, pitch, call->stride * pitch},
        .weights = call->weights + filter * call->rows * call->cols,
        .bias = call->bias == NULL ? 0.0F : call->bias[filter],
        .width = takt__conv2d_width(call),
    };

    sort_rows(call, call->in + from * call->height * call->width, y, n, &is.in);
    convolve_copy(call, &is, n, call->out + (plane * height + y) * is.width);
}

static void convolve_rows(const struct takt_conv2d_call *call,
                          struct takt_layer_rows rows, float *scratch)
{
    const size_t height = takt__conv2d_height(call);

    while (rows.count > 0) {
        const size_t y = rows.first % height;
        const size_t n = rows.count < height - y ? rows.count : height - y;
        convolve_plane(call, rows.first / height, y, n, scratch);
        rows.first += n;
        rows.count -= n;
    }
}
