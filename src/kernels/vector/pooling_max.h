/* SPDX-License-Identifier: MIT */
/* pooling_max.h - the maximum of windows. */
#pragma once

#include <math.h>

#include "kernels/vector/pooling.h"

/* Lines are written some time before they are read: a vector that overlaps
 * two stores has to wait until both have left the store buffer. */
enum { LINES_AT_ONCE = 4 };

/* The larger of both, the first one if they are equal, NaN if one is. */
VINLINE vf32 larger(vf32 first, vf32 second)
{
    return vf32_select(vf32_isnan(second), second, vf32_max(second, first));
}

VINLINE void write_lowest(size_t n, float *to)
{
    for (size_t i = 0; i < n; i += VF32_LANES)
        vf32_store(to + i, vf32_set1(-INFINITY));
}

/* Maxima of columns, for the first `lanes` of a vector. */
VINLINE vf32 max_of_columns(const float *from, size_t rows, size_t step,
                            size_t lanes)
{
    vf32 most = vf32_set1(-INFINITY);

    for (size_t r = 0; r < rows; r++, from += step)
        most = larger(most, vf32_load_up_to(from, lanes));
    return most;
}

/* Columns of `rows` rows; stores reach beyond the end. */
VINLINE void max_columns(const float *from, size_t rows, size_t width,
                         float *to)
{
    size_t x = 0;

    for (; width - x >= VF32_LANES; x += VF32_LANES)
        vf32_store(to + x, max_of_columns(from + x, rows, width, VF32_LANES));
    if (x < width)
        vf32_store(to + x, max_of_columns(from + x, rows, width, width - x));
}

/* Reduces a band to a line, with its padding. */
static void max_line(const struct pooling *is, const float *plane,
                     struct band band, float *line)
{
    const size_t width = is->call->width, pad = is->call->pad;
    const size_t rows = band.bottom - band.top;
    const float *from = plane + band.top * width;

    write_lowest(pad, line);
    if (rows == 2)
        max_columns(from, 2, width, line + pad);
    else if (rows == 3)
        max_columns(from, 3, width, line + pad);
    else
        max_columns(from, rows, width, line + pad);
    write_lowest(pad, line + pad + width);
}

VINLINE void sort_every(size_t n, size_t step, const float *restrict from,
                        float *restrict to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i * step];
}

/* Compilers turn the loop into shuffles where the step is a constant. */
static void sort_max(const struct pooling *is, const float *line, float *to)
{
    const size_t padded = is->call->width + 2 * is->call->pad;

    for (size_t p = 0; p < is->phases && p < padded; p++, to += is->pitch) {
        const size_t n = (padded - p - 1) / is->phases + 1;
        if (is->phases == 2)
            sort_every(n, 2, line + p, to);
        else
            sort_every(n, is->phases, line + p, to);
    }
}

/* Constants of an instance, known for the common windows. */
struct windows {
    size_t width, phases;
};

/* One vector of outputs. */
VINLINE vf32 max_of_windows(struct windows by, size_t pitch, const float *from)
{
    vf32 most = vf32_load(from);
    size_t phase = 0;

    for (size_t c = 1; c < by.width; c++) {
        from += pitch;
        if (++phase == by.phases) {
            from -= by.phases * pitch - 1;
            phase = 0;
        }
        most = larger(most, vf32_load(from));
    }
    return most;
}

VINLINE void max_row_by(struct windows by, const struct pooling *is,
                        const float *phases, float *out)
{
    const size_t width = is->out_width, pitch = is->pitch;
    size_t x = 0;

    for (; width - x >= VF32_LANES; x += VF32_LANES)
        vf32_store(out + x, max_of_windows(by, pitch, phases + x));
    if (x < width)
        vf32_store_n(out + x, max_of_windows(by, pitch, phases + x), width - x);
}

static void max_row(const struct pooling *is, const float *phases, float *out)
{
    const struct windows by = {is->call->window, is->phases};

    if (by.width == 2 && by.phases == 2)
        max_row_by((struct windows){2, 2}, is, phases, out);
    else if (by.width == 3 && by.phases == 2)
        max_row_by((struct windows){3, 2}, is, phases, out);
    else if (by.width == 3 && by.phases == 1)
        max_row_by((struct windows){3, 1}, is, phases, out);
    else
        max_row_by(by, is, phases, out);
}

/* Floats for one output row: its line, and its phases if there are several. */
static size_t max_step(const struct pooling *is)
{
    const size_t phases =
        is->phases == 1 ? 0 : takt__size_mul(is->phases, is->pitch);
    return takt__size_add(is->line, phases);
}

static size_t max_room(const struct pooling *is)
{
    return takt__size_mul(max_step(is), LINES_AT_ONCE * sizeof(float));
}

/* The lines of some output rows, sorted. */
static void max_lines(const struct pooling *is, struct takt_layer_rows rows,
                      float *to)
{
    const struct takt_pooling_call *call = is->call;

    for (size_t i = 0; i < rows.count; i++, to += max_step(is)) {
        const size_t row = rows.first + i;
        const float *plane =
            call->in + row / is->out_height * call->height * call->width;
        max_line(is, plane, band_of(call, row % is->out_height), to);
        if (is->phases > 1)
            sort_max(is, to, to + is->line);
    }
}

/* Those output rows, from their lines. */
static void max_rows(const struct pooling *is, struct takt_layer_rows rows,
                     const float *lines)
{
    const float *phases = lines + (is->phases == 1 ? 0 : is->line);

    for (size_t i = 0; i < rows.count; i++, phases += max_step(is))
        max_row(is, phases, is->call->out + (rows.first + i) * is->out_width);
}

static void pool_max(const struct pooling *is, struct takt_layer_rows rows,
                     float *lines)
{
    for (size_t i = 0; i < rows.count; i += LINES_AT_ONCE) {
        const struct takt_layer_rows some = {
            rows.first + i, takt__size_min(rows.count - i, LINES_AT_ONCE)};
        max_lines(is, some, lines);
        max_rows(is, some, lines);
    }
}
