/* SPDX-License-Identifier: MIT */
/*
 * test_user_experts.c - the user's own code is chosen, run, learned and
 * replaced like Takt's own, and one op's experts are not another's.
 */
#include "takt/expert.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "call/ctx.h"
#include "call/direct.h"
#include "call/user_experts.h"
#include "op/key.h"
#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/takt.h"

static takt_ctx *make_ctx(void)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){.store = "", .blas = "", .threads = 2},
                &ctx) == TAKT_OK);
    return ctx;
}

static const takt_op *define(takt_ctx *ctx, const char *name)
{
    const takt_op *op;
    REQUIRE(takt_ctx_define_op(ctx, &(takt_op_spec){.name = name}, &op) ==
            TAKT_OK);
    return op;
}

/* One way to do nothing useful, for so long. */
struct worker {
    int steps;          /* of work */
    takt_status status; /* of running it */
    int can_run;
    _Atomic int asked, ran;
};

static takt_status work(const takt_call *call, void *self)
{
    struct worker *worker = self;
    volatile double x = 1;

    (void)call;
    atomic_fetch_add(&worker->ran, 1);
    for (int i = 0; i < worker->steps; i++)
        x = x * 0.999 + 0.1;
    return worker->status;
}

static int can_work(const takt_call *call, void *self)
{
    struct worker *worker = self;

    (void)call;
    atomic_fetch_add(&worker->asked, 1);
    return worker->can_run;
}

static takt_status add(takt_ctx *ctx, const takt_op *op, const char *name,
                       struct worker *worker)
{
    return takt_ctx_add_expert(ctx, op,
                               &(takt_expert_spec){.name = name,
                                                   .backend = TAKT_BACKEND_SIMD,
                                                   .run = work,
                                                   .can_run = can_work,
                                                   .self = worker});
}

static takt_call call_of(const takt_op *op, size_t n)
{
    return (takt_call){.op = op, .shape = {.rank = 1, .dim = {n}}};
}

enum { quick = 2000, slow = 20 * quick };

/* ---- running -------------------------------------------------------------
 */

static void the_faster_one_is_found_and_kept(void)
{
    takt_ctx *ctx = make_ctx();
    const takt_op *op = define(ctx, "own");
    struct worker tortoise = {.steps = slow, .can_run = 1};
    struct worker hare = {.steps = quick, .can_run = 1};
    const takt_call call = call_of(op, 1000);
    takt_decision decision = {.size = sizeof decision};
    int hares = 0;

    EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_ENOTSUP);
    EXPECT_INT(add(ctx, op, "tortoise", &tortoise), TAKT_OK);
    EXPECT_INT(add(ctx, op, "hare", &hare), TAKT_OK);
    for (int i = 0; i < 300; i++) {
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        EXPECT(strcmp(decision.expert, "user.hare") == 0 ||
               strcmp(decision.expert, "user.tortoise") == 0);
        hares += i >= 200 && strcmp(decision.expert, "user.hare") == 0;
        takt_ctx_flush(ctx);
    }
    EXPECT(hares >= 90);
    EXPECT_INT(tortoise.ran + hare.ran, 300);
    EXPECT_INT(tortoise.asked, tortoise.ran);
    takt_ctx_flush(ctx);
    EXPECT_INT(takt_select(ctx, &(takt_request){.op = op, .shape = call.shape},
                           &decision),
               TAKT_OK);
    EXPECT_STR(decision.expert, "user.hare");
    EXPECT_STR(decision.runner_up, "user.tortoise");
    EXPECT_INT(decision.reason, TAKT_REASON_MODEL);
    takt_ctx_destroy(ctx);
}

static void an_expert_that_fails_is_replaced_and_suspended(void)
{
    takt_ctx *ctx = make_ctx();
    const takt_op *op = define(ctx, "own");
    struct worker unable = {.can_run = 0};
    struct worker failing = {.can_run = 1, .status = TAKT_EIO};
    struct worker able = {.can_run = 1, .steps = slow};
    const takt_call call = call_of(op, 1000);
    takt_decision decision = {.size = sizeof decision};
    takt_learning learning = {.size = sizeof learning};

    EXPECT_INT(add(ctx, op, "unable", &unable), TAKT_OK);
    EXPECT_INT(add(ctx, op, "failing", &failing), TAKT_OK);
    EXPECT_INT(add(ctx, op, "able", &able), TAKT_OK);
    for (int i = 0; i < 200; i++) {
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        EXPECT_STR(decision.expert, "user.able");
        takt_ctx_flush(ctx);
    }
    EXPECT_INT(able.ran, 200);
    EXPECT_INT(unable.ran, 0);
    /* Asked again now and then, not with every call. */
    EXPECT(unable.asked < 100);
    EXPECT(failing.ran < 100);
    EXPECT(unable.asked + failing.asked > 0);
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    EXPECT(learning.refused > 0);
    takt_ctx_destroy(ctx);
}

