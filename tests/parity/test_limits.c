/* SPDX-License-Identifier: MIT */
/*
 * test_limits.c - every size of every op at its limits.
 *
 * One valid call of each op is changed in one, two and three of its sizes and
 * leading dimensions to values where arithmetic on sizes would overflow. An
 * oracle in wider integers says what takt/ops.h promises of the result. A call
 * that it calls valid and small is run by every expert, on operands that end
 * at pages nobody may touch, and all experts must agree. One that it refuses is
 * run on the same little memory: if it were admitted, it would fault.
 */
#define _GNU_SOURCE
#include <stdint.h>

#include "kernels/table.h"
#include "op/admit.h"
#include "op/operands.h"
#include "parity/limits.h"
#include "support/dominant.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/tap.h"
#include "takt/takt.h"

enum {
    fields = TAKT_SHAPE_MAX_RANK + 3, /* then the leading dimensions */
    most_bytes = 1 << 16,             /* of an operand that is run on */
    most_experts = 64
};

/* ---- the calls -------------------------------------------------------------
 */

struct subject {
    const char *op;
    size_t dim[TAKT_SHAPE_MAX_RANK];
    unsigned flags;
    bool has_optional; /* bias, mask, gain */
};

static const struct subject subjects[] = {
    {"conv2d", {1, 2, 5, 6, 4, 3, 2, 1, 1, 1}, 0, true},
    {"conv2d", {1, 2, 5, 6, 2, 3, 3, 2, 1, 2}, 0, false}, /* depthwise */
    {"conv2d", {1, 4, 3, 3, 4, 1, 1, 1, 0, 2}, 0, false},
    {"pooling", {1, 2, 6, 5, 3, 2, 1}, 0, false},
    {"pooling", {1, 2, 6, 5, 3, 2, 1}, TAKT_CALL_MEAN_POOL, false},
    {"attention", {1, 2, 3, 4, 5}, 0, true},
    {"attention", {1, 2, 3, 4, 5}, TAKT_CALL_CAUSAL, false},
    {"batched_matmul", {2, 3, 4, 5}, 0, false},
    {"matmul", {3, 4, 5}, 0, false},
    {"matmul", {3, 4, 5}, TAKT_TRANS_A, false},
    {"matmul", {3, 4, 5}, TAKT_TRANS_B, false},
    {"matmul", {3, 4, 5}, TAKT_TRANS_A | TAKT_TRANS_B, false},
    {"gemv", {3, 4}, 0, false},
    {"gemv", {3, 4}, TAKT_TRANS_A, false},
    {"transpose", {3, 4}, 0, false},
    {"softmax", {3, 4}, 0, false},
    {"bias_add", {3, 4}, 0, false},
    {"bias_mul", {3, 4}, 0, false},
    {"row_sum", {3, 4}, 0, false},
    {"row_mean", {3, 4}, 0, false},
    {"row_max", {3, 4}, 0, false},
    {"col_sum", {3, 4}, 0, false},
    {"col_mean", {3, 4}, 0, false},
    {"col_max", {3, 4}, 0, false},
    {"layernorm", {3, 4}, 0, true},
    {"cholesky", {3, 3}, 0, false},
    {"solve", {3, 4}, 0, false},
    {"qr", {4, 3}, 0, false},
    {"lstsq", {4, 3, 2}, 0, false},
};

enum { subject_count = sizeof subjects / sizeof subjects[0] };

static const size_t limits[] = {0,
                                1,
                                2,
                                3,
                                17,
                                4097,
                                INT32_MAX,
                                (size_t)1 << 31,
                                UINT32_MAX,
                                (size_t)1 << 32,
                                ((size_t)1 << 32) + 1,
                                (size_t)1 << 57,
                                PTRDIFF_MAX / 8,
                                PTRDIFF_MAX / 8 + 1,
                                (size_t)1 << 61,
                                ((size_t)1 << 61) + 1,
                                (size_t)1 << 62,
                                PTRDIFF_MAX,
                                (size_t)1 << 63,
                                ((size_t)1 << 63) + 1,
                                SIZE_MAX - 1,
                                SIZE_MAX};

