/* SPDX-License-Identifier: MIT */
/* family.c - the table of families. */
#include "tune/family.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "takt/call.h"
#include "takt/ops.h"

/* clang-format off */

/* Parts of a dim table: a side that grows, and one that does not. */
#define GROWS(times_) {0, times_}
#define STAYS(fixed_) {fixed_, 0}

/* Sides are 16 or 128 times the thin ones, so that all sizes are in the same
 * layout: see docs/formats/pin.md. */
#define MATMUL(trans_, flags_, square_, thin_) \
    {"MxNxK", NULL, trans_ ".square", flags_, square_, 6, 22, 3, {GROWS(1), GROWS(1), GROWS(1)}}, \
    {"MxNxK", NULL, trans_ ".thin_m", flags_, thin_, 2, 14, 3, {GROWS(1), GROWS(16), GROWS(16)}}, \
    {"MxNxK", NULL, trans_ ".thin_n", flags_, thin_, 2, 14, 3, {GROWS(16), GROWS(1), GROWS(16)}}, \
    {"MxNxK", NULL, trans_ ".thin_k", flags_, thin_, 2, 14, 3, {GROWS(16), GROWS(16), GROWS(1)}}, \
    {"MxNxK", NULL, trans_ ".thin_mn", flags_, thin_, 4, 12, 3, {GROWS(1), GROWS(1), GROWS(128)}}, \
    {"MxNxK", NULL, trans_ ".thin_mk", flags_, thin_, 4, 12, 3, {GROWS(1), GROWS(128), GROWS(1)}}, \
    {"MxNxK", NULL, trans_ ".thin_nk", flags_, thin_, 4, 12, 3, {GROWS(128), GROWS(1), GROWS(1)}}

#define BY_ROWS(op_) \
    {"ROWSxCOLS", op_, "", 0, 0, 13, 23, 2, {GROWS(1), GROWS(1)}}, \
    {"ROWSxCOLS", op_, "short", 0, 1, 6, 34, 2, {GROWS(1), STAYS(32)}}, \
    {"ROWSxCOLS", op_, "few", 0, 1, 16, 40, 2, {STAYS(4), GROWS(1)}}
#define BY_COLS(op_) \
    {"ROWSxCOLS", op_, "", 0, 0, 6, 24, 2, {GROWS(1), GROWS(1)}}, \
    {"ROWSxCOLS", op_, "narrow", 0, 2, 4, 18, 2, {GROWS(32), GROWS(1)}}, \
    {"ROWSxCOLS", op_, "flat", 0, 2, 4, 18, 2, {GROWS(1), GROWS(32)}}

