/* SPDX-License-Identifier: MIT */
/*
 * test_waking.c - a GPU sleeps until it would have paid to open it; then Takt's
 * own thread has it opened, and calls may go there.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include <time.h>

#include "call/exec.h"
#include "call/question.h"
#include "gpu/subject.h"
#include "support/config.h"

static struct takt_device *device_of(takt_ctx *ctx)
{
    return ctx->experts.expert[expert_of(ctx, "cuda.0")].device;
}

static takt_gpu_state state_of(takt_ctx *ctx)
{
    takt_gpu_device device = {.size = sizeof device};

    REQUIRE(takt_ctx_gpu(ctx, 0, &device) == TAKT_OK);
    return device.state;
}

/* A context as it is on a machine whose bus shows a GPU: nobody has opened it.
 */
static takt_ctx *sleeping_context(void)
{
    takt_ctx *ctx = context_of(TAKT_POLICY_ADAPTIVE, 1);
    struct takt_device *device = device_of(ctx);
    const unsigned arm = (unsigned)expert_of(ctx, "cuda.0");

    REQUIRE(takt__device_enter(device) == TAKT_OK);
    takt__device_lose(device);
    takt__device_leave(device); /* closes it */
    atomic_store(&device->state, TAKT_DEVICE_ASLEEP);
    takt__model_set_closed(takt__learner_enter(ctx->learner), arm, true);
    takt__learner_leave(ctx->learner);
    return ctx;
}

/* What a call of that size took on a processor. */
static void tell(takt_ctx *ctx, size_t side, double seconds, int times)
{
    const takt_measurement told = {
        .request =
            &(takt_request){.op = takt_op_find("matmul"),
                            .shape = {.rank = 3, .dim = {side, side, side}}},
        .expert = "scalar",
        .seconds = seconds,
    };

    for (int i = 0; i < times; i++)
        EXPECT_INT(takt_record(ctx, &told), TAKT_OK);
}