enum { limit_count = sizeof limits / sizeof limits[0] };

static takt_ctx *ctx;
static size_t expert_count;
static struct guard memory[TAKT_OPERANDS];
static size_t admitted, run_calls, refused, run_by[most_experts];

static takt_call call_of(const struct subject *subject, takt_dtype dtype)
{
    takt_call call = {.op = takt_op_find(subject->op),
                      .dtype = dtype,
                      .flags = subject->flags,
                      .alpha = 1,
                      .beta = 0};

    REQUIRE(call.op != NULL);
    call.shape.rank = call.op->rank_max;
    memcpy(call.shape.dim, subject->dim, sizeof subject->dim);
    if (subject->has_optional) /* not NULL: the operand is there */
        call.in[1] = call.in[2] = call.in[3] = memory[0].low;
    return call;
}

static size_t *field_of(takt_call *call, unsigned field)
{
    return field < TAKT_SHAPE_MAX_RANK ? &call->shape.dim[field]
                                       : &call->ld[field - TAKT_SHAPE_MAX_RANK];
}

static bool has_field(const takt_call *call, unsigned field)
{
    return field < call->shape.rank || (field >= TAKT_SHAPE_MAX_RANK &&
                                        (form_of(call) == TAKT_FORM_matmul ||
                                         form_of(call) == TAKT_FORM_solve ||
                                         form_of(call) == TAKT_FORM_qr ||
                                         form_of(call) == TAKT_FORM_lstsq ||
                                         form_of(call) == TAKT_FORM_cholesky ||
                                         form_of(call) == TAKT_FORM_matrix ||
                                         (form_of(call) == TAKT_FORM_gemv &&
                                          field == TAKT_SHAPE_MAX_RANK)));
}

/* ---- running ---------------------------------------------------------------
 */

static char *doing_by; /* the part of guard_doing that names an expert */

/* Once for each call: a name for each expert is short. */
static void describe(const takt_call *call)
{
    const size_t *d = call->shape.dim, *ld = call->ld;
    const int length = DOING(
        "%s %s: %zx %zx %zx %zx %zx %zx %zx %zx %zx %zx, ld %zx %zx %zx, ",
        call->op->name, takt_dtype_name(call->dtype), d[0], d[1], d[2], d[3],
        d[4], d[5], d[6], d[7], d[8], d[9], ld[0], ld[1], ld[2]);
    const size_t most = sizeof guard_doing - 40;

    doing_by = guard_doing + ((size_t)length < most ? (size_t)length : most);
}

static void describe_by(const char *expert)
{
    doing_by[0] = '\0';
    strncat(doing_by, expert, 39);
}

static bool is_small(const struct expected *expected)
{
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        if (expected->of[i] > most_bytes / sizeof(double))
            return false;
    return true;
}

static void place(takt_call *call, const struct expected *expected)
{
    const size_t size = takt_dtype_size(call->dtype);

    for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
        const size_t bytes = (size_t)expected->of[i] * size;
        void *at = guard_at(&memory[i], GUARD_HIGH, bytes, 0);
        if (i == TAKT_OUT)
            call->out = at;
        else if (bytes > 0)
            call->in[i] = at;
    }
    if (takt__op_id(call->op) == TAKT_OP_axpy)
        call->in[1] = call->out;
}

/* Some elements of each operand that the call has. */
static void place_little(takt_call *call)
{
    struct expected little = {.of[TAKT_OUT] = 16};

    for (unsigned i = 0; i < TAKT_OUT; i++)
        if (i < call->op->inputs || call->in[i] != NULL)
            little.of[i] = 16;
    place(call, &little);
}

