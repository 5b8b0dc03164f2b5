/* SPDX-License-Identifier: MIT */
/*
 * test_learning.c - calls teach the context that runs them, and pay next to
 * nothing for it: no lock, no allocation, no exploration where it is not
 * wanted.
 */
#define _GNU_SOURCE /* pthread_timedjoin_np */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "call/ctx.h"
#include "learn/allocation.h"
#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/takt.h"

enum { longest = 300000, side = 96 };

static float *a, *b, *out;

static takt_ctx *ctx_of(double exploration)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.store = "",
                                                .blas = "",
                                                .threads = 2,
                                                .exploration = exploration},
                            &ctx) == TAKT_OK);
    return ctx;
}

static takt_call vector_call(const char *op, size_t n)
{
    return (takt_call){.op = takt_op_find(op),
                       .shape = {.rank = 1, .dim = {n}},
                       .in = {a, b},
                       .out = out};
}

static takt_call matmul_call(size_t n)
{
    return (takt_call){.op = takt_op_find("matmul"),
                       .shape = {.rank = 3, .dim = {n, n, n}},
                       .in = {a, b},
                       .out = out,
                       .alpha = 1};
}

static takt_learning learning_of(takt_ctx *ctx)
{
    takt_learning learning = {.size = sizeof learning};
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    return learning;
}

static int repeats(int count)
{
    return is_sanitized ? count / 10 : count;
}

/* ---- what calls teach ----------------------------------------------------
 */

static void calls_become_what_is_known(void)
{
    enum { calls = 300 };
    takt_ctx *ctx = ctx_of(0);
    const takt_call call = vector_call("add", 50000);
    const takt_request request = {
        .op = call.op, .shape = call.shape, .situation = TAKT_SITUATION_REPEAT};
    takt_decision decision = {.size = sizeof decision};
    takt_history_row row = {.size = sizeof row};

    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    EXPECT_INT(decision.reason, TAKT_REASON_PRIOR);
    for (int i = 0; i < calls; i++) {
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        EXPECT(decision.actual_s > 0);
    }
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    EXPECT(decision.predicted_s > 0 && decision.confidence >= 0);
    EXPECT_INT(takt_history_best(ctx, &request, &row), TAKT_OK);
    EXPECT(row.samples >= 1 && row.mean_s > 0);
    const takt_learning learning = learning_of(ctx);
    EXPECT_INT(learning.samples + learning.dropped, calls);
    EXPECT_INT(learning.is_exploring, 1);
    EXPECT_STR(learning.store, "");
    EXPECT_STR(learning.diag.text, "");
    EXPECT(learning.own_records == 0 && learning.other_records == 0);
    takt_ctx_destroy(ctx);
}

struct sums {
    double calls, samples;
    unsigned rows;
};

static int add_up(void *self, const takt_history_row *row)
{
    struct sums *sums = self;

    sums->calls += row->calls;
    sums->samples += row->samples;
    sums->rows++;
    EXPECT(row->work_low < row->work_high && row->expert[0] != '\0');
    return 0;
}

/* A call stands for itself when the caller asked which expert ran it: how
 * seldom others are timed must not multiply it. */
static void calls_are_counted_once(void)
{
    takt_ctx *ctx = ctx_of(0);
    const takt_call call = vector_call("add", 700); /* well below 0.5 us */
    takt_decision decision = {.size = sizeof decision};
    struct sums sums = {0};
    int calls = 0;

    for (; calls < repeats(20000); calls++) {
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        if (calls % 64 == 0)
            takt_ctx_flush(ctx);
    }
    takt_ctx_flush(ctx);
    EXPECT_INT(takt_history_read(ctx, add_up, &sums), TAKT_OK);
    EXPECT(sums.rows > 0);
    EXPECT_NEAR(sums.calls + (double)learning_of(ctx).dropped, calls, 0.5);
    takt_ctx_destroy(ctx);
}

/* ---- exploration ---------------------------------------------------------
 */

