/* SPDX-License-Identifier: MIT */
/*
 * test_admit.c - calls that cannot be run say why and touch nothing.
 *
 * One valid call per op is spoilt in every way that is forbidden. All operands
 * lie in one array of known bytes, which must be the same afterwards.
 */
#include "op/admit.h"

#include <stdint.h>

#include "support/tap.h"
#include "takt/takt.h"

enum { slot = 1024, slots = 6 };

static _Alignas(64) unsigned char memory[slot * slots];
static _Alignas(64) unsigned char before[slot * slots];

static void *at(size_t index)
{
    return memory + index * slot;
}

static void paint(void)
{
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (unsigned char)(i * 37 + i / slot * 101 + 11);
    memcpy(before, memory, sizeof memory);
}

static bool is_untouched(void)
{
    return memcmp(memory, before, sizeof memory) == 0;
}

/* ---- a valid call of each op ------------------------------------------------
 */

struct row {
    const char *op;
    takt_shape shape;
    int inputs;        /* that must not be NULL */
    size_t in[4], out; /* elements */
};

#define SHAPE(rank_, ...)                     \
    {                                         \
        .rank = rank_, .dim = { __VA_ARGS__ } \
    }

static const struct row rows[] = {
    {"add", SHAPE(1, 9), 2, {9, 9}, 9},
    {"sub", SHAPE(1, 9), 2, {9, 9}, 9},
    {"mul", SHAPE(1, 9), 2, {9, 9}, 9},
    {"div", SHAPE(1, 9), 2, {9, 9}, 9},
    {"scale", SHAPE(1, 9), 1, {9}, 9},
    {"axpy", SHAPE(1, 9), 1, {9}, 9},
    {"fma", SHAPE(1, 9), 3, {9, 9, 9}, 9},
    {"abs", SHAPE(1, 9), 1, {9}, 9},
    {"neg", SHAPE(1, 9), 1, {9}, 9},
    {"clamp", SHAPE(1, 9), 1, {9}, 9},
    {"sqrt", SHAPE(1, 9), 1, {9}, 9},
    {"exp", SHAPE(1, 9), 1, {9}, 9},
    {"log", SHAPE(1, 9), 1, {9}, 9},
    {"exp2", SHAPE(1, 9), 1, {9}, 9},
    {"expm1", SHAPE(1, 9), 1, {9}, 9},
    {"log2", SHAPE(1, 9), 1, {9}, 9},
    {"log1p", SHAPE(1, 9), 1, {9}, 9},
    {"sin", SHAPE(1, 9), 1, {9}, 9},
    {"cos", SHAPE(1, 9), 1, {9}, 9},
    {"sigmoid", SHAPE(1, 9), 1, {9}, 9},
    {"tanh", SHAPE(1, 9), 1, {9}, 9},
    {"relu", SHAPE(1, 9), 1, {9}, 9},
    {"gelu", SHAPE(1, 9), 1, {9}, 9},
    {"copy", SHAPE(1, 9), 1, {9}, 9},
    {"bias_add", SHAPE(2, 3, 4), 2, {12, 4}, 12},
    {"bias_mul", SHAPE(2, 3, 4), 2, {12, 4}, 12},
    {"row_sum", SHAPE(2, 3, 4), 1, {12}, 3},
    {"row_mean", SHAPE(2, 3, 4), 1, {12}, 3},
    {"row_max", SHAPE(2, 3, 4), 1, {12}, 3},
    {"col_sum", SHAPE(2, 3, 4), 1, {12}, 4},
    {"col_mean", SHAPE(2, 3, 4), 1, {12}, 4},
    {"col_max", SHAPE(2, 3, 4), 1, {12}, 4},
    {"transpose", SHAPE(2, 3, 4), 1, {12}, 12},
    {"sum", SHAPE(1, 9), 1, {9}, 1},
    {"mean", SHAPE(1, 9), 1, {9}, 1},
    {"max", SHAPE(1, 9), 1, {9}, 1},
    {"min", SHAPE(1, 9), 1, {9}, 1},
    {"argmax", SHAPE(1, 9), 1, {9}, 1},
    {"argmin", SHAPE(1, 9), 1, {9}, 1},
    {"dot", SHAPE(1, 9), 2, {9, 9}, 1},
    {"norm1", SHAPE(1, 9), 1, {9}, 1},
    {"norm2", SHAPE(1, 9), 1, {9}, 1},
    {"variance", SHAPE(1, 9), 1, {9}, 1},
    {"softmax", SHAPE(2, 3, 4), 1, {12}, 12},
    {"layernorm", SHAPE(2, 3, 4), 1, {12, 4, 4}, 12},
    {"gemv", SHAPE(2, 3, 4), 2, {12, 4}, 3},
    {"matmul", SHAPE(3, 3, 4, 5), 2, {15, 20}, 12},
    {"batched_matmul", SHAPE(4, 2, 3, 4, 5), 2, {30, 40}, 24},
    {"conv2d", SHAPE(10, 1, 2, 5, 5, 2, 3, 3, 1, 1, 1), 2, {50, 36, 2}, 50},
    {"pooling", SHAPE(7, 1, 2, 6, 6, 2, 2, 0), 1, {72}, 18},
    {"attention", SHAPE(5, 1, 2, 3, 4, 5), 3, {30, 40, 40, 12}, 30},
    {"cholesky", SHAPE(2, 3, 3), 1, {9}, 9},
    {"solve", SHAPE(2, 3, 2), 2, {9, 6}, 6},
    {"qr", SHAPE(2, 4, 3), 1, {12}, 21},
    {"lstsq", SHAPE(3, 4, 3, 2), 2, {12, 8}, 6},
};