/* Small whole numbers: their sums are exact in any order. */
static void fill(void)
{
    for (unsigned i = 0; i < TAKT_OUT; i++)
        for (size_t j = 0; j < memory[i].bytes / 4; j++)
            ((float *)(void *)memory[i].low)[j] = (float)(j % 3);
}

/* The same, in the dtype, in a matrix that has factors. */
static void fill_matrix(const takt_call *call, const struct expected *expected)
{
    const size_t count = is_factored(call->op) ? (size_t)expected->of[0] : 0;

    for (size_t i = 0; i < count; i++)
        if (call->dtype == TAKT_F64)
            ((double *)(uintptr_t)call->in[0])[i] = (double)(i % 3);
        else
            ((float *)(uintptr_t)call->in[0])[i] = (float)(i % 3);
    make_dominant(call);
}

static double element(const takt_call *call, const void *at, size_t i)
{
    return call->dtype == TAKT_F32 ? (double)((const float *)at)[i]
                                   : ((const double *)at)[i];
}

static bool is_like(const takt_call *call, const void *want, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double a = element(call, want, i);
        const double b = element(call, call->out, i);
        if (!(isnan(a) && isnan(b)) && a != b &&
            !(fabs(a - b) <= 1e-3 * (1 + fabs(a))))
            return false;
    }
    return true;
}

static bool may_refuse(takt_status status)
{
    return status == TAKT_ENOMEM || status == TAKT_ENODEV;
}

/* A valid call that is small enough for memory, by everybody. */
static void run_small(const takt_call *call, const struct expected *expected)
{
    static char want[most_bytes];
    const size_t bytes =
        (size_t)expected->of[TAKT_OUT] * takt_dtype_size(call->dtype);

    for (size_t i = 0; i < expert_count; i++) {
        const char *name = takt_ctx_expert(ctx, i, NULL);
        describe_by(name);
        guard_paint(&memory[TAKT_OUT], call->out, bytes);
        const takt_status status = takt_run_on(ctx, call, i);
        TAP_CHECK(status == TAKT_OK || (i > 0 && may_refuse(status)), "%s: %s",
                  guard_doing, takt_status_text(status));
        TAP_CHECK(guard_is_whole(&memory[TAKT_OUT], call->out, bytes),
                  "%s wrote beyond its output", guard_doing);
        run_by[i] += status == TAKT_OK;
        if (i == 0)
            memcpy(want, call->out, bytes);
        else if (status == TAKT_OK)
            TAP_CHECK(is_like(call, want, (size_t)expected->of[TAKT_OUT]),
                      "%s: another result than %s", guard_doing,
                      takt_ctx_expert(ctx, 0, NULL));
    }
    describe_by("routed");
    TAP_CHECK(takt_run(ctx, call, NULL) == TAKT_OK, "%s", guard_doing);
    run_calls++;
}

/* One that must be refused, by everybody, before anything is touched. */
static void run_refused(const takt_call *call)
{
    guard_paint(&memory[TAKT_OUT], call->out, 0);
    for (size_t i = 0; i <= expert_count; i++) {
        describe_by(i < expert_count ? takt_ctx_expert(ctx, i, NULL) : "");
        const takt_status status = i < expert_count ? takt_run_on(ctx, call, i)
                                                    : takt_run(ctx, call, NULL);
        TAP_CHECK(status == TAKT_ESHAPE, "%s: %s", guard_doing,
                  takt_status_text(status));
    }
    TAP_CHECK(guard_is_whole(&memory[TAKT_OUT], call->out, 0),
              "%s was refused and wrote", guard_doing);
    refused++;
}

/* There is no memory to run it on: only what is computed of its sizes. */
static void check_large(takt_call call, const struct expected *expected)
{
    struct takt_lengths lengths;
    bool is_empty;

    describe_by("admitted");
    const takt_status status = takt__admit(&call, &is_empty);
    TAP_CHECK(status == TAKT_OK || status == TAKT_EINVAL, "%s: %s", guard_doing,
              takt_status_text(status));
    takt__lengths_of(&call, &lengths);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        TAP_CHECK(lengths.of[i] == expected->of[i],
                  "%s: operand %u is counted "
                  "as %zx",
                  guard_doing, i, lengths.of[i]);
    admitted++;
}

