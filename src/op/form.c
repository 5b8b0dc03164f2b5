/* SPDX-License-Identifier: MIT */
/*
 * form.c - the table of forms, and the functions that every call passes.
 *
 * These are written once, over a form that they read, and made for every form:
 * with its numbers known, compilers turn loops over its operands and their
 * dimensions into what one would write by hand.
 *
 * Counts of elements saturate at SIZE_MAX; work is counted in doubles, which
 * lose digits above 2^53 but never wrap.
 */
#include "op/form.h"

#include "base/size.h"
#include "op/rules.h"
#include "takt/ops.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- layouts ------------------------------------------------------------- */

static unsigned rows_layout(const takt_shape *shape, unsigned flags)
{
    (void)flags;
    return shape->dim[TAKT_COLS] <= 64 ? 1 : shape->dim[TAKT_ROWS] <= 4 ? 2 : 0;
}

static unsigned matrix_layout(const takt_shape *shape, unsigned flags)
{
    enum { ratio = 16 };
    const size_t rows = shape->dim[TAKT_ROWS], cols = shape->dim[TAKT_COLS];

    (void)flags;
    return cols <= rows / ratio ? 1 : rows <= cols / ratio ? 2 : 0;
}

static unsigned gemv_layout(const takt_shape *shape, unsigned flags)
{
    return matrix_layout(shape, flags) + 3 * (flags & TAKT_TRANS_A);
}

/* A side is thin when it is below a quarter of the geometric mean. */
static unsigned aspect_of(const size_t mnk[3])
{
    const double m = (double)mnk[0], n = (double)mnk[1], k = (double)mnk[2];
    const double volume = m * n * k / 64;

    return (unsigned)(m * m * m < volume) |
           (unsigned)(n * n * n < volume) << 1 |
           (unsigned)(k * k * k < volume) << 2;
}

static unsigned matmul_layout(const takt_shape *shape, unsigned flags)
{
    return aspect_of(shape->dim) + 7 * (flags & (TAKT_TRANS_A | TAKT_TRANS_B));
}

static unsigned batched_layout(const takt_shape *shape, unsigned flags)
{
    (void)flags;
    return aspect_of(shape->dim + TAKT_BATCHED_M);
}

static unsigned conv2d_layout(const takt_shape *shape, unsigned flags)
{
    const size_t *d = shape->dim;

    (void)flags;
    if (shape->rank > TAKT_CONV2D_GROUPS && d[TAKT_CONV2D_GROUPS] > 1)
        return 2;
    if (d[TAKT_CONV2D_R] == 1 && d[TAKT_CONV2D_S] == 1)
        return 1;
    return d[TAKT_CONV2D_H] <= 14 && d[TAKT_CONV2D_W] <= 14 ? 3 : 0;
}

static unsigned pool2d_layout(const takt_shape *shape, unsigned flags)
{
    (void)shape;
    return (flags & TAKT_CALL_MEAN_POOL) != 0;
}

static unsigned attention_layout(const takt_shape *shape, unsigned flags)
{
    return (unsigned)(shape->dim[TAKT_ATTENTION_Q] < 16) +
           2 * (unsigned)((flags & TAKT_CALL_CAUSAL) != 0);
}

/* Whether factors or right sides are most of the work. */
static unsigned solve_layout(const takt_shape *shape, unsigned flags)
{
    (void)flags;
    return shape->dim[TAKT_SOLVE_NRHS] > shape->dim[TAKT_SOLVE_N] / 3;
}

/* Whether A has many more rows than columns. */
static unsigned tall_layout(const takt_shape *shape, unsigned flags)
{
    (void)flags;
    return shape->dim[0] / 8 > shape->dim[1];
}

/* ---- what the table is made of ------------------------------------------- */

static const struct takt_form_window conv2d_window = {
    .height = TAKT_CONV2D_R,
    .width = TAKT_CONV2D_S,
    .stride = TAKT_CONV2D_STRIDE,
    .pad = TAKT_CONV2D_PAD,
    .groups = TAKT_CONV2D_GROUPS,
    .rank_min = TAKT_CONV2D_STRIDE,
    .rank_max = TAKT_CONV2D_GROUPS + 1,
};

/* Windows step by their own size unless the call says otherwise: they tile. */
static const struct takt_form_window pool2d_window = {
    .height = TAKT_POOL2D_WINDOW,
    .width = TAKT_POOL2D_WINDOW,
    .stride = TAKT_POOL2D_STRIDE,
    .pad = TAKT_POOL2D_PAD,
    .default_stride = TAKT_POOL2D_WINDOW,
    .rank_min = TAKT_POOL2D_STRIDE,
    .rank_max = TAKT_POOL2D_PAD + 1,
};