enum { row_count = sizeof rows / sizeof rows[0] };

static bool is_called(const struct row *row, const char *op)
{
    return strcmp(row->op, op) == 0;
}

static const struct row *row_of(const char *op)
{
    size_t i = 0;

    while (i < row_count && !is_called(&rows[i], op))
        i++;
    REQUIRE(i < row_count);
    return &rows[i];
}

static bool may_be_in_place(const struct row *row)
{
    return row->shape.rank == 1
               ? row->out > 1
               : is_called(row, "softmax") || is_called(row, "layernorm") ||
                     is_called(row, "bias_add") || is_called(row, "bias_mul");
}

static takt_call call_of(const struct row *row, takt_dtype dtype)
{
    takt_call call = {.op = takt_op_find(row->op),
                      .dtype = dtype,
                      .shape = row->shape,
                      .out = at(4),
                      .alpha = 1,
                      .beta = 1};

    REQUIRE(call.op != NULL);
    for (size_t i = 0; i < 4; i++)
        if (row->in[i] > 0)
            call.in[i] = at(i);
    if (is_called(row, "axpy"))
        call.in[1] = call.out;
    return call;
}

/* ---- trying
 * ------------------------------------------------------------------ */

static takt_ctx *ctx;

static void expect(const takt_call *call, takt_status want, const char *how)
{
    takt_decision decision;

    memset(&decision, 0x5A, sizeof decision);
    decision.size = sizeof decision;
    paint();
    takt_status got = takt_run(ctx, call, &decision);
    if (got == TAKT_ESINGULAR || got == TAKT_EDEFINITE)
        got = TAKT_OK; /* it was run, on what the memory held */
    TAP_CHECK(got == want, "%s, %s: %s, not %s",
              call->op != NULL ? call->op->name : "no op", how,
              takt_status_text(got), takt_status_text(want));
    if (want != TAKT_OK)
        TAP_CHECK(is_untouched(), "%s, %s: something was touched",
                  call->op != NULL ? call->op->name : "no op", how);
}