/* A failure is no time: it must not make the failing one look quick. */
static void the_only_one_that_fails_teaches_no_time(void)
{
    takt_ctx *ctx = make_ctx();
    const takt_op *op = define(ctx, "own");
    struct worker failing = {.can_run = 1, .status = TAKT_EIO};
    const takt_call call = call_of(op, 1000);
    takt_request request = {.op = op, .shape = call.shape};
    takt_history_row row = {.size = sizeof row};

    EXPECT_INT(add(ctx, op, "failing", &failing), TAKT_OK);
    for (int i = 0; i < 20; i++)
        EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_ENODEV);
    takt_ctx_flush(ctx);
    for (; request.situation < TAKT_RESIDENT; request.situation++)
        EXPECT_INT(takt_history_best(ctx, &request, &row), TAKT_ENOENT);
    failing.status = TAKT_OK; /* it gets another chance in every call */
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    takt_ctx_destroy(ctx);
}

/* Short calls are timed seldom, but a refusal is heard of at once. */
static void a_refusal_is_heard_of_at_once(void)
{
    takt_ctx *ctx = make_ctx();
    const takt_op *op = define(ctx, "own");
    struct worker moody = {.can_run = 1},
                  steady = {.can_run = 1, .steps = slow};
    const takt_call call = call_of(op, 1000);
    const takt_request request = {.op = op, .shape = call.shape};
    takt_decision decision = {.size = sizeof decision};
    takt_learning learning = {.size = sizeof learning};

    EXPECT_INT(add(ctx, op, "moody", &moody), TAKT_OK);
    EXPECT_INT(add(ctx, op, "steady", &steady), TAKT_OK);
    /* On a busy machine the quick one may look slow for a while. */
    for (int i = 0;
         i < 300 || (i < 50000 && strcmp(decision.expert, "user.moody") != 0);
         i++) {
        EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
        takt_ctx_flush(ctx);
        EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    }
    EXPECT_STR(decision.expert, "user.moody");
    moody.can_run = 0;
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    EXPECT_INT(learning.refused, 1);
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    EXPECT_STR(decision.expert, "user.steady");
    takt_ctx_destroy(ctx);
}

static void when_all_refuse_none_ran_it(void)
{
    takt_ctx *ctx = make_ctx();
    const takt_op *op = define(ctx, "own");
    struct worker worker[3] = {{.can_run = 0},
                               {.can_run = 1, .status = TAKT_ENOMEM},
                               {.can_run = 1, .status = TAKT_EINVAL}};
    const takt_call call = call_of(op, 10);

    EXPECT_INT(add(ctx, op, "a", &worker[0]), TAKT_OK);
    EXPECT_INT(add(ctx, op, "b", &worker[1]), TAKT_OK);
    EXPECT_INT(add(ctx, op, "c", &worker[2]), TAKT_OK);
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_ENODEV);
    for (int i = 0; i < 3; i++)
        EXPECT_INT(worker[i].asked, 1); /* each once */
    takt_ctx_destroy(ctx);
}

/* One that is added late to an op with a long history is tried, too. */
static void a_late_expert_is_found(void)
{
    takt_ctx *ctx = make_ctx();
    const takt_op *op = define(ctx, "own");
    struct worker first = {.steps = slow, .can_run = 1};
    struct worker late = {.steps = quick, .can_run = 1};
    const takt_call call = call_of(op, 1000);

    EXPECT_INT(add(ctx, op, "first", &first), TAKT_OK);
    for (int i = 0; i < 1000; i++)
        EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    EXPECT_INT(add(ctx, op, "late", &late), TAKT_OK);
    for (int i = 0; i < 200; i++) {
        EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
        takt_ctx_flush(ctx);
    }
    EXPECT(late.ran > 100);
    takt_ctx_destroy(ctx);
}