static void check(takt_call call)
{
    const struct expected expected = expect(&call);
    const bool is_ok = expected.status == TAKT_OK;

    describe(&call);
    if (is_ok && is_small(&expected)) {
        place(&call, &expected);
        fill_matrix(&call, &expected);
        run_small(&call, &expected);
        return;
    }
    place_little(&call);
    if (is_ok)
        check_large(call, &expected);
    else
        run_refused(&call);
}

/* ---- the walk --------------------------------------------------------------
 */

static void each_subject(void (*visit)(takt_call call))
{
    for (size_t i = 0; i < subject_count; i++)
        for (int dtype = 0; dtype < 2; dtype++)
            if ((takt_op_find(subjects[i].op)->dtypes >> dtype & 1) != 0)
                visit(call_of(&subjects[i], (takt_dtype)dtype));
}

static void change_one(takt_call call)
{
    for (unsigned a = 0; a < fields; a++)
        for (size_t i = 0; has_field(&call, a) && i < limit_count; i++) {
            takt_call changed = call;
            *field_of(&changed, a) = limits[i];
            check(changed);
        }
}

static void change_two(takt_call call)
{
    for (unsigned a = 0; a < fields; a++)
        for (unsigned b = a + 1; has_field(&call, a) && b < fields; b++)
            for (size_t i = 0; has_field(&call, b) && i < limit_count; i++)
                for (size_t j = 0; j < limit_count; j++) {
                    takt_call changed = call;
                    *field_of(&changed, a) = limits[i];
                    *field_of(&changed, b) = limits[j];
                    check(changed);
                }
}

static void any_two_sizes_may_be_at_their_limits(void)
{
    each_subject(change_one);
    each_subject(change_two);
    TAP_CHECK(run_calls > 1000 && refused > 1000 && admitted > 1000,
              "%zu calls were run, %zu refused, %zu only admitted", run_calls,
              refused, admitted);
    for (size_t i = 0; i < expert_count; i++)
        TAP_CHECK(run_by[i] > 100, "%s ran %zu calls",
                  takt_ctx_expert(ctx, i, NULL), run_by[i]);
}

static void change_many(takt_call call)
{
    uint64_t state = 1;

    for (int round = 0; round < 1000; round++) {
        takt_call changed = call;
        for (int i = 0; i < 4; i++) {
            const unsigned field = (unsigned)(random_next(&state) % fields);
            const size_t limit = (size_t)(random_next(&state) % limit_count);
            if (has_field(&call, field))
                *field_of(&changed, field) = limits[limit];
        }
        check(changed);
    }
}

static void any_four_sizes_may_be_at_their_limits(void)
{
    each_subject(change_many);
}

static void vectors_of_any_length_are_run_or_refused(void)
{
    for (size_t i = 0; i < takt_op_count(); i++)
        for (int dtype = 0; dtype < 2; dtype++)
            for (size_t j = 1; j < limit_count; j++) {
                takt_call call = {.op = takt_op_at(i),
                                  .dtype = (takt_dtype)dtype,
                                  .shape = {1, {limits[j]}},
                                  .alpha = -1,
                                  .beta = 1};
                if ((form_of(&call) == TAKT_FORM_map ||
                     form_of(&call) == TAKT_FORM_reduce) &&
                    (call.op->dtypes >> dtype & 1) != 0 &&
                    !takt__is_position(&call))
                    check(call);
            }
}

/* ---- strides ---------------------------------------------------------------
 */