static bool is_awake_within(takt_ctx *ctx, int seconds)
{
    for (int i = 0; i < 1000 * seconds; i++) {
        if (state_of(ctx) == TAKT_GPU_READY)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

static void a_gpu_that_was_not_missed_stays_closed(void)
{
    takt_ctx *ctx = sleeping_context();

    tell(ctx, 64, 1e-5, 50); /* less than a launch */
    takt_ctx_flush(ctx);
    EXPECT(!is_awake_within(ctx, 1));
    EXPECT_INT(state_of(ctx), TAKT_GPU_ASLEEP);
    takt_ctx_destroy(ctx);
}

static void a_gpu_that_was_missed_for_long_enough_is_opened(void)
{
    takt_ctx *ctx = sleeping_context();
    struct subject s = subject_make(ctx, "add", TAKT_F32, 1000, USUAL);

    tell(ctx, 2048, 0.5, 20);
    takt_ctx_flush(ctx);
    EXPECT(is_awake_within(ctx, 60));
    EXPECT_INT(takt_run_on(ctx, &s.call, expert_of(ctx, "cuda.0")), TAKT_OK);
    EXPECT(subject_is_right(&s));
    subject_free(&s);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

static void a_context_may_end_while_its_gpu_is_opened(void)
{
    for (int i = 0; i < 5; i++) {
        takt_ctx *ctx = sleeping_context();
        tell(ctx, 2048, 0.5, 20);
        takt_ctx_destroy(ctx);
    }
    EXPECT_INT(fake.bytes_held(), 0);
}

/* ---- partly ----------------------------------------------------------------
 * The driver takes its time with our code; cuBLAS, where there is one, needs
 * none.
 */

static takt_ctx *hasty_context(void)
{
    test_config()->cublas = TAKT_FAKE_CUBLAS;
    return sleeping_context();
}

static void wake(takt_ctx *ctx)
{
    tell(ctx, 2048, 0.5, 20);
    takt_ctx_flush(ctx);
    EXPECT(is_awake_within(ctx, 60));
}

static takt_status run_there(takt_ctx *ctx, const struct subject *s)
{
    return takt__expert_run(&ctx->experts, (unsigned)expert_of(ctx, "cuda.0"),
                            &s->call);
}

/* Asks for it until somebody is at it. */
static void begin_translating(takt_ctx *ctx, const struct subject *s)
{
    do {
        EXPECT_INT(run_there(ctx, s), TAKT_ENODEV);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    } while (!atomic_load(&device_of(ctx)->is_occupied));
}

static void products_do_not_wait_for_our_code(void)
{
    takt_ctx *ctx = hasty_context();
    struct subject product = subject_make(ctx, "matmul", TAKT_F32, 40, USUAL);
    struct subject sum = subject_make(ctx, "add", TAKT_F32, 1000, USUAL);
    const unsigned long before = fake.count("cuModuleLoadDataEx");

    wake(ctx);
    EXPECT_INT(run_there(ctx, &product), TAKT_OK);
    EXPECT(subject_is_right(&product));
    subject_restart(&product);
    EXPECT_INT(takt_run_on(ctx, &product.call, expert_of(ctx, "cuda.0")),
               TAKT_OK);
    EXPECT(subject_is_right(&product));
    EXPECT_INT(fake.count("cuModuleLoadDataEx"), before);
    fake.take_time(-1);
    begin_translating(ctx, &sum);
    EXPECT_INT(run_there(ctx, &product), TAKT_ENODEV); /* all go round it */
    fake.take_time(1);
    EXPECT_INT(takt_run_on(ctx, &sum.call, expert_of(ctx, "cuda.0")),
               TAKT_OK); /* who insists waits */
    EXPECT(subject_is_right(&sum));
    subject_restart(&product);
    EXPECT_INT(run_there(ctx, &product), TAKT_OK);
    EXPECT(subject_is_right(&product));
    subject_free(&product);
    subject_free(&sum);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

static void without_our_code_products_go_on(void)
{
    takt_ctx *ctx = hasty_context();
    struct subject product = subject_make(ctx, "matmul", TAKT_F64, 40, USUAL);
    struct subject sum = subject_make(ctx, "add", TAKT_F64, 1000, USUAL);
    takt_gpu_device device = {.size = sizeof device};

    REQUIRE(fake.set_fault("cuModuleLoadDataEx:2:209"));
    wake(ctx);
    do {
        EXPECT_INT(run_there(ctx, &sum), TAKT_ENODEV);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    } while (!atomic_load(&device_of(ctx)->completion_failed) ||
             atomic_load(&device_of(ctx)->is_occupied));
    EXPECT_INT(run_there(ctx, &product), TAKT_OK);
    EXPECT(subject_is_right(&product));
    EXPECT_INT(run_there(ctx, &sum), TAKT_ENODEV);
    REQUIRE(takt_ctx_gpu(ctx, 0, &device) == TAKT_OK);
    EXPECT_INT(device.state, TAKT_GPU_READY);
    subject_free(&product);
    subject_free(&sum);
    takt_ctx_destroy(ctx);
    REQUIRE(fake.set_fault(NULL));
    EXPECT_INT(fake.bytes_held(), 0);
}

/* Its factor is nothing as a float, which cuBLAS is not asked about. */
static void products_that_need_our_code_get_it(void)
{
    takt_ctx *ctx = hasty_context();
    struct subject product = subject_make(ctx, "matmul", TAKT_F32, 40, USUAL);
    takt_status status;
    int tries = 0;

    product.call.alpha = 1e-60;
    wake(ctx);
    do {
        status = run_there(ctx, &product);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    } while (status == TAKT_ENODEV && ++tries < 60000);
    EXPECT_INT(status, TAKT_OK);
    EXPECT(tries > 0);
    subject_free(&product);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* As a call runs for which that GPU was chosen: true if it counts as refused;
 * another expert has run it. */
static bool is_refused_by(takt_ctx *ctx, const struct subject *s)
{
    const uint8_t device = (uint8_t)expert_of(ctx, "cuda.0");
    takt_call call = s->call;
    struct takt_exec exec;

    takt__exec_begin(&exec, ctx, &call, NULL);
    takt__call_question(&call, &exec.question);
    exec.choice =
        (struct takt_choice){.expert = device, .reason = TAKT_REASON_MODEL};
    takt__plain_run(&exec);
    EXPECT_INT(exec.status, TAKT_OK);
    EXPECT(exec.choice.expert != device);
    EXPECT(exec.is_refused == (exec.choice.reason == TAKT_REASON_FALLBACK));
    EXPECT(exec.is_refused == (exec.chosen == device));
    return exec.is_refused;
}

static void a_busy_gpu_is_not_suspended(void)
{
    takt_ctx *ctx = hasty_context();
    struct subject product = subject_make(ctx, "matmul", TAKT_F32, 40, USUAL);
    struct subject sum = subject_make(ctx, "add", TAKT_F32, 1000, USUAL);

    wake(ctx);
    fake.take_time(-1);
    EXPECT(!is_refused_by(ctx, &sum)); /* it lacks what that needs */
    begin_translating(ctx, &sum);
    EXPECT(!is_refused_by(ctx, &product));
    EXPECT(!is_refused_by(ctx, &sum));
    fake.take_time(0);
    EXPECT_INT(takt_run_on(ctx, &sum.call, expert_of(ctx, "cuda.0")), TAKT_OK);
    subject_free(&product);
    subject_free(&sum);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* Code that is not there is no excuse for what has nothing to do with it. */
static void a_gpu_that_refuses_a_copy_is_suspended(void)
{
    takt_ctx *ctx = hasty_context();
    struct subject product =
        subject_make(ctx, "matmul", TAKT_F32, 200000, USUAL);

    wake(ctx);
    REQUIRE(fake.set_fault("cuMemcpyHtoDAsync:1:1"));
    EXPECT(is_refused_by(ctx, &product));
    EXPECT(!atomic_load(&device_of(ctx)->is_complete));
    REQUIRE(fake.set_fault(NULL));
    subject_free(&product);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

static void a_context_may_end_while_code_is_translated(void)
{
    for (int i = 0; i < 3; i++) {
        takt_ctx *ctx = hasty_context();
        struct subject sum = subject_make(ctx, "add", TAKT_F32, 1000, USUAL);
        fake.take_time(50);
        wake(ctx);
        EXPECT_INT(run_there(ctx, &sum), TAKT_ENODEV);
        subject_free(&sum);
        takt_ctx_destroy(ctx);
        fake.take_time(0);
    }
    EXPECT_INT(fake.bytes_held(), 0);
}

static void a_gpu_can_be_opened_ahead(void)
{
    takt_ctx *ctx = sleeping_context();

    takt_ctx_open_gpus_later(ctx);
    EXPECT(is_awake_within(ctx, 60));
    takt_ctx_destroy(ctx);
}

/* Its lock is held while a GPU is opened: a question is answered all the
 * same. */
/* `takt run` asks that to find out what operands that stay there would save. */
static void a_question_tells_what_a_sleeping_gpu_takes_to_move(void)
{
    takt_ctx *ctx = sleeping_context();
    double seconds[2] = {0, 0};

    for (int i = 0; i < 2; i++) {
        const takt_request request = {
            .op = takt_op_find("copy"),
            .shape = {.rank = 1, .dim = {(size_t)1 << (20 + 3 * i)}}};
        takt_estimate estimate[64] = {{.size = sizeof estimate[0]}};
        size_t count = 0;
        REQUIRE(takt_explain(ctx, &request, estimate, 64, &count) == TAKT_OK);
        for (size_t j = 0; j < count && j < 64; j++)
            if (strcmp(estimate[j].expert, "cuda.0") == 0) {
                EXPECT(estimate[j].is_asleep);
                seconds[i] = estimate[j].predicted_s + estimate[j].transfer_s;
            }
    }
    EXPECT(seconds[0] > 0 && seconds[1] > 4 * seconds[0]);
    takt_ctx_destroy(ctx);
}

static void a_question_does_not_wait_for_an_opening_gpu(void)
{
    takt_ctx *ctx = sleeping_context();
    takt_gpu_device found = {.size = sizeof found};

    takt__lock(&device_of(ctx)->lock);
    EXPECT_INT(takt_ctx_gpu(ctx, 0, &found), TAKT_OK);
    takt__unlock(&device_of(ctx)->lock);
    EXPECT_INT(found.state, TAKT_GPU_ASLEEP);
    EXPECT_STR(found.expert, "cuda.0");
    takt_ctx_destroy(ctx);
}

int main(void)
{
    subject_choose_fake();
    RUN(a_gpu_that_was_not_missed_stays_closed);
    RUN(a_gpu_that_was_missed_for_long_enough_is_opened);
    RUN(a_context_may_end_while_its_gpu_is_opened);
    RUN(products_do_not_wait_for_our_code);
    RUN(without_our_code_products_go_on);
    RUN(products_that_need_our_code_get_it);
    RUN(a_busy_gpu_is_not_suspended);
    RUN(a_gpu_that_refuses_a_copy_is_suspended);
    RUN(a_context_may_end_while_code_is_translated);
    RUN(a_gpu_can_be_opened_ahead);
    RUN(a_question_tells_what_a_sleeping_gpu_takes_to_move);
    RUN(a_question_does_not_wait_for_an_opening_gpu);
    return tap_done();
}
