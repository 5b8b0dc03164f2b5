/* SPDX-License-Identifier: MIT */
/*
 * admit.c - operands against the shape of their op.
 *
 * Every operand is a stretch of memory whose length follows from the shape
 * (operands.c). The checks are the same for every op.
 */
#include "op/admit.h"

#include <math.h>
#include <stdint.h>

#include "base/size.h"
#include "op/operands.h"
#include "takt/ops.h"

/* ---- the usual values where the caller left 0 -----------------------------
 */

static bool take_ld(size_t *ld, size_t least)
{
    if (*ld == 0)
        *ld = least;
    return *ld >= least;
}

static bool usual_lds(takt_call *call)
{
    const size_t *d = call->shape.dim;
    const bool trans_a = (call->flags & TAKT_TRANS_A) != 0;
    const bool trans_b = (call->flags & TAKT_TRANS_B) != 0;

    switch (takt__op_entry(call->op)->form) {
    case TAKT_FORM_matrix:
        return take_ld(&call->ld[0], d[1]) && take_ld(&call->ld[2], d[0]);
    case TAKT_FORM_gemv:
        return take_ld(&call->ld[0], d[1]);
    case TAKT_FORM_matmul:
        return take_ld(&call->ld[0], trans_a ? d[0] : d[2]) &&
               take_ld(&call->ld[1], trans_b ? d[2] : d[1]) &&
               take_ld(&call->ld[2], d[1]);
    case TAKT_FORM_map:
    case TAKT_FORM_view:
    case TAKT_FORM_reduce:
    case TAKT_FORM_rows:
    case TAKT_FORM_batched:
    case TAKT_FORM_conv2d:
    case TAKT_FORM_pool2d:
    case TAKT_FORM_attention:
    case TAKT_FORM_user:
        break;
    }
    return true;
}

static void usual_size(takt_shape *shape, unsigned index, size_t usual)
{
    for (; shape->rank <= index; shape->rank++)
        shape->dim[shape->rank] = 0;
    if (shape->dim[index] == 0)
        shape->dim[index] = usual;
}

static void usual_values(takt_call *call)
{
    takt_shape *shape = &call->shape;

    switch (takt__op_id(call->op)) {
    case TAKT_OP_conv2d:
        usual_size(shape, 7, 1);
        usual_size(shape, 8, 0);
        usual_size(shape, 9, 1);
        break;
    case TAKT_OP_pooling:
        usual_size(shape, 5, shape->dim[4]);
        usual_size(shape, 6, 0);
        break;
    case TAKT_OP_attention:
        if (call->alpha == 0)
            call->alpha = 1 / sqrt((double)shape->dim[4]);
        break;
    default:
        break;
    }
}

/* A stride that leaves the padded image after the first place gives that place
 * alone, however long it is; kernels get the shortest such stride. */
static void shorten_stride(takt_call *call)
{
    const bool is_conv2d = takt__op_id(call->op) == TAKT_OP_conv2d;
    size_t *d = call->shape.dim, *stride = &d[is_conv2d ? 7 : 5];
    const size_t pad = d[is_conv2d ? 8 : 6];
    const size_t down = d[2] + 2 * pad - d[is_conv2d ? 5 : 4];
    const size_t across = d[3] + 2 * pad - d[is_conv2d ? 6 : 4];
    const size_t most = (down > across ? down : across) + 1;

    if (*stride > most)
        *stride = most;
}

/* ---- checks ----------------------------------------------------------------
 */

/* May `out` be the very same array as an input? */
static bool may_alias(const takt_call *call)
{
    return takt__op_entry(call->op)->form == TAKT_FORM_rows;
}

static bool overlap(const void *a, size_t a_bytes, const void *b,
                    size_t b_bytes)
{
    const uintptr_t at_a = (uintptr_t)a, at_b = (uintptr_t)b;
    return a_bytes > 0 && b_bytes > 0 && at_a < at_b + b_bytes &&
           at_b < at_a + a_bytes;
}

/* How many elements of a row of an operand of a product are used. */
static size_t width_of(const takt_call *call, int operand)
{
    const size_t *d = call->shape.dim;
    const bool trans_a = (call->flags & TAKT_TRANS_A) != 0;
    const bool trans_b = (call->flags & TAKT_TRANS_B) != 0;

    return operand == 0   ? d[trans_a ? 0 : 2]
           : operand == 1 ? d[trans_b ? 2 : 1]
                          : d[1];
}

/* Whether an operand of a product and its result are blocks of one matrix that
 * lie side by side: their rows alternate, as in a factorisation in place. */
