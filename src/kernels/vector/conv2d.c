/* SPDX-License-Identifier: MIT */
/*
 * conv2d.c - two-dimensional convolutions of floats, as products of matrices.
 *
 * The filters of a group are a matrix as they lie; the image is laid out as
 * the other one (conv2d_columns.h), some places and some channels at a time,
 * so that the layout never leaves the second-level cache. Units that differ
 * in their filters only share it. 1x1 filters need no layout.
 */
#include "kernels/layers.h"

#include <stdint.h>
#include <string.h>

#include "base/size.h"
#include "kernels/vector/conv2d_columns.h"
#include "kernels/vector/conv2d_depthwise.h"
#include "kernels/vector/isa.h"

static takt_gemm_kernel *const multiply = TAKT_K(gemm_f32);

/* How the sum over the channels of a group is cut. */
struct depth {
    size_t channels; /* of the group */
    size_t each;     /* laid out at once; the last time may be fewer */
    size_t taps;     /* weights for each channel */
};

/* A single place is a vector, small enough to be laid out as a whole. */
static struct depth depth_of(const struct takt_conv2d_call *call,
                             const struct takt_gemm_blocks *blocks)
{
    const size_t channels = call->channels / call->groups;
    const size_t taps = call->rows * call->cols;
    const bool is_vector = takt__conv2d_piece(call, 0).places == 1;
    const size_t fits = blocks->kc < taps ? 1 : blocks->kc / taps;
    const size_t most = is_vector && channels > 0 ? channels : fits;
    const size_t parts = (channels + most - 1) / most;
    return (struct depth){
        channels, parts == 0 ? 0 : (channels + parts - 1) / parts, taps};
}

/* Rows of the layout are whole cache lines and no power of two apart; for a
 * single place it is a vector. */
static size_t columns_pitch(size_t places)
{
    return places == 1 ? 1 : (places + 15) / 16 * 16 + 16;
}

/* Channels of planes a multiple of 4 KiB apart compete for the same places in
 * the caches: those are laid out even so. */
static bool is_product(const struct takt_conv2d_call *call)
{
    const size_t plane = call->height * call->width;
    return call->rows == 1 && call->cols == 1 && call->stride == 1 &&
           call->pad == 0 && plane % 1024 != 0;
}

static size_t columns_room(const struct takt_conv2d_call *call,
                           const struct depth *depth)
{
    const size_t places = takt__conv2d_piece(call, 0).places;

    if (is_product(call))
        return 0;
    return takt__size_mul(takt__size_mul(depth->each, depth->taps),
                          columns_pitch(places));
}

/* The part of a piece's product that `channels` channels contribute. The
 * operand B is the image itself; see use_columns(). */
static struct takt_gemm product(const struct takt_conv2d_call *call,
                                const struct takt_conv2d_piece *piece,
                                size_t channel, size_t channels)
{
    const size_t height = takt__conv2d_height(call);
    const size_t width = takt__conv2d_width(call);
    const size_t taps = call->rows * call->cols;
    const size_t depth = call->channels / call->groups;
    const size_t plane = call->height * call->width;
    const size_t filter =
        piece->group * (call->filters / call->groups) + piece->filter;
    const size_t from =
        piece->image * call->channels + piece->group * depth + channel;
    const size_t to = piece->image * call->filters + filter;

    return (struct takt_gemm){
        .m = piece->filters,
        .n = piece->places,
        .k = channels * taps,
        .a = call->weights + (filter * depth + channel) * taps,
        .a_row = depth * taps,
        .a_col = 1,
        .b = call->in + from * plane + (is_product(call) ? piece->place : 0),
        .b_row = plane,
        .b_col = 1,
        .c = call->out + to * height * width + piece->place,
        .ldc = height * width,
        .alpha = 1,
        .beta = channel == 0 && call->bias == NULL ? 0 : 1,
    };
}

/* Lets the product read the layout of the image instead. */
static void use_columns(struct takt_gemm *gemm, const float *columns)
{
    gemm->b = columns;
    gemm->b_row = columns_pitch(gemm->n);
}

/* Lays the image out for all units like `piece`. */
static void lay_out(const struct takt_conv2d_call *call,
                    const struct takt_conv2d_piece *piece, size_t channel,
                    size_t channels, float *to)
{
    const struct takt_gemm gemm = product(call, piece, channel, channels);
    const struct columns columns = {
        .call = call,
        .from = gemm.b,
        .channels = channels,
        .place = piece->place,
        .places = piece->places,
        .pitch = columns_pitch(piece->places),
        .to = to,
    };
    write_columns(&columns);
}

