/* SPDX-License-Identifier: MIT */
/*
 * rows.c - softmax and layernorm of contiguous rows of floats.
 *
 * A row is read three times by softmax (its maximum, the exponentials and
 * their sum, the division) and twice by layernorm; but for the first time it
 * comes from a cache unless it is very long. The result of a row depends on
 * that row alone, so any division of rows among threads gives the same bits.
 */
#include "kernels/kernel.h"

#include <math.h>

#include "kernels/vector/isa.h"
#include "kernels/vector/math.h"
#include "kernels/vector/reduce_moments.h"

takt_rows_kernel TAKT_K(softmax_f32), TAKT_K(layernorm_f32);

enum { L = VF32_LANES };

/* The rest of a row. What fills it up is taken from the row, too: next to large
 * numbers, 0 may be so far off that what is computed of it overflows. */
VINLINE vf32 load_first(const float *x, size_t n, vf32 others)
{
    return vf32_mix(n, vf32_load_n(x, n), others);
}

/* softmax. */

/* A NaN may be lost here: its exponential makes the whole row NaN. */
VINLINE vf32 four_max(const float *x, vf32 most)
{
    const vf32 a = vf32_max(vf32_load(x), vf32_load(x + L));
    const vf32 b = vf32_max(vf32_load(x + 2 * L), vf32_load(x + 3 * L));
    return vf32_max(vf32_max(a, b), most);
}

VINLINE float row_max(size_t cols, const float *x)
{
    vf32 most = vf32_set1(-INFINITY);
    size_t j = 0;

    for (; cols - j >= 4 * L; j += 4 * L)
        most = four_max(x + j, most);
    for (; cols - j >= L; j += L)
        most = vf32_max(vf32_load(x + j), most);
    if (j < cols)
        most = vf32_max(load_first(x + j, cols - j, most), most);
    return vf32_hmax(most);
}

/* out = exp(x - most); the result is the stored vector. */
VINLINE vf32 exp_from(const float *x, vf32 most, float *out)
{
    const vf32 e = vf32_exp_bounded(vf32_sub(vf32_load(x), most));
    vf32_store(out, e);
    return e;
}

/* Stores exp(x - most) and returns the sum. */
VINLINE double row_exp(size_t cols, const float *x, float most, float *out)
{
    const vf32 from = vf32_set1(most);
    vf64 sum = vf64_zero();
    vf32 rest = vf32_zero();
    size_t j = 0;

    for (; cols - j >= 4 * L; j += 4 * L) {
        const vf32 a = exp_from(x + j, from, out + j);
        const vf32 b = exp_from(x + j + L, from, out + j + L);
        const vf32 c = exp_from(x + j + 2 * L, from, out + j + 2 * L);
        const vf32 d = exp_from(x + j + 3 * L, from, out + j + 3 * L);
        sum =
            vf64_add(sum, widen_sum(vf32_add(vf32_add(a, b), vf32_add(c, d))));
    }
    for (; cols - j >= L; j += L)
        rest = vf32_add(rest, exp_from(x + j, from, out + j));
    if (j < cols) {
        const vf32 e =
            vf32_exp_bounded(vf32_sub(load_first(x + j, cols - j, from), from));
        vf32_store_n(out + j, e, cols - j);
        rest = vf32_add(rest, vf32_mix(cols - j, e, vf32_zero()));
    }
    return vf64_sum(vf64_add(sum, widen_sum(rest)));
}

VINLINE void row_scale(size_t cols, float factor, float *x)
{
    const vf32 by = vf32_set1(factor);
    size_t j = 0;

    for (; cols - j >= L; j += L)
        vf32_store(x + j, vf32_mul(vf32_load(x + j), by));
    if (j < cols)
        vf32_store_n(x + j, vf32_mul(vf32_load_n(x + j, cols - j), by),
                     cols - j);
}

void TAKT_K(softmax_f32)(size_t rows, size_t cols, const void *in,
                         const void *gain, const void *bias, void *out,
                         double epsilon)
{
    (void)gain;
    (void)bias;
    (void)epsilon;
    for (size_t i = 0; i < rows; i++) {
        const float *x = (const float *)in + i * cols;
        float *y = (float *)out + i * cols;
        const double sum = row_exp(cols, x, row_max(cols, x), y);
        row_scale(cols, (float)(1.0 / sum), y);
    }
}