static const struct takt_family families[] = {
    {"N", NULL, "", 0, 0, 16, 48, 1, {GROWS(1)}},

    BY_COLS("transpose"),
    BY_ROWS("softmax"),
    BY_ROWS("layernorm"),
    BY_ROWS("bias_add"),
    BY_ROWS("bias_mul"),
    BY_ROWS("row_sum"),
    BY_ROWS("row_mean"),
    BY_ROWS("row_max"),
    BY_COLS("col_sum"),
    BY_COLS("col_mean"),
    BY_COLS("col_max"),

    {NULL, "gemv", "n", 0, 0, 8, 24, 2, {GROWS(1), GROWS(1)}},
    {NULL, "gemv", "n.narrow", 0, 1, 4, 18, 2, {GROWS(32), GROWS(1)}},
    {NULL, "gemv", "n.flat", 0, 1, 4, 18, 2, {GROWS(1), GROWS(32)}},
    {NULL, "gemv", "t", TAKT_TRANS_A, 1, 8, 24, 2, {GROWS(1), GROWS(1)}},
    {NULL, "gemv", "t.narrow", TAKT_TRANS_A, 2, 4, 18, 2, {GROWS(32), GROWS(1)}},
    {NULL, "gemv", "t.flat", TAKT_TRANS_A, 2, 4, 18, 2, {GROWS(1), GROWS(32)}},

    MATMUL("nn", 0, 0, 1),
    MATMUL("nt", TAKT_TRANS_B, 1, 2),
    MATMUL("tn", TAKT_TRANS_A, 1, 2),
    MATMUL("tt", TAKT_TRANS_A | TAKT_TRANS_B, 2, 3),

    {"BxMxNxK", NULL, "square", 0, 0, 4, 14, 4, {STAYS(32), GROWS(1), GROWS(1), GROWS(1)}},
    {"BxMxNxK", NULL, "thin_m", 0, 2, 2, 8, 4, {STAYS(32), GROWS(1), GROWS(16), GROWS(16)}},
    {"BxMxNxK", NULL, "thin_n", 0, 2, 2, 8, 4, {STAYS(32), GROWS(16), GROWS(1), GROWS(16)}},
    {"BxMxNxK", NULL, "thin_k", 0, 2, 2, 8, 4, {STAYS(32), GROWS(16), GROWS(16), GROWS(1)}},
    {"BxMxNxK", NULL, "thin_mn", 0, 3, 2, 8, 4, {STAYS(16), GROWS(1), GROWS(1), GROWS(128)}},
    {"BxMxNxK", NULL, "thin_mk", 0, 3, 2, 8, 4, {STAYS(16), GROWS(1), GROWS(128), GROWS(1)}},
    {"BxMxNxK", NULL, "thin_nk", 0, 3, 2, 8, 4, {STAYS(16), GROWS(128), GROWS(1), GROWS(1)}},

    {NULL, "cholesky", "", 0, 0, 4, 22, 2, {GROWS(1), GROWS(1)}},
    {NULL, "solve", "few", 0, 0, 4, 22, 2, {GROWS(1), STAYS(1)}},
    {NULL, "solve", "many", 0, 1, 4, 21, 2, {GROWS(1), GROWS(1)}},

    {NULL, "qr", "", 0, 0, 4, 20, 2, {GROWS(2), GROWS(1)}},
    {NULL, "qr", "tall", 0, 1, 4, 16, 2, {GROWS(32), GROWS(1)}},
    {NULL, "lstsq", "", 0, 0, 4, 20, 3, {GROWS(2), GROWS(1), STAYS(1)}},
    {NULL, "lstsq", "tall", 0, 1, 4, 16, 3, {GROWS(32), GROWS(1), STAYS(1)}},

    {NULL, "conv2d", "", 0, 0, 4, 14, 10, {STAYS(1), GROWS(1), STAYS(56), STAYS(56), GROWS(1), STAYS(3), STAYS(3), STAYS(1), STAYS(1), STAYS(1)}},
    {NULL, "conv2d", "pointwise", 0, 1, 6, 16, 10, {STAYS(1), GROWS(1), STAYS(28), STAYS(28), GROWS(1), STAYS(1), STAYS(1), STAYS(1), {0, 0}, STAYS(1)}},
    {NULL, "conv2d", "grouped", 0, 1, 6, 16, 10, {STAYS(1), GROWS(1), STAYS(28), STAYS(28), GROWS(1), STAYS(3), STAYS(3), STAYS(1), STAYS(1), GROWS(1)}},
    {NULL, "conv2d", "small", 0, 1, 6, 16, 10, {STAYS(1), GROWS(1), STAYS(7), STAYS(7), GROWS(1), STAYS(3), STAYS(3), STAYS(1), STAYS(1), STAYS(1)}},
    {NULL, "pooling", "max", 0, 0, 2, 16, 7, {STAYS(1), GROWS(1), STAYS(56), STAYS(56), STAYS(2), STAYS(2), {0, 0}}},
    {NULL, "pooling", "mean", TAKT_CALL_MEAN_POOL, 1, 2, 16, 7, {STAYS(1), GROWS(1), STAYS(56), STAYS(56), STAYS(2), STAYS(2), {0, 0}}},

    {"BxHxQxKxD", NULL, "", 0, 0, 8, 20, 5, {STAYS(1), STAYS(8), GROWS(1), GROWS(1), STAYS(64)}},
    {"BxHxQxKxD", NULL, "few", 0, 1, 8, 24, 5, {STAYS(1), STAYS(8), STAYS(1), GROWS(1), STAYS(64)}},
    {"BxHxQxKxD", NULL, "causal", TAKT_CALL_CAUSAL, 1, 8, 20, 5, {STAYS(1), STAYS(8), GROWS(1), GROWS(1), STAYS(64)}},
    {"BxHxQxKxD", NULL, "few.causal", TAKT_CALL_CAUSAL, 3, 8, 24, 5, {STAYS(1), STAYS(8), STAYS(1), GROWS(1), STAYS(64)}},
};
/* clang-format on */

static bool has_family(const takt_op *op, const struct takt_family *family)
{
    if (family->op != NULL)
        return strcmp(family->op, op->name) == 0;
    return strcmp(family->shape, op->shape) == 0;
}

const struct takt_family *takt__family_at(const takt_op *op, size_t index)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (has_family(op, &families[i]) && index-- == 0)
            return &families[i];
    return NULL;
}

const struct takt_family *takt__family_of_layout(const takt_op *op,
                                                 const char *layout)
{
    const struct takt_family *family;

    for (size_t i = 0; (family = takt__family_at(op, i)) != NULL; i++)
        if (strcmp(family->layout, layout) == 0)
            return family;
    return NULL;
}

size_t takt__step_side(unsigned step)
{
    const size_t octave = (size_t)1 << step / 2;
    return step % 2 == 0 ? octave : octave + octave / 2;
}

takt_shape takt__family_shape(const struct takt_family *family, unsigned step)
{
    const size_t side = takt__step_side(step);
    takt_shape shape = {.rank = family->rank};

    for (unsigned i = 0; i < family->rank; i++)
        shape.dim[i] = family->dim[i].fixed != 0 ? family->dim[i].fixed
                                                 : side * family->dim[i].times;
    return shape;
}

takt_request takt__family_request(const struct takt_family *family,
                                  const takt_op *op, takt_dtype dtype,
                                  unsigned step)
{
    return (takt_request){.policy = TAKT_POLICY_ADAPTIVE,
                          .op = op,
                          .dtype = dtype,
                          .shape = takt__family_shape(family, step),
                          .flags = family->flags};
}

/* Bytes and operations both count; either may be 0. */
static double distance(const takt_work *a, const takt_work *b)
{
    return fabs(log2((a->bytes + 1) / (b->bytes + 1))) +
           fabs(log2((a->flops + 1) / (b->flops + 1)));
}

unsigned takt__family_step_for(const struct takt_family *family,
                               const takt_op *op, takt_dtype dtype,
                               const takt_work *work)
{
    unsigned nearest = family->low;
    double shortest = INFINITY;

    for (unsigned step = 2; step < TAKT_FAMILY_STEPS; step++) {
        const takt_shape shape = takt__family_shape(family, step);
        takt_work here;
        if (takt_op_work(op, dtype, &shape, &here) != TAKT_OK)
            continue;
        const double far = distance(&here, work);
        if (far < shortest) {
            shortest = far;
            nearest = step;
        }
    }
    return nearest;
}
