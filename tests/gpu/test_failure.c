/* SPDX-License-Identifier: MIT */
/*
 * test_failure.c - whatever call of the driver fails, and how, a call of Takt's
 * gives the right result once, or says that it cannot and has touched nothing.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include <malloc.h>
#include <time.h>

#include "gpu/subject.h"

static const char *const functions[] = {
    "cuMemAlloc",         "cuMemcpyHtoDAsync",  "cuMemcpyDtoHAsync",
    "cuLaunchKernel",     "cuEventCreate",      "cuEventRecord",
    "cuEventSynchronize", "cuStreamWaitEvent",  "cuCtxPushCurrent",
    "cuMemHostAlloc",     "cuModuleLoadDataEx", "cuCtxCreate",
};

/* Refused, no memory; and the device is lost, for now or for good. */
static const char *const errors[] = {"1", "2", "700:sticky", "719:sticky",
                                     "999:final"};

enum {
    function_count = sizeof functions / sizeof functions[0],
    error_count = sizeof errors / sizeof errors[0]
};

static void pause_s(double seconds)
{
    const struct timespec while_ = {
        .tv_sec = (time_t)seconds,
        .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&while_, NULL);
}

static void set_fault(const char *function, unsigned long call,
                      const char *error)
{
    char spec[96];

    snprintf(spec, sizeof spec, "%s:%lu:%s", function, call, error);
    REQUIRE(fake.set_fault(spec));
    DOING("%s", spec);
}

static bool is_lasting(const char *error)
{
    return strchr(error, ':') != NULL;
}

static takt_gpu_state state_of(takt_ctx *ctx)
{
    takt_gpu_device gpu_now = {.size = sizeof gpu_now};

    REQUIRE(takt_ctx_gpu(ctx, 0, &gpu_now) == TAKT_OK);
    EXPECT(gpu_now.state == TAKT_GPU_READY || gpu_now.problem[0] != '\0');
    EXPECT(strchr(gpu_now.problem, '\n') == NULL);
    return gpu_now.state;
}

/* ---- plain calls ---------------------------------------------------------
 */

static const struct {
    const char *op;
    takt_dtype dtype;
    size_t n;
    unsigned how;
} trials[] = {
    {"add", TAKT_F32, 1500, USUAL},          /* small */
    {"axpy", TAKT_F32, 1500, USUAL},         /* in place */
    {"matmul", TAKT_F32, 1500, ADDING},      /* not to be done twice */
    {"sum", TAKT_F32, 300001, USUAL},        /* small out */
    {"mul", TAKT_F32, 300001, USUAL},        /* a transfer */
    {"softmax", TAKT_F32, 300001, IN_PLACE}, /* of rows */
    {"matmul", TAKT_F32, 3200, ADDING | GAPS | LARGE},
    {"batched_matmul", TAKT_F32, 120001, ADDING},
    {"gemv", TAKT_F32, 300001, ADDING},
    {"axpy", TAKT_F64, 1100003, USUAL}, /* several steps */
};
enum { trial_count = sizeof trials / sizeof trials[0] };

static struct subject subject[trial_count];

/* How a call is asked for. */
enum manner { BY_POLICY, BY_NAME };

/* On the host it was not "scalar": for softmax, that has other bits. */
static bool is_right(const struct subject *s)
{
    if (takt__op_id(s->call.op) != TAKT_OP_softmax)
        return subject_is_right(s);
    for (size_t i = 0; i < s->bytes[TAKT_OUT] / sizeof(float); i++)
        if (!(fabsf(((float *)s->call.out)[i] - ((float *)s->want)[i]) < 1e-6f))
            return false;
    return true;
}

static void run_and_check(takt_ctx *ctx, const struct subject *s,
                          enum manner manner)
{
    subject_restart(s);
    const takt_status status =
        manner == BY_POLICY
            ? takt_run(ctx, &s->call, NULL)
            : takt_run_on(ctx, &s->call, expert_of(ctx, "cuda.0"));
    TAP_CHECK(manner == BY_NAME || status == TAKT_OK, "%s %s: %s",
              s->call.op->name, guard_doing, takt_status_text(status));
    if (status == TAKT_OK)
        TAP_CHECK(is_right(s), "%s %s: is not right", s->call.op->name,
                  guard_doing);
    else
        TAP_CHECK(subject_is_untouched(s), "%s %s: was touched",
                  s->call.op->name, guard_doing);
}

/* Calls of a function that it takes. */
static unsigned long calls_of(takt_ctx *ctx, const struct subject *s,
                              const char *function)
{
    const unsigned long before = fake.count(function);

    run_and_check(ctx, s, BY_NAME);
    return fake.count(function) - before;
}