static void other_policies_run_them_too(void)
{
    static const takt_policy policies[] = {TAKT_POLICY_MOE, TAKT_POLICY_COST,
                                           TAKT_POLICY_HEURISTIC};
    takt_decision decision = {.size = sizeof decision};

    for (int i = 0; i < 4; i++) {
        takt_ctx *ctx;
        struct worker worker = {.can_run = 1};
        REQUIRE(takt_ctx_create(
                    &(takt_ctx_options){.store = "",
                                        .blas = "",
                                        .policy = i < 3 ? policies[i]
                                                        : TAKT_POLICY_FIXED,
                                        .expert = "scalar"},
                    &ctx) == TAKT_OK);
        const takt_op *op = define(ctx, "own");
        const takt_call call = call_of(op, 5000);
        EXPECT_INT(add(ctx, op, "mine", &worker), TAKT_OK);
        EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
        EXPECT_STR(decision.expert, "user.mine");
        EXPECT_INT(worker.ran, 1);
        takt_ctx_destroy(ctx);
    }
}

/* ---- names and limits ----------------------------------------------------
 */

static void names_are_checked(void)
{
    takt_ctx *ctx = make_ctx(), *other = make_ctx();
    const takt_op *op = define(ctx, "own");
    const takt_op *theirs = define(other, "own");
    struct worker w = {.can_run = 1};
    takt_expert_spec spec = {.name = "x", .backend = (takt_backend)99};

    EXPECT_INT(add(ctx, op, "", &w), TAKT_EINVAL);
    EXPECT_INT(add(ctx, op, NULL, &w), TAKT_EINVAL);
    EXPECT_INT(add(ctx, op, "two words", &w), TAKT_EINVAL);
    EXPECT_INT(add(ctx, op, "\xc3\xa4", &w), TAKT_EINVAL);
    EXPECT_INT(add(ctx, op, "abcdefghijklmnopqrstuvwxyz1", &w), TAKT_EINVAL);
    EXPECT_INT(add(ctx, op, "abcdefghijklmnopqrstuvwxyz", &w), TAKT_OK);
    EXPECT_INT(add(ctx, op, "one", &w), TAKT_OK);
    EXPECT_INT(add(ctx, op, "one", &w), TAKT_EEXIST);
    EXPECT_INT(add(ctx, op, "ONE", &w), TAKT_EEXIST);
    EXPECT_INT(add(ctx, takt_op_find("reshape"), "x", &w), TAKT_EINVAL);
    EXPECT_INT(add(ctx, NULL, "x", &w), TAKT_EINVAL);
    EXPECT_INT(add(ctx, theirs, "x", &w), TAKT_EINVAL);
    EXPECT_INT(takt_ctx_add_expert(ctx, op, NULL), TAKT_EINVAL);
    EXPECT_INT(takt_ctx_add_expert(ctx, op, &spec), TAKT_EINVAL);
    takt_ctx_destroy(ctx);
    takt_ctx_destroy(other);
}

static void there_is_room_for_so_many(void)
{
    takt_ctx *ctx = make_ctx();
    const takt_op *op = NULL, *extra;
    struct worker w = {.can_run = 1};
    char name[32];
    unsigned experts = 0;

    for (unsigned i = 0; i < TAKT_MAX_USER_OPS; i++) {
        snprintf(name, sizeof name, "op%u", i);
        op = define(ctx, name);
        for (unsigned j = 0; j < TAKT_MAX_EXPERTS_PER_OP && i < 12; j++) {
            snprintf(name, sizeof name, "expert%u", j);
            const takt_status status = add(ctx, op, name, &w);
            EXPECT_INT(status,
                       experts < TAKT_MAX_USER_EXPERTS ? TAKT_OK : TAKT_EFULL);
            experts += status == TAKT_OK;
        }
    }
    EXPECT_INT(experts, TAKT_MAX_USER_EXPERTS);
    EXPECT_INT(add(ctx, op, "one_more", &w), TAKT_EFULL);
    EXPECT_INT(add(ctx, takt_ctx_find_op(ctx, "op3"), "one_more", &w),
               TAKT_EFULL);
    EXPECT_INT(
        takt_ctx_define_op(ctx, &(takt_op_spec){.name = "one_more"}, &extra),
        TAKT_EFULL);
    EXPECT(extra == NULL);
    const takt_call call = call_of(takt_ctx_find_op(ctx, "op11"), 10);
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    takt_ctx_destroy(ctx);
}