/* clang-format off */
#define DIMS(...) {sizeof((uint8_t[]){__VA_ARGS__}), {__VA_ARGS__}}
#define ARRAY(...) {.dims = DIMS(__VA_ARGS__)}
#define OPTIONAL(...) {.dims = DIMS(__VA_ARGS__), .is_optional = true}
#define MATRIX(ld_, flag_, rows_, cols_) \
    {.dims = {2, {rows_, cols_}}, .has_ld = true, .ld = ld_, .swap = flag_}
#define VECTOR(flag_, dim_, other_) {.dims = {1, {dim_, other_}}, .swap = flag_}
#define SCALAR {.dims = {0, {0}}}
#define NAMES(...) \
    {sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), \
     (const char *const[]){__VA_ARGS__}}
/* clang-format on */

/* ---- elements ------------------------------------------------------------ */

static size_t elements_of(const struct takt_form_operand *operand,
                          const size_t *d)
{
    size_t size[4];

    for (unsigned i = 0; i < operand->dims.count; i++)
        size[i] = d[operand->dims.of[i]];
    return takt__size_product(size, operand->dims.count);
}

size_t takt__form_elements(const struct takt_op_entry *entry,
                           const takt_shape *shape)
{
    const struct takt_form_entry *form = &takt__forms[entry->form];
    size_t memory[TAKT_DIMS];

    if (form->is_opaque)
        return takt__size_product(shape->dim, shape->rank);
    const size_t *d = takt__form_dims(form, shape, memory);
    size_t most = form->out.dims.count == 0 ? 0 : elements_of(&form->out, d);
    for (unsigned i = 0; i < entry->op.inputs; i++) {
        const size_t elements = elements_of(&form->in[i], d);
        most = elements > most ? elements : most;
    }
    return most;
}

/* ---- work ---------------------------------------------------------------- */

static ALWAYS_INLINE double product(const size_t *d, const uint8_t *dims,
                                    unsigned count)
{
    double all = 1;

    for (unsigned i = 0; i < count; i++)
        all *= (double)d[dims[i]];
    return all;
}

/* Of an input that the op has; optional ones are not counted. */
static ALWAYS_INLINE double input_elements(const struct takt_form_entry *form,
                                           const size_t *d, unsigned inputs,
                                           unsigned input)
{
    const struct takt_dim_list *dims = &form->in[input].dims;

    return dims->count > 0 && input < inputs ? product(d, dims->of, dims->count)
                                             : 0;
}

/* Whether all operands have as many elements as the output. */
static ALWAYS_INLINE bool is_even(const struct takt_form_entry *form)
{
    const struct takt_form_operand *second = &form->in[1];

    return form->over.count == 0 &&
           (second->is_optional || second->dims.count == 0 ||
            second->dims.count == form->out.dims.count);
}

static ALWAYS_INLINE void work_by(const struct takt_form_entry *form,
                                  const struct takt_op_entry *entry,
                                  const takt_shape *shape, double *elements,
                                  double *flops)
{
    const struct takt_dim_list *out = &form->out.dims;
    const unsigned inputs = entry->op.inputs;
    size_t memory[TAKT_DIMS];

    if (is_even(form)) { /* a number of elements says it all */
        double n = 1;
        for (unsigned i = 0; i < shape->rank; i++)
            n *= (double)shape->dim[i];
        *elements = form == &takt__forms[TAKT_FORM_view] ? 0 : n * (inputs + 1);
        *flops = n * entry->flops;
        return;
    }
    const size_t *d = takt__form_dims(form, shape, memory);
    const double outputs = product(d, out->of, out->count);
    const double steps = product(d, form->over.of, form->over.count);
    *elements = outputs + input_elements(form, d, inputs, 0) +
                input_elements(form, d, inputs, 1) +
                input_elements(form, d, inputs, 2) +
                input_elements(form, d, inputs, 3);
    *flops = entry->flops * outputs * steps;
    if (form->more_flops != 0)
        *flops +=
            form->more_flops * product(d, form->more.of, form->more.count);
}

/* ---- operands ------------------------------------------------------------ */

static inline size_t at_least_one(size_t size)
{
    return size == 0 ? 1 : size;
}

/* `rows` rows of `cols` <= `ld` elements, `ld` apart. All count as whole ones,
 * also where there are none, so that no offset overflows. */
static inline size_t span(size_t rows, size_t cols, size_t ld, bool *overflow)
{
    const size_t whole = takt__size_mul(at_least_one(rows), at_least_one(ld));

    *overflow |= whole > TAKT_MOST_ELEMENTS;
    return rows == 0 || cols == 0 ? 0 : whole - (ld - cols);
}

/* Sizes of 0 count as 1 for the limit: beside one, all others could be
 * anything, and so could what is computed of some of them. */
