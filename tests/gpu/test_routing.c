/* SPDX-License-Identifier: MIT */
/*
 * test_routing.c - where calls go when there are several GPUs: to the one that
 * is named, to the data, to whoever is expected to be done first.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "call/ctx.h"
#include "gpu/buffer.h"
#include "gpu/buffers.h"

enum { n = 1 << 18, bytes = n * sizeof(float) };

static takt_ctx *adaptive(void)
{
    return context_of(TAKT_POLICY_ADAPTIVE, 1);
}

static takt_request request_of(const char *op, unsigned situation)
{
    return (takt_request){.op = takt_op_find(op),
                          .shape = {.rank = 1, .dim = {n}},
                          .situation = situation};
}

/* ---- names and places ----------------------------------------------------
 */

static void every_device_has_its_name_and_computes(void)
{
    takt_ctx *ctx = adaptive();
    takt_gpu_device device = {.size = sizeof device};

    for (size_t i = 0; i < 3; i++) {
        char name[] = "cuda.0";
        name[5] = (char)('0' + i);
        REQUIRE(takt_ctx_gpu(ctx, i, &device) == TAKT_OK);
        EXPECT_STR(device.expert, name);
        EXPECT_INT(device.state, TAKT_GPU_READY);
        EXPECT_STR(takt_gpu_state_name(device.state), "ready");
        EXPECT(device.memory_bytes > 0 && !device.is_software);
        struct subject s = subject_make(ctx, "axpy", TAKT_F64, n, USUAL);
        EXPECT_INT(takt_run_on(ctx, &s.call, expert_of(ctx, name)), TAKT_OK);
        EXPECT(subject_is_right(&s));
        subject_free(&s);
    }
    EXPECT_INT(takt_ctx_gpu(ctx, 3, &device), TAKT_ENOENT);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

static void buffers_follow_their_calls(void)
{
    takt_ctx *ctx = adaptive();
    takt_buffer *a = buffer_of(ctx, n, 1), *b = buffer_of(ctx, n, 1);
    const takt_call call = vector_call("add", n, at_of(a), at_of(b), at_of(a));
    static const char *const names[] = {"cuda.0", "cuda.1", "cuda.2"};

    for (int i = 0; i < 9; i++) {
        EXPECT_INT(takt_run_on(ctx, &call, expert_of(ctx, names[i % 3])),
                   TAKT_OK);
        EXPECT(is_at(a, names[i % 3]));
    }
    EXPECT(is_at(b, "host cuda.0 cuda.1 cuda.2"));
    EXPECT_INT(takt_run_on(ctx, &call, 0), TAKT_OK);
    EXPECT(is_at(a, "host") && buffer_is(a, 11) && buffer_is(b, 1));
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* ---- adaptive ------------------------------------------------------------
 */

static void tell(takt_ctx *ctx, const char *op, const char *expert,
                 unsigned situation, double seconds)
{
    const takt_request request = request_of(op, situation);
    const takt_measurement told = {.request = &request,
                                   .expert = expert,
                                   .seconds = seconds,
                                   .is_trial = 1};

    for (int i = 0; i < 20; i++)
        EXPECT_INT(takt_record(ctx, &told), TAKT_OK);
}

/* What all processors are said to take. */
static void tell_processors(takt_ctx *ctx, const char *op, double seconds)
{
    const char *name;

    for (size_t i = 0; (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
        for (unsigned s = 0; s < 4 && strncmp(name, "cuda", 4) != 0; s++)
            tell(ctx, op, name, s, seconds);
}

static const char *runner(takt_ctx *ctx, const takt_call *call,
                          takt_reason *reason)
{
    static takt_decision decision;

    EXPECT_INT(takt_run(ctx, call, &decision), TAKT_OK);
    *reason = decision.reason;
    return decision.expert;
}

static bool is_gpu(const char *expert)
{
    return strncmp(expert, "cuda.", 5) == 0;
}

/* On the GPU it is ten times as fast; to bring it there takes longer than all
 * of it. Plain operands stay on the host, those on a GPU stay there. */
static void calls_go_where_the_operands_are(void)
{
    takt_ctx *ctx = adaptive();
    float *plain = calloc(n, sizeof *plain);
    takt_buffer *a = buffer_of(ctx, n, 1), *b = buffer_of(ctx, n, 1);
    const takt_call seed = vector_call("add", n, at_of(a), at_of(b), at_of(a));
    takt_reason reason;

    REQUIRE(plain != NULL);
    tell_processors(ctx, "add", 2e-4);
    for (int i = 0; i < 3; i++) {
        char name[] = "cuda.0";
        name[5] = (char)('0' + i);
        tell(ctx, "add", name, 0, 1e-3);
        tell(ctx, "add", name, TAKT_SITUATION_ON_GPU, 2e-5);
    }
    EXPECT_INT(takt_run_on(ctx, &seed, expert_of(ctx, "cuda.1")), TAKT_OK);
    EXPECT_INT(takt_sync(ctx), TAKT_OK);
    for (int i = 0; i < 5; i++) {
        EXPECT_STR(runner(ctx, &seed, &reason), "cuda.1");
        EXPECT_INT(reason, TAKT_REASON_MODEL);
        EXPECT_INT(takt_sync(ctx), TAKT_OK);
    }
    EXPECT(is_at(a, "cuda.1"));
    const takt_call on_host = vector_call("add", n, plain, plain, plain);
    EXPECT(!is_gpu(runner(ctx, &on_host, &reason)));
    EXPECT(buffer_is(a, 7));
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
    free(plain);
    takt_ctx_destroy(ctx);
}

/* The same answers without running anything. */
static void questions_are_answered_as_calls_are(void)
{
    takt_ctx *ctx = adaptive();
    const takt_request there = request_of("mul", TAKT_SITUATION_ON_GPU);
    const takt_request here = request_of("mul", 0);
    takt_decision decision = {.size = sizeof decision};

    tell_processors(ctx, "mul", 2e-4);
    tell(ctx, "mul", "cuda.0", 0, 1e-3);
    tell(ctx, "mul", "cuda.0", TAKT_SITUATION_ON_GPU, 2e-5);
    EXPECT_INT(takt_select(ctx, &there, &decision), TAKT_OK);
    EXPECT_STR(decision.expert, "cuda.0");
    EXPECT_NEAR(decision.predicted_s, 2e-5, 5e-6);
    EXPECT_INT(takt_select(ctx, &here, &decision), TAKT_OK);
    EXPECT(!is_gpu(decision.expert));
    takt_ctx_destroy(ctx);
}

/* Buffers that were found on a device time and again are worth taking there. */
static void what_is_used_again_is_brought_in_earlier(void)
{
    takt_ctx *ctx = adaptive();
    takt_buffer *fresh = buffer_of(ctx, n, 1), *hot = buffer_of(ctx, n, 1);
    struct takt_operand_list operands = {
        .of = {{.buffer = hot, .bytes = bytes, .is_read = true}}};
    struct takt_move move[TAKT_MAX_MOVES];
    void *at;
    float sum;

    for (int i = 0; i < 6; i++) {
        const takt_call call = vector_call("sum", n, at_of(hot), NULL, &sum);
        EXPECT_INT(takt_run_on(ctx, &call, expert_of(ctx, "cuda.0")), TAKT_OK);
    }
    EXPECT_INT(takt__operands_moves(&operands, 0, move), 0);
    EXPECT_INT(takt_buffer_map(hot, TAKT_MAP_WRITE, &at), TAKT_OK);
    EXPECT_INT(takt_buffer_unmap(hot), TAKT_OK);
    EXPECT_INT(takt__operands_moves(&operands, 0, move), 1);
    EXPECT(move[0].is_in && move[0].bytes == bytes && move[0].reuse > 0.6);
    operands.of[0].buffer = fresh;
    EXPECT_INT(takt__operands_moves(&operands, 0, move), 1);
    EXPECT_NEAR(move[0].reuse, 0.5, 0.01);
    takt_buffer_destroy(fresh);
    takt_buffer_destroy(hot);
    takt_ctx_destroy(ctx);
}

/* What is not known may be tried; not by who must not be late. */
static void urgent_calls_try_nothing(void)
{
    takt_ctx *ctx = adaptive();
    takt_buffer *a = buffer_of(ctx, n, 1);
    takt_call call = vector_call("neg", n, at_of(a), NULL, at_of(a));
    takt_reason reason;
    int tries = 0;

    EXPECT_INT(takt_run_on(ctx, &call, expert_of(ctx, "cuda.0")), TAKT_OK);
    call.flags = TAKT_CALL_URGENT;
    for (int i = 0; i < 200; i++) {
        runner(ctx, &call, &reason);
        tries += reason == TAKT_REASON_EXPLORE;
    }
    EXPECT_INT(tries, 0);
    EXPECT(buffer_is(a, -1));
    takt_buffer_destroy(a);
    takt_ctx_destroy(ctx);
}

/* Somebody is at work on the first: his work is done, then ours. */
static void a_busy_gpu_is_passed_over_for_another(void)
{
    takt_ctx *ctx = adaptive();
    struct takt_device *first =
        ctx->experts.expert[expert_of(ctx, "cuda.0")].device;
    struct subject s = subject_make(ctx, "sub", TAKT_F32, n, USUAL);
    takt_reason reason;

    tell_processors(ctx, "sub", 1e-2);
    tell(ctx, "sub", "cuda.0", 0, 1e-5);
    s.call.flags = TAKT_CALL_URGENT;
    EXPECT_STR(runner(ctx, &s.call, &reason), "cuda.0");
    EXPECT_INT(takt__device_enter(first), TAKT_OK);
    EXPECT_STR(runner(ctx, &s.call, &reason), "cuda.1");
    EXPECT_INT(reason, TAKT_REASON_MODEL);
    takt__device_leave(first);
    EXPECT_STR(runner(ctx, &s.call, &reason), "cuda.0");
    EXPECT(subject_is_right(&s));
    subject_free(&s);
    takt_ctx_destroy(ctx);
}

/* ---- rules ---------------------------------------------------------------
 */

static takt_call large_product(float *a)
{
    enum { m = 160 };

    return (takt_call){.op = takt_op_find("matmul"),
                       .shape = {.rank = 3, .dim = {m, m, m}},
                       .in = {a, a + m * m},
                       .out = a + 2 * m * m,
                       .alpha = 1};
}

static void a_rule_that_says_gpu_means_the_first(void)
{
    static float a[3 * 160 * 160];
    takt_ctx *ctx = context_of(TAKT_POLICY_MOE, 1);
    const takt_call call = large_product(a);
    takt_decision decision = {.size = sizeof decision};

    EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
    EXPECT_INT(decision.backend, TAKT_BACKEND_GPU);
    EXPECT_STR(decision.expert, "cuda.0");
    EXPECT_INT(decision.reason, TAKT_REASON_STATIC);
    REQUIRE(fake.set_fault("cuLaunchKernel:1:719:sticky"));
    EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
    EXPECT(!is_gpu(decision.expert));
    EXPECT_INT(decision.reason, TAKT_REASON_FALLBACK);
    EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
    EXPECT_STR(decision.expert, "cuda.1"); /* there are others */
    REQUIRE(fake.set_fault("kill:0"));
    for (int i = 0; i < 4; i++) { /* none is left in the end */
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        EXPECT(!is_gpu(decision.expert));
        EXPECT_INT(decision.reason, TAKT_REASON_FALLBACK);
    }
    REQUIRE(fake.set_fault(NULL));
    takt_ctx_destroy(ctx);
}

/* One device is gone; the others do not mind. */
static void devices_are_lost_one_by_one(void)
{
    takt_ctx *ctx = adaptive();
    takt_buffer *a = buffer_of(ctx, n, 1), *b = buffer_of(ctx, n, 2);
    const takt_call on_a = vector_call("neg", n, at_of(a), NULL, at_of(a));
    const takt_call on_b = vector_call("neg", n, at_of(b), NULL, at_of(b));
    takt_gpu_device device = {.size = sizeof device};

    EXPECT_INT(takt_run_on(ctx, &on_a, expert_of(ctx, "cuda.0")), TAKT_OK);
    EXPECT_INT(takt_run_on(ctx, &on_b, expert_of(ctx, "cuda.1")), TAKT_OK);
    REQUIRE(fake.set_fault("cuLaunchKernel:1:700:sticky"));
    EXPECT_INT(takt_run_on(ctx, &on_a, expert_of(ctx, "cuda.0")), TAKT_ELOST);
    REQUIRE(fake.set_fault(NULL));
    EXPECT_INT(takt_ctx_gpu(ctx, 0, &device), TAKT_OK);
    EXPECT_INT(device.state, TAKT_GPU_LOST);
    EXPECT_INT(takt_run_on(ctx, &on_b, expert_of(ctx, "cuda.1")), TAKT_OK);
    EXPECT_INT(takt_run_on(ctx, &on_b, expert_of(ctx, "cuda.2")), TAKT_OK);
    EXPECT(buffer_is(b, -2));
    EXPECT_INT(takt_run(ctx, &on_a, NULL), TAKT_ELOST);
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* NaN is a result like any other: what is on a device is not valid any more. */
static void a_finding_on_the_host_is_the_content_of_its_buffer(void)
{
    enum { order = 64 };
    takt_ctx *ctx = adaptive();
    takt_buffer *a = buffer_of(ctx, n, 1), *l = buffer_of(ctx, n, 2);
    const takt_call before = vector_call("neg", n, at_of(l), NULL, at_of(l));
    const takt_call call = {.op = takt_op_find("cholesky"),
                            .shape = {2, {order, order}},
                            .in = {at_of(a)},
                            .out = at_of(l)};
    void *at;

    EXPECT_INT(takt_run_on(ctx, &before, expert_of(ctx, "cuda.0")), TAKT_OK);
    EXPECT(is_at(l, "cuda.0"));
    EXPECT_INT(takt_run_on(ctx, &call, 0), TAKT_EDEFINITE);
    EXPECT(is_at(l, "host"));
    EXPECT_INT(takt_buffer_map(l, TAKT_MAP_READ, &at), TAKT_OK);
    EXPECT(isnan(*(const float *)at));
    EXPECT_INT(takt_buffer_unmap(l), TAKT_OK);
    takt_buffer_destroy(a);
    takt_buffer_destroy(l);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    guard_watch();
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    subject_choose_fake();
    RUN(every_device_has_its_name_and_computes);
    RUN(buffers_follow_their_calls);
    RUN(calls_go_where_the_operands_are);
    RUN(questions_are_answered_as_calls_are);
    RUN(what_is_used_again_is_brought_in_earlier);
    RUN(urgent_calls_try_nothing);
    RUN(a_busy_gpu_is_passed_over_for_another);
    RUN(a_rule_that_says_gpu_means_the_first);
    RUN(devices_are_lost_one_by_one);
    RUN(a_finding_on_the_host_is_the_content_of_its_buffer);
    return tap_done();
}
