/* SPDX-License-Identifier: MIT */
/*
 * test_absence.c - without a driver, with one that is no good, in the child of
 * a process that used one, while one is opened: whoever computes gets his
 * results from the processor, and is told in one line what is wrong.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "gpu/buffers.h"
#include "gpu/devices.h"

enum { n = 50000 };

/* ---- no driver -----------------------------------------------------------
 */

static takt_ctx *open_all(void)
{
    takt_ctx *ctx = NULL;

    EXPECT_INT(
        takt_ctx_create(
            &(takt_ctx_options){.blas = "", .store = "", .gpu = "all"}, &ctx),
        TAKT_OK);
    REQUIRE(ctx != NULL);
    return ctx;
}

static bool is_one_line(const char *text)
{
    return text != NULL && text[0] != '\0' && strchr(text, '\n') == NULL;
}

/* Everything works, on the processor. */
static void compute_without(takt_ctx *ctx)
{
    takt_buffer *a = buffer_of(ctx, n, 2);
    float *plain = calloc(n, sizeof *plain);
    takt_call call = vector_call("add", n, at_of(a), at_of(a), plain);
    takt_decision decision = {.size = sizeof decision};

    REQUIRE(plain != NULL);
    EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
    EXPECT(plain[0] == 4 && plain[n - 1] == 4);
    EXPECT(strncmp(decision.expert, "cuda", 4) != 0);
    call = vector_call("scale", n, plain, NULL, plain);
    EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_OK);
    EXPECT(plain[0] == 8 && buffer_is(a, 2));
    EXPECT_INT(takt_sync(ctx), TAKT_OK);
    takt_buffer_destroy(a);
    free(plain);
}

/* The driver says that there is no device; `word` is in what it says. */
static void expect_no_device(const char *word)
{
    takt_ctx *ctx = open_all(), *fixed;
    takt_gpu_device device = {.size = sizeof device};
    const char *problem = NULL;

    EXPECT_INT(takt_ctx_gpu(ctx, 0, &device), TAKT_ENOENT);
    for (size_t i = 0; takt_ctx_gpu_problem(ctx, i) != NULL; i++)
        if (strncmp(takt_ctx_gpu_problem(ctx, i), "cuda: ", 6) == 0)
            problem = takt_ctx_gpu_problem(ctx, i);
    EXPECT(is_one_line(problem));
    TAP_CHECK(problem != NULL && strstr(problem, word) != NULL, "it says: %s",
              problem != NULL ? problem : "nothing");
    compute_without(ctx);
    takt_ctx_destroy(ctx);
    EXPECT_INT(takt_ctx_create(&(takt_ctx_options){.policy = TAKT_POLICY_FIXED,
                                                   .expert = "cuda.0",
                                                   .store = ""},
                               &fixed),
               TAKT_ENODEV);
}

static void expect_useless_device(const char *word)
{
    takt_ctx *ctx = open_all();
    takt_gpu_device device = {.size = sizeof device};

    EXPECT_INT(takt_ctx_gpu(ctx, 0, &device), TAKT_OK);
    EXPECT_INT(device.state, TAKT_GPU_ABSENT);
    EXPECT_STR(device.expert, "cuda.0");
    EXPECT(is_one_line(device.problem));
    TAP_CHECK(strstr(device.problem, word) != NULL, "it says: %s",
              device.problem);
    compute_without(ctx);
    takt_ctx_open_gpus(ctx);
    takt_ctx_destroy(ctx);
}

static void no_file(void)
{
    setenv("TAKT_CUDA", "/nowhere/libcuda.so.1", 1);
    expect_no_device("/nowhere/libcuda.so.1");
}

static void another_library(void)
{
    setenv("TAKT_CUDA", "libm.so.6", 1);
    expect_no_device("too old");
}

static void no_init(void)
{
    setenv("FAKE_CUDA_INIT_ERROR", "100", 1);
    subject_choose_fake();
    expect_no_device("cuInit");
}

