/* SPDX-License-Identifier: MIT */
/*
 * pooling.h - what the maximum and the mean of windows have in common.
 *
 * One output row is computed at a time: the rows of its windows are reduced to
 * one line, and windows of that line to the output. For a stride of more than
 * one the line is sorted by the columns' remainders modulo the stride
 * (phases), so that neighbours in the output meet neighbours in a phase.
 */
#pragma once

#include "base/size.h"
#include "kernels/layers.h"
#include "kernels/vector/isa.h"

/* The sizes of a call, worked out once. */
struct pooling {
    const struct takt_pooling_call *call;
    size_t out_height, out_width;
    size_t line;   /* elements of the line: image, padding and slack */
    size_t phases; /* as many as the stride */
    size_t pitch;  /* of one phase */
};

static struct pooling pooling_of(const struct takt_pooling_call *call)
{
    const size_t padded = call->width + 2 * call->pad;
    const size_t slack = 2 * VF32_LANES; /* vectors reach beyond the end */

    return (struct pooling){
        .call = call,
        .out_height = takt__pooling_height(call),
        .out_width = takt__pooling_width(call),
        .line = (padded + slack) / VF32_LANES * VF32_LANES,
        .phases = call->stride,
        .pitch = (padded / call->stride + 1 + slack) / VF32_LANES * VF32_LANES,
    };
}

/* Rows top .. bottom - 1 of the image are in the windows of an output row. */
struct band {
    size_t top, bottom;
};

static struct band band_of(const struct takt_pooling_call *call, size_t y)
{
    const size_t begin = y * call->stride, end = begin + call->window;
    const size_t limit = call->height + call->pad;
    const struct band band = {
        begin < call->pad ? 0 : begin - call->pad,
        end < call->pad ? 0 : (end < limit ? end : limit) - call->pad,
    };

    return band.top < band.bottom ? band : (struct band){0, 0};
}