/* Where the sums of one piece start: at the bias. */
static void write_bias(const struct takt_conv2d_call *call,
                       const struct takt_conv2d_piece *piece)
{
    const struct takt_gemm gemm = product(call, piece, 0, 0);
    const size_t filter =
        piece->group * (call->filters / call->groups) + piece->filter;

    for (size_t i = 0; i < gemm.m; i++) {
        const float bias = call->bias == NULL ? 0.0F : call->bias[filter + i];
        float *out = (float *)gemm.c + i * gemm.ldc;
        for (size_t j = 0; j < gemm.n; j++)
            out[j] = bias;
    }
}

/* What one thread has in its scratch. */
struct places {
    float *columns;
    void *rest; /* for the products */
};

/* `count` units from `first` on, which differ in their filters only. */
static void convolve_alike(const struct takt_conv2d_call *call, size_t first,
                           size_t count, const struct takt_gemm_blocks *blocks,
                           struct places scratch)
{
    const struct depth depth = depth_of(call, blocks);
    const bool direct = is_product(call);

    for (size_t u = first; u < first + count; u++) {
        const struct takt_conv2d_piece piece = takt__conv2d_piece(call, u);
        if (call->bias != NULL || depth.channels == 0)
            write_bias(call, &piece);
    }
    for (size_t i = 0; i < depth.channels; i += depth.each) {
        const size_t channels = takt__size_min(depth.each, depth.channels - i);
        for (size_t u = first; u < first + count; u++) {
            const struct takt_conv2d_piece piece = takt__conv2d_piece(call, u);
            struct takt_gemm gemm = product(call, &piece, i, channels);
            if (!direct && u == first)
                lay_out(call, &piece, i, channels, scratch.columns);
            if (!direct)
                use_columns(&gemm, scratch.columns);
            multiply(&gemm, blocks, scratch.rest);
        }
    }
}

/* The most that any product of a call needs: those of the first unit are
 * the largest, those of the last one may have other proportions. */
static size_t products_room(const struct takt_conv2d_call *call,
                            const struct takt_gemm_blocks *blocks)
{
    const struct depth depth = depth_of(call, blocks);
    const size_t units = takt__conv2d_units(call);
    const struct takt_conv2d_piece first = takt__conv2d_piece(call, 0);
    const struct takt_conv2d_piece last = takt__conv2d_piece(call, units - 1);
    const size_t end =
        depth.each == 0 ? 0 : (depth.channels - 1) % depth.each + 1;
    size_t most = 0;

    for (unsigned way = 0; way < 8; way++) {
        struct takt_gemm gemm =
            product(call, &first, 0, way & 1 ? depth.each : end);
        gemm.m = way & 2 ? first.filters : last.filters;
        gemm.n = way & 4 ? first.places : last.places;
        if (!is_product(call))
            use_columns(&gemm, NULL);
        const size_t room = TAKT_K(gemm_room_f32)(&gemm, blocks);
        most = room > most ? room : most;
    }
    return most;
}

size_t TAKT_K(conv2d_room_f32)(const struct takt_conv2d_call *call,
                               const struct takt_gemm_blocks *blocks)
{
    if (takt__conv2d_units(call) == 0)
        return 0;
    if (takt__conv2d_is_depthwise(call))
        return takt__size_add(depthwise_room(call), 63);
    const struct depth depth = depth_of(call, blocks);
    const size_t columns =
        takt__size_mul(columns_room(call, &depth), sizeof(float));
    return takt__size_add(takt__size_add(columns, products_room(call, blocks)),
                          63);
}

void TAKT_K(conv2d_f32)(const struct takt_conv2d_call *call, size_t first,
                        size_t count, const struct takt_gemm_blocks *blocks,
                        void *scratch)
{
    const size_t end = first + count;

    if (count == 0)
        return;
    if (takt__conv2d_is_depthwise(call)) {
        /* Vectors reach beyond what is written. */
        memset(v_line(scratch), 0, depthwise_room(call));
        for (size_t u = first; u < end; u++)
            convolve_rows(call, takt__conv2d_rows(call, u), v_line(scratch));
        return;
    }
    const struct depth depth = depth_of(call, blocks);
    float *const columns = v_line(scratch);
    const struct places where = {columns, columns + columns_room(call, &depth)};
    for (size_t u = first, n; u < end; u += n) {
        n = takt__size_min(takt__conv2d_piece(call, u).alike, end - u);
        convolve_alike(call, u, n, blocks, where);
    }
}