static bool are_beside(const takt_call *call, int operand, size_t size)
{
    const uintptr_t in = (uintptr_t)call->in[operand];
    const uintptr_t out = (uintptr_t)call->out;
    const uintptr_t apart = in < out ? out - in : in - out;
    const size_t ld = call->ld[2];

    if (takt__op_entry(call->op)->form != TAKT_FORM_matmul || operand > 1 ||
        call->ld[operand] != ld || apart % size != 0)
        return false;
    const size_t columns = apart / size % ld;
    const size_t left = width_of(call, in < out ? operand : TAKT_OUT);
    const size_t right = width_of(call, in < out ? TAKT_OUT : operand);
    return columns >= left && columns + right <= ld;
}

static bool is_sane(const void *pointer, size_t bytes)
{
    return pointer != NULL && (uintptr_t)pointer <= UINTPTR_MAX - bytes;
}

static takt_status check_operands(const takt_call *call,
                                  const struct takt_lengths *lengths)
{
    const size_t size = takt_dtype_size(call->dtype);
    const size_t out_bytes = lengths->of[TAKT_OUT] * size;

    if (out_bytes > 0 && !is_sane(call->out, out_bytes))
        return TAKT_EINVAL;
    for (int i = 0; i < TAKT_OUT; i++) {
        const size_t bytes = lengths->of[i] * size;
        if (bytes == 0)
            continue;
        if (!is_sane(call->in[i], bytes))
            return TAKT_EINVAL;
        if (call->in[i] == call->out &&
            lengths->of[i] == lengths->of[TAKT_OUT] && may_alias(call))
            continue;
        if (overlap(call->in[i], bytes, call->out, out_bytes) &&
            !are_beside(call, i, size))
            return TAKT_EINVAL;
    }
    return TAKT_OK;
}

/* Reductions that have no answer for nothing. */
static bool needs_an_element(const takt_call *call)
{
    switch (takt__op_id(call->op)) {
    case TAKT_OP_mean:
    case TAKT_OP_max:
    case TAKT_OP_min:
    case TAKT_OP_argmax:
    case TAKT_OP_argmin:
    case TAKT_OP_variance:
        return true;
    default:
        return false;
    }
}

/* The flags that only some ops take. */
static unsigned own_flags(enum takt_form form)
{
    switch (form) {
    case TAKT_FORM_matmul:
        return TAKT_TRANS_A | TAKT_TRANS_B;
    case TAKT_FORM_gemv:
        return TAKT_TRANS_A;
    case TAKT_FORM_pool2d:
        return TAKT_CALL_MEAN_POOL;
    case TAKT_FORM_attention:
        return TAKT_CALL_CAUSAL;
    default:
        return 0;
    }
}

static bool has_foreign_flags(const takt_call *call, enum takt_form form)
{
    const unsigned common = TAKT_CALL_URGENT | TAKT_CALL_TF32 |
                            TAKT_CALL_STEADY | TAKT_CALL_ALPHA_ZERO;
    const unsigned rest = call->flags & ~common;

    return rest != 0 && (rest & ~own_flags(form)) != 0;
}

/* Whether the whole result would be multiplied by a 0 that nobody said is
 * meant. */
static bool lacks_factor(const takt_call *call)
{
    if (call->alpha != 0 || (call->flags & TAKT_CALL_ALPHA_ZERO) != 0)
        return false;
    switch (takt__op_id(call->op)) {
    case TAKT_OP_scale:
    case TAKT_OP_axpy:
    case TAKT_OP_gemv:
    case TAKT_OP_matmul:
    case TAKT_OP_batched_matmul:
        return true;
    case TAKT_OP_clamp:
        return call->beta == 0;
    default:
        return false;
    }
}

static takt_status check_values(const takt_call *call)
{
    const enum takt_op_id op = takt__op_id(call->op);

    if (lacks_factor(call))
        return TAKT_EINVAL;
    if (op == TAKT_OP_clamp && !(call->alpha <= call->beta))
        return TAKT_EINVAL;
    if (op == TAKT_OP_axpy && call->in[1] != call->out)
        return TAKT_EINVAL;
    if (op == TAKT_OP_layernorm && !(call->alpha >= 0))
        return TAKT_EINVAL;
    if (needs_an_element(call) && call->shape.dim[0] == 0)
        return TAKT_ESHAPE;
    return TAKT_OK;
}

/* Inlined as if takt__admit() were its only caller. */
__attribute__((always_inline)) static inline takt_status
admit_shape(takt_call *call)
{
    usual_values(call);
    if (call->shape.rank < call->op->rank_min ||
        takt_op_check_shape(call->op, &call->shape) != TAKT_OK ||
        !usual_lds(call))
        return TAKT_ESHAPE;
    if (takt__op_id(call->op) == TAKT_OP_conv2d ||
        takt__op_id(call->op) == TAKT_OP_pooling)
        shorten_stride(call);
    return check_values(call);
}

