/* SPDX-License-Identifier: MIT */
/*
 * test_vulkan.c - a Vulkan device from start to stop: facts, memory, copies,
 * marks, threads, and everything that goes wrong.
 */
#include <float.h>
#include <sched.h>

#include "support/child.h"
#include "support/config.h"
#include "vulkan/rig.h"

static takt_call add_of(size_t n)
{
    return (takt_call){.op = takt_op_find("add"), .shape = {1, {n}}};
}

/* ---- start and stop --------------------------------------------------------
 */

static void devices_say_what_they_are(void)
{
    const struct takt_device_facts *facts = &gpu.facts;

    rig_start();
    printf("# %s, %s, %s\n", facts->model, facts->version, facts->address);
    EXPECT(facts->model[0] != '\0');
    EXPECT(facts->version[0] != '\0');
    EXPECT(facts->memory_bytes > 0);
    EXPECT(facts->most_elements >= 1 << 24); /* what Vulkan asks for */
    EXPECT(!facts->is_software || facts->shares_memory);
    EXPECT(driver->pin == NULL);
    rig_stop();
    EXPECT(gpu.self == NULL);
}

static void devices_start_again(void)
{
    for (int i = 0; i < 3; i++) {
        rig_start();
        rig_stop();
    }
    driver->stop(&gpu); /* there is nothing to stop */
}

static void devices_that_are_not_there_do_not_start(void)
{
    struct takt_device none = {.driver = driver, .index = 99};

    EXPECT_INT(driver->start(&none, false), TAKT_ENODEV);
    EXPECT(none.problem[0] != '\0');
    EXPECT(none.self == NULL);
    driver->stop(&none);
}

/* ---- memory and copies -----------------------------------------------------
 */

static void copies_move_bytes_at_any_offset(void)
{
    struct takt_block from, to;
    const size_t bytes = 1000;

    rig_start();
    REQUIRE(driver->reserve(&gpu, bytes, true, &from) == TAKT_OK);
    REQUIRE(driver->reserve(&gpu, bytes, true, &to) == TAKT_OK);
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)from.host)[i] = (unsigned char)(i * 7);
    for (size_t off = 0; off < 20; off += 3) {
        const size_t part = bytes - 2 * off - 1;
        memset(to.host, rig_pattern, bytes);
        EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN, place(&rig_device[0], off),
                                place(&from, 2 * off), part),
                   TAKT_OK);
        EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_COMPUTE,
                                place(&rig_device[1], 5),
                                place(&rig_device[0], off), part),
                   TAKT_OK);
        EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_OUT, place(&to, off),
                                place(&rig_device[1], 5), part),
                   TAKT_OK);
        EXPECT_INT(rig_finish(), TAKT_OK);
        EXPECT(memcmp((char *)to.host + off, (char *)from.host + 2 * off,
                      part) == 0);
        EXPECT_INT(((unsigned char *)to.host)[off + part], rig_pattern);
    }
    EXPECT_INT(
        driver->copy(&gpu, TAKT_QUEUE_IN, place(&to, 0), place(&from, 0), 0),
        TAKT_OK);
    driver->release(&gpu, &from);
    driver->release(&gpu, &to);
    EXPECT_INT(to.address, 0);
    rig_stop();
}

static void too_much_memory_is_refused(void)
{
    struct takt_block block = {0};

    rig_start();
    EXPECT_INT(driver->reserve(&gpu, SIZE_MAX, false, &block), TAKT_ENOMEM);
    EXPECT_INT(driver->reserve(&gpu, SIZE_MAX / 2, true, &block), TAKT_ENOMEM);
    EXPECT_INT(driver->reserve(&gpu, (size_t)1 << 46, false, &block),
               TAKT_ENOMEM);
    rig_inside()->limits.blocks = rig_inside()->block_count + 1;
    EXPECT_INT(driver->reserve(&gpu, 100, false, &block), TAKT_OK);
    EXPECT_INT(driver->reserve(&gpu, 100, false, &rig_device[0]), TAKT_ENOMEM);
    driver->release(&gpu, &block);
    EXPECT_INT(driver->reserve(&gpu, 0, true, &block), TAKT_OK);
    EXPECT(block.host != NULL);
    driver->release(&gpu, &block);
    driver->release(&gpu, &block); /* nothing is left of it */
    rig_stop();
}

