/* SPDX-License-Identifier: MIT */
/*
 * test_faults.c - CUDA devices whose driver fails: each error has the right
 * status, leaves nothing behind, and a lost device can be started again.
 */
#include "cuda/device_parts.h"
#include "cuda/fixture.h"
#include "support/config.h"

enum { KIB = 1024 };

/* ---- faults -------------------------------------------------------------- */

static struct takt_block host_block, device_block;
static struct takt_mark old_mark;

static takt_status do_reserve(void)
{
    struct takt_block block;
    const uint64_t before = fake.bytes_held();
    const takt_status status = driver->reserve(&gpu, KIB, false, &block);

    EXPECT(block.address == 0 && fake.bytes_held() == before);
    return status;
}

static takt_status do_reserve_pinned(void)
{
    struct takt_block block;
    const uint64_t before = fake.bytes_held();
    const takt_status status = driver->reserve(&gpu, KIB, true, &block);

    EXPECT(block.address == 0 && block.host == NULL);
    EXPECT(fake.bytes_held() == before);
    return status;
}

static takt_status do_pin(void)
{
    static char memory[4096] __attribute__((aligned(4096)));
    struct takt_block block;
    const uint64_t before = fake.bytes_held();
    const takt_status status = driver->pin(&gpu, memory, sizeof memory, &block);

    EXPECT(block.host == NULL && fake.bytes_held() == before);
    return status;
}

static takt_status do_copy_in(void)
{
    return driver->copy(&gpu, TAKT_QUEUE_IN, place(&device_block, 0),
                        place(&host_block, 0), KIB);
}

static takt_status do_copy_out(void)
{
    return driver->copy(&gpu, TAKT_QUEUE_OUT, place(&host_block, 0),
                        place(&device_block, 0), KIB);
}

static takt_status do_compute(void)
{
    const takt_call call = {.op = takt_op_find("neg"),
                            .shape = {.rank = 1, .dim = {16}}};

    return driver->compute(
        &gpu, &(struct takt_device_call){.call = &call,
                                         .in = {place(&device_block, 0)},
                                         .out = place(&device_block, 512)});
}

static takt_status do_mark(void)
{
    struct takt_mark mark = {0};
    const takt_status status = driver->mark(&gpu, TAKT_QUEUE_IN, true, &mark);

    EXPECT(mark.point == NULL);
    return status;
}

static takt_status do_follow(void)
{
    return driver->follow(&gpu, TAKT_QUEUE_OUT, &old_mark);
}

static takt_status do_wait(void)
{
    return driver->wait(&gpu, &old_mark);
}

static const struct {
    const char *spec;
    takt_status (*act)(void);
    takt_status status;
} trials[] = {
    {"cuMemAlloc:1:2", do_reserve, TAKT_ENOMEM},
    {"cuMemAlloc:1:1", do_reserve, TAKT_ENODEV},
    {"cuMemAlloc:1:214:sticky", do_reserve, TAKT_ELOST},
    {"cuMemHostAlloc:1:2", do_reserve_pinned, TAKT_ENOMEM},
    {"cuMemHostAlloc:1:999:sticky", do_reserve_pinned, TAKT_ELOST},
    {"cuMemHostGetDevicePointer:1:801", do_reserve_pinned, TAKT_ENODEV},
    {"cuMemHostRegister:1:2", do_pin, TAKT_ENOMEM},
    {"cuMemHostRegister:1:801", do_pin, TAKT_ENODEV},
    {"cuMemHostGetDevicePointer:1:1", do_pin, TAKT_ENODEV},
    {"cuMemcpyHtoDAsync:1:1", do_copy_in, TAKT_ENODEV},
    {"cuMemcpyHtoDAsync:1:2", do_copy_in, TAKT_ENODEV},
    {"cuMemcpyHtoDAsync:1:700:sticky", do_copy_in, TAKT_ELOST},
    {"cuMemcpyDtoHAsync:1:719:sticky", do_copy_out, TAKT_ELOST},
    {"cuLaunchKernel:1:701", do_compute, TAKT_ENODEV},
    {"cuLaunchKernel:1:2", do_compute, TAKT_ENODEV},
    {"cuLaunchKernel:1:719:sticky", do_compute, TAKT_ELOST},
    {"cuEventCreate:1:2", do_mark, TAKT_ENODEV},
    {"cuEventRecord:1:400", do_mark, TAKT_ENODEV},
    {"cuEventRecord:1:46:sticky", do_mark, TAKT_ELOST},
    {"cuStreamWaitEvent:1:400", do_follow, TAKT_ENODEV},
    {"cuStreamWaitEvent:1:702:sticky", do_follow, TAKT_ELOST},
    {"cuEventSynchronize:1:700:sticky", do_wait, TAKT_ELOST},
    {"cuEventSynchronize:1:400", do_wait, TAKT_ELOST},
    {"cuCtxPushCurrent:1:201", do_wait, TAKT_ELOST},
    {"cuCtxPushCurrent:1:709", do_copy_in, TAKT_ELOST},
    {"cuLaunchKernel:1:719:final", do_compute, TAKT_ELOST},
    {"kill:0", do_copy_out, TAKT_ELOST},
    {"kill:0", do_reserve, TAKT_ELOST},
};