static void an_op_has_sixteen_experts(void)
{
    takt_ctx *ctx = make_ctx();
    const takt_op *op = define(ctx, "own");
    struct worker w = {.can_run = 1};
    char name[32];

    for (unsigned i = 0; i <= TAKT_MAX_EXPERTS_PER_OP; i++) {
        snprintf(name, sizeof name, "expert%u", i);
        EXPECT_INT(add(ctx, op, name, &w),
                   i < TAKT_MAX_EXPERTS_PER_OP ? TAKT_OK : TAKT_EFULL);
    }
    takt_ctx_destroy(ctx);
}

/* Two ops call their experts alike; one has the fast one where the other has
 * the slow one. */
static void experts_of_one_name_do_not_mix(void)
{
    takt_ctx *ctx = make_ctx();
    const takt_op *op[2] = {define(ctx, "first"), define(ctx, "second")};
    struct worker w[2][2] = {
        {{.steps = quick, .can_run = 1}, {.steps = slow, .can_run = 1}},
        {{.steps = slow, .can_run = 1}, {.steps = quick, .can_run = 1}}};
    takt_decision decision = {.size = sizeof decision};

    for (int i = 0; i < 2; i++) {
        EXPECT_INT(add(ctx, op[i], "a", &w[i][0]), TAKT_OK);
        EXPECT_INT(add(ctx, op[i], "b", &w[i][1]), TAKT_OK);
    }
    for (int i = 0; i < 300; i++) {
        const takt_call call = call_of(op[i % 2], 1000);
        EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
        takt_ctx_flush(ctx);
    }
    EXPECT_INT(w[0][0].ran + w[0][1].ran, 150);
    EXPECT_INT(w[1][0].ran + w[1][1].ran, 150);
    for (int i = 0; i < 2; i++) {
        const takt_request request = {.op = op[i],
                                      .shape = {.rank = 1, .dim = {1000}}};
        EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
        EXPECT_STR(decision.expert, i == 0 ? "user.a" : "user.b");
    }
    takt_ctx_destroy(ctx);
}

/* ---- all at once ---------------------------------------------------------
 */

struct party {
    takt_ctx *ctx;
    int number;
};

static struct worker guest = {.steps = 50, .can_run = 1};

static void celebrate(takt_ctx *ctx, const takt_op *op, int round)
{
    const takt_call call = call_of(op, (size_t)(100 << round % 8));
    const takt_request request = {.op = op, .shape = call.shape};
    takt_decision decision = {.size = sizeof decision};

    EXPECT_INT(takt_run(ctx, &call, round % 2 ? &decision : NULL), TAKT_OK);
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    EXPECT_INT(takt_record(ctx, &(takt_measurement){.request = &request,
                                                    .expert = "told",
                                                    .seconds = 1e-3}),
               TAKT_OK);
}

static void *join_party(void *self)
{
    const struct party *party = self;
    char name[32];

    for (int i = 0; i < (is_sanitized ? 6 : 15); i++) {
        snprintf(name, sizeof name, "op%d.%d", party->number, i);
        const takt_op *op = define(party->ctx, name);
        EXPECT_INT(add(party->ctx, op, "one", &guest), TAKT_OK);
        EXPECT(takt_ctx_find_op(party->ctx, name) == op);
        for (int round = 0; round < 20; round++)
            celebrate(party->ctx, op, round);
        const takt_op *shared = takt_ctx_find_op(party->ctx, "shared");
        snprintf(name, sizeof name, "late%d.%d", party->number, i);
        if (i < 3)
            EXPECT_INT(add(party->ctx, shared, name, &guest), TAKT_OK);
        for (int round = 0; round < 20; round++)
            celebrate(party->ctx, shared, round);
    }
    return NULL;
}

static void all_of_it_goes_on_at_once(void)
{
    enum { guests = 4 };
    struct party party[guests];
    pthread_t thread[guests];
    takt_ctx *ctx = make_ctx();
    const takt_op *shared = define(ctx, "shared");

    EXPECT_INT(add(ctx, shared, "first", &guest), TAKT_OK);
    for (int i = 0; i < guests; i++) {
        party[i] = (struct party){ctx, i};
        REQUIRE(pthread_create(&thread[i], NULL, join_party, &party[i]) == 0);
    }
    for (int i = 0; i < guests; i++)
        pthread_join(thread[i], NULL);
    takt_ctx_destroy(ctx);
}

