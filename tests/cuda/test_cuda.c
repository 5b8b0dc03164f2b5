/* SPDX-License-Identifier: MIT */
/*
 * test_cuda.c - the host side of CUDA devices, on a driver that computes on
 * the processor. With FAKE_CUDA_LATE=1 its streams have threads, and what does
 * not wait gets the wrong answer.
 */
#include "cuda/device_parts.h"
#include "cuda/fixture.h"
#include "support/config.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

/* ---- no driver, or none that can be used --------------------------------- */

static char problem[160];

static bool is_about(const char *words)
{
    const bool is = strstr(problem, words) != NULL;

    if (!is)
        printf("# the problem is \"%s\", not \"%s\"\n", problem, words);
    return is;
}

static void expect_none(const char *library, const char *words)
{
    test_config()->cuda = library;
    problem[0] = '\0';
    EXPECT_INT(takt__cuda_count(problem, sizeof problem), 0);
    EXPECT(is_about(words));
    EXPECT(!takt__cuda_is_usable());
}

static void try_missing_then_good(void)
{
    expect_none("libtakt-has-no-such-file.so.1",
                "no driver: libtakt-has-no-such-file.so.1 was not found");
    expect_none("/nowhere/libcuda.so.1", "no driver: /nowhere/libcuda.so.1");
    test_config()->cuda = TAKT_FAKE_CUDA;
    EXPECT_INT(takt__cuda_count(problem, sizeof problem), 1);
}

static void a_missing_driver_is_no_device_and_may_come_later(void)
{
    in_child(try_missing_then_good);
}

static void try_start_without_driver(void)
{
    test_config()->cuda = "/nowhere/libcuda.so.1";
    EXPECT_INT(takt__cuda_driver.start(&gpu, false), TAKT_ENODEV);
    EXPECT(strstr(gpu.problem, "no driver") != NULL);
    EXPECT(gpu.self == NULL);
}

static void a_device_without_a_driver_does_not_start(void)
{
    in_child(try_start_without_driver);
}

static void try_other_library(void)
{
    expect_none("libm.so.6", "the driver is too old: it has no cuInit");
}

static void a_library_without_the_functions_is_too_old(void)
{
    in_child(try_other_library);
}

static const char stub[] = "/usr/local/cuda/lib64/stubs/libcuda.so";

static void try_stub(void)
{
    expect_none(stub, "no driver: only the stub");
}

static void the_stub_of_the_toolkit_is_no_driver(void)
{
    if (access(stub, R_OK) != 0) {
        SKIP("the toolkit is not installed");
        return;
    }
    in_child(try_stub);
}

static void try_old_version(void)
{
    setenv("FAKE_CUDA_VERSION", "10020", 1);
    expect_none(TAKT_FAKE_CUDA, "too old: it knows CUDA 10.2, and 11.0");
}

static void an_old_driver_is_refused(void)
{
    in_child(try_old_version);
}

static void try_refusal(void)
{
    setenv("FAKE_CUDA_INIT_ERROR", "100", 1);
    expect_none(TAKT_FAKE_CUDA,
                "the driver refuses: cuInit says 'no CUDA-capable device is "
                "detected' (100)");
}

static void try_unknown_refusal(void)
{
    setenv("FAKE_CUDA_INIT_ERROR", "803", 1);
    expect_none(TAKT_FAKE_CUDA, "the driver refuses: cuInit says error 803");
}

static void what_the_driver_says_is_passed_on(void)
{
    in_child(try_refusal);
    in_child(try_unknown_refusal);
}

static void try_no_device(void)
{
    setenv("FAKE_CUDA_DEVICES", "0", 1);
    test_config()->cuda = TAKT_FAKE_CUDA;
    EXPECT_INT(takt__cuda_count(problem, sizeof problem), 0);
    EXPECT(is_about("the driver knows no device"));
}

static void a_driver_may_have_no_device(void)
{
    in_child(try_no_device);
}