/* Runs `check` on a valid call of every op and dtype. */
static void each_call(void (*check)(const struct row *, takt_call))
{
    for (size_t i = 0; i < row_count; i++)
        for (int dtype = 0; dtype < 2; dtype++)
            if ((takt_op_find(rows[i].op)->dtypes >> dtype & 1) != 0)
                check(&rows[i], call_of(&rows[i], (takt_dtype)dtype));
}

static void every_op_is_here(void)
{
    size_t views = 0;

    for (size_t i = 0; i < takt_op_count(); i++)
        views += takt__op_entry(takt_op_at(i))->form == TAKT_FORM_view;
    EXPECT_INT(row_count + views, takt_op_count());
}

static void check_valid(const struct row *row, takt_call call)
{
    (void)row;
    expect(&call, TAKT_OK, "as it should be");
    TAP_CHECK(!is_untouched(), "%s wrote nothing", call.op->name);
}

static void valid_calls_are_run(void)
{
    each_call(check_valid);
}

/* ---- pointers
 * ---------------------------------------------------------------- */

static void check_null(const struct row *row, takt_call call)
{
    for (int i = 0; i < row->inputs; i++) {
        takt_call bad = call;
        bad.in[i] = NULL;
        expect(&bad, TAKT_EINVAL, "an input is NULL");
    }
    call.out = NULL;
    if (is_called(row, "axpy"))
        call.in[1] = NULL;
    expect(&call, TAKT_EINVAL, "the output is NULL");
}

static void a_missing_operand_is_refused(void)
{
    each_call(check_null);
}

static void check_null_optional(const struct row *row, takt_call call)
{
    for (int i = row->inputs; i < 4; i++)
        if (row->in[i] > 0) {
            takt_call good = call;
            good.in[i] = NULL;
            expect(&good, TAKT_OK, "an optional input is NULL");
        }
}

static void an_optional_operand_may_be_missing(void)
{
    each_call(check_null_optional);
}

static void check_end_of_memory(const struct row *row, takt_call call)
{
    const uintptr_t last = UINTPTR_MAX - 7;

    for (int i = 0; i < row->inputs; i++) {
        takt_call bad = call;
        bad.in[i] = (const void *)last;
        expect(&bad, TAKT_EINVAL, "an input passes the end of memory");
    }
}

static void an_operand_beyond_the_address_space_is_refused(void)
{
    each_call(check_end_of_memory);
}

static void no_op_and_no_call_are_refused(void)
{
    takt_call call = call_of(&rows[0], TAKT_F32);

    call.op = NULL;
    expect(&call, TAKT_EINVAL, "no op");
    EXPECT_INT(takt_run(ctx, NULL, NULL), TAKT_EINVAL);
}

/* ---- overlaps
 * ---------------------------------------------------------------- */

/* `out` begins inside input i, or input i inside out. */
static void check_shifted(const struct row *row, takt_call call, int i,
                          ptrdiff_t shift)
{
    takt_call bad = call;

    bad.out = (char *)at((size_t)i) + shift;
    if (is_called(row, "axpy"))
        bad.in[1] = bad.out;
    expect(&bad, TAKT_EINVAL, "shifted overlap");
}

static void check_overlaps(const struct row *row, takt_call call)
{
    const ptrdiff_t size = (ptrdiff_t)takt_dtype_size(call.dtype);

    for (int i = 0; i < 4; i++) {
        if (row->in[i] == 0 || (is_called(row, "axpy") && i > 0))
            continue;
        const ptrdiff_t last = (ptrdiff_t)(row->in[i] - 1) * size;
        check_shifted(row, call, i, size);
        check_shifted(row, call, i, last);
        if (i > 0 && row->out > 1)
            check_shifted(row, call, i, -size);
        if (row->in[i] != row->out || !may_be_in_place(row))
            check_shifted(row, call, i, 0);
    }
}

static void overlaps_are_refused(void)
{
    each_call(check_overlaps);
}