/* ---- experts of the catalogue's ops ---------------------------------------
 */

/* An add that is right, or slow, or refuses. */
static takt_status add_up(const takt_call *call, void *self)
{
    const takt_status status = work(call, self);
    const float *a = call->in[0], *b = call->in[1];
    float *out = call->out;

    for (size_t i = 0; status == TAKT_OK && i < call->shape.dim[0]; i++)
        out[i] = a[i] + b[i];
    return status;
}

static takt_status add_usual(takt_ctx *ctx, const char *name,
                             struct worker *worker)
{
    return takt_ctx_add_expert(ctx, takt_op_find("add"),
                               &(takt_expert_spec){.name = name,
                                                   .backend = TAKT_BACKEND_SIMD,
                                                   .run = add_up,
                                                   .can_run = can_work,
                                                   .self = worker,
                                                   .is_usual = 1});
}

static takt_decision add_once(takt_ctx *ctx, size_t n, unsigned flags)
{
    static float a[1 << 16], b[1 << 16], out[1 << 16];
    takt_decision decision = {.size = sizeof decision};
    const takt_call call = {.op = takt_op_find("add"),
                            .shape = {.rank = 1, .dim = {n}},
                            .in = {a, b},
                            .out = out,
                            .flags = flags};

    for (size_t i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = 1;
        out[i] = -1;
    }
    REQUIRE(takt_run(ctx, &call, &decision) == TAKT_OK);
    for (size_t i = 0; i < n; i++)
        REQUIRE(out[i] == (float)i + 1);
    return decision;
}

static void the_usual_expert_runs_what_was_not_measured(void)
{
    takt_ctx *ctx = make_ctx();
    struct worker w = {.can_run = 1};
    takt_decision decision = {0};
    const takt_request question = {.op = takt_op_find("add"),
                                   .shape = {.rank = 1, .dim = {1 << 12}}};

    EXPECT_INT(add_usual(ctx, "mine", &w), TAKT_OK);
    EXPECT_INT(takt_select(ctx, &question, &decision), TAKT_OK);
    EXPECT_STR(decision.expert, "user.mine");
    decision = add_once(ctx, 1 << 12, 0);
    EXPECT_STR(decision.expert, "user.mine");
    EXPECT_INT(decision.reason, TAKT_REASON_PRIOR);
    EXPECT_INT(w.ran, 1);
    takt_ctx_destroy(ctx);
}

/* Some hundred calls are enough, but on a busy machine: samples are held up. */
enum { until_found = 50000 };

/* What it has cost so far has to be worth a change. */
static void a_slow_usual_one_is_left_for_ours(void)
{
    takt_ctx *ctx = make_ctx();
    struct worker w = {.can_run = 1, .steps = 20 * slow};
    int calls = 0, ours = 0;

    EXPECT_INT(add_usual(ctx, "slow", &w), TAKT_OK);
    for (; calls < until_found && ours < 20; calls++) {
        const takt_decision decision = add_once(ctx, 1 << 12, 0);
        takt_ctx_flush(ctx);
        ours += decision.reason == TAKT_REASON_MODEL &&
                strcmp(decision.expert, "user.slow") != 0;
    }
    EXPECT(ours == 20);
    EXPECT(calls > 20);
    takt_ctx_destroy(ctx);
}

/* Of steady calls nobody sees what was tried; but it is learned from. */
static void steady_calls_change_hands_once(void)
{
    takt_ctx *ctx = make_ctx();
    struct worker w = {.can_run = 1, .steps = 20 * slow};
    takt_learning learning = {.size = sizeof learning};
    int changes = 0;
    bool is_ours = false;

    EXPECT_INT(add_usual(ctx, "slow", &w), TAKT_OK);
    for (int i = 0; i < until_found && !is_ours; i++) {
        const takt_decision decision = add_once(ctx, 1 << 12, TAKT_CALL_STEADY);
        EXPECT(decision.reason != TAKT_REASON_EXPLORE);
        is_ours = strcmp(decision.expert, "user.slow") != 0;
        takt_ctx_flush(ctx);
    }
    EXPECT(is_ours);
    for (int i = 0; i < 40; i++) {
        const takt_decision decision = add_once(ctx, 1 << 12, TAKT_CALL_STEADY);
        changes += strcmp(decision.expert, "user.slow") == 0;
        takt_ctx_flush(ctx);
    }
    EXPECT_INT(changes, 0);
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    EXPECT(learning.explored > 0);
    takt_ctx_destroy(ctx);
}

