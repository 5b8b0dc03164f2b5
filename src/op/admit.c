/* SPDX-License-Identifier: MIT */
/*
 * admit.c - checks a call: what is common to all ops, and all of ops on
 * vectors. The sizes, operands and defaults of the others are checked in
 * form.c, by the table of forms.
 */
#include "op/admit.h"

#include "base/size.h"
#include "op/operands.h"
#include "op/rules.h"

static const uint8_t rules_of[TAKT_OP_COUNT] = {
    [TAKT_OP_scale] = TAKT_NEEDS_FACTOR,
    [TAKT_OP_axpy] = TAKT_NEEDS_FACTOR | TAKT_IS_IN_PLACE,
    [TAKT_OP_gemv] = TAKT_NEEDS_FACTOR,
    [TAKT_OP_matmul] = TAKT_NEEDS_FACTOR,
    [TAKT_OP_batched_matmul] = TAKT_NEEDS_FACTOR,
    [TAKT_OP_clamp] = TAKT_TAKES_BOUNDS,
    [TAKT_OP_layernorm] = TAKT_TAKES_EPSILON,
    [TAKT_OP_mean] = TAKT_NEEDS_ELEMENT,
    [TAKT_OP_max] = TAKT_NEEDS_ELEMENT,
    [TAKT_OP_min] = TAKT_NEEDS_ELEMENT,
    [TAKT_OP_argmax] = TAKT_NEEDS_ELEMENT,
    [TAKT_OP_argmin] = TAKT_NEEDS_ELEMENT,
    [TAKT_OP_variance] = TAKT_NEEDS_ELEMENT,
    [TAKT_OP_row_mean] = TAKT_NEEDS_COLUMN,
    [TAKT_OP_row_max] = TAKT_NEEDS_COLUMN,
    [TAKT_OP_col_mean] = TAKT_NEEDS_ELEMENT,
    [TAKT_OP_col_max] = TAKT_NEEDS_ELEMENT,
    [TAKT_OP_attention] = TAKT_TAKES_SCALE,
};

/* Inputs of n elements, each apart from the output or the same array. */
static takt_status admit_map(size_t n, size_t size, unsigned inputs,
                             const void *const *in, const void *out)
{
    if (n == 0)
        return TAKT_OK;
    if (n > TAKT_MOST_ELEMENTS)
        return TAKT_ESHAPE;
    if (!takt__is_sane(out, n * size))
        return TAKT_EINVAL;
    for (unsigned i = 0; i < inputs; i++)
        if (!takt__is_sane(in[i], n * size) ||
            (in[i] != out && takt__overlap(in[i], n * size, out, n * size)))
            return TAKT_EINVAL;
    return TAKT_OK;
}

/* Inputs of n elements, all apart from an output of `out_bytes`. */
static takt_status admit_reduce(size_t n, size_t size, unsigned inputs,
                                const void *const *in, size_t out_bytes,
                                const void *out)
{
    if (n > TAKT_MOST_ELEMENTS)
        return TAKT_ESHAPE;
    if (!takt__is_sane(out, out_bytes))
        return TAKT_EINVAL;
    for (unsigned i = 0; n > 0 && i < inputs; i++)
        if (!takt__is_sane(in[i], n * size) ||
            takt__overlap(in[i], n * size, out, out_bytes))
            return TAKT_EINVAL;
    return TAKT_OK;
}

takt_status takt__admit_product(size_t a_bytes, const void *a, size_t b_bytes,
                                const void *b, size_t out_bytes,
                                const void *out)
{
    if (!takt__is_sane(a, a_bytes) || !takt__is_sane(b, b_bytes) ||
        !takt__is_sane(out, out_bytes) ||
        takt__overlap(a, a_bytes, out, out_bytes) ||
        takt__overlap(b, b_bytes, out, out_bytes))
        return TAKT_EINVAL;
    return TAKT_OK;
}

/* Vectors are most calls, and the ones where a nanosecond counts. */
static takt_status admit_vector(takt_call *call, unsigned rules, bool is_map,
                                bool *is_empty)
{
    const size_t n = call->shape.dim[0];
    const size_t size = takt__dtype_size(call->dtype);

    if (call->shape.rank != 1)
        return TAKT_ESHAPE;
    const takt_status status = takt__check_rules(call, rules);
    if (status != TAKT_OK)
        return status;
    *is_empty = is_map && n == 0;
    return is_map
               ? admit_map(n, size, call->op->inputs, call->in, call->out)
               : admit_reduce(n, size, call->op->inputs, call->in,
                              takt__is_position(call) ? sizeof(size_t) : size,
                              call->out);
}

takt_status takt__admit(takt_call *call, bool *is_empty)
{
    enum {
        common = TAKT_CALL_URGENT | TAKT_CALL_TF32 | TAKT_CALL_STEADY |
                 TAKT_CALL_ALPHA_ZERO | TAKT_CALL_UNTYPICAL |
                 TAKT_CALL_OBJECTIVE(3)
    };

    *is_empty = false;
    if (call->op == NULL || (unsigned)call->dtype > TAKT_F64 ||
        call->shape.rank > TAKT_SHAPE_MAX_RANK ||
        (call->op->dtypes >> call->dtype & 1) == 0)
        return TAKT_EINVAL;
    const struct takt_form_entry *form = takt__op_form(call->op);
    if (form->is_opaque) /* a user's op: its experts know its operands */
        return call->op->is_user != 0
                   ? takt_op_check_shape(call->op, &call->shape)
                   : TAKT_ENOTSUP;
    if ((call->flags & ~(form->flags | common)) != 0)
        return TAKT_EINVAL;
    const unsigned rules = rules_of[takt__op_id(call->op)];
    if (form->rank_max == 1)
        return admit_vector(call, rules, form->out.dims.count != 0, is_empty);
    return form->admit(call, rules, is_empty);
}
