/* SPDX-License-Identifier: MIT */
/*
 * test_telemetry.c - what a context emits of its calls: all of it, and nothing
 * without a sink.
 */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "call/ctx.h"
#include "telemetry/collect.h"

enum { n = 4096 };
static float a[n], b[n], c[n];

static takt_ctx *ctx_of(takt_policy policy, const char *expert)
{
    takt_ctx *ctx;

    REQUIRE(takt_ctx_create(&(takt_ctx_options){.store = "",
                                                .blas = "",
                                                .gpu = "",
                                                .threads = 2,
                                                .policy = policy,
                                                .expert = expert,
                                                .exploration = -1},
                            &ctx) == TAKT_OK);
    return ctx;
}

static takt_ctx *scalar_ctx(void)
{
    return ctx_of(TAKT_POLICY_FIXED, "scalar");
}

static void tell_all(takt_ctx *ctx)
{
    REQUIRE(takt_ctx_trace(ctx, &(takt_trace_options){.is_debugging = 1}) ==
            TAKT_OK);
}

static takt_call add_of(size_t elements)
{
    return (takt_call){.op = takt_op_find("add"),
                       .shape = {.rank = 1, .dim = {elements}},
                       .in = {a, b},
                       .out = c};
}

static void run_adds(takt_ctx *ctx, size_t elements, int times)
{
    const takt_call call = add_of(elements);

    for (int i = 0; i < times; i++)
        REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
}

static uint64_t real_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- what is emitted
 * ----------------------------------------------------------
 */

static void an_event_has_expert_op_and_reason(void)
{
    takt_ctx *ctx = scalar_ctx();
    struct collection *all = collection_make("add");
    const takt_sink sink = sink_of(all);
    const uint64_t before_ns = real_ns();

    tell_all(ctx);
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    run_adds(ctx, 1000, 1);
    collect_all(ctx);
    REQUIRE(all->count == 1);
    const struct kept_event *kept = &all->kept[0];
    const takt_event *event = &kept->event;
    EXPECT_INT(event->kind, TAKT_EVENT_CALL);
    EXPECT((event->told & TAKT_TOLD_ALL) != 0);
    EXPECT_STR(kept->op, "add");
    EXPECT_STR(kept->expert, "scalar");
    EXPECT_STR(kept->refused, "");
    EXPECT_STR(kept->device, "");
    EXPECT_INT(event->dtype, TAKT_F32);
    EXPECT_INT(event->shape.rank, 1);
    EXPECT_INT(event->shape.dim[0], 1000);
    EXPECT_INT(event->elements, 1000);
    EXPECT_NEAR(event->work.bytes, 12000, 0);
    EXPECT_INT(event->backend, TAKT_BACKEND_SCALAR);
    EXPECT_INT(event->threads, 1);
    EXPECT_INT(event->reason, TAKT_REASON_FORCED);
    EXPECT_INT(event->has_history, 0);
    EXPECT_INT(event->residency, TAKT_RESIDENCY_HOST);
    EXPECT_INT(event->status, TAKT_OK);
    EXPECT(event->start_ns >= before_ns - 1000000);
    EXPECT(event->start_ns <= event->run_ns);
    EXPECT(event->run_ns < event->end_ns);
    EXPECT(event->end_ns <= real_ns() + 1000000);
    EXPECT_NEAR(event->actual_s, (double)(event->end_ns - event->run_ns) * 1e-9,
                1e-12);
    EXPECT_INT(event->thread_id, getpid());
    EXPECT_INT(event->parent.trace_id[0] | event->parent.span_id[0], 0);
    takt_ctx_destroy(ctx);
    EXPECT_INT(all->closes, 1);
    collection_free(all);
}