static void try_old_device(void)
{
    setenv("FAKE_CUDA_CAPABILITY", "70", 1);
    fixture_open();
    EXPECT_INT(takt__cuda_count(problem, sizeof problem), 1);
    EXPECT_INT(driver->start(&gpu, false), TAKT_ENODEV);
    EXPECT(strstr(gpu.problem, "capability 7.0, and 7.5") != NULL);
    EXPECT_INT(fake.bytes_held(), 0);
}

static void an_old_device_is_refused(void)
{
    in_child(try_old_device);
}

/* ---- devices ------------------------------------------------------------- */

static void a_device_says_what_it_is(void)
{
    fixture_start();
    EXPECT_STR(gpu.facts.model, "Fake GPU 0");
    EXPECT_STR(gpu.facts.address, "0000:00:00.0");
    EXPECT_STR(gpu.facts.version, "driver 13.0");
    EXPECT_INT(gpu.facts.memory_bytes, 1 << 30);
    EXPECT_INT(gpu.facts.units, 8);
    EXPECT_NEAR(gpu.facts.memory_rate, 2e9 * 1024 / 8, 1);
    EXPECT_NEAR(gpu.facts.flops[TAKT_F32], 2.0 * 8 * 1e9 * 128, 1);
    EXPECT_NEAR(gpu.facts.flops[TAKT_F64], 2.0 * 8 * 1e9 * 64, 1);
    EXPECT(gpu.facts.has_timing && !gpu.facts.is_software);
    fixture_stop();
}

static void an_index_beyond_the_devices_is_refused(void)
{
    gpu.index = 7;
    EXPECT_INT(driver->start(&gpu, false), TAKT_ENODEV);
    EXPECT(strstr(gpu.problem, "invalid device ordinal") != NULL);
    gpu.index = 0;
}

static void the_programs_own_context_stays_current(void)
{
    const struct takt_cuda_api *api = takt__cuda_api(problem, sizeof problem);
    void *own, *current = NULL;
    struct takt_block block;

    REQUIRE(api->cuCtxCreate(&own, 0, 0) == 0);
    fixture_start();
    EXPECT_INT(driver->reserve(&gpu, KIB, false, &block), TAKT_OK);
    driver->release(&gpu, &block);
    EXPECT_INT(fixture_finish(TAKT_QUEUE_IN), TAKT_OK);
    fixture_stop();
    EXPECT_INT(api->cuCtxPopCurrent(&current), 0);
    EXPECT(current == own);
    EXPECT(api->cuCtxPopCurrent(&current) != 0);
    EXPECT_INT(api->cuCtxDestroy(own), 0);
}

/* ---- memory -------------------------------------------------------------- */

static void memory_is_reserved_until_there_is_none(void)
{
    struct takt_block small, large, pinned;

    fixture_start();
    const uint64_t before = fake.bytes_held();
    EXPECT_INT(driver->reserve(&gpu, MIB, false, &small), TAKT_OK);
    EXPECT(small.address != 0 && small.bytes == MIB && small.host == NULL);
    EXPECT_INT(driver->reserve(&gpu, (size_t)2 << 30, false, &large),
               TAKT_ENOMEM);
    EXPECT(large.address == 0 && large.bytes == 0);
    EXPECT_INT(driver->reserve(&gpu, MIB, true, &pinned), TAKT_OK);
    EXPECT(pinned.host != NULL && pinned.address != 0);
    memset(pinned.host, 1, MIB);
    EXPECT_INT(fake.bytes_held(), before + 2 * MIB);
    driver->release(&gpu, &small);
    driver->release(&gpu, &pinned);
    EXPECT(small.address == 0 && pinned.host == NULL);
    EXPECT_INT(fake.bytes_held(), before);
    fixture_stop();
}