static void stub_library(void)
{
    setenv("FAKE_CUDA_INIT_ERROR", "34", 1);
    subject_choose_fake();
    expect_no_device("stub");
}

static void old_driver(void)
{
    setenv("FAKE_CUDA_VERSION", "10010", 1);
    subject_choose_fake();
    expect_no_device("too old");
}

static void nothing_there(void)
{
    setenv("FAKE_CUDA_DEVICES", "0", 1);
    subject_choose_fake();
    expect_no_device("no device");
}

static void old_device(void)
{
    setenv("FAKE_CUDA_CAPABILITY", "52", 1);
    subject_choose_fake();
    expect_useless_device("5.2");
}

static void no_code(void)
{
    setenv("FAKE_CUDA_FAIL",
           "cuModuleLoadDataEx:1:209,cuModuleLoadDataEx:2:209,"
           "cuModuleLoadDataEx:3:209,cuModuleLoadDataEx:4:209",
           1);
    subject_choose_fake();
    expect_useless_device("");
}

static void no_pinned_memory(void)
{
    setenv("FAKE_CUDA_FAIL", "cuMemHostAlloc:2:2", 1);
    subject_choose_fake();
    expect_useless_device("pinned memory");
    EXPECT_INT(fake.bytes_held(), 0);
}

static void switched_off(void)
{
    takt_ctx *ctx;
    takt_gpu_device device = {.size = sizeof device};

    subject_choose_fake();
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.store = "", .gpu = ""},
                            &ctx) == TAKT_OK);
    EXPECT_INT(takt_ctx_gpu(ctx, 0, &device), TAKT_ENOENT);
    EXPECT(takt_ctx_gpu_problem(ctx, 0) == NULL);
    compute_without(ctx);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.count("cuInit"), 0);
}

static void a_driver_that_is_no_good_is_done_without(void)
{
    setenv("TAKT_VULKAN", "/nowhere/libvulkan.so.1", 1);
    in_child(no_file);
    in_child(another_library);
    in_child(no_init);
    in_child(stub_library);
    in_child(old_driver);
    in_child(nothing_there);
    in_child(old_device);
    in_child(no_code);
    in_child(no_pinned_memory);
    in_child(switched_off);
}

/* ---- fork() --------------------------------------------------------------
 */

static takt_ctx *ctx;
static takt_buffer *on_device, *at_home;

static void compute_in_the_child(void)
{
    float *plain = calloc(n, sizeof *plain);
    takt_call call = vector_call("scale", n, at_of(at_home), NULL, plain);
    takt_gpu_device device = {.size = sizeof device};
    void *at;

    REQUIRE(plain != NULL);
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    EXPECT(plain[n - 1] == 4 && buffer_is(at_home, 2));
    EXPECT_INT(takt_buffer_map(on_device, TAKT_MAP_READ, &at), TAKT_ELOST);
    call = vector_call("scale", n, plain, NULL, at_of(on_device));
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    EXPECT(buffer_is(on_device, 8));
    EXPECT_INT(takt_ctx_gpu(ctx, 0, &device), TAKT_OK);
    EXPECT_INT(device.state, TAKT_GPU_ABSENT);
    EXPECT(strstr(device.problem, "fork()") != NULL);
    EXPECT_INT(takt_run_on(ctx, &call, expert_of(ctx, "cuda.0")), TAKT_ENODEV);
    EXPECT_INT(takt_sync(ctx), TAKT_OK);
    takt_buffer_destroy(on_device);
    takt_ctx *own = open_all();
    compute_without(own);
    takt_ctx_destroy(own);
    free(plain);
}