static void a_learned_decision_has_a_history(void)
{
    takt_ctx *ctx = ctx_of(TAKT_POLICY_ADAPTIVE, NULL);
    struct collection *all = collection_make(NULL);
    const takt_sink sink = sink_of(all);
    const takt_call call = add_of(n);
    takt_decision decision = {.reason = TAKT_REASON_PRIOR};

    tell_all(ctx);
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    for (int i = 0; i < 1000 && decision.reason != TAKT_REASON_MODEL; i++) {
        REQUIRE(takt_run(ctx, &call, &decision) == TAKT_OK);
        collect_all(ctx);
    }
    REQUIRE(decision.reason == TAKT_REASON_MODEL && all->count > 1);
    const struct kept_event *first = &all->kept[0],
                            *last = &all->kept[all->count - 1];
    EXPECT_INT(first->event.reason, TAKT_REASON_PRIOR);
    EXPECT_INT(first->event.has_history, 0);
    EXPECT_INT(last->event.reason, TAKT_REASON_MODEL);
    EXPECT_INT(last->event.has_history, 1);
    EXPECT_STR(last->expert, decision.expert);
    EXPECT_STR(last->runner_up, decision.runner_up);
    EXPECT_NEAR(last->event.predicted_s, decision.predicted_s, 0);
    EXPECT_NEAR(last->event.confidence, decision.confidence, 1e-6);
    /* The rate of the clock's ticks is known better as time goes by, so the
     * same ticks are not the same time twice. */
    EXPECT_NEAR(last->event.actual_s, decision.actual_s,
                1e-7 + 0.05 * decision.actual_s);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

static void fast_calls_are_told_of_at_their_rate(void)
{
    enum { times = 20000 };
    takt_ctx *ctx = scalar_ctx();
    struct collection *all = collection_make("add");
    const takt_sink sink = sink_of(all);

    REQUIRE(takt_ctx_trace(ctx, &(takt_trace_options){.threshold_s = 1e3,
                                                      .rate = 0.1,
                                                      .hot_rate = -1}) ==
            TAKT_OK);
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    run_adds(ctx, 16, times);
    collect_all(ctx);
    unsigned drawn = 0;
    for (unsigned i = 0; i < all->count; i++)
        drawn += (all->kept[i].event.told & TAKT_TOLD_DRAWN) != 0;
    EXPECT(drawn > 1700 && drawn < 2300); /* 2000, sigma 42 */
    EXPECT(drawn == all->count || all->drifts > 0);
    EXPECT_INT(all->metrics.calls, times); /* metrics know all of them */
    EXPECT_INT(all->metrics.decisions[TAKT_REASON_FORCED], times);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

static void the_rate_is_kept_between_none_and_all(void)
{
    takt_ctx *ctx = scalar_ctx();
    struct collection *all = collection_make("add");
    const takt_sink sink = sink_of(all);

    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    takt_ctx_trace(ctx, &(takt_trace_options){
                            .threshold_s = 1e3, .rate = 17, .hot_rate = -1});
    run_adds(ctx, 16, 100);
    collect_all(ctx);
    EXPECT_INT(all->sampled, 100); /* beside those after a drift */
    takt_ctx_trace(ctx, &(takt_trace_options){
                            .threshold_s = 1e3, .rate = -3, .hot_rate = -1});
    run_adds(ctx, 16, 100);
    collect_all(ctx);
    EXPECT_INT(all->sampled, 100);
    EXPECT_INT(takt_ctx_trace(ctx, &(takt_trace_options){.rate = NAN}),
               TAKT_EINVAL);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

static void slow_calls_are_all_told_of(void)
{
    takt_ctx *ctx = scalar_ctx();
    struct collection *all = collection_make("add");
    const takt_sink sink = sink_of(all);

    /* A threshold of nothing at all makes each of them slow. */
    takt_ctx_trace(ctx, &(takt_trace_options){
                            .threshold_s = -1, .rate = -1, .hot_rate = -1});
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    run_adds(ctx, n, 500);
    collect_all(ctx);
    EXPECT_INT(all->count, 500);
    EXPECT((all->kept[499].event.told & TAKT_TOLD_SLOW) != 0);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

/* ---- hot paths -------------------------------------------------------------
 */

static void pause_ms(long ms)
{
    nanosleep(
        &(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000},
        NULL);
}

static void a_hot_op_is_told_of_in_metrics_alone(void)
{
    takt_ctx *ctx = scalar_ctx();
    struct collection *all = collection_make("add");
    const takt_sink sink = sink_of(all);
    int hot_after = 0;

    takt_ctx_trace(ctx, &(takt_trace_options){
                            .threshold_s = -1, .rate = 1, .hot_rate = 200});
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    takt_telemetry state = {0};
    while (state.hot_ops == 0 && hot_after < 100000) {
        run_adds(ctx, 16, 10);
        hot_after += 10;
        if (hot_after % 1000 == 0)
            pause_ms(10);
        REQUIRE(takt_ctx_telemetry(ctx, &state) == TAKT_OK);
    }
    EXPECT_INT(state.hot_ops, 1);
    EXPECT(hot_after > 200);
    collect_all(ctx);
    const unsigned before = all->sampled;
    run_adds(ctx, 16, 5000);
    const takt_call mul = {.op = takt_op_find("mul"),
                           .shape = {.rank = 1, .dim = {16}},
                           .in = {a, b},
                           .out = c};
    REQUIRE(takt_run(ctx, &mul, NULL) == TAKT_OK); /* another op is not hot */
    collect_all(ctx);
    EXPECT_INT(all->sampled, before + 1);
    EXPECT_INT(all->metrics.calls, hot_after + 5000);
    EXPECT_INT(all->metrics.times_hot, 1);
    EXPECT(all->metrics.durations > 0);
    for (int i = 0; i < 500 && state.hot_ops != 0; i++) { /* it cools */
        pause_ms(20);
        takt_ctx_telemetry(ctx, &state);
    }
    EXPECT_INT(state.hot_ops, 0);
    run_adds(ctx, 16, 1);
    collect_all(ctx);
    EXPECT_INT(all->sampled, before + 2);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

/* ---- special calls ---------------------------------------------------------
 */

static takt_status refuse(const takt_call *call, void *self)
{
    (void)call;
    (void)self;
    return TAKT_ENOMEM;
}

static takt_status accept(const takt_call *call, void *self)
{
    (void)self;
    *(float *)call->out = 1;
    return TAKT_OK;
}

static void a_fallback_is_always_told_of_with_its_cause(void)
{
    takt_ctx *ctx = ctx_of(TAKT_POLICY_ADAPTIVE, NULL);
    struct collection *all = collection_make(NULL);
    const takt_sink sink = sink_of(all);
    const takt_op *op;

    REQUIRE(takt_ctx_define_op(ctx, &(takt_op_spec){.name = "mine"}, &op) ==
            TAKT_OK);
    REQUIRE(takt_ctx_add_expert(
                ctx, op, &(takt_expert_spec){.name = "fails", .run = refuse}) ==
            TAKT_OK);
    REQUIRE(takt_ctx_add_expert(
                ctx, op, &(takt_expert_spec){.name = "works", .run = accept}) ==
            TAKT_OK);
    takt_ctx_trace(ctx, &(takt_trace_options){.threshold_s = 1e3, .rate = -1});
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    const takt_call call = {
        .op = op, .shape = {.rank = 1, .dim = {10}}, .in = {a}, .out = c};
    for (int i = 0; i < 20; i++)
        REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
    collect_all(ctx);
    REQUIRE(all->count > 0);
    int found = 0;
    for (unsigned i = 0; i < all->count; i++) {
        if ((all->kept[i].event.told & TAKT_TOLD_FALLBACK) == 0)
            continue;
        found++;
        EXPECT_STR(all->kept[i].expert, "user.works");
        EXPECT_STR(all->kept[i].refused, "user.fails");
        EXPECT_INT(all->kept[i].event.refusal, TAKT_ENOMEM);
        EXPECT_INT(all->kept[i].event.status, TAKT_OK);
        EXPECT_STR(all->kept[i].op, "mine");
    }
    EXPECT(found > 0);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

static void tries_are_always_told_of(void)
{
    takt_ctx *ctx;
    struct collection *all = collection_make("add");
    const takt_sink sink = sink_of(all);

    REQUIRE(takt_ctx_create(&(takt_ctx_options){.store = "",
                                                .blas = "",
                                                .gpu = "",
                                                .threads = 2,
                                                .exploration = 0.5},
                            &ctx) == TAKT_OK);
    takt_ctx_trace(ctx, &(takt_trace_options){
                            .threshold_s = 1e3, .rate = -1, .hot_rate = 1});
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    for (int i = 0; i < 200 && all->metrics.explorations == 0; i++) {
        run_adds(ctx, n, 500);
        collect_all(ctx);
    }
    EXPECT(all->metrics.explorations > 0);
    EXPECT_INT(all->metrics.decisions[TAKT_REASON_EXPLORE],
               all->metrics.explorations);
    unsigned explored = 0;
    for (unsigned i = 0; i < all->count; i++)
        explored += all->kept[i].event.reason == TAKT_REASON_EXPLORE &&
                    (all->kept[i].event.told & TAKT_TOLD_EXPLORED) != 0;
    EXPECT_INT(explored, all->metrics.explorations);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

/* An expert of the user's that can be made slower. */
static int slowness;
static takt_status take_a_while(const takt_call *call, void *self)
{
    volatile double x = 1;

    (void)call;
    (void)self;
    for (int i = 0; i < slowness; i++)
        x = x * 0.999 + 0.1;
    return TAKT_OK;
}

static void a_change_of_speed_is_told_of(void)
{
    takt_ctx *ctx = ctx_of(TAKT_POLICY_ADAPTIVE, NULL);
    struct collection *all = collection_make("mine");
    const takt_sink sink = sink_of(all);
    const takt_op *op;
    int drifting = 0;

    REQUIRE(takt_ctx_define_op(ctx, &(takt_op_spec){.name = "mine"}, &op) ==
            TAKT_OK);
    REQUIRE(takt_ctx_add_expert(
                ctx, op,
                &(takt_expert_spec){.name = "only", .run = take_a_while}) ==
            TAKT_OK);
    takt_ctx_trace(ctx, &(takt_trace_options){
                            .threshold_s = 1e3, .rate = -1, .hot_rate = -1});
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    const takt_call call = {
        .op = op, .shape = {.rank = 1, .dim = {10}}, .in = {a}, .out = c};
    slowness = 3000;
    for (int i = 0; i < 300; i++)
        REQUIRE(takt_run(ctx, &call, &(takt_decision){0}) == TAKT_OK);
    collect_all(ctx);
    const unsigned before = all->count, earlier = all->drifts;
    slowness = 40000;
    for (int i = 0; i < 100 && all->drifts == earlier; i++) {
        for (int k = 0; k < 20; k++)
            REQUIRE(takt_run(ctx, &call, &(takt_decision){0}) == TAKT_OK);
        collect_all(ctx);
    }
    EXPECT(all->drifts > earlier);
    EXPECT(all->metrics.drift_alarms > 0);
    EXPECT_STR(all->drift.op, "mine");
    EXPECT_STR(all->drift.expert, "user.only");
    EXPECT_INT(all->drift.event.told, TAKT_TOLD_DRIFT);
    EXPECT(all->drift.event.actual_s > 0);
    REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
    collect_all(ctx);
    for (unsigned e = before; e < all->count; e++)
        drifting += all->kept[e].event.told == TAKT_TOLD_DRIFT;
    EXPECT(drifting > 0); /* calls just after it, fast as they are */
    takt_ctx_destroy(ctx);
    collection_free(all);
}

static void a_call_may_belong_to_somebody_elses_span(void)
{
    takt_ctx *ctx = scalar_ctx();
    struct collection *all = collection_make("add");
    const takt_sink sink = sink_of(all);
    takt_span_context parent, other;
    takt_call call = add_of(16);

    REQUIRE(takt_span_context_parse("00-0af7651916cd43dd8448eb211c80319c-"
                                    "b7ad6b7169203331-01",
                                    &parent) == TAKT_OK);
    EXPECT_INT(parent.trace_id[0], 0x0a);
    EXPECT_INT(parent.trace_id[15], 0x9c);
    EXPECT_INT(parent.span_id[7], 0x31);
    EXPECT_INT(parent.flags, 1);
    other = parent;
    other.span_id[0] = 0x11;
    tell_all(ctx);
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    takt_trace_parent(&parent);
    REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
    call.parent = &other;
    REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
    takt_trace_parent(NULL);
    call.parent = NULL;
    REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
    collect_all(ctx);
    REQUIRE(all->count == 3);
    EXPECT_INT(all->kept[0].event.parent.span_id[0], 0xb7);
    EXPECT_INT(all->kept[1].event.parent.span_id[0], 0x11);
    EXPECT_INT(all->kept[2].event.parent.trace_id[0], 0);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

static void what_is_no_traceparent_is_refused(void)
{
    static const char *const wrong[] = {
        "",
        "00",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
    };
    takt_span_context out;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        out.flags = 9;
        EXPECT_INT(takt_span_context_parse(wrong[i], &out), TAKT_EINVAL);
        EXPECT_INT(out.flags, 0);
    }
    EXPECT_INT(takt_span_context_parse(NULL, &out), TAKT_EINVAL);
    EXPECT_INT(takt_span_context_parse(/* a later version */
                                       "01-0af7651916cd43dd8448eb211c80319c-"
                                       "b7ad6b7169203331-01-more",
                                       &out),
               TAKT_OK);
}

/* ---- metrics ---------------------------------------------------------------
 */

static void small_one_line_calls_are_counted_too(void)
{
    enum { times = 400000 };
    takt_ctx *ctx = takt_ctx_default();
    struct collection *all = collection_make("mul");
    takt_sink sink = sink_of(all);

    REQUIRE(ctx != NULL);
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    for (int i = 0; i < times; i++)
        takt_mul_f32(16, a, b, c);
    collect_all(ctx);
    EXPECT_NEAR((double)all->metrics.calls, times, 0.03 * times);
    pthread_mutex_lock(&all->lock);
    all->of = "matmul";
    pthread_mutex_unlock(&all->lock);
    for (int i = 0; i < times; i++)
        takt_matmul_f32(2, 2, 2, a, b, c);
    collect_all(ctx);
    EXPECT_NEAR((double)all->metrics.calls, times, 0.03 * times);
    const unsigned before = all->count;
    tell_all(ctx);
    for (int i = 0; i < 100; i++) { /* all means these, too */
        takt_mul_f32(16, a, b, c);
        takt_matmul_f32(2, 2, 2, a, b, c);
    }
    collect_all(ctx);
    EXPECT_INT(all->count, before + 200);
    takt_ctx_trace(ctx, &(takt_trace_options){.threshold_s = 1e3, .rate = -1});
    EXPECT(atomic_load(&ctx->direct.most[TAKT_F32][TAKT_OP_mul]) > 16);
    /* It is the context of the process: the sink leaves by itself. */
    pthread_mutex_lock(&all->lock);
    all->leaves_after = (int)all->count + 1;
    pthread_mutex_unlock(&all->lock);
    tell_all(ctx);
    run_adds(ctx, 64, 1);
    collect_all(ctx);
    EXPECT_INT(all->closes, 1);
    EXPECT(atomic_load(&ctx->tap) == NULL);
    takt_ctx_trace(ctx, NULL);
    collection_free(all);
}

static void pinned_calls_are_metered_and_teach_nothing(void)
{
    char path[] = "/tmp/takt-test-pin-XXXXXX";
    const int file = mkstemp(path);
    takt_ctx *teacher = ctx_of(TAKT_POLICY_ADAPTIVE, NULL), *ctx;
    struct collection *all = collection_make("add");
    const takt_sink sink = sink_of(all);
    takt_learning learning = {.size = sizeof learning};

    REQUIRE(file >= 0);
    REQUIRE(takt_ctx_write_pin(teacher, path, NULL) == TAKT_OK);
    takt_ctx_destroy(teacher);
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.store = "",
                                                .blas = "",
                                                .gpu = "",
                                                .policy = TAKT_POLICY_PINNED,
                                                .pin = path},
                            &ctx) == TAKT_OK);
    tell_all(ctx);
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    run_adds(ctx, n, 100);
    collect_all(ctx);
    EXPECT_INT(all->count, 100);
    EXPECT_INT(all->metrics.calls, 100);
    EXPECT_INT(all->metrics.durations, 100);
    EXPECT(all->metrics.duration_s > 0);
    EXPECT_INT(all->metrics.decisions[TAKT_REASON_PINNED], 100);
    REQUIRE(takt_ctx_learning(ctx, &learning) == TAKT_OK);
    EXPECT_INT(learning.samples, 0);
    takt_ctx_destroy(ctx);
    collection_free(all);
    close(file);
    unlink(path);
}

/* ---- sinks -----------------------------------------------------------------
 */

static void without_a_sink_nothing_is_gathered(void)
{
    takt_ctx *ctx = scalar_ctx();
    takt_telemetry state = {.size = sizeof state};

    run_adds(ctx, n, 10);
    EXPECT(atomic_load(&ctx->tap) == NULL);
    REQUIRE(takt_ctx_telemetry(ctx, &state) == TAKT_OK);
    EXPECT_INT(state.is_on, 0);
    EXPECT_INT(state.told, 0);
    takt_ctx_destroy(ctx);
}

static void a_sink_that_has_enough_is_closed_and_the_others_go_on(void)
{
    takt_ctx *ctx = scalar_ctx();
    struct collection *one = collection_make("add"),
                      *two = collection_make("add");
    takt_sink first = sink_of(one), second = sink_of(two);
    takt_telemetry state = {.size = sizeof state};

    one->leaves_after = 3;
    first.wants_all = 1;
    second.wants_all = 1;
    takt_ctx_trace(ctx, &(takt_trace_options){.threshold_s = 1e3, .rate = -1});
    REQUIRE(takt_ctx_add_sink(ctx, &first) == TAKT_OK);
    REQUIRE(takt_ctx_add_sink(ctx, &second) == TAKT_OK);
    run_adds(ctx, 16, 50);
    collect_all(ctx);
    EXPECT_INT(one->count, 3);
    EXPECT_INT(one->closes, 1);
    EXPECT_INT(two->count, 50);
    REQUIRE(takt_ctx_telemetry(ctx, &state) == TAKT_OK);
    EXPECT_INT(state.is_on, 1);
    EXPECT_INT(state.sink_count, 1);
    EXPECT_INT(state.sink[0].sent, 50);
    EXPECT_STR(state.sink[0].name, "test");
    takt_ctx_destroy(ctx);
    EXPECT_INT(one->closes, 1);
    EXPECT_INT(two->closes, 1);
    collection_free(one);
    collection_free(two);
}

static void a_sink_of_all_events_gets_all_and_others_some(void)
{
    takt_ctx *ctx = scalar_ctx();
    struct collection *one = collection_make("add"),
                      *two = collection_make("add");
    takt_sink first = sink_of(one), second = sink_of(two);

    first.wants_all = 1;
    takt_ctx_trace(ctx, &(takt_trace_options){.threshold_s = 1e3, .rate = -1});
    REQUIRE(takt_ctx_add_sink(ctx, &first) == TAKT_OK);
    REQUIRE(takt_ctx_add_sink(ctx, &second) == TAKT_OK);
    run_adds(ctx, 16, 50);
    collect_all(ctx);
    EXPECT_INT(one->count, 50);
    EXPECT_INT(two->sampled, 0);
    EXPECT_INT(two->metrics.calls, 50);
    takt_ctx_destroy(ctx);
    collection_free(one);
    collection_free(two);
}

static void there_is_room_for_so_many_sinks(void)
{
    takt_ctx *ctx = scalar_ctx();
    struct collection *all = collection_make(NULL);
    const takt_sink sink = sink_of(all);

    for (int i = 0; i < TAKT_MAX_SINKS; i++)
        EXPECT_INT(takt_ctx_add_sink(ctx, &sink), TAKT_OK);
    EXPECT_INT(takt_ctx_add_sink(ctx, &sink), TAKT_EFULL);
    EXPECT_INT(takt_ctx_add_sink(ctx, &(takt_sink){0}), TAKT_EINVAL);
    EXPECT_INT(takt_ctx_add_sink(ctx, NULL), TAKT_EINVAL);
    takt_ctx_destroy(ctx);
    EXPECT_INT(all->closes, TAKT_MAX_SINKS);
    collection_free(all);
}

static void *add_for_a_while(void *self)
{
    float out[64];
    takt_call call = add_of(64);

    call.out = out;
    for (int i = 0; i < 5000; i++)
        EXPECT_INT(takt_run(self, &call, NULL), TAKT_OK);
    return NULL;
}

static void many_threads_are_told_of_at_once(void)
{
    enum { threads = 8 };
    takt_ctx *ctx = scalar_ctx();
    struct collection *all = collection_make("add");
    const takt_sink sink = sink_of(all);
    pthread_t thread[threads];

    takt_ctx_trace(ctx, &(takt_trace_options){.rate = 0.2, .hot_rate = -1});
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    for (int i = 0; i < threads; i++)
        REQUIRE(pthread_create(&thread[i], NULL, add_for_a_while, ctx) == 0);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    collect_all(ctx);
    EXPECT_INT(all->metrics.calls, threads * 5000);
    EXPECT_INT(all->count + all->drifts, all->metrics.told);
    EXPECT(all->count > 0);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

/* ---- fork() ----------------------------------------------------------------
 */

static int phases[3];
static void note_phase(void *self, takt_fork_phase phase)
{
    (void)self;
    phases[phase]++;
}

static void a_child_counts_for_itself(void)
{
    takt_ctx *ctx = scalar_ctx();
    struct collection *all = collection_make("add");
    takt_sink sink = sink_of(all);
    int status = -1;

#if defined(__SANITIZE_THREAD__) || defined(TAKT_TEST_EMULATED)
    SKIP("neither emulator nor thread sanitizer has threads after a fork()");
    return;
#endif
    sink.forked = note_phase;
    tell_all(ctx);
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
    run_adds(ctx, 16, 30);
    collect_all(ctx);
    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const unsigned before = all->count;
        run_adds(ctx, 16, 7);
        collect_all(ctx);
        const bool is_right = all->count == before + 7 &&
                              all->metrics.calls == 7 &&
                              phases[TAKT_FORK_CHILD] == 1;
        takt_ctx_destroy(ctx);
        _exit(is_right && all->closes == 1 ? 0 : 1);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    run_adds(ctx, 16, 5);
    collect_all(ctx);
    EXPECT_INT(all->count, 35);
    EXPECT_INT(all->metrics.calls, 35);
    EXPECT_INT(phases[TAKT_FORK_PREPARE], 1);
    EXPECT_INT(phases[TAKT_FORK_PARENT], 1);
    EXPECT_INT(phases[TAKT_FORK_CHILD], 0);
    takt_ctx_destroy(ctx);
    collection_free(all);
}

int main(void)
{
    RUN(without_a_sink_nothing_is_gathered);
    RUN(an_event_has_expert_op_and_reason);
    RUN(a_learned_decision_has_a_history);
    RUN(fast_calls_are_told_of_at_their_rate);
    RUN(the_rate_is_kept_between_none_and_all);
    RUN(slow_calls_are_all_told_of);
    RUN(a_hot_op_is_told_of_in_metrics_alone);
    RUN(a_fallback_is_always_told_of_with_its_cause);
    RUN(tries_are_always_told_of);
    RUN(a_change_of_speed_is_told_of);
    RUN(a_call_may_belong_to_somebody_elses_span);
    RUN(what_is_no_traceparent_is_refused);
    RUN(small_one_line_calls_are_counted_too);
    RUN(pinned_calls_are_metered_and_teach_nothing);
    RUN(a_sink_that_has_enough_is_closed_and_the_others_go_on);
    RUN(a_sink_of_all_events_gets_all_and_others_some);
    RUN(there_is_room_for_so_many_sinks);
    RUN(many_threads_are_told_of_at_once);
    RUN(a_child_counts_for_itself);
    return tap_done();
}
