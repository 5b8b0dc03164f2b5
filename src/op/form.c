/* SPDX-License-Identifier: MIT */
/*
 * form.c - sizes, elements and work of each form.
 *
 * Counts of elements saturate at SIZE_MAX; work is counted in doubles, which
 * lose digits above 2^53 but never wrap.
 */
#include "op/form.h"

#include <stdint.h>

#include "base/size.h"

/* ---- windows: what conv2d and pooling have in common -------------------- */

struct window {
    size_t stride, pad, groups;
};

static size_t optional(const takt_shape *shape, unsigned index, size_t other)
{
    return index < shape->rank ? shape->dim[index] : other;
}

static struct window conv2d_window(const takt_shape *shape)
{
    return (struct window){.stride = optional(shape, 7, 1),
                           .pad = optional(shape, 8, 0),
                           .groups = optional(shape, 9, 1)};
}

/* Windows step by their own size unless told otherwise, so they tile. */
static struct window pool2d_window(const takt_shape *shape)
{
    return (struct window){.stride = optional(shape, 5, shape->dim[4]),
                           .pad = optional(shape, 6, 0),
                           .groups = 1};
}

static size_t padded(size_t input, struct window w)
{
    return takt__size_add(input, takt__size_mul(2, w.pad));
}

/* A window that fits into the padded input and advances. The padding is less
 * than the window, so that every window sees at least one real element. */
static bool window_fits(size_t input, size_t size, struct window w)
{
    return w.stride > 0 && size > 0 && w.pad < size && size <= padded(input, w);
}

/* Kernels lay out padded images in steps of the stride, so an image with its
 * padding and a stride more on each side has to fit an address space. This
 * also bounds strides and windows, which no operand has in memory. */
static bool image_fits(size_t height, size_t width, struct window w)
{
    return takt__size_mul(takt__size_add(padded(height, w), w.stride),
                          takt__size_add(padded(width, w), w.stride)) <=
           TAKT_MOST_ELEMENTS;
}

static size_t window_steps(size_t input, size_t size, struct window w)
{
    return (input + 2 * w.pad - size) / w.stride + 1;
}

static bool conv2d_fits(const takt_shape *shape)
{
    const size_t *d = shape->dim;
    const struct window w = conv2d_window(shape);

    return w.groups > 0 && d[1] % w.groups == 0 && d[4] % w.groups == 0 &&
           window_fits(d[2], d[5], w) && window_fits(d[3], d[6], w) &&
           image_fits(d[2], d[3], w);
}

static bool pool2d_fits(const takt_shape *shape)
{
    const size_t *d = shape->dim;
    const struct window w = pool2d_window(shape);

    return window_fits(d[2], d[4], w) && window_fits(d[3], d[4], w) &&
           image_fits(d[2], d[3], w);
}

bool takt__form_fits(enum takt_form form, const takt_shape *shape)
{
    if (form == TAKT_FORM_conv2d)
        return conv2d_fits(shape);
    if (form == TAKT_FORM_pool2d)
        return pool2d_fits(shape);
    return true;
}

/* ---- elements ------------------------------------------------------------ */

static size_t largest(size_t a, size_t b, size_t c)
{
    const size_t ab = a > b ? a : b;
    return ab > c ? ab : c;
}

static size_t matmul_elements(const size_t *d)
{
    return largest(takt__size_product((size_t[]){d[0], d[2]}, 2),
                   takt__size_product((size_t[]){d[2], d[1]}, 2),
                   takt__size_product((size_t[]){d[0], d[1]}, 2));
}

static size_t conv2d_elements(const takt_shape *shape)
{
    const size_t *d = shape->dim;
    const struct window w = conv2d_window(shape);
    const size_t high = window_steps(d[2], d[5], w);
    const size_t wide = window_steps(d[3], d[6], w);

    return largest(
        takt__size_product(d, 4),
        takt__size_product((size_t[]){d[4], d[1] / w.groups, d[5], d[6]}, 4),
        takt__size_product((size_t[]){d[0], d[4], high, wide}, 4));
}

static size_t attention_elements(const size_t *d)
{
    return largest(takt__size_product((size_t[]){d[0], d[1], d[2], d[4]}, 4),
                   takt__size_product((size_t[]){d[0], d[1], d[3], d[4]}, 4),
                   0);
}