static void a_child_computes_on_the_host_and_its_parent_goes_on(void)
{
    if (is_thread_sanitized) {
        SKIP("ThreadSanitizer cannot follow a fork of the driver's threads");
        return;
    }
    ctx = context_of(TAKT_POLICY_FIXED, 2);
    at_home = buffer_of(ctx, n, 2);
    on_device = buffer_of(ctx, n, 3);
    takt_call call =
        vector_call("scale", n, at_of(on_device), NULL, at_of(on_device));
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    for (int i = 0; i < 3; i++) {
        in_child(compute_in_the_child);
        const unsigned long before = fake.count("cuLaunchKernel");
        EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
        EXPECT(fake.count("cuLaunchKernel") > before);
    }
    EXPECT(buffer_is(on_device, 48) && buffer_is(at_home, 2));
    takt_buffer_destroy(on_device);
    takt_buffer_destroy(at_home);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* ---- asleep --------------------------------------------------------------
 */

static struct takt_devices devices;
static struct takt_pool *pool;

static void list_asleep(void)
{
    const struct takt_finder finder = {
        .driver = &takt__cuda_driver, .count = takt__cuda_count, .expected = 1};

    REQUIRE(takt__pool_create(1, &pool) == TAKT_OK);
    takt__devices_list(
        &devices,
        &(struct takt_devices_options){
            .finder = &finder, .finders = 1, .pool = pool, .threads = 1});
    REQUIRE(devices.count == 1);
    EXPECT_INT(devices.device[0].state, TAKT_DEVICE_ASLEEP);
}

static void close_listed(void)
{
    takt__devices_close(&devices);
    takt__pool_destroy(pool);
    EXPECT_INT(fake.bytes_held(), 0);
}

static void open_in_the_child(void)
{
    EXPECT_INT(takt__device_open(&devices.device[0]), TAKT_OK);
    EXPECT_INT(takt__device_enter(&devices.device[0]), TAKT_OK);
    takt__device_leave(&devices.device[0]);
    close_listed();
}

static void sleep_through_a_fork(void)
{
    subject_choose_fake();
    list_asleep();
    EXPECT_INT(fake.count("cuInit"), 0); /* nobody has needed it */
    EXPECT_INT(takt__device_enter(&devices.device[0]), TAKT_ENODEV);
    in_child(open_in_the_child);
    EXPECT_INT(fake.count("cuInit"), 0);
    open_in_the_child();
}

static void a_child_may_open_what_its_parent_did_not(void)
{
    in_child(sleep_through_a_fork);
}

static void devices_end_while_they_are_opened(void)
{
    for (int i = 0; i < 10; i++) {
        list_asleep();
        takt__device_open_later(&devices.device[0]);
        takt__device_open_later(&devices.device[0]);
        close_listed();
    }
}

static void opening_waits_for_another_thread_that_opens(void)
{
    for (int i = 0; i < 10; i++) {
        list_asleep();
        takt__device_open_later(&devices.device[0]);
        EXPECT_INT(takt__device_open(&devices.device[0]), TAKT_OK);
        EXPECT_INT(devices.device[0].life, 1);
        close_listed();
    }
}

static void exit_at_once(void)
{
    list_asleep();
    takt__device_open_later(&devices.device[0]);
    fflush(stdout);
    exit(tap_failures != 0); /* with all that is done then */
}

static void fork_while_it_opens(void)
{
    subject_choose_fake();
    list_asleep();
    takt__device_open_later(&devices.device[0]);
    const pid_t child = fork();
    if (child == 0) {
        EXPECT(takt__device_enter(&devices.device[0]) == TAKT_ENODEV);
        _exit(tap_failures != 0);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close_listed();
}

static void leave_at_once(void)
{
    subject_choose_fake();
    exit_at_once();
}

static void programs_end_and_fork_while_a_device_opens(void)
{
    for (int i = 0; i < 4; i++) {
        if (!is_thread_sanitized) /* who would have it wait for the thread */
            in_child(leave_at_once);
        in_child(fork_while_it_opens);
    }
}

int main(void)
{
    guard_watch();
    RUN(a_driver_that_is_no_good_is_done_without);
    RUN(a_child_may_open_what_its_parent_did_not);
    RUN(programs_end_and_fork_while_a_device_opens);
    subject_choose_fake();
    RUN(devices_end_while_they_are_opened);
    RUN(opening_waits_for_another_thread_that_opens);
    RUN(a_child_computes_on_the_host_and_its_parent_goes_on);
    return tap_done();
}
