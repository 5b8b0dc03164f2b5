/* SPDX-License-Identifier: MIT */
/*
 * fixture.h - a device on the fake driver (tests/gpu/fake_cuda.h).
 */
#pragma once

#include <dlfcn.h>
#include <stdint.h>

#include "cuda/cuda.h"
#include "support/child.h"
#include "support/config.h"
#include "support/tap.h"

/* Threads of the fake driver are in the way of a fork, they say; the tests do
 * nothing in a child that would meet them. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

static const struct takt_driver *const driver = &takt__cuda_driver;

static struct {
    bool (*set_fault)(const char *spec);
    unsigned long (*count)(const char *function);
    uint64_t (*bytes_in)(void), (*bytes_out)(void), (*bytes_held)(void);
    void (*take_time)(int ms);
} fake;

static struct takt_device gpu = {.name = "cuda.0",
                                 .lock = PTHREAD_MUTEX_INITIALIZER};

static void fixture_find(void *library, const char *name, void *function)
{
    void *const found = dlsym(library, name);

    REQUIRE(found != NULL);
    memcpy(function, &found, sizeof found);
}

/* Makes the fake the driver of this process. */
static void fixture_open(void)
{
    void *library = dlopen(TAKT_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);

    test_config()->cuda = TAKT_FAKE_CUDA;
    REQUIRE(library != NULL);
    fixture_find(library, "fake_cuda_set_fault", &fake.set_fault);
    fixture_find(library, "fake_cuda_count", &fake.count);
    fixture_find(library, "fake_cuda_bytes_in", &fake.bytes_in);
    fixture_find(library, "fake_cuda_bytes_out", &fake.bytes_out);
    fixture_find(library, "fake_cuda_bytes_held", &fake.bytes_held);
    fixture_find(library, "fake_cuda_take_time", &fake.take_time);
    gpu.driver = driver;
}

static inline void fixture_start(void)
{
    REQUIRE(driver->start(&gpu, false) == TAKT_OK);
}

/* Ends the device, which leaves nothing. */
static inline void fixture_stop(void)
{
    driver->stop(&gpu);
    EXPECT(gpu.self == NULL);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* Waits for all that is in a queue. */
static inline takt_status fixture_finish(enum takt_queue queue)
{
    struct takt_mark mark = {0};
    takt_status status = driver->mark(&gpu, queue, false, &mark);

    if (status == TAKT_OK)
        status = driver->wait(&gpu, &mark);
    driver->drop(&gpu, &mark);
    return status;
}

static inline struct takt_location place(const struct takt_block *block,
                                         size_t offset)
{
    return (struct takt_location){.block = block, .offset = offset};
}
