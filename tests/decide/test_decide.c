/* SPDX-License-Identifier: MIT */
/* test_decide.c - what the prior expects of recorded machines. */
#include "takt/takt.h"

#include "support/tap.h"

#define MACHINES TAKT_SOURCE_DIR "/tests/fixtures/machines/"

static takt_ctx *ctx_of(const char *recording)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.recording = recording},
                            &ctx) == TAKT_OK);
    return ctx;
}

static takt_decision decide(takt_ctx *ctx, const char *op, takt_shape shape)
{
    const takt_request request = {
        .policy = TAKT_POLICY_ADAPTIVE, .op = takt_op_find(op), .shape = shape};
    takt_decision decision = {.size = sizeof decision};
    REQUIRE(takt_select(ctx, &request, &decision) == TAKT_OK);
    return decision;
}

static takt_shape vector(size_t n)
{
    return (takt_shape){.rank = 1, .dim = {n}};
}

static takt_shape cube(size_t n)
{
    return (takt_shape){.rank = 3, .dim = {n, n, n}};
}

static void small_work_stays_on_one_thread(void)
{
    takt_ctx *ctx = ctx_of(MACHINES "haswell-4");

    EXPECT_STR(decide(ctx, "add", vector(16)).expert, "simd.avx2");
    EXPECT_STR(decide(ctx, "add", vector(16384)).expert, "simd.avx2");
    EXPECT_STR(decide(ctx, "sum", vector(10000)).expert, "simd.avx2");
    EXPECT_STR(decide(ctx, "matmul", cube(8)).expert, "simd.avx2");
    takt_ctx_destroy(ctx);
}

static void large_work_uses_every_thread(void)
{
    takt_ctx *ctx = ctx_of(MACHINES "haswell-4");
    const unsigned threads = takt_ctx_machine(ctx)->threads;
    char all[TAKT_EXPERT_NAME_MAX];

    snprintf(all, sizeof all, "simd.avx2x%u", threads);
    EXPECT_STR(decide(ctx, "matmul", cube(1024)).expert, all);
    EXPECT_STR(decide(ctx, "exp", vector(100000000)).expert, all);
    EXPECT_INT(decide(ctx, "exp", vector(100000000)).reason, TAKT_REASON_PRIOR);
    takt_ctx_destroy(ctx);
}

static void predictions_grow_with_the_work(void)
{
    takt_ctx *ctx = ctx_of(MACHINES "epyc-genoa-2");
    double before = 0;

    for (size_t n = 64; n <= (size_t)1 << 30; n *= 4) {
        const double now = decide(ctx, "add", vector(n)).predicted_s;
        TAP_CHECK(now > before, "%zu elements: %g s after %g s", n, now,
                  before);
        before = now;
    }
    takt_ctx_destroy(ctx);
}

static void a_slower_instruction_set_is_expected_to_take_longer(void)
{
    takt_ctx *old = ctx_of(MACHINES "nehalem-4");
    takt_ctx *young = ctx_of(MACHINES "haswell-4");

    EXPECT_STR(decide(old, "matmul", cube(16)).expert, "simd.sse2");
    EXPECT(decide(old, "matmul", cube(16)).predicted_s >
           decide(young, "matmul", cube(16)).predicted_s);
    takt_ctx_destroy(old);
    takt_ctx_destroy(young);
}

static void threads_can_be_limited(void)
{
    takt_ctx *ctx;
    const takt_ctx_options options = {.recording = MACHINES "haswell-4",
                                      .threads = 1};

    REQUIRE(takt_ctx_create(&options, &ctx) == TAKT_OK);
    EXPECT_STR(decide(ctx, "matmul", cube(2048)).expert, "simd.avx2");
    takt_ctx_destroy(ctx);
}

static void fixed_uses_the_expert_that_was_named(void)
{
    takt_ctx *ctx;
    const takt_request request = {.policy = TAKT_POLICY_FIXED,
                                  .op = takt_op_find("add"),
                                  .shape = {.rank = 1, .dim = {5}}};
    takt_decision decision = {.size = sizeof decision};
    takt_ctx_options options = {.recording = MACHINES "haswell-4",
                                .policy = TAKT_POLICY_FIXED,
                                .expert = "SIMD.avx2x2"};

    REQUIRE(takt_ctx_create(&options, &ctx) == TAKT_OK);
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    EXPECT_STR(decision.expert, "simd.avx2x2");
    EXPECT_INT(decision.reason, TAKT_REASON_FORCED);
    takt_ctx_destroy(ctx);

    ctx = ctx_of(MACHINES "haswell-4"); /* nobody named an expert here */
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_EINVAL);
    takt_ctx_destroy(ctx);

    options.expert = "simd.avx512";
    EXPECT_INT(takt_ctx_create(&options, &ctx), TAKT_ENODEV);
    options.expert = NULL;
    EXPECT_INT(takt_ctx_create(&options, &ctx), TAKT_ENODEV);
}

static void experts_are_listed_with_the_definition_first(void)
{
    takt_ctx *ctx = ctx_of(MACHINES "haswell-4");
    takt_backend backend;

    EXPECT_STR(takt_ctx_expert(ctx, 0, &backend), "scalar");
    EXPECT_INT(backend, TAKT_BACKEND_SCALAR);
    EXPECT_STR(takt_ctx_expert(ctx, 1, &backend), "simd.avx2");
    EXPECT_INT(backend, TAKT_BACKEND_SIMD);
    EXPECT(takt_ctx_expert(ctx, 1000, NULL) == NULL);
    EXPECT(takt_ctx_library(ctx, 0) == NULL);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    RUN(small_work_stays_on_one_thread);
    RUN(large_work_uses_every_thread);
    RUN(predictions_grow_with_the_work);
    RUN(a_slower_instruction_set_is_expected_to_take_longer);
    RUN(threads_can_be_limited);
    RUN(fixed_uses_the_expert_that_was_named);
    RUN(experts_are_listed_with_the_definition_first);
    return tap_done();
}