static void check_alias(const struct row *row, takt_call call)
{
    for (int i = 0; i < 4 && may_be_in_place(row); i++)
        if (row->in[i] == row->out && !is_called(row, "axpy")) {
            takt_call same = call;
            same.in[i] = call.out;
            expect(&same, TAKT_OK, "in place");
        }
}

static void the_same_array_is_allowed_where_the_op_is_element_or_row_wise(void)
{
    each_call(check_alias);
}

static void axpy_writes_to_what_it_reads(void)
{
    takt_call call = call_of(row_of("axpy"), TAKT_F32);

    call.in[1] = at(1);
    expect(&call, TAKT_EINVAL, "y is not the output");
}

/* Side by side is no overlap, whatever the size of the result. */
static void check_neighbours(const struct row *row, takt_call call)
{
    const size_t size = takt_dtype_size(call.dtype);
    const bool is_position =
        is_called(row, "argmax") || is_called(row, "argmin");
    const size_t result = is_position ? sizeof(size_t) : row->out * size;

    if (is_called(row, "axpy"))
        return;
    call.out = (char *)at(1) - result;
    call.in[0] = at(1);
    if (call.in[1] != NULL)
        call.in[1] = at(5);
    expect(&call, TAKT_OK, "the output ends where an input begins");
    call.in[0] = at(0);
    call.out = (char *)at(0) + row->in[0] * size;
    if (!is_position || row->in[0] * size % sizeof(size_t) == 0)
        expect(&call, TAKT_OK, "an input ends where the output begins");
}

/* Blocks of one matrix, 8 columns wide: C of 2 by 3 at column 4, and A of 2 by
 * `width` at `column` of `row`, or B of that size. */
static void expect_blocks(int operand, size_t row, size_t column, size_t width,
                          takt_status status)
{
    static float matrix[64], other[64];
    const bool is_a = operand == 0;
    takt_call call = {.op = takt_op_find("matmul"),
                      .shape = {.rank = 3, .dim = {2, 3, is_a ? width : 2}},
                      .out = matrix + 8 + 4,
                      .ld = {8, 8, 8},
                      .alpha = 1};
    bool is_empty;

    call.in[operand] = matrix + 8 * row + column;
    call.in[!operand] = other;
    EXPECT_INT(takt__admit(&call, &is_empty), status);
}

static void blocks_of_one_matrix_may_lie_side_by_side(void)
{
    for (size_t row = 0; row < 3; row++) {
        expect_blocks(0, row, 0, 4, TAKT_OK);
        expect_blocks(0, row, 7, 1, TAKT_OK);
        expect_blocks(1, row, 1, 3, TAKT_OK);
    }
    expect_blocks(0, 1, 0, 5, TAKT_EINVAL);
    expect_blocks(0, 1, 6, 1, TAKT_EINVAL);
    expect_blocks(0, 2, 3, 2, TAKT_EINVAL);
    expect_blocks(1, 1, 2, 3, TAKT_EINVAL);
    expect_blocks(0, 0, 7, 2, TAKT_OK); /* its rows go on in the next */
    expect_blocks(0, 0, 7, 6, TAKT_EINVAL);
}

static void neighbours_do_not_overlap(void)
{
    each_call(check_neighbours);
}

/* ---- sizes
 * ------------------------------------------------------------------- */

static void check_huge(const struct row *row, takt_call call)
{
    static const size_t huge[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 2,
                                  (size_t)1 << 61, (size_t)1 << 62};

    for (unsigned d = 0; d < row->shape.rank && d < 5; d++)
        for (size_t k = 0; k < sizeof huge / sizeof huge[0]; k++) {
            takt_call bad = call;
            bad.shape.dim[d] = huge[k];
            expect(&bad, TAKT_ESHAPE, "a huge size");
        }
}

static void sizes_that_overflow_are_refused(void)
{
    each_call(check_huge);
}

