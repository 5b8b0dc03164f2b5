/* SPDX-License-Identifier: MIT */
/*
 * pooling_mean.h - the mean of windows.
 *
 * Summed in double, so that the size of the window does not matter.
 */
#pragma once

#include "kernels/vector/pooling.h"

VINLINE void write_nothing(size_t n, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = 0.0;
}

/* Sums of columns, for the first `lanes` of a vector. */
VINLINE void sum_columns(const float *from, size_t rows, size_t step,
                         size_t lanes, double *to)
{
    vf64 lo = vf64_zero(), hi = vf64_zero();

    for (size_t r = 0; r < rows; r++, from += step) {
        const vf32 v = vf32_load_up_to(from, lanes);
        lo = vf64_add(lo, vf32_widen_lo(v));
        hi = vf64_add(hi, vf32_widen_hi(v));
    }
    vf64_store(to, lo);
    vf64_store(to + VF64_LANES, hi);
}

/* Reduces a band to a line, with its padding; see max_line(). */
static void sum_line(const struct pooling *is, const float *plane,
                     struct band band, double *line)
{
    const size_t width = is->call->width, pad = is->call->pad;
    const size_t rows = band.bottom - band.top;
    const float *from = plane + band.top * width;
    double *to = line + pad;
    size_t x = 0;

    write_nothing(pad, line);
    for (; width - x >= VF32_LANES; x += VF32_LANES)
        sum_columns(from + x, rows, width, VF32_LANES, to + x);
    if (x < width)
        sum_columns(from + x, rows, width, width - x, to + x);
    write_nothing(pad, to + width);
}

VINLINE void sort_sums_by(size_t step, const struct pooling *is,
                          const double *restrict line, double *restrict to)
{
    const size_t padded = is->call->width + 2 * is->call->pad;

    for (size_t p = 0; p < step && p < padded; p++, to += is->pitch) {
        const size_t n = (padded - p - 1) / step + 1;
        for (size_t i = 0; i < n; i++)
            to[i] = line[i * step + p];
    }
}

/* Compilers turn the loop into shuffles where the step is a constant. */
static void sort_sums(const struct pooling *is, const double *line, double *to)
{
    if (is->phases == 2)
        sort_sums_by(2, is, line, to);
    else
        sort_sums_by(is->phases, is, line, to);
}

/* One vector of outputs. */
VINLINE vf32 mean_of_windows(const struct pooling *is, const double *from,
                             const double *counts, double rows)
{
    vf64 lo = vf64_zero(), hi = vf64_zero();
    size_t phase = 0;

    for (size_t c = 0; c < is->call->window; c++) {
        lo = vf64_add(lo, vf64_load(from));
        hi = vf64_add(hi, vf64_load(from + VF64_LANES));
        from += is->pitch;
        if (++phase == is->phases) {
            from -= is->phases * is->pitch - 1;
            phase = 0;
        }
    }
    const vf64 by = vf64_set1(rows);
    lo = vf64_div(lo, vf64_mul(by, vf64_load(counts)));
    hi = vf64_div(hi, vf64_mul(by, vf64_load(counts + VF64_LANES)));
    return vf64_narrow(lo, hi);
}

static void mean_row(const struct pooling *is, const double *phases,
                     const double *counts, double rows, float *out)
{
    size_t x = 0;

    for (; is->out_width - x >= VF32_LANES; x += VF32_LANES)
        vf32_store(out + x, mean_of_windows(is, phases + x, counts + x, rows));
    if (x < is->out_width)
        vf32_store_n(out + x, mean_of_windows(is, phases + x, counts + x, rows),
                     is->out_width - x);
}

/* How many columns of the image each window covers: none if it has none, where
 * the mean is 0 / 0 as in scalar code. Lanes beyond the last window divide by
 * 1. */
static void count_columns(const struct pooling *is, double *counts)
{
    const struct takt_pooling_call *call = is->call;
    const size_t limit = call->pad + call->width;

    for (size_t x = 0; x < is->out_width + VF32_LANES; x++) {
        const size_t begin = x * call->stride, end = begin + call->window;
        const size_t left = begin < call->pad ? call->pad : begin;
        const size_t right = end < limit ? end : limit;
        const double none = x < is->out_width ? 0.0 : 1.0;
        counts[x] = left < right ? (double)(right - left) : none;
    }
}

static size_t mean_room(const struct pooling *is)
{
    const size_t counts = is->out_width + VF32_LANES;
    const size_t phases = takt__size_mul(is->phases, is->pitch);
    return takt__size_mul(takt__size_add(counts + is->line, phases),
                          sizeof(double));
}

/* Where one thread keeps what it needs. */
struct sums {
    double *counts; /* see count_columns() */
    double *line, *phases;
};

static struct sums sums_in(const struct pooling *is, void *scratch)
{
    double *const counts = scratch;
    double *const line = counts + is->out_width + VF32_LANES;
    const struct sums sums = {counts, line,
                              is->phases == 1 ? line : line + is->line};
    count_columns(is, counts);
    return sums;
}

static void pool_mean(const struct pooling *is, struct takt_layer_rows rows,
                      struct sums sums)
{
    const struct takt_pooling_call *call = is->call;

    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        const float *plane =
            call->in + i / is->out_height * call->height * call->width;
        const struct band band = band_of(call, i % is->out_height);
        sum_line(is, plane, band, sums.line);
        if (is->phases > 1)
            sort_sums(is, sums.line, sums.phases);
        mean_row(is, sums.phases, sums.counts, (double)(band.bottom - band.top),
                 call->out + i * is->out_width);
    }
}

/* The only window is the whole image, which is one row of elements then. */
static bool is_global(const struct takt_pooling_call *call)
{
    return call->pad == 0 && call->window == call->height &&
           call->window == call->width;
}

static void pool_globally(const struct takt_pooling_call *call,
                          struct takt_layer_rows rows)
{
    const size_t n = call->height * call->width;

    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        const float *x = call->in + i * n;
        vf64 lo = vf64_zero(), hi = vf64_zero();
        for (size_t j = 0; j < n; j += VF32_LANES) {
            const vf32 v = vf32_load_up_to(x + j, n - j);
            lo = vf64_add(lo, vf32_widen_lo(v));
            hi = vf64_add(hi, vf32_widen_hi(v));
        }
        call->out[i] = (float)(vf64_sum(vf64_add(lo, hi)) / (double)n);
    }
}
