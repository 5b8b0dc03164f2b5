/* SPDX-License-Identifier: MIT */
/* test_objective.c - objectives as text, of contexts, of questions and of
 * calls. */
#include "call/ctx.h"
#include "support/tap.h"
#include "takt/takt.h"

#include <stdio.h>
#include <string.h>

/* ---- text ---------------------------------------------------------------- */

static void objectives_are_read_and_written(void)
{
    static const struct {
        const char *given, *written;
    } cases[] = {
        {"time", "time"},
        {"P99", "p99"},
        {" p999 ", "p999"},
        {"throughput", "throughput"},
        {"energy,p99<5ms", "energy, p99 < 5 ms"},
        {"time , p99 < 0.002 s", "time, p99 < 2 ms"},
        {"edp, energy < 1500 mJ", "edp, energy < 1.5 J"},
        {"p99, time < 1000 us", "p99, time < 1 ms"},
        {"throughput, p95 < 999.9999999 us", "throughput, p95 < 1 ms"},
    };
    char out[TAKT_OBJECTIVE_MAX];
    takt_diag diag;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        EXPECT_INT(takt_objective_check(cases[i].given, out, &diag), TAKT_OK);
        EXPECT_STR(out, cases[i].written);
        EXPECT_STR(diag.text, "");
        EXPECT_INT(takt_objective_check(out, out, NULL), TAKT_OK);
        EXPECT_STR(out, cases[i].written);
    }
}

static void what_is_wrong_with_an_objective_is_said(void)
{
    static const struct {
        const char *given, *says;
    } cases[] = {
        {"", "the goal is missing"},
        {"speed", "'speed' is no measure: use time, p95"},
        {"p99, p99 < 5 ms", "p99 is the goal"},
        {"time, throughput < 5", "throughput cannot be limited"},
        {"time, edp < 5", "edp cannot be limited"},
        {"time, p99", "written as 'p99 < 5 ms'"},
        {"time, p99 > 5 ms", "written as 'p99 < 5 ms'"},
        {"time, p99 < ms", "written as 'p99 < 5 ms'"},
        {"time, p99 < 5", "the unit is missing"},
        {"time, p99 < 5 mJ", "in s, ms, us or ns, not in mJ"},
        {"time, energy < 5 ms", "in J, mJ, uJ or nJ, not in ms"},
        {"time, p99 < 0 ms", "between 1e-9 and 1e6"},
        {"time, p99 < 5 ms, p95 < 1 ms", "one goal and at most one limit"},
        {"time p99", "one goal and at most one limit"},
        {"time, p99 < 11111111111111111111 s", "written as"},
    };
    takt_diag diag;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        EXPECT_INT(takt_objective_check(cases[i].given, NULL, &diag),
                   TAKT_EINVAL);
        TAP_CHECK(strstr(diag.text, cases[i].says) != NULL, "'%s': %s",
                  cases[i].given, diag.text);
    }
    EXPECT_INT(takt_objective_check(NULL, NULL, NULL), TAKT_EINVAL);
}

/* ---- contexts ------------------------------------------------------------ */

static takt_status open_ctx(const char *objective, takt_ctx **out)
{
    const takt_ctx_options options = {.size = sizeof options,
                                      .store = "",
                                      .blas = "",
                                      .gpu = "",
                                      .threads = 2,
                                      .objective = objective};

    return takt_ctx_create(&options, out);
}

static void a_context_has_the_objective_that_it_is_given(void)
{
    takt_ctx *ctx;

    REQUIRE(open_ctx("time, P99 < 2ms", &ctx) == TAKT_OK);
    EXPECT_STR(takt_ctx_objective(ctx, 0), "time, p99 < 2 ms");
    EXPECT(takt_ctx_objective(ctx, 1) == NULL);
    takt_ctx_destroy(ctx);
    REQUIRE(open_ctx(NULL, &ctx) == TAKT_OK);
    EXPECT_STR(takt_ctx_objective(ctx, 0), "time");
    takt_ctx_destroy(ctx);
    EXPECT_INT(open_ctx("fast", &ctx), TAKT_EINVAL);
    EXPECT(ctx == NULL);
}