static ALWAYS_INLINE size_t length_of(const takt_call *call, const size_t *d,
                                      const struct takt_form_operand *is,
                                      bool *overflow)
{
    size_t whole = 1;
    bool is_empty = false;

    if (is->has_ld)
        return span(d[takt__operand_dim(is, call->flags, 0)],
                    d[takt__operand_dim(is, call->flags, 1)], call->ld[is->ld],
                    overflow);
    for (unsigned i = 0; i < is->dims.count; i++) {
        const size_t size = d[takt__operand_dim(is, call->flags, i)];
        whole = takt__size_mul(whole, at_least_one(size));
        is_empty |= size == 0;
    }
    *overflow |= whole > TAKT_MOST_ELEMENTS;
    return is_empty ? 0 : whole;
}

static ALWAYS_INLINE size_t length_in(const struct takt_form_entry *form,
                                      const takt_call *call, const size_t *d,
                                      unsigned operand, bool *overflow)
{
    return takt__call_has(call, form, operand)
               ? length_of(call, d, takt__form_operand(form, operand), overflow)
               : 0;
}

static ALWAYS_INLINE void lengths_by(const struct takt_form_entry *form,
                                     const takt_call *call,
                                     struct takt_lengths *out)
{
    size_t memory[TAKT_DIMS];
    const size_t *d = takt__form_dims(form, &call->shape, memory);

    out->overflow = false;
    out->of[0] = length_in(form, call, d, 0, &out->overflow);
    out->of[1] = length_in(form, call, d, 1, &out->overflow);
    out->of[2] = length_in(form, call, d, 2, &out->overflow);
    out->of[3] = length_in(form, call, d, 3, &out->overflow);
    out->of[TAKT_OUT] = length_in(form, call, d, TAKT_OUT, &out->overflow);
}

struct takt_rows takt__form_rows(const struct takt_form_entry *form,
                                 const takt_call *call, unsigned operand)
{
    const struct takt_form_operand *is = takt__form_operand(form, operand);
    struct takt_rows rows = {.rows = 1, .cols = 1, .ld = 1};
    size_t memory[TAKT_DIMS];

    if (!takt__call_has(call, form, operand))
        return (struct takt_rows){0};
    const size_t *d = takt__form_dims(form, &call->shape, memory);
    for (unsigned i = 0; i < is->dims.count; i++) {
        const size_t size = d[takt__operand_dim(is, call->flags, i)];
        if (i > 0 && i + 1 == is->dims.count)
            rows.cols = rows.ld = size;
        else
            rows.rows *= size;
    }
    if (is->has_ld)
        rows.ld = call->ld[is->ld];
    return rows;
}

/* ---- admission ----------------------------------------------------------- */

/* Whether an input and the output are blocks of one matrix that lie side by
 * side: their rows alternate, as in a factorisation in place. */
static bool are_side_by_side(const struct takt_form_entry *form,
                             const takt_call *call, unsigned operand,
                             size_t size)
{
    const uintptr_t in = (uintptr_t)call->in[operand];
    const uintptr_t out = (uintptr_t)call->out;
    const uintptr_t apart = in < out ? out - in : in - out;
    const struct takt_rows of_in = takt__form_rows(form, call, operand);
    const struct takt_rows of_out = takt__form_rows(form, call, TAKT_OUT);

    if (of_in.ld != of_out.ld || apart % size != 0)
        return false;
    const size_t columns = apart / size % of_out.ld;
    const size_t left = in < out ? of_in.cols : of_out.cols;
    const size_t right = in < out ? of_out.cols : of_in.cols;
    return columns >= left && columns + right <= of_out.ld;
}

static __attribute__((noinline)) bool
may_overlap(const struct takt_form_entry *form, const takt_call *call,
            const struct takt_lengths *lengths, unsigned operand, size_t size)
{
    if (form->aliasing == TAKT_ALIAS_SAME)
        return call->in[operand] == call->out &&
               lengths->of[operand] == lengths->of[TAKT_OUT];
    return form->aliasing == TAKT_ALIAS_BLOCKS &&
           are_side_by_side(form, call, operand, size);
}

/* Whether an input is there and apart from the output. One without elements may
 * be NULL, beside an output that has some: a product over nothing, an image
 * that is padding alone. Kernels take offsets from operands, which NULL does
 * not allow, so they get an address. */