/* Fails the first, second ... call of a function; of many, some. */
static void sweep(const struct subject *s, const char *function,
                  const char *error, enum manner manner)
{
    const unsigned long most = is_sanitized        ? 2
                               : is_hurried()      ? 3
                               : is_lasting(error) ? 4
                                                   : 8;
    takt_ctx *ctx = context_of(TAKT_POLICY_FIXED, 4);
    const unsigned long calls = calls_of(ctx, s, function);
    const unsigned long points = calls < most ? calls : most;

    for (unsigned long i = 0; i < points; i++) {
        set_fault(function, calls == points ? i + 1 : 1 + i * calls / points,
                  error);
        run_and_check(ctx, s, manner);
        REQUIRE(fake.set_fault(NULL));
        if (state_of(ctx) != TAKT_GPU_READY) {
            run_and_check(ctx, s, manner); /* while it is gone */
            takt_ctx_destroy(ctx);
            ctx = context_of(TAKT_POLICY_FIXED, 4);
        }
    }
    run_and_check(ctx, s, manner);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* Every function with the short calls; with the long ones, in turn. */
static void sweep_all(const char *error, enum manner manner)
{
    const int each = is_thread_sanitized ? 31
                     : is_sanitized      ? 17
                     : is_hurried()      ? 7
                                         : 5;

    for (int f = 0; f < function_count - 3 && !is_of_no_use(); f++)
        for (int i = 0; i < trial_count - is_thread_sanitized; i++)
            if ((i == 1 && !is_hurried()) || (f * 10 + i) % each == 0)
                sweep(&subject[i], functions[f], error, manner);
}

static void refused_calls_run_elsewhere(void)
{
    sweep_all("1", BY_POLICY);
}

static void calls_without_memory_run_elsewhere(void)
{
    sweep_all("2", BY_POLICY);
}

static void calls_on_a_lost_device_are_finished_on_the_host(void)
{
    sweep_all("700:sticky", BY_POLICY);
}

static void calls_of_one_expert_are_refused_or_right(void)
{
    sweep_all("719:sticky", BY_NAME);
}

/* The table says that the GPU is first, and it is. */
static void adaptive_calls_are_right_too(void)
{
    for (int e = 0; e < error_count; e++)
        for (unsigned long n = 1; n <= 20; n += is_sanitized ? 19 : 3) {
            const struct subject *s = &subject[n % 2 == 0 ? 4 : 5];
            takt_ctx *ctx = context_of(TAKT_POLICY_ADAPTIVE, 2);
            takt_decision decision = {.size = sizeof decision};
            const takt_measurement fast = {
                .request = &(takt_request){.op = s->call.op,
                                           .dtype = s->call.dtype,
                                           .shape = s->call.shape},
                .expert = "cuda.0",
                .seconds = 1e-7,
                .is_trial = 1};
            for (int i = 0; i < 20; i++)
                EXPECT_INT(takt_record(ctx, &fast), TAKT_OK);
            EXPECT_INT(takt_select(ctx, fast.request, &decision), TAKT_OK);
            EXPECT_STR(decision.expert, "cuda.0");
            set_fault(functions[n % 9], n, errors[e]);
            run_and_check(ctx, s, BY_POLICY);
            run_and_check(ctx, s, BY_POLICY);
            REQUIRE(fake.set_fault(NULL));
            takt_ctx_destroy(ctx);
        }
}

/* ---- opening -------------------------------------------------------------
 */

static void a_device_that_does_not_open_is_absent(void)
{
    for (int f = function_count - 3; f < function_count; f++)
        for (int e = 0; e < error_count; e++) {
            takt_ctx *ctx;
            char spec[96];
            snprintf(spec, sizeof spec, "%s:1:%s,%s:2:2,%s:3:2", functions[f],
                     errors[e], functions[f], functions[f]);
            REQUIRE(fake.set_fault(spec));
            DOING("%s", spec);
            REQUIRE(
                takt_ctx_create(
                    &(takt_ctx_options){.blas = "", .store = "", .gpu = "all"},
                    &ctx) == TAKT_OK);
            EXPECT(state_of(ctx) == TAKT_GPU_ABSENT);
            run_and_check(ctx, &subject[0], BY_POLICY);
            EXPECT_INT(
                takt_run_on(ctx, &subject[0].call, expert_of(ctx, "cuda.0")),
                TAKT_ENODEV);
            takt_ctx_destroy(ctx);
            REQUIRE(fake.set_fault(NULL));
            EXPECT_INT(fake.bytes_held(), 0);
        }
}

/* Calls ask for it now and then, and one of them finds it back. */
static bool comes_back(takt_ctx *ctx)
{
    for (int i = 0; i < 400 && state_of(ctx) != TAKT_GPU_READY; i++) {
        run_and_check(ctx, &subject[0], BY_POLICY);
        pause_s(0.02);
    }
    return state_of(ctx) == TAKT_GPU_READY;
}

static void a_lost_device_comes_back(void)
{
    takt_ctx *ctx = context_of(TAKT_POLICY_FIXED, 2);

    for (int times = 0; times < 2; times++) {
        set_fault("cuLaunchKernel", 1, "700:sticky");
        run_and_check(ctx, &subject[1], BY_POLICY);
        EXPECT_INT(state_of(ctx), TAKT_GPU_LOST);
        EXPECT(comes_back(ctx));
        const unsigned long before = fake.count("cuLaunchKernel");
        run_and_check(ctx, &subject[1], BY_NAME);
        EXPECT(fake.count("cuLaunchKernel") > before);
    }
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

static void a_dead_device_stays_away(void)
{
    takt_ctx *ctx = context_of(TAKT_POLICY_FIXED, 2);

    REQUIRE(fake.set_fault("kill:7"));
    for (int i = 0; i < 60; i++)
        run_and_check(ctx, &subject[i % 4], BY_POLICY);
    pause_s(0.15);
    for (int i = 0; i < 10; i++) {
        run_and_check(ctx, &subject[i % 4], BY_POLICY);
        pause_s(0.01);
    }
    EXPECT_INT(state_of(ctx), TAKT_GPU_LOST);
    takt_ctx_destroy(ctx);
    fake.set_fault(NULL);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* Several threads are on a device when it goes. */
struct caller {
    takt_ctx *ctx;
    struct subject subject;
    int failures;
};

static void *call_often(void *self)
{
    struct caller *caller = self;

    for (int i = 0; i < (is_sanitized ? 20 : 60); i++) {
        subject_restart(&caller->subject);
        caller->failures +=
            takt_run(caller->ctx, &caller->subject.call, NULL) != TAKT_OK ||
            !subject_is_right(&caller->subject);
    }
    return NULL;
}

static void threads_survive_the_loss_of_their_device(void)
{
    enum { callers = 4 };
    takt_ctx *ctx = context_of(TAKT_POLICY_FIXED, 4);
    struct caller caller[callers];
    pthread_t thread[callers];

    for (int i = 0; i < callers; i++)
        caller[i] = (struct caller){
            .ctx = ctx,
            .subject = subject_make(ctx, "axpy", TAKT_F32,
                                    i % 2 == 0 ? 1500 : 300001, USUAL)};
    REQUIRE(fake.set_fault("cuLaunchKernel:25:700:sticky,"
                           "cuMemcpyHtoDAsync:100:719:sticky"));
    for (int i = 0; i < callers; i++)
        REQUIRE(pthread_create(&thread[i], NULL, call_often, &caller[i]) == 0);
    for (int i = 0; i < callers; i++) {
        pthread_join(thread[i], NULL);
        EXPECT_INT(caller[i].failures, 0);
        subject_free(&caller[i].subject);
    }
    EXPECT(comes_back(ctx));
    takt_ctx_destroy(ctx);
    fake.set_fault(NULL);
    EXPECT_INT(fake.bytes_held(), 0);
}

int main(void)
{
    /* Devices are opened by the hundred: their memory need not be new. */
    mallopt(M_MMAP_THRESHOLD, 1 << 28);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    guard_watch();
    subject_choose_fake();
    takt_ctx *ctx = context_of(TAKT_POLICY_FIXED, 1);
    for (int i = 0; i < trial_count; i++)
        subject[i] = subject_make(ctx, trials[i].op, trials[i].dtype,
                                  trials[i].n, trials[i].how);
    takt_ctx_destroy(ctx);
    RUN(refused_calls_run_elsewhere);
    RUN(calls_without_memory_run_elsewhere);
    RUN(calls_on_a_lost_device_are_finished_on_the_host);
    RUN(calls_of_one_expert_are_refused_or_right);
    RUN(adaptive_calls_are_right_too);
    RUN(a_device_that_does_not_open_is_absent);
    RUN(a_lost_device_comes_back);
    RUN(a_dead_device_stays_away);
    RUN(threads_survive_the_loss_of_their_device);
    for (int i = 0; i < trial_count; i++)
        subject_free(&subject[i]);
    return tap_done();
}