/* layernorm. */

struct vector_affine {
    const float *gain, *bias; /* NULL: one, zero */
};

/* What a row is normalised with: see struct moments. */
struct standard {
    vf32 base, shift, factor;
};

VINLINE vf32 standardise(struct standard by, vf32 x)
{
    return vf32_mul(vf32_sub(vf32_sub(x, by.base), by.shift), by.factor);
}

/* For the first n lanes of v, which are element j on. */
VINLINE vf32 apply(struct vector_affine to, size_t j, size_t n, vf32 v)
{
    const vf32 gain = to.gain == NULL ? v : vf32_load_up_to(to.gain + j, n);
    const vf32 bias = to.bias == NULL ? v : vf32_load_up_to(to.bias + j, n);

    if (to.gain != NULL && to.bias != NULL)
        return vf32_fma(v, gain, bias);
    if (to.gain != NULL)
        return vf32_mul(v, gain);
    return to.bias != NULL ? vf32_add(v, bias) : v;
}

VINLINE void normalise(size_t cols, const float *x, struct standard by,
                       struct vector_affine to, float *out)
{
    size_t j = 0;

    for (; cols - j >= L; j += L)
        vf32_store(out + j, apply(to, j, L, standardise(by, vf32_load(x + j))));
    if (j < cols) {
        const size_t some = cols - j;
        const vf32 v = standardise(by, load_first(x + j, some, by.base));
        vf32_store_n(out + j, apply(to, j, some, v), some);
    }
}

/* Rows whose spread is near the limits of a float: one by one in double. */
static void normalise_wide(size_t cols, const float *x, struct moments row,
                           struct vector_affine to, double spread, float *out)
{
    for (size_t j = 0; j < cols; j++) {
        const double gain = to.gain == NULL ? 1.0 : (double)to.gain[j];
        const double bias = to.bias == NULL ? 0.0 : (double)to.bias[j];
        const double apart = (double)x[j] - row.base - row.shift;
        out[j] = (float)(apart / spread * gain + bias);
    }
}

VINLINE void layernorm(size_t cols, const float *x, struct vector_affine to,
                       double epsilon, float *out)
{
    const struct moments row = moments_f32(cols, x, guess_f32(cols, x));
    const double spread = sqrt(row.around * (1.0 / (double)cols) + epsilon);
    const float base = (float)(row.base + row.shift);
    const double shift = row.base - (double)base + row.shift;

    if (spread > 0x1p-100 && spread < 0x1p100) {
        const struct standard by = {vf32_set1(base), vf32_set1((float)shift),
                                    vf32_set1((float)(1.0 / spread))};
        normalise(cols, x, by, to, out);
    } else {
        normalise_wide(cols, x, row, to, spread, out);
    }
}

VINLINE void layernorm_rows(size_t rows, size_t cols, const float *x,
                            struct vector_affine to, double epsilon, float *out)
{
    for (size_t i = 0; i < rows; i++)
        layernorm(cols, x + i * cols, to, epsilon, out + i * cols);
}

/* One loop for each pair of NULL or not, so that none tests inside. */
void TAKT_K(layernorm_f32)(size_t rows, size_t cols, const void *in,
                           const void *gain, const void *bias, void *out,
                           double epsilon)
{
    const struct vector_affine both = {gain, bias};
    const struct vector_affine only_gain = {gain, NULL};
    const struct vector_affine only_bias = {NULL, bias};
    const struct vector_affine none = {NULL, NULL};

    if (cols == 0)
        return;
    if (gain != NULL && bias != NULL)
        layernorm_rows(rows, cols, in, both, epsilon, out);
    else if (gain != NULL)
        layernorm_rows(rows, cols, in, only_gain, epsilon, out);
    else if (bias != NULL)
        layernorm_rows(rows, cols, in, only_bias, epsilon, out);
    else
        layernorm_rows(rows, cols, in, none, epsilon, out);
}