static void memory_of_the_program_can_be_pinned_once(void)
{
    static char memory[3][4096] __attribute__((aligned(4096)));
    struct takt_block there, again, on_device;
    unsigned char number = 0;

    fixture_start();
    REQUIRE(driver->reserve(&gpu, 4096, false, &on_device) == TAKT_OK);
    EXPECT_INT(driver->pin(&gpu, memory[0], 2 * 4096, &there), TAKT_OK);
    EXPECT(there.host == memory[0] && there.address != 0);
    EXPECT_INT(driver->pin(&gpu, memory[1], 4096, &again), TAKT_ENODEV);
    EXPECT(again.host == NULL);
    memory[0][5] = 42;
    EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN, place(&on_device, 9),
                            place(&there, 5), 1),
               TAKT_OK);
    EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN, place(&there, 4099),
                            place(&on_device, 9), 1),
               TAKT_OK);
    EXPECT_INT(fixture_finish(TAKT_QUEUE_IN), TAKT_OK);
    number = (unsigned char)memory[1][3];
    EXPECT_INT(number, 42);
    driver->release(&gpu, &there);
    EXPECT_INT(driver->pin(&gpu, memory[1], 4096, &again), TAKT_OK);
    driver->release(&gpu, &again);
    fixture_stop();
}

/* ---- queues and marks ---------------------------------------------------- */

static void copies_go_each_way_and_are_counted(void)
{
    const uint64_t in = fake.bytes_in(), out = fake.bytes_out();
    struct takt_block host, first, second;

    fixture_start();
    REQUIRE(driver->reserve(&gpu, MIB, true, &host) == TAKT_OK &&
            driver->reserve(&gpu, MIB, false, &first) == TAKT_OK &&
            driver->reserve(&gpu, MIB, false, &second) == TAKT_OK);
    char *bytes = host.host;
    for (int i = 0; i < 1000; i++)
        bytes[i] = (char)i;
    EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN, place(&first, 100),
                            place(&host, 1), 999),
               TAKT_OK);
    EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN, place(&second, 0),
                            place(&first, 100), 999),
               TAKT_OK);
    EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN, place(&host, 5000),
                            place(&second, 0), 999),
               TAKT_OK);
    EXPECT_INT(
        driver->copy(&gpu, TAKT_QUEUE_IN, place(&host, 0), place(&first, 0), 0),
        TAKT_OK);
    EXPECT_INT(fixture_finish(TAKT_QUEUE_IN), TAKT_OK);
    EXPECT(memcmp(bytes + 1, bytes + 5000, 999) == 0);
    EXPECT_INT(fake.bytes_in() - in, 999);
    EXPECT_INT(fake.bytes_out() - out, 999);
    fixture_stop();
}

/* A byte goes around through all queues, each behind the one before. */
static void a_queue_follows_the_marks_of_another(void)
{
    struct takt_mark marks[TAKT_QUEUES] = {{0}};
    struct takt_block host, on_device;

    fixture_start();
    REQUIRE(driver->reserve(&gpu, KIB, true, &host) == TAKT_OK &&
            driver->reserve(&gpu, KIB, false, &on_device) == TAKT_OK);
    char *bytes = host.host;
    for (char round = 1; round < 40; round++) {
        bytes[0] = round;
        driver->copy(&gpu, TAKT_QUEUE_IN, place(&on_device, 0), place(&host, 0),
                     1);
        driver->mark(&gpu, TAKT_QUEUE_IN, false, &marks[0]);
        driver->follow(&gpu, TAKT_QUEUE_COMPUTE, &marks[0]);
        driver->copy(&gpu, TAKT_QUEUE_COMPUTE, place(&on_device, 1),
                     place(&on_device, 0), 1);
        driver->mark(&gpu, TAKT_QUEUE_COMPUTE, false, &marks[1]);
        driver->follow(&gpu, TAKT_QUEUE_OUT, &marks[1]);
        driver->copy(&gpu, TAKT_QUEUE_OUT, place(&host, 1),
                     place(&on_device, 1), 1);
        driver->mark(&gpu, TAKT_QUEUE_OUT, false, &marks[2]);
        EXPECT_INT(driver->wait(&gpu, &marks[2]), TAKT_OK);
        EXPECT_INT(bytes[1], round);
        EXPECT(driver->is_past(&gpu, &marks[0]));
    }
    for (int i = 0; i < TAKT_QUEUES; i++)
        driver->drop(&gpu, &marks[i]);
    fixture_stop();
}