static int explorations(takt_ctx *ctx, int calls, unsigned flags)
{
    takt_decision decision = {.size = sizeof decision};
    int explored = 0;

    for (int i = 0; i < calls; i++) {
        takt_call call = i % 2 ? vector_call("exp", (size_t)2000 << i / 2 % 7)
                               : matmul_call(16 + 16 * (size_t)(i / 2 % 5));
        call.flags = flags;
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        explored += decision.reason == TAKT_REASON_EXPLORE;
        if (i % 16 == 0)
            takt_ctx_flush(ctx);
    }
    return explored;
}

static void exploration_happens_and_is_counted(void)
{
    takt_ctx *ctx = ctx_of(0);

    const int explored = explorations(ctx, repeats(4000), 0);
    EXPECT(explored > 0);
    takt_ctx_flush(ctx);
    const takt_learning learning = learning_of(ctx);
    EXPECT_INT(learning.explored, explored);
    EXPECT(learning.explored_s >= 0);
    takt_ctx_destroy(ctx);
}

static void without_exploration_nothing_is_explored(void)
{
    takt_ctx *ctx = ctx_of(-1);

    EXPECT_INT(explorations(ctx, repeats(6000), 0), 0);
    takt_ctx_flush(ctx);
    EXPECT_INT(learning_of(ctx).explored, 0);
    EXPECT_INT(learning_of(ctx).is_exploring, 0);
    EXPECT(learning_of(ctx).samples > 0);
    takt_ctx_destroy(ctx);
}

static void urgent_calls_explore_nothing_where_others_do(void)
{
    takt_ctx *ctx = ctx_of(0);
    int urgent = 0, others = 0;

    for (int round = 0; round < 10; round++) {
        urgent += explorations(ctx, repeats(400), TAKT_CALL_URGENT);
        others += explorations(ctx, repeats(400), 0);
    }
    EXPECT_INT(urgent, 0);
    EXPECT(others > 0);
    takt_ctx_destroy(ctx);
}

/* What a try finds in the table while it is under way. */
struct attempt {
    takt_ctx *ctx;
    const takt_op *op;
    unsigned again; /* times the same try was offered meanwhile */
    unsigned looks;
};

static takt_status try_it(const takt_call *call, void *self)
{
    struct attempt *attempt = self;
    const takt_request request = {.op = call->op,
                                  .shape = call->shape,
                                  .situation = TAKT_SITUATION_REPEAT};
    const int series = takt__series_find(call->op, TAKT_F32, "");

    /* Something new, so that the verdicts are made again. */
    EXPECT_INT(
        takt_record(attempt->ctx,
                    &(takt_measurement){.request = &request,
                                        .expert = "other",
                                        .seconds = 1 + 0.5 * attempt->looks++}),
        TAKT_OK);
    /* Without operands, they lie where the last call left them. */
    for (unsigned bucket = 0; bucket < TAKT_BUCKETS; bucket++) {
        const uint64_t word = takt__table_load(
            &attempt->ctx->decider.table,
            (struct takt_key){(uint16_t)series, (uint8_t)bucket}, TAKT_REPEAT);
        attempt->again += word != 0 ? takt__cell_unpack(word).tries : 0;
    }
    return TAKT_OK;
}

static void a_try_under_way_is_not_offered_again(void)
{
    takt_ctx *ctx = ctx_of(0);
    struct attempt attempt = {.ctx = ctx};
    takt_expert_spec spec = {
        .backend = TAKT_BACKEND_SIMD, .run = try_it, .self = &attempt};
    takt_decision decision = {.size = sizeof decision};
    unsigned tries = 0;

    REQUIRE(takt_ctx_define_op(ctx, &(takt_op_spec){.name = "own"},
                               &attempt.op) == TAKT_OK);
    for (int i = 0; i < 4; i++) {
        spec.name = &"a\0b\0c\0d"[2 * i];
        REQUIRE(takt_ctx_add_expert(ctx, attempt.op, &spec) == TAKT_OK);
    }
    for (int i = 0; i < 200; i++) {
        const takt_call call = {.op = attempt.op,
                                .shape = {.rank = 1, .dim = {1000}}};
        attempt.again = 0;
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        if (decision.reason == TAKT_REASON_EXPLORE) {
            tries++;
            EXPECT_INT(attempt.again, 0);
        }
        takt_ctx_flush(ctx);
    }
    EXPECT(tries > 0);
    takt_ctx_destroy(ctx);
}

