/* SPDX-License-Identifier: MIT */
/* test_select.c - a context answers for its machine. */
#include <pthread.h>
#include <stdint.h>

#include "support/config.h"
#include "support/tap.h"
#include "takt/takt.h"

#define MACHINES TAKT_SOURCE_DIR "/tests/fixtures/machines/"

static takt_ctx *ctx_of(const char *recording)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.recording = recording},
                            &ctx) == TAKT_OK);
    return ctx;
}

static takt_decision select_moe(takt_ctx *ctx, const char *op, size_t n)
{
    const takt_request request = {.policy = TAKT_POLICY_MOE,
                                  .op = takt_ctx_find_op(ctx, op),
                                  .shape = {.rank = 1, .dim = {n}}};
    takt_decision decision = {.size = sizeof decision};
    REQUIRE(takt_select(ctx, &request, &decision) == TAKT_OK);
    return decision;
}

static void the_expert_is_the_best_of_the_machine(void)
{
    static const struct {
        const char *machine, *simd;
    } rows[] = {
        {MACHINES "haswell-4", "simd.avx2"},
        {MACHINES "nehalem-4", "simd.sse2"},
        {MACHINES "aarch64-4", "simd.neon"},
        {MACHINES "epyc-genoa-2", "simd.avx512"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_ctx *ctx = ctx_of(rows[i].machine);
        takt_decision d = select_moe(ctx, "sum", 50000);
        EXPECT_INT(d.backend, TAKT_BACKEND_SIMD);
        EXPECT_STR(d.expert, rows[i].simd);
        EXPECT_INT(d.reason, TAKT_REASON_STATIC);
        d = select_moe(ctx, "sum", 5000);
        EXPECT_STR(d.expert, "scalar");
        EXPECT_INT(d.reason, TAKT_REASON_STATIC);
        takt_ctx_destroy(ctx);
    }
}

static void gpu_without_a_gpu_falls_back_to_the_processor(void)
{
    const takt_ctx_options options = {.recording = MACHINES "haswell-4",
                                      .gpu = ""};
    takt_ctx *ctx;

    EXPECT_INT(takt_ctx_create(&options, &ctx), TAKT_OK);
    takt_decision d = select_moe(ctx, "matmul", 10001);
    EXPECT_INT(d.backend, TAKT_BACKEND_GPU);
    EXPECT_STR(d.expert, "simd.avx2");
    EXPECT_INT(d.reason, TAKT_REASON_FALLBACK);
    takt_ctx_destroy(ctx);
    ctx = ctx_of(MACHINES "haswell-4"); /* whose processor has one */
    d = select_moe(ctx, "matmul", 10001);
    EXPECT_STR(d.expert, "vulkan.0");
    EXPECT_INT(d.reason, TAKT_REASON_STATIC);
    takt_ctx_destroy(ctx);
}

static void what_is_not_known_says_so(void)
{
    takt_ctx *ctx = ctx_of(MACHINES "haswell-4");
    const takt_decision d = select_moe(ctx, "matmul", 10001);

    EXPECT(d.predicted_s < 0 && d.confidence < 0 && d.work.bytes < 0);
    EXPECT_STR(d.runner_up, "");
    takt_ctx_destroy(ctx);
}

static takt_status select_cost(takt_ctx *ctx, takt_request request,
                               takt_decision *out)
{
    request.policy = TAKT_POLICY_COST;
    return takt_select(ctx, &request, out);
}

static void cost_reads_each_op_by_its_kind(void)
{
    takt_ctx *ctx = ctx_of(NULL);
    const takt_shape million = {.rank = 1, .dim = {1000001}};
    takt_decision d = {.size = sizeof d};

    EXPECT_INT(
        select_cost(ctx,
                    (takt_request){.op = takt_op_find("add"), .shape = million},
                    &d),
        TAKT_OK);
    EXPECT_INT(d.backend, TAKT_BACKEND_SIMD);
    EXPECT_INT(
        select_cost(ctx,
                    (takt_request){.op = takt_op_find("dot"), .shape = million},
                    &d),
        TAKT_OK);
    EXPECT_INT(d.backend, TAKT_BACKEND_SIMD);
    EXPECT_INT(select_cost(ctx,
                           (takt_request){.op = takt_op_find("matmul"),
                                          .shape = million},
                           &d),
               TAKT_ESHAPE);
    EXPECT_INT(select_cost(ctx, (takt_request){.shape = million}, &d),
               TAKT_EINVAL);
    EXPECT_INT(
        select_cost(
            ctx,
            (takt_request){.op = takt_op_find("matmul"),
                           .shape = {.rank = 3, .dim = {18751, 18751, 18751}}},
            &d),
        TAKT_OK);
    EXPECT_INT(d.backend, TAKT_BACKEND_GPU);
    takt_ctx_destroy(ctx);
}

static void a_user_op_is_routed_like_any_other(void)
{
    takt_ctx *ctx = ctx_of(NULL);
    const takt_op *op;

    EXPECT_INT(
        takt_ctx_define_op(
            ctx,
            &(takt_op_spec){.name = "fft", .complexity = TAKT_COMPLEXITY_HIGH},
            &op),
        TAKT_OK);
    EXPECT(takt_ctx_find_op(ctx, "FFT") == op);
    EXPECT_INT(select_moe(ctx, "fft", 10001).backend, TAKT_BACKEND_GPU);
    EXPECT_INT(select_moe(ctx, "fft", 1000).backend, TAKT_BACKEND_SCALAR);
    takt_ctx_destroy(ctx);
}

static void wrong_requests_are_refused(void)
{
    takt_ctx *ctx = ctx_of(NULL);
    const takt_shape n = {.rank = 1, .dim = {5}};
    const takt_op *exp = takt_op_find("exp");
    takt_decision d = {.size = sizeof d};

    EXPECT_INT(
        takt_select(
            ctx,
            &(takt_request){.policy = (takt_policy)99, .op = exp, .shape = n},
            &d),
        TAKT_EINVAL);
    EXPECT_INT(takt_select(ctx,
                           &(takt_request){.op = takt_op_find("softmax"),
                                           .dtype = TAKT_F64,
                                           .shape = {.rank = 2, .dim = {4, 4}}},
                           &d),
               TAKT_EINVAL);
    EXPECT_INT(
        takt_select(ctx, &(takt_request){.op = exp, .shape = {.rank = 2}}, &d),
        TAKT_ESHAPE);
    EXPECT_INT(
        takt_select(ctx, &(takt_request){.op = exp, .shape = {.rank = 11}}, &d),
        TAKT_EINVAL);
    EXPECT_INT(
        takt_select(ctx, &(takt_request){.op = exp, .shape = n, .situation = 8},
                    &d),
        TAKT_EINVAL);
    takt_ctx_destroy(ctx);
}

/* ---- operands on a GPU ---------------------------------------------------
 */

static takt_request request_on_gpu(const char *op, size_t n)
{
    return (takt_request){.op = takt_op_find(op),
                          .shape = {.rank = 1, .dim = {n}},
                          .situation = TAKT_SITUATION_ON_GPU};
}

static void without_a_gpu_operands_are_on_the_host(void)
{
    const takt_ctx_options options = {.store = "", .blas = "", .gpu = ""};
    takt_request request = request_on_gpu("add", 100000);
    takt_ctx *ctx;
    takt_decision on_gpu = {.size = sizeof on_gpu},
                  on_host = {.size = sizeof on_host};

    REQUIRE(takt_ctx_create(&options, &ctx) == TAKT_OK);
    EXPECT_INT(takt_select(ctx, &request, &on_gpu), TAKT_OK);
    request.situation = 0;
    EXPECT_INT(takt_select(ctx, &request, &on_host), TAKT_OK);
    EXPECT_STR(on_gpu.expert, on_host.expert);
    EXPECT_NEAR(on_gpu.predicted_s, on_host.predicted_s, 0);
    EXPECT_NEAR(on_gpu.confidence, on_host.confidence, 0);
    takt_ctx_destroy(ctx);
}

/* TAKT_TEST_FAKE_CUDA is the file of a driver that computes on the processor.
 */
static void operands_on_a_gpu_keep_a_call_there(void)
{
    const char *cuda = getenv("TAKT_TEST_FAKE_CUDA");
    const takt_ctx_options options = {.store = "", .blas = "", .gpu = "all"};
    takt_ctx *ctx;
    takt_decision d = {.size = sizeof d};

    if (cuda == NULL) {
        SKIP("no TAKT_TEST_FAKE_CUDA");
        return;
    }
    test_config()->cuda = cuda;
    test_config()->cublas = "";
    REQUIRE(takt_ctx_create(&options, &ctx) == TAKT_OK);
    takt_request request = request_on_gpu("add", 1 << 24);
    EXPECT_INT(takt_select(ctx, &request, &d), TAKT_OK);
    EXPECT_STR(d.expert, "cuda.0");
    EXPECT_INT(d.backend, TAKT_BACKEND_GPU);
    EXPECT_INT(d.reason, TAKT_REASON_PRIOR);
    EXPECT(d.predicted_s > 0 && d.confidence < 0);
    EXPECT(strncmp(d.runner_up, "simd.", 5) == 0 ||
           strcmp(d.runner_up, "scalar") == 0);
    const double resident_s = d.predicted_s;
    request.situation |= TAKT_SITUATION_REPEAT | TAKT_SITUATION_ASLEEP;
    EXPECT_INT(takt_select(ctx, &request, &d), TAKT_OK);
    EXPECT_STR(d.expert, "cuda.0");
    EXPECT_NEAR(d.predicted_s, resident_s, 1e-3 * resident_s);
    request.situation = 0; /* it is not worth moving them there */
    EXPECT_INT(takt_select(ctx, &request, &d), TAKT_OK);
    EXPECT(d.backend != TAKT_BACKEND_GPU);
    request = request_on_gpu("add", 1 << 24);
    request.policy = TAKT_POLICY_MOE; /* a rule does not look */
    EXPECT_INT(takt_select(ctx, &request, &d), TAKT_OK);
    EXPECT_INT(d.backend, TAKT_BACKEND_SIMD);
    takt_ctx_destroy(ctx);
}

static void a_wrong_cost_model_makes_no_context(void)
{
    const takt_cost_model wrong = {NAN, 1, 1};
    takt_ctx *ctx = (takt_ctx *)(uintptr_t)1;

    EXPECT_INT(takt_ctx_create(&(takt_ctx_options){.cost = &wrong}, &ctx),
               TAKT_EINVAL);
    EXPECT(ctx == NULL);
    EXPECT_INT(
        takt_ctx_create(&(takt_ctx_options){.recording = "/no/such"}, &ctx),
        TAKT_ENOENT);
    EXPECT(ctx == NULL);
    takt_ctx_destroy(NULL);
}

/* Each of these threads defines ops of its own and looks at the others'. */
struct worker {
    takt_ctx *ctx;
    int number;
    int defined;
};

static void *define_and_find(void *self)
{
    struct worker *worker = self;

    for (int i = 0; i < 100; i++) {
        char name[32];
        const takt_op *op;
        snprintf(name, sizeof name, "op_%d", i);
        const takt_op_spec spec = {.name = name};
        worker->defined +=
            takt_ctx_define_op(worker->ctx, &spec, &op) == TAKT_OK;
        if (takt_ctx_find_op(worker->ctx, name) == NULL)
            worker->defined = -1000;
        select_moe(worker->ctx, name, (size_t)i);
    }
    return NULL;
}

static void threads_share_a_context(void)
{
    takt_ctx *ctx = ctx_of(NULL);
    struct worker workers[4];
    pthread_t threads[4];
    int defined = 0;

    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){.ctx = ctx, .number = i};
        REQUIRE(pthread_create(&threads[i], NULL, define_and_find,
                               &workers[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        defined += workers[i].defined;
    }
    EXPECT_INT(defined, 100); /* each name was won by exactly one thread */
    takt_ctx_destroy(ctx);
}

int main(void)
{
    RUN(the_expert_is_the_best_of_the_machine);
    RUN(gpu_without_a_gpu_falls_back_to_the_processor);
    RUN(what_is_not_known_says_so);
    RUN(cost_reads_each_op_by_its_kind);
    RUN(a_user_op_is_routed_like_any_other);
    RUN(wrong_requests_are_refused);
    RUN(without_a_gpu_operands_are_on_the_host);
    RUN(operands_on_a_gpu_keep_a_call_there);
    RUN(a_wrong_cost_model_makes_no_context);
    RUN(threads_share_a_context);
    return tap_done();
}