/* 2^32 x 2^32 elements: every size is plausible, the product is 0 mod 2^64. */
static void check_products(const struct row *row, takt_call call)
{
    const size_t half = (size_t)1 << 32;

    if (row->shape.rank < 2 || is_called(row, "conv2d") ||
        is_called(row, "pooling"))
        return;
    for (unsigned d = 0; d < row->shape.rank; d++)
        call.shape.dim[d] = half;
    expect(&call, TAKT_ESHAPE, "sizes whose product overflows");
}

static void sizes_whose_product_overflows_are_refused(void)
{
    each_call(check_products);
}

static bool needs_an_element(const struct row *row)
{
    static const char *const ops[] = {"mean",   "max",    "min",
                                      "argmax", "argmin", "variance"};

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (is_called(row, ops[i]))
            return true;
    return false;
}

static void check_empty_vector(const struct row *row, takt_call call)
{
    if (row->shape.rank != 1)
        return;
    call.shape.dim[0] = 0;
    if (row->out > 1) { /* then nothing is needed, and nothing touched */
        takt_call none = call;
        none.in[0] = none.in[1] = none.in[2] = none.out = NULL;
        expect(&none, TAKT_OK, "nothing, nowhere");
        TAP_CHECK(is_untouched(), "%s of nothing wrote", row->op);
        return;
    }
    expect(&call, needs_an_element(row) ? TAKT_ESHAPE : TAKT_OK, "no elements");
    const size_t size = takt_dtype_size(call.dtype);
    const unsigned char zero[sizeof(double)] = {0};
    if (!needs_an_element(row))
        TAP_CHECK(memcmp(call.out, zero, size) == 0, "%s of nothing is not 0",
                  row->op);
}

static void vectors_of_nothing_are_legal(void)
{
    each_call(check_empty_vector);
}

/* Means and maxima of nothing there are none. */
static bool is_refused_without(const struct row *row, unsigned dim)
{
    return dim == 0 ? is_called(row, "col_mean") || is_called(row, "col_max")
                    : dim == 1 && (is_called(row, "row_mean") ||
                                   is_called(row, "row_max"));
}

/* One size 0 at a time; windows must have one. */
static void check_empty(const struct row *row, takt_call call)
{
    const bool is_window =
        is_called(row, "conv2d") || is_called(row, "pooling");
    const unsigned sizes = is_window ? 2 : row->shape.rank;

    if (row->shape.rank < 2)
        return;
    for (unsigned d = 0; d < sizes; d++) {
        takt_call empty = call;
        empty.shape.dim[d] = 0;
        if (takt__op_form(call.op)->is_square)
            empty.shape.dim[1 - d] = 0;
        if (takt__op_form(call.op)->is_tall && d == 0)
            empty.shape.dim[1] = 0;
        expect(&empty, is_refused_without(row, d) ? TAKT_ESHAPE : TAKT_OK,
               "a size of 0");
    }
    if (is_window) {
        call.shape.dim[is_called(row, "conv2d") ? 5 : 4] = 0;
        expect(&call, TAKT_ESHAPE, "a window of nothing");
    }
}

static void sizes_of_zero_are_legal(void)
{
    each_call(check_empty);
}

static void check_rank(const struct row *row, takt_call call)
{
    takt_call bad = call;

    bad.shape.rank = 0;
    expect(&bad, TAKT_ESHAPE, "no sizes");
    bad.shape.rank = call.op->rank_min - 1;
    expect(&bad, TAKT_ESHAPE, "too few sizes");
    bad.shape.rank = call.op->rank_max + 1;
    if (bad.shape.rank <= TAKT_SHAPE_MAX_RANK)
        expect(&bad, TAKT_ESHAPE, "too many sizes");
    bad.shape.rank = TAKT_SHAPE_MAX_RANK + 1;
    expect(&bad, TAKT_EINVAL, "more sizes than there are");
    (void)row;
}

static void a_wrong_number_of_sizes_is_refused(void)
{
    each_call(check_rank);
}

