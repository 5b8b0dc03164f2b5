/* SPDX-License-Identifier: MIT */
/*
 * catalogue.c - the list of ops, and what can be asked about an op.
 *
 * Names are searched one after the other: the list is short, and nothing on
 * the path of a call looks a name up.
 */

#include "base/name.h"
#include "op/op_id.h"

/* What the accuracies of ops.def stand for. */
/* clang-format off */
#define EXACT             {TAKT_ACCURACY_EXACT, 0, 0}
#define VALUE             {TAKT_ACCURACY_VALUE, 0, 0}
#define ULP(units_)       {TAKT_ACCURACY_ULP, units_, 0}
#define ULPS(f32_, f64_)  {TAKT_ACCURACY_ULP, f32_, f64_}
#define RESULT(units_)    {TAKT_ACCURACY_RESULT, units_, 0}
#define MAGNITUDE(units_) {TAKT_ACCURACY_MAGNITUDE, units_, 0}
#define ROOT(units_)      {TAKT_ACCURACY_ROOT, units_, 0}
#define BACKWARD(units_)  {TAKT_ACCURACY_BACKWARD, units_, 0}
#define FORMULA(units_)   {TAKT_ACCURACY_FORMULA, units_, 0}
/* clang-format on */

enum { F32 = 1 << TAKT_F32, BOTH = 1 << TAKT_F32 | 1 << TAKT_F64 };

/* What a form says of its ops' sizes, as constants. */
enum {
#define TAKT_FORM(name_, rank_min_, rank_max_, ...) \
    RANK_MIN_##name_ = rank_min_, RANK_MAX_##name_ = rank_max_,
#include "op/forms.def"
};
static const struct {
#define TAKT_FORM(name_, rank_min_, rank_max_, shape_, ...) \
    char name_[sizeof shape_];
#include "op/forms.def"
} shapes = {
#define TAKT_FORM(name_, rank_min_, rank_max_, shape_, ...) .name_ = shape_,
#include "op/forms.def"
};

#define COST(f32_, f64_)                         \
    {                                            \
        [TAKT_F32] = (f32_), [TAKT_F64] = (f64_) \
    }
#define AS_COUNTED COST(1, 2)

static const struct takt_op_entry catalogue[] = {
#define TAKT_OP(name_, complexity_, form_, inputs_, flops_, cost_, dtypes_, \
                accuracy_, summary_)                                        \
    {.op = {.name = #name_,                                                 \
            .summary = summary_,                                            \
            .complexity = TAKT_COMPLEXITY_##complexity_,                    \
            .dtypes = dtypes_,                                              \
            .inputs = inputs_,                                              \
            .rank_min = RANK_MIN_##form_,                                   \
            .rank_max = RANK_MAX_##form_,                                   \
            .shape = shapes.form_},                                         \
     .id = TAKT_OP_##name_,                                                 \
     .series = TAKT_SERIES_##name_,                                         \
     .form = TAKT_FORM_##form_,                                             \
     .flops = flops_,                                                       \
     .cost = cost_,                                                         \
     .tolerance = accuracy_},
#include "op/ops.def"
};

static const struct {
    const char *alias;
    enum takt_op_id op;
} aliases[] = {
#define TAKT_ALIAS(alias_, name_) {#alias_, TAKT_OP_##name_},
#include "op/ops.def"
};

enum { ALIAS_COUNT = sizeof aliases / sizeof aliases[0] };

const char *takt_complexity_name(takt_complexity complexity)
{
    static const char *const names[] = {"Low", "Medium", "High"};
    return (unsigned)complexity > TAKT_COMPLEXITY_HIGH ? "?"
                                                       : names[complexity];
}

const char *takt_dtype_name(takt_dtype dtype)
{
    return dtype == TAKT_F32 ? "f32" : dtype == TAKT_F64 ? "f64" : "?";
}

size_t takt_dtype_size(takt_dtype dtype)
{
    return takt__dtype_size(dtype);
}

size_t takt_op_count(void)
{
    return TAKT_OP_COUNT;
}

const takt_op *takt_op_at(size_t index)
{
    return index < TAKT_OP_COUNT ? &catalogue[index].op : NULL;
}

const char *takt_op_alias_at(size_t index, const takt_op **op)
{
    if (index >= ALIAS_COUNT)
        return NULL;
    if (op != NULL)
        *op = &catalogue[aliases[index].op].op;
    return aliases[index].alias;
}

const takt_op *takt_op_find(const char *name)
{
    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < TAKT_OP_COUNT; i++)
        if (takt__name_equal(name, catalogue[i].op.name))
            return &catalogue[i].op;
    for (size_t i = 0; i < ALIAS_COUNT; i++)
        if (takt__name_equal(name, aliases[i].alias))
            return &catalogue[aliases[i].op].op;
    return NULL;
}

const char *takt_op_nearest(const char *name)
{
    const char *nearest = NULL;
    size_t shortest = SIZE_MAX;

    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < TAKT_OP_COUNT + ALIAS_COUNT; i++) {
        const char *other = i < TAKT_OP_COUNT
                                ? catalogue[i].op.name
                                : aliases[i - TAKT_OP_COUNT].alias;
        const size_t distance = takt__name_distance(name, other);
        if (distance < shortest && takt__name_near(name, other, distance)) {
            shortest = distance;
            nearest = other;
        }
    }
    return nearest;
}

/* A lone number for an op that takes more sizes counts its elements. */
static bool is_count(const takt_op *op, const takt_shape *shape)
{
    return shape->rank == 1 && op->rank_min > 1;
}

takt_status takt_op_check_shape(const takt_op *op, const takt_shape *shape)
{
    if (op == NULL || shape == NULL)
        return TAKT_EINVAL;
    if (is_count(op, shape))
        return TAKT_OK;
    if (shape->rank < op->rank_min || shape->rank > op->rank_max)
        return TAKT_ESHAPE;
    return takt__form_fits(takt__op_form(op), shape) ? TAKT_OK : TAKT_ESHAPE;
}

size_t takt_op_elements(const takt_op *op, const takt_shape *shape)
{
    if (takt_op_check_shape(op, shape) != TAKT_OK)
        return 0;
    if (is_count(op, shape))
        return shape->dim[0];
    return takt__form_elements(takt__op_entry(op), shape);
}

takt_status takt_op_work(const takt_op *op, takt_dtype dtype,
                         const takt_shape *shape, takt_work *out)
{
    double elements;

    if (out == NULL)
        return TAKT_EINVAL;
    *out = (takt_work){0};
    const takt_status status = takt_op_check_shape(op, shape);
    if (status != TAKT_OK)
        return status;
    if (is_count(op, shape) && takt__op_form(op)->over.count > 0)
        return TAKT_ESHAPE;

    const struct takt_op_entry *entry = takt__op_entry(op);
    if (entry->work != NULL) {
        *out = entry->work(shape, dtype, entry->self);
        return TAKT_OK;
    }
    takt__form_work(entry, shape, &elements, &out->flops);
    out->bytes = elements * (double)takt_dtype_size(dtype);
    return TAKT_OK;
}