static void marks_that_were_dropped_are_used_again(void)
{
    struct takt_mark marks[3] = {{0}};

    fixture_start();
    const unsigned long before = fake.count("cuEventCreate");
    for (int round = 0; round < 50; round++) {
        driver->mark(&gpu, TAKT_QUEUE_IN, false, &marks[0]);
        driver->mark(&gpu, TAKT_QUEUE_IN, round % 2 != 0, &marks[1]);
        driver->mark(&gpu, TAKT_QUEUE_OUT, true, &marks[2]);
        EXPECT_INT(driver->wait(&gpu, &marks[1]), TAKT_OK);
        driver->drop(&gpu, &marks[0]);
        EXPECT(marks[0].point == NULL);
        driver->drop(&gpu, &marks[2]);
    }
    EXPECT(fake.count("cuEventCreate") - before <= 4);
    fixture_stop();
}

static void a_mark_of_nothing_is_past(void)
{
    struct takt_mark none = {0};

    fixture_start();
    EXPECT(driver->is_past(&gpu, &none));
    EXPECT_INT(driver->wait(&gpu, &none), TAKT_OK);
    EXPECT_INT(driver->follow(&gpu, TAKT_QUEUE_OUT, &none), TAKT_OK);
    EXPECT(driver->between_s(&gpu, &none, &none) < 0);
    driver->drop(&gpu, &none);
    fixture_stop();
}

static void time_is_told_between_timed_marks(void)
{
    struct takt_mark start = {0}, end = {0}, untimed = {0};
    struct takt_block host, on_device;

    fixture_start();
    REQUIRE(driver->reserve(&gpu, 8 * MIB, true, &host) == TAKT_OK &&
            driver->reserve(&gpu, 8 * MIB, false, &on_device) == TAKT_OK);
    driver->mark(&gpu, TAKT_QUEUE_IN, true, &start);
    driver->copy(&gpu, TAKT_QUEUE_IN, place(&on_device, 0), place(&host, 0),
                 8 * MIB);
    driver->mark(&gpu, TAKT_QUEUE_IN, true, &end);
    driver->mark(&gpu, TAKT_QUEUE_IN, false, &untimed);
    EXPECT_INT(driver->wait(&gpu, &untimed), TAKT_OK);
    const double seconds = driver->between_s(&gpu, &start, &end);
    EXPECT(seconds > 0 && seconds < 10);
    EXPECT(driver->between_s(&gpu, &start, &untimed) < 0);
    driver->mark(&gpu, TAKT_QUEUE_IN, true, &untimed); /* not so any more */
    EXPECT_INT(driver->wait(&gpu, &untimed), TAKT_OK);
    EXPECT(driver->between_s(&gpu, &start, &untimed) >= seconds);
    fixture_stop();
}

int main(void)
{
    test_config()->cublas = "";
    RUN(a_missing_driver_is_no_device_and_may_come_later);
    RUN(a_device_without_a_driver_does_not_start);
    RUN(a_library_without_the_functions_is_too_old);
    RUN(the_stub_of_the_toolkit_is_no_driver);
    RUN(an_old_driver_is_refused);
    RUN(what_the_driver_says_is_passed_on);
    RUN(a_driver_may_have_no_device);
    RUN(an_old_device_is_refused);
    fixture_open();
    RUN(a_device_says_what_it_is);
    RUN(an_index_beyond_the_devices_is_refused);
    RUN(the_programs_own_context_stays_current);
    RUN(memory_is_reserved_until_there_is_none);
    RUN(memory_of_the_program_can_be_pinned_once);
    RUN(copies_go_each_way_and_are_counted);
    RUN(a_queue_follows_the_marks_of_another);
    RUN(marks_that_were_dropped_are_used_again);
    RUN(a_mark_of_nothing_is_past);
    RUN(time_is_told_between_timed_marks);
    return tap_done();
}