/* An operand without elements may be NULL, beside an output that has some: a
 * product over nothing, an image that is padding alone. Kernels take offsets
 * from operands, which NULL does not allow, so they get an address. */
static void replace_null(takt_call *call, const struct takt_lengths *lengths)
{
    static const double nothing;

    for (unsigned i = 0; i < call->op->inputs; i++) /* not the optional ones */
        if (call->in[i] == NULL && lengths->of[i] == 0)
            call->in[i] = &nothing;
}

static takt_status admit_lengths(takt_call *call, bool *is_empty)
{
    struct takt_lengths lengths;

    takt__lengths_of(call, &lengths);
    if (lengths.overflow)
        return TAKT_ESHAPE;
    *is_empty = lengths.of[TAKT_OUT] == 0;
    const takt_status status = check_operands(call, &lengths);
    if (status == TAKT_OK && !*is_empty)
        replace_null(call, &lengths);
    return status;
}

takt_status takt__admit_map(size_t n, size_t size, unsigned inputs,
                            const void *const *in, const void *out)
{
    if (n == 0)
        return TAKT_OK;
    if (n > TAKT_MOST_ELEMENTS)
        return TAKT_ESHAPE;
    if (!is_sane(out, n * size))
        return TAKT_EINVAL;
    for (unsigned i = 0; i < inputs; i++)
        if (!is_sane(in[i], n * size) ||
            (in[i] != out && overlap(in[i], n * size, out, n * size)))
            return TAKT_EINVAL;
    return TAKT_OK;
}

takt_status takt__admit_reduce(size_t n, size_t size, unsigned inputs,
                               const void *const *in, size_t out_bytes,
                               const void *out)
{
    if (n > TAKT_MOST_ELEMENTS)
        return TAKT_ESHAPE;
    if (!is_sane(out, out_bytes))
        return TAKT_EINVAL;
    for (unsigned i = 0; n > 0 && i < inputs; i++)
        if (!is_sane(in[i], n * size) ||
            overlap(in[i], n * size, out, out_bytes))
            return TAKT_EINVAL;
    return TAKT_OK;
}

takt_status takt__admit_product(size_t a_bytes, const void *a, size_t b_bytes,
                                const void *b, size_t out_bytes,
                                const void *out)
{
    if (!is_sane(a, a_bytes) || !is_sane(b, b_bytes) ||
        !is_sane(out, out_bytes) || overlap(a, a_bytes, out, out_bytes) ||
        overlap(b, b_bytes, out, out_bytes))
        return TAKT_EINVAL;
    return TAKT_OK;
}

/* Vectors are most calls, and the ones where a nanosecond counts. */
static takt_status admit_vector(const takt_call *call, bool *is_empty)
{
    const size_t n = call->shape.dim[0];
    const size_t size = takt_dtype_size(call->dtype);

    if (call->shape.rank != 1)
        return TAKT_ESHAPE;
    const takt_status status = check_values(call);
    if (status != TAKT_OK)
        return status;
    if (takt__op_entry(call->op)->form == TAKT_FORM_reduce)
        return takt__admit_reduce(
            n, size, call->op->inputs, call->in,
            takt__is_position(call) ? sizeof(size_t) : size, call->out);
    *is_empty = n == 0;
    return takt__admit_map(n, size, call->op->inputs, call->in, call->out);
}

takt_status takt__admit(takt_call *call, bool *is_empty)
{
    *is_empty = false;
    if (call->op == NULL || (unsigned)call->dtype > TAKT_F64 ||
        call->shape.rank > TAKT_SHAPE_MAX_RANK ||
        (call->op->dtypes >> call->dtype & 1) == 0)
        return TAKT_EINVAL;
    const enum takt_form form = takt__op_entry(call->op)->form;
    if (form == TAKT_FORM_view)
        return TAKT_ENOTSUP;
    if (form == TAKT_FORM_user) /* its operands are its experts' affair */
        return takt_op_check_shape(call->op, &call->shape);
    if (has_foreign_flags(call, form))
        return TAKT_EINVAL;
    if (form == TAKT_FORM_map || form == TAKT_FORM_reduce)
        return admit_vector(call, is_empty);
    const takt_status status = admit_shape(call);
    return status != TAKT_OK ? status : admit_lengths(call, is_empty);
}

takt_status takt__admit_shape(takt_call *call)
{
    return admit_shape(call);
}