static void start_for_faults(void)
{
    fixture_start();
    old_mark = (struct takt_mark){0};
    REQUIRE(driver->reserve(&gpu, KIB, true, &host_block) == TAKT_OK &&
            driver->reserve(&gpu, KIB, false, &device_block) == TAKT_OK &&
            driver->mark(&gpu, TAKT_QUEUE_IN, false, &old_mark) == TAKT_OK &&
            driver->wait(&gpu, &old_mark) == TAKT_OK);
}

/* Whatever was refused works when it is tried again; what was lost does not,
 * until the device was stopped and started. */
static void each_fault_has_its_status_and_passes(void)
{
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        start_for_faults();
        REQUIRE(fake.set_fault(trials[i].spec));
        const takt_status status = trials[i].act();
        TAP_CHECK(status == trials[i].status, "%s: %s", trials[i].spec,
                  takt_status_text(status));
        if (strstr(trials[i].spec, "sticky") != NULL)
            EXPECT_INT(do_copy_out(), TAKT_ELOST);
        else if (status != TAKT_ELOST)
            EXPECT_INT(do_copy_out(), TAKT_OK);
        fixture_stop();
        fake.set_fault(NULL);
        start_for_faults();
        EXPECT_INT(do_copy_in(), TAKT_OK);
        EXPECT_INT(fixture_finish(TAKT_QUEUE_IN), TAKT_OK);
        fixture_stop();
    }
}

/* The driver can then be used in another process only, as NVIDIA says. */
static void a_bad_address_loses_the_device_for_good(void)
{
    const takt_call call = {.op = takt_op_find("neg"),
                            .shape = {.rank = 1, .dim = {16}}};
    const struct takt_block nowhere = {.address = 4096, .bytes = 64};
    const struct takt_device_call on_device = {
        .call = &call, .in = {place(&nowhere, 0)}, .out = place(&nowhere, 0)};
    struct takt_mark mark = {0};

    start_for_faults();
    EXPECT_INT(driver->compute(&gpu, &on_device), TAKT_OK);
    driver->mark(&gpu, TAKT_QUEUE_COMPUTE, false, &mark);
    EXPECT_INT(fixture_finish(TAKT_QUEUE_COMPUTE), TAKT_ELOST);
    EXPECT_INT(driver->wait(&gpu, &old_mark), TAKT_ELOST);
    EXPECT(!driver->is_past(&gpu, &old_mark));
    driver->release(&gpu, &device_block);
    fixture_stop();
    driver->drop(&gpu, &mark);
    EXPECT_INT(driver->start(&gpu, false), TAKT_ELOST);
    EXPECT(strstr(gpu.problem, "illegal memory access") != NULL);
    fake.set_fault(NULL);
    start_for_faults();
    EXPECT_INT(do_compute(), TAKT_OK);
    EXPECT_INT(fixture_finish(TAKT_QUEUE_COMPUTE), TAKT_OK);
    fixture_stop();
}

static void a_dead_device_does_not_start_again(void)
{
    start_for_faults();
    REQUIRE(fake.set_fault("kill:2"));
    EXPECT_INT(do_compute(), TAKT_OK);
    EXPECT_INT(do_compute(), TAKT_ELOST);
    EXPECT_INT(do_wait(), TAKT_ELOST);
    fixture_stop();
    EXPECT_INT(driver->start(&gpu, false), TAKT_ELOST);
    EXPECT(gpu.problem[0] != '\0' && gpu.self == NULL);
    driver->stop(&gpu);
    fake.set_fault(NULL);
    fixture_start();
    fixture_stop();
}