/* A stride that leaves the image at once gives one place, however long. */
static void a_stride_beyond_the_image_is_one_place(void)
{
    const float in[18] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 2, 2, 2, 3, 3, 3};
    const float filters[18] = {1, 0, 0, 0, 1, 0, 0, 0, 1,
                               1, 1, 1, 1, 1, 1, 1, 1, 1};
    takt_conv2d sizes = {.batch = 1,
                         .channels = 2,
                         .height = 3,
                         .width = 3,
                         .filters = 2,
                         .rows = 3,
                         .cols = 3,
                         .groups = 2};

    for (size_t stride = 1; stride != 0; stride *= 2) {
        float out[2] = {-1, -1};
        sizes.stride = stride;
        const takt_status status =
            takt_conv2d_f32(&sizes, in, filters, NULL, out);
        if (stride < (size_t)1 << 29)
            EXPECT(status == TAKT_OK && out[0] == 15 && out[1] == 18);
        else if (stride >= (size_t)1 << 30)
            EXPECT(status == TAKT_ESHAPE && out[0] == -1 && out[1] == -1);
    }
}

static void a_huge_padding_takes_no_huge_memory(void)
{
    const float in = 7;
    float out[4] = {0};
    const takt_pooling sizes = {.batch = 1,
                                .channels = 1,
                                .height = 1,
                                .width = 1,
                                .window = ((size_t)1 << 28) + 1,
                                .stride = (size_t)1 << 28,
                                .pad = (size_t)1 << 28};

    EXPECT_INT(takt_pooling_f32(&sizes, &in, out), TAKT_OK);
    for (int i = 0; i < 4; i++)
        EXPECT_NEAR(out[i], 7, 0);
}

/* Kernels that are asked directly: scratch that cannot be is never asked for
 * as little. */
static void scratch_beyond_an_address_space_is_not_to_be_had(void)
{
    const struct takt_conv2d_call conv2d = {.batch = 1,
                                            .channels = 2,
                                            .height = 3,
                                            .width = 3,
                                            .filters = 2,
                                            .rows = 3,
                                            .cols = 3,
                                            .stride = (size_t)1 << 59,
                                            .groups = 2};
    struct takt_pooling_call pooling = {.batch = 1,
                                        .channels = 1,
                                        .height = 3,
                                        .width = 3,
                                        .window = 3,
                                        .stride = (size_t)1 << 61};
    size_t count, asked = 0;
    const struct takt_kernel *kernel = takt__kernel_table(&count);

    for (size_t i = 0; i < count; i++) {
        if (kernel[i].kind != TAKT_KERNEL_KIND_layers ||
            kernel[i].isa == TAKT_KERNEL_scalar ||
            (takt_ctx_machine(ctx)->isas >> kernel[i].isa & 1) == 0)
            continue;
        const struct takt_layer_kernels *layers = kernel[i].run.layers;
        EXPECT(layers->conv2d_room(&conv2d, NULL) == SIZE_MAX);
        pooling.is_mean = false;
        EXPECT(layers->pooling_room(&pooling) == SIZE_MAX);
        pooling.is_mean = true;
        EXPECT(layers->pooling_room(&pooling) == SIZE_MAX);
        asked++;
    }
    EXPECT(asked > 0);
}

int main(void)
{
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.threads = 2, .store = ""},
                            &ctx) == TAKT_OK);
    while (takt_ctx_expert(ctx, expert_count, NULL) != NULL)
        expert_count++;
    REQUIRE(expert_count <= most_experts);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        memory[i] = guard_make(most_bytes);
    guard_watch();
    fill();
    RUN(a_stride_beyond_the_image_is_one_place);
    RUN(a_huge_padding_takes_no_huge_memory);
    RUN(scratch_beyond_an_address_space_is_not_to_be_had);
    RUN(vectors_of_any_length_are_run_or_refused);
    RUN(any_two_sizes_may_be_at_their_limits);
    RUN(any_four_sizes_may_be_at_their_limits);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        guard_free(&memory[i]);
    takt_ctx_destroy(ctx);
    return tap_done();
}