/* A block may go while the device still uses it. */
static void blocks_are_released_when_they_are_no_longer_used(void)
{
    struct takt_block block;

    rig_start();
    for (int i = 0; i < 30; i++) {
        REQUIRE(driver->reserve(&gpu, 1 << 20, false, &block) == TAKT_OK);
        EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN, place(&block, 0),
                                place(&rig_pinned, 0), 1 << 20),
                   TAKT_OK);
        driver->release(&gpu, &block);
    }
    rig_stop();
}

/* ---- marks -----------------------------------------------------------------
 */

static void marks_are_passed_in_order(void)
{
    struct takt_mark marks[20] = {{0}}, none = {0};

    rig_start();
    EXPECT(driver->is_past(&gpu, &none));
    EXPECT_INT(driver->wait(&gpu, &none), TAKT_OK);
    for (int i = 0; i < 20; i++) {
        EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN, place(&rig_device[0], 0),
                                place(&rig_pinned, 0), rig_room),
                   TAKT_OK);
        EXPECT_INT(driver->mark(&gpu, TAKT_QUEUE_IN, false, &marks[i]),
                   TAKT_OK);
        EXPECT_INT(driver->follow(&gpu, TAKT_QUEUE_COMPUTE, &marks[i]),
                   TAKT_OK);
    }
    EXPECT_INT(driver->wait(&gpu, &marks[15]), TAKT_OK);
    for (int i = 0; i <= 15; i++)
        EXPECT(driver->is_past(&gpu, &marks[i]));
    while (!driver->is_past(&gpu, &marks[19])) /* nobody waits for it */
        sched_yield();
    EXPECT_INT(driver->mark(&gpu, TAKT_QUEUE_OUT, false, &marks[0]), TAKT_OK);
    EXPECT_INT(driver->wait(&gpu, &marks[0]), TAKT_OK);
    for (int i = 0; i < 20; i++)
        driver->drop(&gpu, &marks[i]);
    EXPECT(marks[3].point == NULL);
    driver->drop(&gpu, &none);
    rig_stop();
}

static void timed_marks_tell_the_time_between_them(void)
{
    struct takt_mark from = {0}, to = {0}, untimed = {0};

    rig_start();
    if (!gpu.facts.has_timing) {
        SKIP("this device has no time stamps");
        rig_stop();
        return;
    }
    for (int i = 0; i < 3; i++) {
        EXPECT_INT(driver->mark(&gpu, TAKT_QUEUE_COMPUTE, true, &from),
                   TAKT_OK);
        for (int k = 0; k < 8; k++)
            EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN,
                                    place(&rig_device[0], 0),
                                    place(&rig_pinned, 0), rig_room),
                       TAKT_OK);
        EXPECT_INT(driver->mark(&gpu, TAKT_QUEUE_COMPUTE, true, &to), TAKT_OK);
        EXPECT_INT(driver->mark(&gpu, TAKT_QUEUE_COMPUTE, false, &untimed),
                   TAKT_OK);
        EXPECT_INT(driver->wait(&gpu, &to), TAKT_OK);
        EXPECT(driver->between_s(&gpu, &from, &to) > 0);
        EXPECT(driver->between_s(&gpu, &from, &to) < 60);
        EXPECT(driver->between_s(&gpu, &from, &untimed) < 0);
    }
    driver->drop(&gpu, &from);
    driver->drop(&gpu, &to);
    driver->drop(&gpu, &untimed);
    rig_stop();
}

/* ---- threads ----------------------------------------------------------------
 */

enum { workers = 4, rounds = 25, worker_elements = 5000 };

static void run_add(const struct takt_block *pinned,
                    const struct takt_block *local, struct takt_mark *mark)
{
    const size_t bytes = worker_elements * sizeof(float);
    const takt_call call = add_of(worker_elements);
    const struct takt_device_call on = {
        .call = &call,
        .in = {place(local, 0), place(local, bytes)},
        .out = place(local, 2 * bytes)};

    EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN, place(local, 0),
                            place(pinned, 0), 2 * bytes),
               TAKT_OK);
    EXPECT_INT(driver->compute(&gpu, &on), TAKT_OK);
    EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_OUT, place(pinned, 2 * bytes),
                            place(local, 2 * bytes), bytes),
               TAKT_OK);
    EXPECT_INT(driver->mark(&gpu, TAKT_QUEUE_OUT, true, mark), TAKT_OK);
}

