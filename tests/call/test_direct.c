/* SPDX-License-Identifier: MIT */
/*
 * test_direct.c - calls too small to ask about: which ops have them, that they
 * compute what they should, and that a few of them are measured for the others.
 */
#include "call/direct.h"

#include <string.h>

#include "call/ctx.h"
#include "support/tap.h"
#include "takt/takt.h"

static takt_ctx *make_ctx(takt_policy policy)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){
                    .store = "", .blas = "", .threads = 2, .policy = policy},
                &ctx) == TAKT_OK);
    return ctx;
}

static size_t most(const takt_ctx *ctx, const char *name)
{
    return ctx->direct.most[TAKT_F32][takt__op_id(takt_op_find(name))];
}

static void small_vectors_matrices_and_products_go_directly(void)
{
    static const char *const yes[] = {"add",       "sum",     "row_max",
                                      "col_sum",   "softmax", "bias_add",
                                      "transpose", "gemv",    "matmul"};
    static const char *const no[] = {"reshape", "conv2d", "cholesky",
                                     "batched_matmul"};
    takt_ctx *ctx = make_ctx(TAKT_POLICY_ADAPTIVE);
    takt_ctx *other = make_ctx(TAKT_POLICY_MOE);

    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        TAP_CHECK(most(ctx, yes[i]) >= 64, "%s", yes[i]);
        TAP_CHECK(most(other, yes[i]) == 0, "%s", yes[i]);
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        TAP_CHECK(most(ctx, no[i]) == 0, "%s", no[i]);
    takt_ctx_destroy(ctx);
    takt_ctx_destroy(other);
}

static uint64_t samples_of(takt_ctx *ctx)
{
    takt_learning learning = {.size = sizeof learning};

    REQUIRE(takt_ctx_learning(ctx, &learning) == TAKT_OK);
    return learning.samples;
}

static void a_few_small_calls_are_measured_and_all_are_right(void)
{
    enum { rows = 5, cols = 13, calls = 20000 };
    takt_ctx *ctx = make_ctx(TAKT_POLICY_ADAPTIVE);
    float in[rows * cols], bias[cols], out[rows * cols];
    unsigned wrong = 0;

    for (unsigned i = 0; i < rows * cols; i++)
        in[i] = (float)i;
    for (unsigned i = 0; i < cols; i++)
        bias[i] = 100.f * (float)i;
    const takt_call call = {.op = takt_op_find("bias_add"),
                            .shape = {2, {rows, cols}},
                            .in = {in, bias},
                            .out = out};
    for (unsigned i = 0; i < calls; i++) {
        memset(out, 0, sizeof out);
        REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
        for (unsigned j = 0; j < rows * cols; j++)
            wrong += out[j] != in[j] + bias[j % cols];
    }
    EXPECT_INT(wrong, 0);
    const uint64_t samples = samples_of(ctx);
    TAP_CHECK(samples > 0 && samples < calls / 50, "%u of %u calls were timed",
              (unsigned)samples, (unsigned)calls);
    takt_ctx_destroy(ctx);
}

/* What is wrong with a call is found before it goes anywhere. */
static void a_bad_small_call_is_refused(void)
{
    takt_ctx *ctx = make_ctx(TAKT_POLICY_ADAPTIVE);
    float a[16] = {1}, out[16] = {7};
    takt_call call = {.op = takt_op_find("row_max"),
                      .shape = {2, {4, 4}},
                      .in = {a},
                      .out = a + 1};

    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_EINVAL); /* overlaps */
    call.out = NULL;
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_EINVAL);
    call.out = out;
    call.shape.dim[1] = SIZE_MAX / 2;
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_ESHAPE);
    EXPECT(out[0] == 7);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    RUN(small_vectors_matrices_and_products_go_directly);
    RUN(a_few_small_calls_are_measured_and_all_are_right);
    RUN(a_bad_small_call_is_refused);
    return tap_done();
}
