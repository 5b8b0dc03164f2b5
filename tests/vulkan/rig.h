/* SPDX-License-Identifier: MIT */
/*
 * rig.h - the last Vulkan device of this machine (the one in software, if
 * there is one), and calls on it from host memory to host memory.
 *
 * With TAKT_TEST_VALIDATION in the environment everything runs under the
 * validation layer of Khronos, synchronization included, and whatever it has
 * to say fails a test.
 */
#pragma once

#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "op/admit.h"
#include "op/operands.h"
#include "support/random.h"
#include "support/tap.h"
#include "vulkan/device_parts.h"
#include "vulkan/vulkan.h"

/* Threads of the driver are in the way of a fork, they say; the tests do
 * nothing in a child that would meet them. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

enum {
    rig_room = 1 << 23,
    rig_margin = 256,
    rig_pattern = 0xA5,
    rig_operands = TAKT_OPERANDS
};

static const struct takt_driver *const driver = &takt__vulkan_driver;
static struct takt_device gpu = {.name = "vulkan.0",
                                 .lock = PTHREAD_MUTEX_INITIALIZER};
static struct takt_block rig_pinned, rig_device[rig_operands];

static inline struct takt_vulkan *rig_inside(void)
{
    return gpu.self;
}

/* ---- the validation layer ------------------------------------------------ */

static char rig_folder[] = "/tmp/takt-vulkan-XXXXXX";
static bool rig_is_validated;

static inline void rig_path(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/%s", rig_folder, name);
}

/* What the layer says goes to a file; it is told so by another one. */
static inline void rig_validate(void)
{
    char settings[64], log[64];

    REQUIRE(mkdtemp(rig_folder) != NULL);
    rig_path(settings, sizeof settings, "settings");
    rig_path(log, sizeof log, "log");
    FILE *file = fopen(settings, "w");
    REQUIRE(file != NULL);
    fprintf(file,
            "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
            "khronos_validation.report_flags = error,warn,perf\n"
            "khronos_validation.log_filename = %s\n"
            "khronos_validation.enables = "
            "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT\n",
            log);
    fclose(file);
    setenv("VK_LAYER_SETTINGS_PATH", settings, 1);
    setenv("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation", 1);
    rig_is_validated = true;
}

static inline void validation_has_nothing_to_say(void)
{
    char path[64], line[500];

    if (!rig_is_validated) {
        SKIP("TAKT_TEST_VALIDATION is not set");
        return;
    }
    rig_path(path, sizeof path, "log");
    FILE *file = fopen(path, "r");
    EXPECT(file != NULL); /* the layer makes it when it is loaded */
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        TAP_CHECK(false, "%s", line);
    if (file != NULL)
        fclose(file);
    unlink(path);
    rig_path(path, sizeof path, "settings");
    unlink(path);
    rmdir(rig_folder);
}

/* ---- the device ---------------------------------------------------------- */

/* Ends the program, the rest skipped, where there is none. */
static inline void rig_open(void)
{
    char problem[160];

    if (getenv("TAKT_TEST_VALIDATION") != NULL)
        rig_validate();
    const unsigned count = takt__vulkan_count(problem, sizeof problem);
    if (count == 0) {
        printf("ok %d - a_device_is_there # SKIP %s\n", ++tap_tests, problem);
        exit(tap_done());
    }
    gpu.driver = driver;
    gpu.index = count - 1;
}

static inline void rig_start(void)
{
    const takt_status status = driver->start(&gpu, false);

    if (status != TAKT_OK)
        printf("# %s\n", gpu.problem);
    REQUIRE(status == TAKT_OK);
    REQUIRE(driver->reserve(&gpu, rig_room, true, &rig_pinned) == TAKT_OK);
    for (int i = 0; i < rig_operands; i++)
        REQUIRE(driver->reserve(&gpu, rig_room, false, &rig_device[i]) ==
                TAKT_OK);
}