/* ---- what calls pay ------------------------------------------------------
 */

static void run_a_mix(takt_ctx *ctx, int rounds)
{
    static const char *const ops[] = {"add", "exp", "sum", "dot"};
    takt_decision decision = {.size = sizeof decision};

    for (int i = 0; i < rounds; i++) {
        takt_call call = vector_call(ops[i % 4], (size_t)1000 << i / 4 % 9);
        takt_run(ctx, &call, i % 3 == 0 ? &decision : NULL);
        call = matmul_call(8 + (size_t)(i % 3) * 40);
        takt_run(ctx, &call, NULL);
    }
}

static void a_warm_call_allocates_nothing(void)
{
    takt_ctx *ctx = ctx_of(0);

    if (!can_count) {
        SKIP("the sanitizer has its own malloc");
        takt_ctx_destroy(ctx);
        return;
    }
    free(malloc(1));
    run_a_mix(ctx, 2000);
    takt_ctx_flush(ctx);
    allocations = 0;
    is_counting = true;
    run_a_mix(ctx, 2000);
    is_counting = false;
    EXPECT_INT(allocations, 0);
    is_counting = true;
    void *volatile proof = malloc(1); /* that allocations are counted */
    is_counting = false;
    free(proof);
    EXPECT_INT(allocations, 1);
    takt_ctx_destroy(ctx);
}

static void *run_many(void *ctx)
{
    run_a_mix(ctx, 3000);
    return NULL;
}

/* Whoever holds the learner's lock keeps no call from being made, though the
 * journal runs over. */
static void a_warm_call_waits_for_nothing(void)
{
    takt_ctx *ctx = ctx_of(0);
    pthread_t caller;
    struct timespec end;

    run_a_mix(ctx, 2000);
    takt_ctx_flush(ctx);
    takt__learner_enter(ctx->learner);
    REQUIRE(pthread_create(&caller, NULL, run_many, ctx) == 0);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 90;
    const int late = pthread_timedjoin_np(caller, NULL, &end);
    takt__learner_leave(ctx->learner);
    EXPECT_INT(late, 0);
    if (late != 0)
        pthread_join(caller, NULL);
    EXPECT(learning_of(ctx).dropped > 0);
    takt_ctx_destroy(ctx);
}

/* ---- the thread ----------------------------------------------------------
 */