/* Counts what is wrong: only the main thread may report. */
static void *work(void *self)
{
    size_t *wrong = self;
    struct takt_block pinned, local;
    struct takt_mark mark = {0};
    const size_t n = worker_elements;

    pthread_mutex_lock(&gpu.lock);
    if (driver->reserve(&gpu, 3 * n * sizeof(float), true, &pinned) !=
            TAKT_OK ||
        driver->reserve(&gpu, 3 * n * sizeof(float), false, &local) != TAKT_OK)
        (*wrong)++;
    pthread_mutex_unlock(&gpu.lock);
    for (size_t round = 0; round < rounds && *wrong == 0; round++) {
        float *x = pinned.host;
        for (size_t i = 0; i < 2 * n; i++)
            x[i] = (float)(i * round % 1000);
        pthread_mutex_lock(&gpu.lock);
        run_add(&pinned, &local, &mark);
        pthread_mutex_unlock(&gpu.lock);
        while (round % 3 == 0 && !driver->is_past(&gpu, &mark))
            sched_yield();
        *wrong += driver->wait(&gpu, &mark) != TAKT_OK;
        for (size_t i = 0; i < n; i++)
            *wrong += x[2 * n + i] != x[i] + x[n + i];
    }
    pthread_mutex_lock(&gpu.lock);
    driver->drop(&gpu, &mark);
    driver->release(&gpu, &pinned);
    driver->release(&gpu, &local);
    pthread_mutex_unlock(&gpu.lock);
    return NULL;
}

static void threads_share_a_device(void)
{
    pthread_t threads[workers];
    size_t wrong[workers] = {0};

    rig_start();
    for (int i = 0; i < workers; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, &wrong[i]) == 0);
    for (int i = 0; i < workers; i++) {
        pthread_join(threads[i], NULL);
        EXPECT_INT(wrong[i], 0);
    }
    rig_stop();
}

/* ---- lost devices -----------------------------------------------------------
 */

static void expect_nothing_works(void)
{
    const takt_call call = add_of(10);
    const struct takt_device_call on = {
        .call = &call,
        .in = {place(&rig_device[0], 0), place(&rig_device[1], 0)},
        .out = place(&rig_device[2], 0)};
    struct takt_block block;
    struct takt_mark mark = {0};

    EXPECT_INT(driver->reserve(&gpu, 10, false, &block), TAKT_ELOST);
    EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN, place(&rig_device[0], 0),
                            place(&rig_pinned, 0), 10),
               TAKT_ELOST);
    EXPECT(!driver->can_run(&gpu, &call));
    EXPECT_INT(driver->compute(&gpu, &on), TAKT_ELOST);
    EXPECT_INT(driver->mark(&gpu, TAKT_QUEUE_IN, false, &mark), TAKT_ELOST);
    EXPECT_INT(driver->follow(&gpu, TAKT_QUEUE_IN, &mark), TAKT_ELOST);
    EXPECT(mark.point == NULL);
}

/* No driver here loses a device when asked; the rest is as if it had. */
static void lost_devices_can_be_started_again(void)
{
    struct takt_mark mark = {0};

    rig_start();
    EXPECT_INT(driver->mark(&gpu, TAKT_QUEUE_IN, true, &mark), TAKT_OK);
    EXPECT_INT(driver->copy(&gpu, TAKT_QUEUE_IN, place(&rig_device[0], 0),
                            place(&rig_pinned, 0), 10),
               TAKT_OK);
    EXPECT_INT(takt__vulkan_status(rig_inside(), VK_ERROR_DEVICE_LOST, TAKT_OK),
               TAKT_ELOST);
    expect_nothing_works();
    rig_stop();
    rig_start();
    EXPECT_INT(driver->wait(&gpu, &mark), TAKT_ELOST); /* of the one before */
    EXPECT(!driver->is_past(&gpu, &mark));
    EXPECT(driver->between_s(&gpu, &mark, &mark) < 0);
    EXPECT_INT(driver->mark(&gpu, TAKT_QUEUE_IN, false, &mark), TAKT_OK);
    EXPECT_INT(driver->wait(&gpu, &mark), TAKT_OK);
    driver->drop(&gpu, &mark);
    rig_stop();
}

