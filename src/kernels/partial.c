/* SPDX-License-Identifier: MIT */
/*
 * partial.c - merging neighbouring stretches of a reduction.
 *
 * Sums are kept as value + rest, so that merging loses nothing and a result
 * does not depend on the number of threads by more than its last bit.
 * Moments are merged by the rule of Chan, Golub and LeVeque, which subtracts
 * means and never squares of sums.
 */
#include "kernels/partial.h"

static void merge_sum(struct takt_partial *left,
                      const struct takt_partial *right)
{
    double error;
    const double sum = takt__two_sum(left->value, right->value, &error);
    const double rest = left->rest + right->rest + error;

    takt__partial_set(left, left->count + right->count, sum, rest);
}

static double factor_of(size_t scale)
{
    if (scale == TAKT_SCALE_NONE)
        return 1.0;
    return scale == TAKT_SCALE_DOWN ? TAKT_SCALE_DOWN_FACTOR
                                    : TAKT_SCALE_UP_FACTOR;
}

/* The scale that suits the larger of two sums of squares. */
static size_t common_scale(size_t a, size_t b)
{
    if (a == TAKT_SCALE_DOWN || b == TAKT_SCALE_DOWN)
        return TAKT_SCALE_DOWN;
    return a == b ? a : (size_t)TAKT_SCALE_NONE;
}

static struct takt_partial rescale(struct takt_partial part, size_t scale)
{
    const double ratio = factor_of(scale) / factor_of(part.index);

    part.value = part.value * ratio * ratio;
    part.rest = part.rest * ratio * ratio;
    return part;
}

static void merge_squares(struct takt_partial *left,
                          const struct takt_partial *right)
{
    const size_t scale = common_scale(left->index, right->index);
    const struct takt_partial other = rescale(*right, scale);

    *left = rescale(*left, scale);
    merge_sum(left, &other);
    left->index = scale;
}

static void merge_moments(struct takt_partial *left,
                          const struct takt_partial *right)
{
    const double count = (double)(left->count + right->count);
    const double share = (double)right->count / count;
    const double apart = right->value - left->value;
    const double within = left->rest + right->rest;

    /* Where squares overflow, means may have: no number must spoil that. */
    left->rest = isinf(within)
                     ? within
                     : within + apart * apart * (double)left->count * share;
    left->value += apart * share;
    left->count += right->count;
}

/* Is `b` to replace `a` as the maximum (the sign is 1) or minimum (-1)? */
static bool is_beyond(double a, double b, double sign)
{
    return !isnan(a) && (isnan(b) || sign * b > sign * a);
}

static void merge_extremum(struct takt_partial *left,
                           const struct takt_partial *right, double sign)
{
    const bool zeros = left->value == 0.0 && right->value == 0.0;
    const double one = copysign(1.0, left->value);
    const double other = copysign(1.0, right->value);

    if (is_beyond(left->value, right->value, sign) ||
        (zeros && is_beyond(one, other, sign)))
        left->value = right->value;
    left->count += right->count;
}

static void merge_position(struct takt_partial *left,
                           const struct takt_partial *right, double sign)
{
    if (is_beyond(left->value, right->value, sign)) {
        left->value = right->value;
        left->index = left->count + right->index;
    }
    left->count += right->count;
}

static void merge(enum takt_partial_kind kind, struct takt_partial *left,
                  const struct takt_partial *right)
{
    switch (kind) {
    case TAKT_PARTIAL_SUM:
    case TAKT_PARTIAL_MEAN:
        merge_sum(left, right);
        break;
    case TAKT_PARTIAL_NORM2:
        merge_squares(left, right);
        break;
    case TAKT_PARTIAL_VARIANCE:
        merge_moments(left, right);
        break;
    case TAKT_PARTIAL_MAX:
        merge_extremum(left, right, 1.0);
        break;
    case TAKT_PARTIAL_MIN:
        merge_extremum(left, right, -1.0);
        break;
    case TAKT_PARTIAL_ARGMAX:
        merge_position(left, right, 1.0);
        break;
    case TAKT_PARTIAL_ARGMIN:
        merge_position(left, right, -1.0);
        break;
    }
}

void takt__partial_merge(enum takt_partial_kind kind, struct takt_partial *left,
                         const struct takt_partial *right)
{
    if (right->count == 0)
        return;
    if (left->count == 0)
        *left = *right;
    else
        merge(kind, left, right);
}

double takt__partial_finish(enum takt_partial_kind kind,
                            const struct takt_partial *partial)
{
    switch (kind) {
    case TAKT_PARTIAL_SUM:
        return partial->value + partial->rest;
    case TAKT_PARTIAL_MEAN:
        return (partial->value + partial->rest) / (double)partial->count;
    case TAKT_PARTIAL_NORM2:
        return sqrt(partial->value + partial->rest) / factor_of(partial->index);
    case TAKT_PARTIAL_VARIANCE:
        return partial->rest / (double)partial->count;
    case TAKT_PARTIAL_ARGMAX:
    case TAKT_PARTIAL_ARGMIN:
        return (double)partial->index;
    case TAKT_PARTIAL_MAX:
    case TAKT_PARTIAL_MIN:
        break;
    }
    return partial->value;
}