/* What is tried beside a call in place, or one that adds to its output, leaves
 * no trace in it. */
static void what_is_tried_aside_leaves_no_trace(void)
{
    enum { n = 4096 };
    takt_ctx *ctx = make_ctx();
    static float x[n], y[n];

    for (int i = 0; i < n; i++) {
        x[i] = 1;
        y[i] = 0;
    }
    for (int call = 1; call <= 400; call++) {
        const takt_call axpy = {.op = takt_op_find("axpy"),
                                .shape = {.rank = 1, .dim = {n}},
                                .in = {x, y},
                                .out = y,
                                .alpha = 1,
                                .flags = TAKT_CALL_STEADY};
        REQUIRE(takt_run(ctx, &axpy, NULL) == TAKT_OK);
        if (call % 10 == 0)
            takt_ctx_flush(ctx);
        for (int i = 0; i < n; i++)
            REQUIRE(y[i] == (float)call);
    }
    takt_ctx_destroy(ctx);
}

static void a_usual_one_that_refuses_is_replaced(void)
{
    takt_ctx *ctx = make_ctx();
    struct worker w = {.can_run = 1, .status = TAKT_ENODEV};

    EXPECT_INT(add_usual(ctx, "never", &w), TAKT_OK);
    const takt_decision decision = add_once(ctx, 1 << 10, 0);
    EXPECT(strncmp(decision.expert, "simd", 4) == 0);
    EXPECT_INT(decision.reason, TAKT_REASON_FALLBACK);
    takt_ctx_destroy(ctx);
}

/* An add finds out nothing: whatever it says, it was not run. */
static void a_status_of_other_ops_is_a_refusal(void)
{
    static const takt_status said[] = {TAKT_ESINGULAR, TAKT_EDEFINITE};

    for (size_t i = 0; i < 2; i++) {
        takt_ctx *ctx = make_ctx();
        struct worker w = {.can_run = 1, .status = said[i]};
        EXPECT_INT(add_usual(ctx, "confused", &w), TAKT_OK);
        const takt_decision decision = add_once(ctx, 1 << 10, 0);
        EXPECT_INT(decision.reason, TAKT_REASON_FALLBACK);
        takt_ctx_destroy(ctx);
    }
}

static void what_was_measured_of_it_is_told_and_explained(void)
{
    takt_ctx *ctx = make_ctx();
    struct worker w = {.can_run = 1};
    takt_estimate estimate[32] = {{.size = sizeof estimate[0]}};
    size_t count = 0, found = 0;
    const takt_measurement told = {
        .request = &(takt_request){.op = takt_op_find("add"),
                                   .shape = {.rank = 1, .dim = {1 << 12}}},
        .expert = "user.mine",
        .seconds = 1e-3};

    EXPECT_INT(takt_record(ctx, &told), TAKT_ENODEV);
    EXPECT_INT(add_usual(ctx, "mine", &w), TAKT_OK);
    for (int i = 0; i < 20; i++)
        EXPECT_INT(takt_record(ctx, &told), TAKT_OK);
    EXPECT_INT(takt_explain(ctx, told.request, estimate, 32, &count), TAKT_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(estimate[i].expert, "user.mine") == 0) {
            found++;
            EXPECT(estimate[i].predicted_s > 0.8e-3 &&
                   estimate[i].predicted_s < 1.25e-3);
            EXPECT(estimate[i].is_chosen); /* nobody else was measured */
        }
    EXPECT_INT(found, 1);
    takt_ctx_destroy(ctx);
}

/* A call that is too small to ask about is not too small for the expert that
 * the user made the default one. */