/* Whoever is above gives memory and marks back when it comes to it. */
static void memory_and_marks_outlive_a_device(void)
{
    struct takt_mark mark = {0};

    rig_start();
    EXPECT_INT(driver->mark(&gpu, TAKT_QUEUE_IN, true, &mark), TAKT_OK);
    driver->stop(&gpu);
    EXPECT_INT(driver->wait(&gpu, &mark), TAKT_ELOST);
    EXPECT(!driver->is_past(&gpu, &mark));
    driver->drop(&gpu, &mark);
    rig_stop(); /* releases the blocks */
    EXPECT_INT(rig_pinned.address, 0);
}

/* ---- processes
 * --------------------------------------------------------------- */

static struct takt_mark before_fork;

static void use_what_the_parent_started(void)
{
    struct takt_device again = {.driver = driver};
    char problem[160] = "";

    expect_nothing_works();
    EXPECT_INT(driver->wait(&gpu, &before_fork), TAKT_ELOST);
    EXPECT(!driver->is_past(&gpu, &before_fork));
    EXPECT(driver->between_s(&gpu, &before_fork, &before_fork) < 0);
    EXPECT_INT(takt__vulkan_count(problem, sizeof problem), 0);
    EXPECT(problem[0] != '\0');
    EXPECT_INT(driver->start(&again, false), TAKT_ENODEV);
    driver->drop(&gpu, &before_fork);
    rig_stop();
}

static void forked_processes_leave_the_device_alone(void)
{
    rig_start();
    EXPECT_INT(driver->mark(&gpu, TAKT_QUEUE_IN, true, &before_fork), TAKT_OK);
    in_child(use_what_the_parent_started);
    EXPECT_INT(driver->wait(&gpu, &before_fork), TAKT_OK);
    driver->drop(&gpu, &before_fork);
    rig_stop();
}

static void look_in_vain(void)
{
    char problem[160] = "";

    test_config()->vulkan = "/nonexistent";
    EXPECT_INT(takt__vulkan_count(problem, sizeof problem), 0);
    EXPECT_STR(problem, "no Vulkan loader: /nonexistent cannot be loaded");
    EXPECT_INT(driver->start(&gpu, false), TAKT_ENODEV);
    test_config()->vulkan = "libm.so.6";
    EXPECT_INT(takt__vulkan_count(problem, sizeof problem), 0);
    EXPECT_STR(problem, "libm.so.6 is no Vulkan loader");
    test_config()->vulkan = NULL;
    setenv("VK_ICD_FILENAMES", "/nonexistent", 1);
    setenv("VK_DRIVER_FILES", "/nonexistent", 1);
    EXPECT_INT(takt__vulkan_count(problem, sizeof problem), 0);
    EXPECT(strstr(problem, "Vulkan") != NULL); /* or not even a loader */
}

static void missing_loaders_and_drivers_are_named(void)
{
    in_child(look_in_vain);
}

int main(void)
{
    RUN(missing_loaders_and_drivers_are_named); /* before one is loaded */
    rig_open();
    RUN(devices_say_what_they_are);
    RUN(devices_start_again);
    RUN(devices_that_are_not_there_do_not_start);
    RUN(copies_move_bytes_at_any_offset);
    RUN(too_much_memory_is_refused);
    RUN(blocks_are_released_when_they_are_no_longer_used);
    RUN(marks_are_passed_in_order);
    RUN(timed_marks_tell_the_time_between_them);
    RUN(threads_share_a_device);
    RUN(lost_devices_can_be_started_again);
    RUN(memory_and_marks_outlive_a_device);
    RUN(forked_processes_leave_the_device_alone);
    RUN(validation_has_nothing_to_say);
    return tap_done();
}