static void nap(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static bool is_heard(takt_ctx *ctx)
{
    const struct takt_journal *journal = takt__learner_journal(ctx->learner);

    for (int i = 0; i < 4000 && takt__journal_count(journal) > 0; i++)
        nap(5);
    return takt__journal_count(journal) == 0;
}

/* Nobody asks: it has to wake by itself. After 200 ms it sleeps, as a rule. */
static void a_sleeping_learner_hears_the_next_call(void)
{
    takt_ctx *ctx = ctx_of(0);
    const takt_call call = vector_call("add", 100000);
    takt_decision decision = {.size = sizeof decision};

    for (int i = 0; i < 6; i++) {
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        EXPECT(is_heard(ctx));
        nap(i % 2 == 0 ? 200 : 95 + 4 * i);
    }
    EXPECT_INT(learning_of(ctx).samples, 6);
    takt_ctx_destroy(ctx);
}

static void a_context_can_go_at_any_moment(void)
{
    const takt_call call = vector_call("add", 5000);
    takt_decision decision = {.size = sizeof decision};

    for (int i = 0; i < 30; i++) {
        takt_ctx *ctx = ctx_of(0);
        for (int j = 0; j < i; j++)
            takt_run(ctx, &call, &decision);
        if (i % 3 == 1)
            nap(i);
        takt_ctx_destroy(ctx);
    }
}

/* ---- everything at once --------------------------------------------------
 */

static _Atomic int callers_left;

static void *call_much(void *self)
{
    takt_ctx *ctx = self;
    float *mine = calloc(longest, sizeof *mine);
    takt_decision decision = {.size = sizeof decision};

    REQUIRE(mine != NULL);
    for (int i = 0; i < repeats(3000); i++) {
        takt_call call = vector_call("add", (size_t)500 << i % 9);
        call.out = mine;
        EXPECT_INT(takt_run(ctx, &call, i % 2 ? &decision : NULL), TAKT_OK);
    }
    free(mine);
    atomic_fetch_sub(&callers_left, 1);
    return NULL;
}

static int count_row(void *self, const takt_history_row *row)
{
    takt_learning learning = {.size = sizeof learning};

    (void)row; /* a visitor may ask the context anything */
    takt_ctx_learning(self, &learning);
    return 0;
}

static void ask_everything(takt_ctx *ctx)
{
    const takt_request request = {.op = takt_op_find("add"),
                                  .shape = {.rank = 1, .dim = {12345}}};
    const takt_measurement reported = {
        .request = &request, .expert = "scalar", .seconds = 1e-3};
    takt_estimate estimate[8] = {{.size = sizeof estimate[0]}};
    takt_history_row row = {.size = sizeof row};
    takt_decision decision = {.size = sizeof decision};
    size_t count;

    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    EXPECT_INT(takt_explain(ctx, &request, estimate, 8, &count), TAKT_OK);
    EXPECT(count > 0);
    EXPECT_INT(takt_record(ctx, &reported), TAKT_OK);
    EXPECT_INT(takt_history_best(ctx, &request, &row), TAKT_OK);
    EXPECT_INT(takt_history_read(ctx, count_row, ctx), TAKT_OK);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    EXPECT_INT(takt_history_reset(ctx, request.op), TAKT_OK);
}

static void calls_and_questions_get_along(void)
{
    enum { callers = 3 };
    takt_ctx *ctx = ctx_of(0);
    pthread_t thread[callers];

    atomic_store(&callers_left, callers);
    for (int i = 0; i < callers; i++)
        REQUIRE(pthread_create(&thread[i], NULL, call_much, ctx) == 0);
    do
        ask_everything(ctx);
    while (atomic_load(&callers_left) > 0);
    for (int i = 0; i < callers; i++)
        pthread_join(thread[i], NULL);
    takt_ctx_destroy(ctx);
}

/* ---- when memory runs out ------------------------------------------------
 */

static takt_status live_shortly(void)
{
    const takt_request request = {.op = takt_op_find("matmul"),
                                  .shape = {.rank = 3, .dim = {64, 64, 64}}};
    const takt_measurement reported = {
        .request = &request, .expert = "scalar", .seconds = 1e-3};
    takt_estimate estimate[4] = {{.size = sizeof estimate[0]}};
    takt_decision decision = {.size = sizeof decision};
    size_t count;
    struct sums sums = {0};
    takt_ctx *ctx = NULL;

    takt_status status = takt_ctx_create(
        &(takt_ctx_options){.store = "", .blas = "", .threads = 1}, &ctx);
    if (status != TAKT_OK) {
        EXPECT(ctx == NULL);
        return status;
    }
    status = takt_select(ctx, &request, &decision);
    if (status == TAKT_OK)
        status = takt_record(ctx, &reported);
    if (status == TAKT_OK)
        status = takt_explain(ctx, &request, estimate, 4, &count);
    if (status == TAKT_OK)
        status = takt_history_read(ctx, add_up, &sums);
    takt_ctx_destroy(ctx);
    return status;
}

/* Every allocation fails once; nothing worse than TAKT_ENOMEM follows. */
static void no_allocation_is_taken_for_granted(void)
{
    long last = 0;

    if (!can_count) {
        SKIP("the sanitizer has its own malloc");
        return;
    }
    REQUIRE(live_shortly() == TAKT_OK);
    for (bool is_reached = true; is_reached; last++) {
        allocations = 0;
        fail_at = last;
        is_counting = true;
        const takt_status status = live_shortly();
        is_counting = false;
        is_reached = allocations > (unsigned long)last;
        fail_at = -1;
        TAP_CHECK(status == TAKT_OK || status == TAKT_ENOMEM,
                  "allocation %ld fails: %s", last, takt_status_text(status));
    }
    EXPECT(last > 10);
}

/* ---- trials beside an expert of the user's --------------------------------
 */

/* The library of these tests waits, so that it is several times as slow as the
 * kernels of this build on this machine, and takes no processor from them. */
static double library_s;

static takt_status wait_a_while(const takt_call *call, void *self)
{
    struct timespec left = {.tv_sec = (time_t)library_s};

    left.tv_nsec = (long)(1e9 * (library_s - (double)left.tv_sec));
    (void)call;
    (void)self;
    while (nanosleep(&left, &left) != 0)
        continue;
    return TAKT_OK;
}

/* The longest of some calls on one thread: others may be at work. */
static double kernel_s(takt_ctx *ctx, const takt_call *call)
{
    const char *name;
    size_t expert = 0;
    double longest_s = 0;

    while ((name = takt_ctx_expert(ctx, expert, NULL)) != NULL &&
           strncmp(name, "simd.", 5) != 0)
        expert++;
    for (int i = 0; i < 5; i++) {
        const uint64_t start_ns = takt__now_ns();
        REQUIRE(takt_run_on(ctx, call, expert) == TAKT_OK);
        longest_s = fmax(longest_s, (double)(takt__now_ns() - start_ns) * 1e-9);
    }
    return longest_s;
}

/* A word of the table that offers three trials of an expert which uses the
 * pool: the first one wakes its threads. */
static bool offers_three(const takt_ctx *ctx, struct takt_key key)
{
    for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
        const uint64_t word = takt__table_load(&ctx->decider.table, key, s);
        const struct takt_cell cell = takt__cell_unpack(word);
        if (word != 0 && cell.tries == 3 &&
            takt__expert_uses_pool(&ctx->experts.expert[cell.explore]))
            return true;
    }
    return false;
}

