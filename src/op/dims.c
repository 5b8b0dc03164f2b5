/* SPDX-License-Identifier: MIT */
/* dims.c - what a window leaves out, and what follows from sizes. */
#include "op/dims.h"

#include <string.h>

#include "base/size.h"

static size_t default_of(const struct takt_form_window *window, unsigned index,
                         const size_t *d)
{
    if (index == window->stride && window->default_stride != 0)
        return d[window->default_stride];
    return index == window->pad ? 0 : 1;
}

void takt__window_complete(const struct takt_form_window *window,
                           takt_shape *shape)
{
    if (shape->rank < window->rank_min)
        return;
    for (unsigned i = window->rank_min; i < window->rank_max; i++)
        if (i >= shape->rank || shape->dim[i] == 0)
            shape->dim[i] = default_of(window, i, shape->dim);
    if (shape->rank < window->rank_max)
        shape->rank = window->rank_max;
}

static size_t steps(size_t input, size_t window, size_t stride, size_t pad)
{
    return (input + 2 * pad - window) / stride + 1;
}

/* All but those that follow. */
static size_t *copy_dims(const struct takt_form_window *window,
                         const takt_shape *shape, size_t d[TAKT_DIMS])
{
    memcpy(d, shape->dim, sizeof shape->dim);
    for (unsigned i = shape->rank; i < window->rank_max; i++)
        d[i] = default_of(window, i, d);
    return d;
}

const size_t *takt__window_dims(const struct takt_form_window *window,
                                const takt_shape *shape, size_t d[TAKT_DIMS])
{
    const struct takt_form_window *w = window;

    copy_dims(window, shape, d);
    d[TAKT_DIM_OUT_H] =
        steps(d[TAKT_CONV2D_H], d[w->height], d[w->stride], d[w->pad]);
    d[TAKT_DIM_OUT_W] =
        steps(d[TAKT_CONV2D_W], d[w->width], d[w->stride], d[w->pad]);
    d[TAKT_DIM_GROUP_C] = d[TAKT_CONV2D_C];
    if (w->groups != 0 && d[w->groups] != 1)
        d[TAKT_DIM_GROUP_C] /= d[w->groups];
    return d;
}

const size_t *takt__sum_dims(const takt_shape *shape, size_t d[TAKT_DIMS])
{
    memcpy(d, shape->dim, sizeof shape->dim);
    d[TAKT_DIM_SUM] = takt__size_add(d[0], d[1]);
    return d;
}

static size_t padded(size_t input, size_t pad)
{
    return takt__size_add(input, takt__size_mul(2, pad));
}

/* A window that fits into the padded input. The padding is less than the
 * window, so that every window sees at least one real element. */
static bool window_fits(size_t input, size_t window, size_t pad)
{
    return window > 0 && pad < window && window <= padded(input, pad);
}

/* Kernels lay out padded images in steps of the stride, so an image with its
 * padding and a stride more on each side has to fit an address space. This
 * also bounds strides and windows, which no operand has in memory. */
static bool image_fits(size_t height, size_t width, size_t stride, size_t pad)
{
    return takt__size_mul(takt__size_add(padded(height, pad), stride),
                          takt__size_add(padded(width, pad), stride)) <=
           TAKT_MOST_ELEMENTS;
}

static bool groups_fit(const size_t *d, size_t groups)
{
    if (groups == 1)
        return true;
    return groups > 0 && d[TAKT_CONV2D_C] % groups == 0 &&
           d[TAKT_CONV2D_K] % groups == 0;
}

bool takt__window_fits(const struct takt_form_window *window,
                       const takt_shape *shape)
{
    const struct takt_form_window *w = window;
    const size_t *d = shape->dim;
    size_t memory[TAKT_DIMS];

    if (shape->rank < window->rank_max)
        d = copy_dims(window, shape, memory);
    const size_t high = d[TAKT_CONV2D_H], wide = d[TAKT_CONV2D_W];
    const size_t stride = d[w->stride], pad = d[w->pad];
    return stride > 0 && window_fits(high, d[w->height], pad) &&
           window_fits(wide, d[w->width], pad) &&
           image_fits(high, wide, stride, pad) &&
           (w->groups == 0 || groups_fit(d, d[w->groups]));
}
