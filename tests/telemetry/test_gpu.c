/* SPDX-License-Identifier: MIT */
/*
 * test_gpu.c - what is emitted of calls on GPUs: those that no caller waits
 * for, when they are done; and those that a GPU did not finish, with the cause.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "gpu/buffers.h"
#include "telemetry/collect.h"

enum { n = 1 << 16 };

static takt_ctx *told_ctx(struct collection *all)
{
    takt_ctx *ctx = context_of(TAKT_POLICY_FIXED, 1); /* cuda.0 */
    const takt_sink sink = sink_of(all);

    REQUIRE(takt_ctx_trace(ctx, &(takt_trace_options){.is_debugging = 1}) ==
            TAKT_OK);
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    return ctx;
}

static void asynchronous_calls_are_emitted_when_they_are_done(void)
{
    enum { times = 5 };
    struct collection *all = collection_make("add");
    takt_ctx *ctx = told_ctx(all);
    takt_buffer *a = buffer_of(ctx, n, 1), *b = buffer_of(ctx, n, 1);
    const takt_call call = vector_call("add", n, at_of(a), at_of(b), at_of(a));

    for (int i = 0; i < times; i++)
        REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
    REQUIRE(takt_sync(ctx) == TAKT_OK);
    collect_all(ctx);
    REQUIRE(all->count == times);
    EXPECT_INT(all->metrics.calls, times);
    for (int i = 0; i < times; i++) {
        const takt_event *event = &all->kept[i].event;
        EXPECT_STR(all->kept[i].expert, "cuda.0");
        EXPECT(all->kept[i].device[0] != '\0');
        EXPECT_INT(event->backend, TAKT_BACKEND_GPU);
        EXPECT_INT(event->threads, 0);
        EXPECT_INT(event->residency,
                   i == 0 ? TAKT_RESIDENCY_HOST : TAKT_RESIDENCY_GPU);
        EXPECT_INT(event->status, TAKT_OK);
        EXPECT(event->start_ns <= event->run_ns);
        EXPECT(event->run_ns <= event->end_ns);
        if (i > 0) { /* one after the other; where they meet is an estimate */
            EXPECT(event->run_ns >= all->kept[i - 1].event.run_ns);
            EXPECT(event->end_ns >= all->kept[i - 1].event.end_ns);
        }
    }
    EXPECT(buffer_is(a, 1 + times));
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

static void those_that_are_not_asked_for_are_told_of_at_the_end(void)
{
    struct collection *all = collection_make("add");
    takt_ctx *ctx = told_ctx(all);
    takt_buffer *a = buffer_of(ctx, n, 1), *b = buffer_of(ctx, n, 1);
    const takt_call call = vector_call("add", n, at_of(a), at_of(b), at_of(a));

    REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
    takt_ctx_destroy(ctx);
    EXPECT_INT(all->count, 1);
    EXPECT_INT(all->closes, 1);
    collection_free(all);
}

static void operands_here_and_there_are_mixed(void)
{
    struct collection *all = collection_make("add");
    takt_ctx *ctx = told_ctx(all);
    takt_buffer *a = buffer_of(ctx, n, 1), *b = buffer_of(ctx, n, 1);
    const takt_call twice = vector_call("add", n, at_of(a), at_of(a), at_of(a));
    const takt_call both = vector_call("add", n, at_of(a), at_of(b), at_of(a));

    REQUIRE(takt_run(ctx, &twice, NULL) == TAKT_OK); /* a is on the GPU now */
    REQUIRE(takt_run(ctx, &both, NULL) == TAKT_OK);
    REQUIRE(takt_sync(ctx) == TAKT_OK);
    collect_all(ctx);
    REQUIRE(all->count == 2);
    EXPECT_INT(all->kept[1].event.residency, TAKT_RESIDENCY_MIXED);
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

static void a_gpu_that_refuses_is_named_with_its_reason(void)
{
    struct collection *all = collection_make("add");
    takt_ctx *ctx = told_ctx(all);
    takt_buffer *a = buffer_of(ctx, n, 1), *b = buffer_of(ctx, n, 1);
    const takt_call call = vector_call("add", n, at_of(a), at_of(b), at_of(a));

    REQUIRE(fake.set_fault("cuLaunchKernel:1:701")); /* it is too much */
    REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
    REQUIRE(fake.set_fault(NULL));
    collect_all(ctx);
    REQUIRE(all->count == 1);
    EXPECT_STR(all->kept[0].refused, "cuda.0");
    EXPECT_INT(all->kept[0].event.refusal, TAKT_ENODEV);
    EXPECT_INT(all->kept[0].event.reason, TAKT_REASON_FALLBACK);
    EXPECT((all->kept[0].event.told & TAKT_TOLD_FALLBACK) != 0);
    EXPECT(all->kept[0].event.backend != TAKT_BACKEND_GPU);
    EXPECT(buffer_is(a, 2));
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

static void plain_arrays_on_a_gpu_are_told_of_at_once(void)
{
    struct collection *all = collection_make("add");
    takt_ctx *ctx = told_ctx(all);
    static float x[n], y[n];
    const takt_call call = vector_call("add", n, x, x, y);

    REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
    collect_all(ctx);
    REQUIRE(all->count == 1);
    EXPECT_STR(all->kept[0].expert, "cuda.0");
    EXPECT_INT(all->kept[0].event.residency, TAKT_RESIDENCY_HOST);
    EXPECT(all->kept[0].event.actual_s > 0);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

int main(void)
{
    subject_choose_fake();
    RUN(asynchronous_calls_are_emitted_when_they_are_done);
    RUN(those_that_are_not_asked_for_are_told_of_at_the_end);
    RUN(operands_here_and_there_are_mixed);
    RUN(a_gpu_that_refuses_is_named_with_its_reason);
    RUN(plain_arrays_on_a_gpu_are_told_of_at_once);
    return tap_done();
}