static void leading_dimensions_that_are_too_small_are_refused(void)
{
    for (size_t i = 0; i < row_count; i++) {
        takt_call call = call_of(&rows[i], TAKT_F32);
        if (is_called(&rows[i], "transpose")) {
            call.ld[0] = 3;
            expect(&call, TAKT_ESHAPE, "ld of a");
            call.ld[0] = 4, call.ld[2] = 2;
            expect(&call, TAKT_ESHAPE, "ld of out");
        } else if (is_called(&rows[i], "gemv")) {
            call.ld[0] = 3;
            expect(&call, TAKT_ESHAPE, "ld of A");
        } else if (is_called(&rows[i], "matmul")) {
            for (int k = 0; k < 3; k++) {
                takt_call bad = call;
                bad.ld[k] = (size_t[]){4, 3, 3}[k];
                expect(&bad, TAKT_ESHAPE, "ld of A, B or C");
                bad.ld[k] = SIZE_MAX / 2;
                expect(&bad, TAKT_ESHAPE, "an ld that overflows");
            }
            call.flags = TAKT_TRANS_A | TAKT_TRANS_B;
            call.ld[0] = 2; /* A is stored 5 x 3 */
            expect(&call, TAKT_ESHAPE, "ld of A'");
            call.ld[0] = 3, call.ld[1] = 4; /* B is stored 4 x 5 */
            expect(&call, TAKT_ESHAPE, "ld of B'");
            call.ld[1] = 5;
            expect(&call, TAKT_OK, "lds of A' and B'");
        }
    }
}

static void windows_that_do_not_fit_are_refused(void)
{
    takt_call conv = call_of(row_of("conv2d"), TAKT_F32);
    takt_call pool = call_of(row_of("pooling"), TAKT_F32);

    conv.shape.dim[5] = 8;
    expect(&conv, TAKT_ESHAPE, "a window higher than the image");
    conv = call_of(row_of("conv2d"), TAKT_F32);
    conv.shape.dim[8] = 3;
    expect(&conv, TAKT_ESHAPE, "padding as wide as the window");
    conv.shape.dim[8] = SIZE_MAX / 2 + 1;
    expect(&conv, TAKT_ESHAPE, "padding that overflows");
    conv = call_of(row_of("conv2d"), TAKT_F32);
    conv.shape.dim[9] = 3;
    expect(&conv, TAKT_ESHAPE, "groups that do not divide the channels");
    pool.shape.dim[4] = 7;
    expect(&pool, TAKT_ESHAPE, "a window larger than the image");
    pool = call_of(row_of("pooling"), TAKT_F32);
    pool.shape.dim[6] = 2;
    expect(&pool, TAKT_ESHAPE, "padding as wide as the window");
}

/* ---- values and types
 * ---------------------------------------------------------- */

static void a_wrong_dtype_is_refused(void)
{
    for (size_t i = 0; i < row_count; i++) {
        takt_call call = call_of(&rows[i], TAKT_F32);
        call.dtype = (takt_dtype)2;
        expect(&call, TAKT_EINVAL, "an unknown dtype");
        call.dtype = TAKT_F64;
        if ((call.op->dtypes >> TAKT_F64 & 1) == 0)
            expect(&call, TAKT_EINVAL, "a dtype the op has not");
    }
}

static void parameters_out_of_range_are_refused(void)
{
    takt_call clamp = call_of(row_of("clamp"), TAKT_F32);
    takt_call norm = call_of(row_of("layernorm"), TAKT_F32);

    clamp.alpha = 2, clamp.beta = 1;
    expect(&clamp, TAKT_EINVAL, "low above high");
    clamp.alpha = NAN;
    expect(&clamp, TAKT_EINVAL, "low is NaN");
    clamp.alpha = 1, clamp.beta = NAN;
    expect(&clamp, TAKT_EINVAL, "high is NaN");
    norm.alpha = -1;
    expect(&norm, TAKT_EINVAL, "a negative epsilon");
    norm.alpha = NAN;
    expect(&norm, TAKT_EINVAL, "epsilon is NaN");
}