static void a_default_expert_runs_small_calls_too(void)
{
    takt_ctx *ctx = make_ctx();
    const takt_op *op = takt_op_find("add");
    struct worker worker = {.can_run = 1};
    float a[16] = {1}, b[16] = {2}, out[16];
    const takt_call call = {
        .op = op, .shape = {.rank = 1, .dim = {16}}, .in = {a, b}, .out = out};

    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    EXPECT_INT(
        takt_ctx_add_expert(ctx, op,
                            &(takt_expert_spec){.name = "default",
                                                .backend = TAKT_BACKEND_SIMD,
                                                .run = work,
                                                .self = &worker,
                                                .is_usual = 1}),
        TAKT_OK);
    for (int i = 0; i < 20; i++)
        EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    EXPECT(worker.ran >= 10);
    takt_ctx_destroy(ctx);
}

/* The first op of each context has the same number. */
static void an_op_of_another_context_is_refused(void)
{
    takt_ctx *ours = make_ctx(), *theirs = make_ctx();
    const takt_op *own = define(ours, "own"), *other = define(theirs, "other");
    struct worker worker = {.can_run = 1};
    const takt_call call = call_of(other, 1000);
    const takt_request request = {.op = other, .shape = call.shape};
    takt_decision decision = {.size = sizeof decision};
    takt_estimate estimate = {.size = sizeof estimate};
    takt_history_row row = {.size = sizeof row};
    size_t count;

    EXPECT_INT(add(ours, own, "mine", &worker), TAKT_OK);
    EXPECT_INT(takt_run(ours, &call, NULL), TAKT_EINVAL);
    EXPECT_INT(takt_run(ours, &call, &decision), TAKT_EINVAL);
    EXPECT_INT(worker.ran, 0);
    EXPECT_INT(takt_select(ours, &request, &decision), TAKT_EINVAL);
    EXPECT_INT(takt_explain(ours, &request, &estimate, 1, &count), TAKT_EINVAL);
    EXPECT_INT(takt_history_best(ours, &request, &row), TAKT_EINVAL);
    takt_ctx_destroy(ours);
    takt_ctx_destroy(theirs);
}

struct emission {
    takt_ctx *ctx;
    _Atomic bool is_over;
};

/* Telemetry that wants every call comes and goes. */
static void *switch_emission(void *self)
{
    struct emission *shared = self;

    for (bool is_all = true; !atomic_load(&shared->is_over); is_all = !is_all)
        takt__direct_emit_all(shared->ctx, is_all);
    takt__direct_emit_all(shared->ctx, false);
    return NULL;
}

/* Two threads find out at once which sizes go directly. */
static void an_expert_is_not_passed_by_that_comes_meanwhile(void)
{
    struct worker worker = {.can_run = 1};
    size_t passed_by = 0;

    for (int round = 0; round < 100; round++) {
        struct emission shared = {.ctx = make_ctx()};
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, switch_emission, &shared) == 0);
        for (size_t i = 0; i < takt_op_count(); i++)
            add(shared.ctx, takt_op_at(i), "mine", &worker);
        atomic_store(&shared.is_over, true);
        pthread_join(thread, NULL);
        for (int op = 0; op < TAKT_OP_COUNT; op++)
            for (int dtype = 0; dtype < TAKT_DTYPES; dtype++)
                passed_by += shared.ctx->direct.most[dtype][op] != 0;
        takt_ctx_destroy(shared.ctx);
    }
    EXPECT_INT(passed_by, 0);
}

int main(void)
{
    RUN(the_usual_expert_runs_what_was_not_measured);
    RUN(a_slow_usual_one_is_left_for_ours);
    RUN(steady_calls_change_hands_once);
    RUN(what_is_tried_aside_leaves_no_trace);
    RUN(a_usual_one_that_refuses_is_replaced);
    RUN(a_status_of_other_ops_is_a_refusal);
    RUN(what_was_measured_of_it_is_told_and_explained);
    RUN(the_faster_one_is_found_and_kept);
    RUN(an_expert_that_fails_is_replaced_and_suspended);
    RUN(the_only_one_that_fails_teaches_no_time);
    RUN(a_refusal_is_heard_of_at_once);
    RUN(when_all_refuse_none_ran_it);
    RUN(a_late_expert_is_found);
    RUN(other_policies_run_them_too);
    RUN(names_are_checked);
    RUN(there_is_room_for_so_many);
    RUN(an_op_has_sixteen_experts);
    RUN(experts_of_one_name_do_not_mix);
    RUN(all_of_it_goes_on_at_once);
    RUN(a_default_expert_runs_small_calls_too);
    RUN(an_op_of_another_context_is_refused);
    RUN(an_expert_is_not_passed_by_that_comes_meanwhile);
    return tap_done();
}