static void energy_is_refused_where_no_power_is_known(void)
{
    takt_ctx *ctx;
    takt_diag diag;
    unsigned number;

    EXPECT_INT(open_ctx("energy", &ctx), TAKT_ENOTSUP);
    EXPECT_INT(open_ctx("edp", &ctx), TAKT_ENOTSUP);
    EXPECT_INT(open_ctx("time, energy < 1 J", &ctx), TAKT_ENOTSUP);
    REQUIRE(open_ctx("time", &ctx) == TAKT_OK);
    EXPECT_INT(takt_ctx_add_objective(ctx, "energy", &number, &diag),
               TAKT_ENOTSUP);
    EXPECT(strstr(diag.text, "energy cannot be measured here: ") != NULL);
    takt_ctx_destroy(ctx);
}

/* ---- questions ----------------------------------------------------------- */

static const takt_shape shape = {.rank = 3, .dim = {256, 256, 256}};

static takt_request request_of(const char *objective)
{
    return (takt_request){.size = sizeof(takt_request),
                          .op = takt_op_find("matmul"),
                          .shape = shape,
                          .objective = objective};
}

/* So many calls of an expert; one in ten takes `spike` times as long. */
static void record(takt_ctx *ctx, const char *expert, double seconds,
                   double spike)
{
    const takt_request request = request_of(NULL);

    for (int i = 0; i < 300; i++)
        REQUIRE(
            takt_record(ctx, &(takt_measurement){
                                 .request = &request,
                                 .expert = expert,
                                 .seconds = i % 10 == 9 ? spike * seconds
                                                        : seconds}) == TAKT_OK);
}

/* A context in which two threads have the better mean and the worse tail; their
 * names. */
static takt_ctx *taught(const char *objective, char one[TAKT_EXPERT_NAME_MAX],
                        char two[TAKT_EXPERT_NAME_MAX])
{
    takt_ctx *ctx;

    REQUIRE(open_ctx(objective, &ctx) == TAKT_OK);
    const char *isa =
        takt_isa_name(takt_machine_best_isa(takt_ctx_machine(ctx)));
    snprintf(one, TAKT_EXPERT_NAME_MAX, "simd.%s", isa);
    snprintf(two, TAKT_EXPERT_NAME_MAX, "simd.%sx2", isa);
    for (size_t i = 0; takt_ctx_expert(ctx, i, NULL) != NULL; i++) {
        const char *name = takt_ctx_expert(ctx, i, NULL);
        if (strcmp(name, one) != 0 && strcmp(name, two) != 0)
            record(ctx, name, 20e-3, 1.05);
    }
    record(ctx, one, 1.2e-3, 1.05);
    record(ctx, two, 1e-3, 8);
    return ctx;
}

static void expect_choice(takt_ctx *ctx, const char *objective, double callers,
                          const char *expert)
{
    takt_request request = request_of(objective);
    takt_decision decision = {.size = sizeof decision};

    request.callers = callers;
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    TAP_CHECK(strcmp(decision.expert, expert) == 0, "%s: %s",
              objective != NULL ? objective : "its own", decision.expert);
}

static void a_question_may_name_an_objective(void)
{
    char one[TAKT_EXPERT_NAME_MAX], two[TAKT_EXPERT_NAME_MAX];
    takt_ctx *ctx = taught("time", one, two);
    takt_request request = request_of("fast");
    takt_decision decision = {.size = sizeof decision};

    expect_choice(ctx, NULL, 0, two);
    expect_choice(ctx, "time", 0, two);
    expect_choice(ctx, "p99", 0, one);
    expect_choice(ctx, "p95", 0, one);
    expect_choice(ctx, "time, p99 < 2 ms", 0, one);
    expect_choice(ctx, "time, p99 < 1 s", 0, two);
    expect_choice(ctx, "throughput", 1, two);
    expect_choice(ctx, "throughput", 2, one);
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_EINVAL);
    request = request_of("energy");
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_ENOTSUP);
    request = request_of("throughput");
    request.callers = 0.5;
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_EINVAL);
    takt_ctx_destroy(ctx);
}