/* ---- flags and factors
 * ----------------------------------------------------- */

static unsigned flags_of(const struct row *row)
{
    return is_called(row, "matmul")      ? TAKT_TRANS_A | TAKT_TRANS_B
           : is_called(row, "gemv")      ? TAKT_TRANS_A
           : is_called(row, "attention") ? TAKT_CALL_CAUSAL
           : is_called(row, "pooling")   ? TAKT_CALL_MEAN_POOL
                                         : 0;
}

static void check_flags(const struct row *row, takt_call call)
{
    const unsigned common = TAKT_CALL_URGENT | TAKT_CALL_TF32 |
                            TAKT_CALL_STEADY | TAKT_CALL_ALPHA_ZERO |
                            TAKT_CALL_UNTYPICAL;

    for (unsigned bit = 0; bit < 32; bit++) {
        takt_call flagged = call;
        flagged.flags = 1u << bit;
        if ((flagged.flags & (common | flags_of(row))) == 0)
            expect(&flagged, TAKT_EINVAL, "a flag that is not its own");
        else
            expect(&flagged, TAKT_OK, "a flag of its own");
    }
}

static void an_op_takes_its_own_flags_only(void)
{
    each_call(check_flags);
}

static bool is_multiplied(const struct row *row)
{
    static const char *const ops[] = {"scale",  "axpy",           "gemv",
                                      "matmul", "batched_matmul", "clamp"};

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (is_called(row, ops[i]))
            return true;
    return false;
}

static void check_factor(const struct row *row, takt_call call)
{
    call.alpha = call.beta = 0;
    expect(&call, is_multiplied(row) ? TAKT_EINVAL : TAKT_OK,
           "no factor was set");
    call.flags = TAKT_CALL_ALPHA_ZERO;
    expect(&call, TAKT_OK, "a factor of 0 that is meant");
}

static void a_factor_that_was_not_set_is_refused(void)
{
    each_call(check_factor);
}

static void what_has_nothing_to_run_is_not_supported(void)
{
    const takt_op *mine;
    takt_call call = {.op = takt_op_find("reshape"),
                      .shape = SHAPE(1, 9),
                      .in = {at(0)},
                      .out = at(1)};

    expect(&call, TAKT_ENOTSUP, "a view");
    REQUIRE(takt_ctx_define_op(ctx, &(takt_op_spec){.name = "mine"}, &mine) ==
            TAKT_OK);
    call.op = mine;
    expect(&call, TAKT_ENOTSUP, "a user's op");
}

int main(void)
{
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.threads = 2, .blas = ""},
                            &ctx) == TAKT_OK);
    RUN(every_op_is_here);
    RUN(valid_calls_are_run);
    RUN(a_missing_operand_is_refused);
    RUN(an_optional_operand_may_be_missing);
    RUN(an_operand_beyond_the_address_space_is_refused);
    RUN(no_op_and_no_call_are_refused);
    RUN(overlaps_are_refused);
    RUN(the_same_array_is_allowed_where_the_op_is_element_or_row_wise);
    RUN(axpy_writes_to_what_it_reads);
    RUN(neighbours_do_not_overlap);
    RUN(blocks_of_one_matrix_may_lie_side_by_side);
    RUN(sizes_that_overflow_are_refused);
    RUN(sizes_whose_product_overflows_are_refused);
    RUN(vectors_of_nothing_are_legal);
    RUN(sizes_of_zero_are_legal);
    RUN(a_wrong_number_of_sizes_is_refused);
    RUN(leading_dimensions_that_are_too_small_are_refused);
    RUN(windows_that_do_not_fit_are_refused);
    RUN(a_wrong_dtype_is_refused);
    RUN(parameters_out_of_range_are_refused);
    RUN(an_op_takes_its_own_flags_only);
    RUN(a_factor_that_was_not_set_is_refused);
    RUN(what_has_nothing_to_run_is_not_supported);
    takt_ctx_destroy(ctx);
    return tap_done();
}