size_t takt__form_elements(enum takt_form form, const takt_shape *shape)
{
    switch (form) {
    case TAKT_FORM_matmul:
        return matmul_elements(shape->dim);
    case TAKT_FORM_batched:
        return takt__size_product(
            (size_t[]){shape->dim[0], matmul_elements(shape->dim + 1)}, 2);
    case TAKT_FORM_conv2d:
        return conv2d_elements(shape);
    case TAKT_FORM_pool2d:
        return takt__size_product(shape->dim, 4);
    case TAKT_FORM_attention:
        return attention_elements(shape->dim);
    case TAKT_FORM_map:
    case TAKT_FORM_view:
    case TAKT_FORM_reduce:
    case TAKT_FORM_rows:
    case TAKT_FORM_matrix:
    case TAKT_FORM_gemv:
    case TAKT_FORM_user:
        break;
    }
    return takt__size_product(shape->dim, shape->rank);
}

/* ---- work ---------------------------------------------------------------- */

static void matmul_work(const size_t *dim, double flops_per_step,
                        double *elements, double *flops)
{
    const double m = (double)dim[0], n = (double)dim[1], k = (double)dim[2];

    *elements = m * k + k * n + m * n;
    *flops = flops_per_step * m * n * k;
}

static void conv2d_work(const takt_shape *shape, double flops_per_step,
                        double *elements, double *flops)
{
    const size_t *d = shape->dim;
    const struct window w = conv2d_window(shape);
    const double outputs = (double)d[0] * (double)d[4] *
                           (double)window_steps(d[2], d[5], w) *
                           (double)window_steps(d[3], d[6], w);
    const double taps = (double)(d[1] / w.groups) * (double)d[5] * (double)d[6];

    *elements = (double)d[0] * (double)d[1] * (double)d[2] * (double)d[3] +
                (double)d[4] * taps + outputs;
    *flops = flops_per_step * outputs * taps;
}

static void pool2d_work(const takt_shape *shape, double flops_per_step,
                        double *elements, double *flops)
{
    const size_t *d = shape->dim;
    const struct window w = pool2d_window(shape);
    const double planes = (double)d[0] * (double)d[1];
    const double outputs = planes * (double)window_steps(d[2], d[4], w) *
                           (double)window_steps(d[3], d[4], w);

    *elements = planes * (double)d[2] * (double)d[3] + outputs;
    *flops = flops_per_step * outputs * (double)d[4] * (double)d[4];
}

/* Two products of 2 * Q * K * D, and about five operations for each score. */
static void attention_work(const size_t *d, double flops_per_step,
                           double *elements, double *flops)
{
    const double heads = (double)d[0] * (double)d[1];
    const double q = (double)d[2], k = (double)d[3], depth = (double)d[4];

    *elements = heads * (2 * q * depth + 2 * k * depth);
    *flops = heads * q * k * (flops_per_step * depth + 5);
}

void takt__form_work(const struct takt_op_entry *entry, const takt_shape *shape,
                     double *elements, double *flops)
{
    const size_t *d = shape->dim;
    double n = 1;

    for (unsigned i = 0; i < shape->rank; i++)
        n *= (double)d[i];
    *elements = *flops = 0;

    switch (entry->form) {
    case TAKT_FORM_view:
        break;
    case TAKT_FORM_map:
    case TAKT_FORM_rows:
    case TAKT_FORM_matrix:
    case TAKT_FORM_user:
        *elements = n * (entry->op.inputs + 1);
        *flops = n * entry->flops;
        break;
    case TAKT_FORM_reduce:
        *elements = n * entry->op.inputs + 1;
        *flops = n * entry->flops;
        break;
    case TAKT_FORM_gemv:
        *elements = n + (double)d[0] + (double)d[1];
        *flops = n * entry->flops;
        break;
    case TAKT_FORM_matmul:
        matmul_work(d, entry->flops, elements, flops);
        break;
    case TAKT_FORM_batched:
        matmul_work(d + 1, entry->flops, elements, flops);
        *elements *= (double)d[0];
        *flops *= (double)d[0];
        break;
    case TAKT_FORM_conv2d:
        conv2d_work(shape, entry->flops, elements, flops);
        break;
    case TAKT_FORM_pool2d:
        pool2d_work(shape, entry->flops, elements, flops);
        break;
    case TAKT_FORM_attention:
        attention_work(d, entry->flops, elements, flops);
        break;
    }
}