static inline void rig_stop(void)
{
    driver->release(&gpu, &rig_pinned);
    for (int i = 0; i < rig_operands; i++)
        driver->release(&gpu, &rig_device[i]);
    driver->stop(&gpu);
}

static inline struct takt_location place(const struct takt_block *block,
                                         size_t offset)
{
    return (struct takt_location){.block = block, .offset = offset};
}

static inline takt_status rig_finish(void)
{
    struct takt_mark mark = {0};
    takt_status status = driver->mark(&gpu, TAKT_QUEUE_OUT, false, &mark);

    if (status == TAKT_OK)
        status = driver->wait(&gpu, &mark);
    driver->drop(&gpu, &mark);
    return status;
}

/* ---- calls --------------------------------------------------------------- */

static inline void rig_upload(const void *from, size_t bytes, int operand,
                              size_t offset)
{
    memcpy(rig_pinned.host, from, bytes);
    REQUIRE(driver->copy(&gpu, TAKT_QUEUE_IN,
                         place(&rig_device[operand], offset),
                         place(&rig_pinned, 0), bytes) == TAKT_OK);
    REQUIRE(rig_finish() == TAKT_OK);
}

/* The output lies between margins that must not change. */
static inline void rig_upload_out(const void *from, size_t bytes, size_t offset)
{
    char *image = rig_pinned.host;

    memset(image, rig_pattern, bytes + 2 * rig_margin);
    memcpy(image + rig_margin, from, bytes);
    REQUIRE(driver->copy(&gpu, TAKT_QUEUE_IN,
                         place(&rig_device[TAKT_OUT], offset - rig_margin),
                         place(&rig_pinned, 0),
                         bytes + 2 * rig_margin) == TAKT_OK);
    REQUIRE(rig_finish() == TAKT_OK);
}

static inline bool rig_download_out(void *to, size_t bytes, size_t offset)
{
    const unsigned char *image = rig_pinned.host;

    REQUIRE(driver->copy(&gpu, TAKT_QUEUE_OUT, place(&rig_pinned, 0),
                         place(&rig_device[TAKT_OUT], offset - rig_margin),
                         bytes + 2 * rig_margin) == TAKT_OK);
    REQUIRE(rig_finish() == TAKT_OK);
    memcpy(to, image + rig_margin, bytes);
    for (size_t i = 0; i < rig_margin; i++)
        if (image[i] != rig_pattern ||
            image[rig_margin + bytes + i] != rig_pattern)
            return false;
    return true;
}

/* Runs a call with operands in host memory, which are put somewhere on the
 * device. The call is admitted first. False: it wrote outside its output. */
static inline bool rig_run(takt_call call, uint64_t *seed, takt_status *status)
{
    struct takt_extents extents;
    struct takt_device_call on = {.call = &call};
    bool is_empty;

    REQUIRE(takt__admit(&call, &is_empty) == TAKT_OK);
    takt__extents_of(&call, &extents);
    const size_t out_bytes = extents.bytes[TAKT_OUT];
    const size_t out_at = rig_margin + random_next(seed) % 64 * sizeof(float);
    REQUIRE(out_bytes + 3 * rig_margin < rig_room);
    rig_upload_out(call.out, out_bytes, out_at);
    on.out = place(&rig_device[TAKT_OUT], out_at);
    for (int i = 0; i < TAKT_OUT; i++) {
        const size_t at = random_next(seed) % 64 * sizeof(float);
        if (extents.bytes[i] == 0)
            continue;
        on.in[i] = call.in[i] == call.out ? on.out : place(&rig_device[i], at);
        if (call.in[i] != call.out)
            rig_upload(call.in[i], extents.bytes[i], i, at);
    }
    EXPECT(driver->can_run(&gpu, &call));
    *status = driver->compute(&gpu, &on);
    return rig_download_out(call.out, out_bytes, out_at);
}