/* The default expert has two threads of its own, so calls are decided as if
 * threads were awake, while those of the pool sleep. */
static void experts_of_the_pool_are_tried_beside_a_library(void)
{
    takt_ctx *ctx = ctx_of(0);
    takt_call call = matmul_call(96);
    const takt_expert_spec spec = {.size = sizeof spec,
                                   .name = "library",
                                   .backend = TAKT_BACKEND_SIMD,
                                   .threads = 2,
                                   .run = wait_a_while,
                                   .is_usual = 1};
    takt_work work;
    int trials = 0, calls = 0;
    bool were_three = false;

    library_s = 4 * kernel_s(ctx, &call);
    REQUIRE(takt_ctx_add_expert(ctx, call.op, &spec) == TAKT_OK);
    REQUIRE(takt_op_work(call.op, call.dtype, &call.shape, &work) == TAKT_OK);
    const struct takt_key key =
        takt__key_of(call.op, call.dtype, &call.shape, 0, &work);
    while (calls < 5000 && (trials < 3 || !were_three)) {
        takt_decision decision = {.size = sizeof decision};
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
        trials += decision.reason == TAKT_REASON_EXPLORE &&
                  strncmp(decision.expert, "simd.", 5) == 0;
        were_three = were_three || offers_three(ctx, key);
        calls++;
    }
    printf("# %d calls, %d trials\n", calls, trials);
    EXPECT(trials >= 3);
    EXPECT(were_three);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    a = calloc(longest, sizeof *a);
    b = calloc(longest, sizeof *b);
    out = calloc(longest, sizeof *out);
    REQUIRE(a != NULL && b != NULL && out != NULL);
    RUN(calls_become_what_is_known);
    RUN(calls_are_counted_once);
    RUN(exploration_happens_and_is_counted);
    RUN(without_exploration_nothing_is_explored);
    RUN(urgent_calls_explore_nothing_where_others_do);
    RUN(a_try_under_way_is_not_offered_again);
    RUN(a_warm_call_allocates_nothing);
    RUN(a_warm_call_waits_for_nothing);
    RUN(a_sleeping_learner_hears_the_next_call);
    RUN(a_context_can_go_at_any_moment);
    RUN(calls_and_questions_get_along);
    RUN(no_allocation_is_taken_for_granted);
    RUN(experts_of_the_pool_are_tried_beside_a_library);
    free(a);
    free(b);
    free(out);
    return tap_done();
}