/* Every call of the driver that start() makes fails once. */
static void fail_everywhere(bool is_partial)
{
    static const char *const functions[] = {
        "cuDeviceGet",     "cuDeviceGetAttribute", "cuCtxCreate",
        "cuStreamCreate",  "cuModuleLoadDataEx",   "cuModuleGetFunction",
        "cuMemAlloc",      "cuDeviceGetName",      "cuDeviceTotalMem",
        "cuMemsetD8Async", "cuFuncSetAttribute"};

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        for (int call = 1; call <= 4; call++) {
            char spec[64];
            snprintf(spec, sizeof spec, "%s:%d:2", functions[i], call);
            REQUIRE(fake.set_fault(spec));
            gpu.problem[0] = '\0';
            const takt_status status = driver->start(&gpu, is_partial);
            EXPECT(status == TAKT_OK || status == TAKT_ENODEV ||
                   status == TAKT_ENOMEM);
            EXPECT((status == TAKT_OK) == (gpu.self != NULL));
            EXPECT(status == TAKT_OK || gpu.problem[0] != '\0');
            fake.set_fault(NULL);
            fixture_stop();
        }
}

static void a_start_that_fails_leaves_nothing(void)
{
    fail_everywhere(false);
    test_config()->cublas = TAKT_FAKE_CUBLAS;
    fail_everywhere(true);
    fail_everywhere(false);
    test_config()->cublas = NULL;
}

static void results_mean_what_they_say(void)
{
    static const int lost[] = {4,   46,  201, 214, 220, 700, 702, 709, 710,
                               714, 715, 716, 717, 718, 719, 721, 999};
    static const int refused[] = {1,   100, 101, 209, 222, 400, 500,
                                  600, 701, 712, 713, 720, 801};

    EXPECT_INT(takt__cuda_status(0), TAKT_OK);
    EXPECT_INT(takt__cuda_status(2), TAKT_ENOMEM);
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
        EXPECT_INT(takt__cuda_status(lost[i]), TAKT_ELOST);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        EXPECT_INT(takt__cuda_status(refused[i]), TAKT_ENODEV);
}

/* ---- fork() -------------------------------------------------------------- */

/* The fake driver would end a child that called it. */
static void use_what_the_parent_had(void)
{
    char problem[160] = "";
    const takt_call call = {.op = takt_op_find("neg"),
                            .shape = {.rank = 1, .dim = {16}}};

    EXPECT_INT(takt__cuda_count(problem, sizeof problem), 0);
    EXPECT(strstr(problem, "CUDA does not survive fork()") != NULL);
    EXPECT_INT(do_copy_in(), TAKT_ELOST);
    EXPECT_INT(do_compute(), TAKT_ELOST);
    EXPECT_INT(do_wait(), TAKT_ELOST);
    EXPECT_INT(do_follow(), TAKT_ELOST);
    EXPECT(!driver->is_past(&gpu, &old_mark));
    EXPECT(!driver->can_run(&gpu, &call));
    driver->drop(&gpu, &old_mark);
    driver->release(&gpu, &host_block);
    driver->stop(&gpu);
    EXPECT(gpu.self == NULL);
    EXPECT_INT(driver->start(&gpu, false), TAKT_ENODEV);
    EXPECT(strstr(gpu.problem, "does not survive fork()") != NULL);
}

static void a_child_is_refused_and_its_parent_goes_on(void)
{
    start_for_faults();
    EXPECT_INT(fixture_finish(TAKT_QUEUE_IN), TAKT_OK);
    in_child(use_what_the_parent_had);
    EXPECT_INT(do_copy_in(), TAKT_OK);
    EXPECT_INT(fixture_finish(TAKT_QUEUE_IN), TAKT_OK);
    fixture_stop();
}

int main(void)
{
    test_config()->cublas = "";
    fixture_open();
    RUN(each_fault_has_its_status_and_passes);
    RUN(a_bad_address_loses_the_device_for_good);
    RUN(a_dead_device_does_not_start_again);
    RUN(a_start_that_fails_leaves_nothing);
    RUN(results_mean_what_they_say);
    RUN(a_child_is_refused_and_its_parent_goes_on);
    return tap_done();
}
