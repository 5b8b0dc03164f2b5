/* SPDX-License-Identifier: MIT */
/*
 * test_software.c - a Vulkan device that computes on the processor is used when
 * it is named, chosen by nobody, and teaches nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "call/ctx.h"
#include "support/tap.h"
#include "takt/takt.h"

enum { n = 1 << 18, side = 128 };

static float a[n], b[n], c[n];

static takt_ctx *context_of(takt_policy policy)
{
    takt_ctx *ctx = NULL;

    REQUIRE(takt_ctx_create(&(takt_ctx_options){.policy = policy,
                                                .expert = "vulkan.0",
                                                .blas = "",
                                                .store = "",
                                                .gpu = "all"},
                            &ctx) == TAKT_OK);
    return ctx;
}

static takt_call add_of(const float *x, const float *y, float *out)
{
    return (takt_call){.op = takt_op_find("add"),
                       .shape = {.rank = 1, .dim = {n}},
                       .in = {x, y},
                       .out = out};
}

static takt_call product(void)
{
    return (takt_call){.op = takt_op_find("matmul"),
                       .shape = {.rank = 3, .dim = {side, side, side}},
                       .in = {a, b},
                       .out = c,
                       .alpha = 1};
}

static bool is_run_there(takt_ctx *ctx, const takt_call *call)
{
    takt_decision decision = {.size = sizeof decision};

    EXPECT_INT(takt_run(ctx, call, &decision), TAKT_OK);
    return strncmp(decision.expert, "vulkan.", 7) == 0;
}

/* Not even to learn what it takes, nor where its operands are. */
static void it_is_never_chosen(void)
{
    takt_ctx *ctx = context_of(TAKT_POLICY_ADAPTIVE);
    takt_buffer *x, *y;
    int there = 0;

    REQUIRE(takt_buffer_create(ctx, sizeof a, a, &x) == TAKT_OK);
    REQUIRE(takt_buffer_create(ctx, sizeof b, b, &y) == TAKT_OK);
    const takt_call plain = add_of(a, b, c), large = product();
    const takt_call there_already = add_of(
        takt_buffer_address(x), takt_buffer_address(y), takt_buffer_address(y));
    for (int i = 0; i < 100; i++) {
        there += is_run_there(ctx, &plain);
        there += is_run_there(ctx, &large);
        there += is_run_there(ctx, &there_already);
        if (i % 10 == 0)
            takt_ctx_flush(ctx);
    }
    EXPECT_INT(there, 0);
    takt_buffer_destroy(x);
    takt_buffer_destroy(y);
    takt_ctx_destroy(ctx);
}

static void it_runs_when_named_and_teaches_nothing(void)
{
    takt_ctx *ctx = context_of(TAKT_POLICY_FIXED);
    const takt_call call = product();
    takt_learning learning = {.size = sizeof learning};

    for (int i = 0; i < 20; i++)
        EXPECT(is_run_there(ctx, &call));
    takt_ctx_flush(ctx);
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    EXPECT_INT(learning.samples, 0);
    takt_ctx_destroy(ctx);
}

/* As on a machine whose bus shows a GPU that only software answers for. */
static void no_rule_means_it(void)
{
    takt_ctx *ctx = context_of(TAKT_POLICY_MOE);
    struct takt_device *device = &ctx->experts.devices.device[0];
    const takt_call call = product();

    EXPECT(!is_run_there(ctx, &call)); /* it is known by now */
    REQUIRE(takt__device_enter(device) == TAKT_OK);
    takt__device_lose(device);
    takt__device_leave(device); /* closes it */
    atomic_store(&device->state, TAKT_DEVICE_ASLEEP);
    EXPECT(!is_run_there(ctx, &call));
    EXPECT_INT(atomic_load(&device->state), TAKT_DEVICE_READY);
    takt_ctx_destroy(ctx);
}

static bool has_software_device(void)
{
    takt_ctx *ctx = NULL;
    takt_gpu_device device = {.is_software = 0};

    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){.blas = "", .store = "", .gpu = "all"},
                &ctx) == TAKT_OK);
    const takt_status status = takt_ctx_gpu(ctx, 0, &device);
    takt_ctx_destroy(ctx);
    return status == TAKT_OK && device.is_software;
}

int main(void)
{
    setenv("TAKT_CUDA", "/nowhere/libcuda.so.1", 1);
    if (!has_software_device()) {
        printf("1..0 # SKIP there is no Vulkan device in software\n");
        return 0;
    }
    RUN(it_is_never_chosen);
    RUN(it_runs_when_named_and_teaches_nothing);
    RUN(no_rule_means_it);
    return tap_done();
}