static ALWAYS_INLINE bool admit_input(takt_call *call,
                                      const struct takt_form_entry *form,
                                      const struct takt_lengths *lengths,
                                      unsigned input)
{
    static const double empty_operand;
    const size_t size = takt__dtype_size(call->dtype);
    const size_t bytes = lengths->of[input] * size;
    const size_t out_bytes = lengths->of[TAKT_OUT] * size;

    if (bytes == 0) {
        if (out_bytes > 0 && call->in[input] == NULL &&
            input < call->op->inputs)
            call->in[input] = &empty_operand;
        return true;
    }
    return takt__is_sane(call->in[input], bytes) &&
           (!takt__overlap(call->in[input], bytes, call->out, out_bytes) ||
            may_overlap(form, call, lengths, input, size));
}

static ALWAYS_INLINE takt_status admit_operands(
    takt_call *call, const struct takt_form_entry *form, bool *is_empty)
{
    const size_t size = takt__dtype_size(call->dtype);
    struct takt_lengths lengths;

    lengths_by(form, call, &lengths);
    if (lengths.overflow)
        return TAKT_ESHAPE;
    *is_empty = lengths.of[TAKT_OUT] == 0;
    if ((!*is_empty &&
         !takt__is_sane(call->out, lengths.of[TAKT_OUT] * size)) ||
        !admit_input(call, form, &lengths, 0) ||
        !admit_input(call, form, &lengths, 1) ||
        !admit_input(call, form, &lengths, 2) ||
        !admit_input(call, form, &lengths, 3))
        return TAKT_EINVAL;
    return TAKT_OK;
}

/* A stride that leaves the padded image after the first position gives that
 * position alone, however long it is; kernels get the shortest such stride. */
static void shorten_stride(const struct takt_form_window *window, size_t *d)
{
    const size_t pad = d[window->pad];
    const size_t down = d[TAKT_CONV2D_H] + 2 * pad - d[window->height];
    const size_t across = d[TAKT_CONV2D_W] + 2 * pad - d[window->width];
    const size_t most = (down > across ? down : across) + 1;

    if (d[window->stride] > most)
        d[window->stride] = most;
}

/* Rows without gaps where the caller left 0. False: rows overlap. */
static ALWAYS_INLINE bool complete_ld(takt_call *call,
                                      const struct takt_form_operand *is)
{
    if (!is->has_ld)
        return true;
    const size_t cols = call->shape.dim[takt__operand_dim(is, call->flags, 1)];
    if (call->ld[is->ld] == 0)
        call->ld[is->ld] = cols;
    return call->ld[is->ld] >= cols;
}

static ALWAYS_INLINE takt_status admit_sizes(takt_call *call,
                                             const struct takt_form_entry *form,
                                             unsigned rules)
{
    takt_shape *shape = &call->shape;

    if (form->window != NULL)
        takt__window_complete(form->window, shape);
    if (shape->rank < form->rank_min || shape->rank > form->rank_max ||
        !takt__form_fits(form, shape) || !complete_ld(call, &form->in[0]) ||
        !complete_ld(call, &form->in[1]) || !complete_ld(call, &form->out))
        return TAKT_ESHAPE;
    if (form->window != NULL)
        shorten_stride(form->window, shape->dim);
    return takt__check_rules(call, rules);
}

static ALWAYS_INLINE takt_status admit_by(const struct takt_form_entry *form,
                                          takt_call *call, unsigned rules,
                                          bool *is_empty)
{
    const takt_status status = admit_sizes(call, form, rules);
    return status != TAKT_OK ? status : admit_operands(call, form, is_empty);
}

/* ---- for each form ------------------------------------------------------- */

#define TAKT_FORM(name_, ...)                                            \
    static void name_##_work(const struct takt_op_entry *entry,          \
                             const takt_shape *shape, double *elements,  \
                             double *flops)                              \
    {                                                                    \
        work_by(&takt__forms[TAKT_FORM_##name_], entry, shape, elements, \
                flops);                                                  \
    }                                                                    \
    static void name_##_lengths(const takt_call *call,                   \
                                struct takt_lengths *out)                \
    {                                                                    \
        lengths_by(&takt__forms[TAKT_FORM_##name_], call, out);          \
    }                                                                    \
    static takt_status name_##_admit(takt_call *call, unsigned rules,    \
                                     bool *is_empty)                     \
    {                                                                    \
        return admit_by(&takt__forms[TAKT_FORM_##name_], call, rules,    \
                        is_empty);                                       \
    }
#include "op/forms.def"

const struct takt_form_entry takt__forms[TAKT_FORMS] = {
#define TAKT_FORM(name_, rank_min_, rank_max_, shape_, layouts_, ...) \
    [TAKT_FORM_##name_] = {.shape = shape_,                           \
                           .rank_min = rank_min_,                     \
                           .rank_max = rank_max_,                     \
                           .layouts = layouts_,                       \
                           .work = name_##_work,                      \
                           .lengths = name_##_lengths,                \
                           .admit = name_##_admit,                    \
                           __VA_ARGS__},
#include "op/forms.def"
};