static void estimates_have_tails_and_a_front(void)
{
    char one[TAKT_EXPERT_NAME_MAX], two[TAKT_EXPERT_NAME_MAX];
    takt_ctx *ctx = taught("p99", one, two);
    const takt_request request = request_of(NULL);
    takt_estimate estimate[64] = {{.size = sizeof estimate[0]}};
    size_t count, front = 0;

    EXPECT_INT(takt_explain(ctx, &request, estimate, 64, &count), TAKT_OK);
    REQUIRE(count >= 2);
    EXPECT_STR(estimate[0].expert, one);
    for (size_t i = 0; i < count; i++) {
        const takt_estimate *of = &estimate[i];
        EXPECT(of->p95_s <= of->p99_s && of->p99_s <= of->p999_s);
        EXPECT(of->p99_low_s < of->p99_s && of->p99_s < of->p99_high_s);
        EXPECT(of->joules < 0);
        front += !of->is_dominated;
        if (strcmp(of->expert, two) == 0) {
            EXPECT(of->p99_s > 5e-3 && of->p99_s < 12e-3);
            EXPECT(of->tail_samples > 250 && !of->is_dominated);
        }
    }
    EXPECT_INT(front, 2);
    EXPECT(!estimate[0].is_dominated);
    expect_choice(ctx, NULL, 0, one);
    expect_choice(ctx, "time", 0, two);
    takt_ctx_destroy(ctx);
}

/* ---- calls --------------------------------------------------------------- */

static void a_call_may_name_an_objective(void)
{
    char one[TAKT_EXPERT_NAME_MAX], two[TAKT_EXPERT_NAME_MAX];
    takt_ctx *ctx = taught("time", one, two);
    static float a[256 * 256], b[256 * 256], c[256 * 256];
    takt_call call = {.op = takt_op_find("matmul"),
                      .shape = shape,
                      .in = {a, b},
                      .out = c,
                      .alpha = 1,
                      .flags = TAKT_CALL_URGENT};
    takt_decision decision = {.size = sizeof decision};
    unsigned number = 9, again = 9;
    takt_diag diag;

    call.flags |= TAKT_CALL_OBJECTIVE(1);
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_EINVAL); /* not yet */
    EXPECT_INT(takt_ctx_add_objective(ctx, "p99", &number, &diag), TAKT_OK);
    EXPECT_INT(number, 1);
    EXPECT_INT(takt_ctx_add_objective(ctx, " P99", &again, NULL), TAKT_OK);
    EXPECT_INT(again, 1);
    EXPECT_INT(takt_ctx_add_objective(ctx, "time", &again, NULL), TAKT_OK);
    EXPECT_INT(again, 0);
    EXPECT_STR(takt_ctx_objective(ctx, 1), "p99");
    EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
    EXPECT_STR(decision.expert, one);
    call.flags = TAKT_CALL_URGENT;
    EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
    EXPECT_STR(decision.expert, two);
    EXPECT_INT(takt_ctx_add_objective(ctx, "p95", &number, NULL), TAKT_OK);
    EXPECT_INT(takt_ctx_add_objective(ctx, "p999", &number, NULL), TAKT_OK);
    EXPECT_INT(takt_ctx_add_objective(ctx, "throughput", &number, &diag),
               TAKT_EFULL);
    EXPECT_INT(takt_ctx_add_objective(ctx, "fast", &number, &diag),
               TAKT_EINVAL);
    takt_ctx_destroy(ctx);
}

/* Inside of a call there is a caller; after it there is none. */
static void callers_are_counted_under_throughput_alone(void)
{
    takt_ctx *ctx;
    static float x[1 << 16];
    takt_call call = {.op = takt_op_find("relu"),
                      .shape = {1, {1 << 16}},
                      .in = {x},
                      .out = x};
    unsigned number;

    REQUIRE(open_ctx("time", &ctx) == TAKT_OK);
    EXPECT_INT(ctx->counts_callers, 0);
    EXPECT_INT(takt_ctx_add_objective(ctx, "throughput", &number, NULL),
               TAKT_OK);
    EXPECT_INT(ctx->counts_callers, 2);
    call.flags = TAKT_CALL_OBJECTIVE(number);
    for (int i = 0; i < 10; i++)
        EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    call.in[0] = NULL; /* one that fails */
    EXPECT(takt_run(ctx, &call, NULL) != TAKT_OK);
    EXPECT_INT(ctx->callers, 0);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    RUN(objectives_are_read_and_written);
    RUN(what_is_wrong_with_an_objective_is_said);
    RUN(a_context_has_the_objective_that_it_is_given);
    RUN(energy_is_refused_where_no_power_is_known);
    RUN(a_question_may_name_an_objective);
    RUN(estimates_have_tails_and_a_front);
    RUN(a_call_may_name_an_objective);
    RUN(callers_are_counted_under_throughput_alone);
    return tap_done();
}
