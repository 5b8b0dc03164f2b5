/* SPDX-License-Identifier: MIT */
/*
 * probe.c - whether a device adds and multiplies like the processor.
 *
 * What a device says about its floats is not enough: one that cannot be
 * made to keep denormal numbers may keep them all the same (Mesa's llvmpipe
 * does). So it is asked to show it: with ties, denormal numbers on either side
 * of the operation, zeros by sign, infinities and NaN.
 */
#include <math.h>
#include <string.h>

#include "vulkan/device_parts.h"
#include "vulkan/shaders/variants.h"

static const float left[] = {1,
                             1,
                             0x1.000002p0F,
                             0x1.fffffep0F,
                             0x1p-126F,
                             0x1p-149F,
                             0x1.8p-127F,
                             -0x1p-140F,
                             0x1.8p-1F,
                             0x1p-75F,
                             -0.0F,
                             0,
                             3,
                             INFINITY,
                             INFINITY,
                             0x1.fffffep127F,
                             0x1.0002p-63F};
static const float right[] = {
    0x1p-24F,       0x1.8p-24F, 0x1p-24F,    0x1.fffffep0F, 0.5F,         0.5F,
    -0x1.8p-128F,   -0x1p-139F, 0x1.8p-149F, 0x1p-75F,      -0.0F,        -0.0F,
    0x1.555556p-2F, -INFINITY,  0,           0x1p103F,      0x1.0002p-64F};

enum { PAIRS = sizeof left / sizeof left[0], BYTES = PAIRS * sizeof(float) };

static bool is_same(float got, float want)
{
    if (isnan(want))
        return isnan(got);
    return memcmp(&got, &want, sizeof got) == 0;
}

static bool are_same(const float *got)
{
    for (int i = 0; i < PAIRS; i++) {
        /* Not to be known to a compiler that might compute them otherwise. */
        volatile const float a = left[i], b = right[i];
        if (!is_same(got[2 * i], a + b) || !is_same(got[2 * i + 1], a * b))
            return false;
    }
    return true;
}

static takt_status run(struct takt_vulkan *vulkan, struct takt_block *block)
{
    const uint32_t count = PAIRS;
    const struct takt_vulkan_dispatch dispatch = {
        .shader = TAKT_SHADER_PROBE,
        .at = {{block, 0}, {block, 256}, [3] = {block, 512}},
        TAKT_PUSH(count),
        .groups = 1,
    };

    memcpy(block->host, left, BYTES);
    memcpy((char *)block->host + 256, right, BYTES);
    takt_status status = takt__vulkan_dispatch(vulkan, &dispatch);
    if (status == TAKT_OK)
        status = takt__vulkan_send(vulkan);
    return status == TAKT_OK ? takt__vulkan_await(vulkan, vulkan->sent)
                             : status;
}

takt_status takt__vulkan_probe(struct takt_vulkan *vulkan, bool *is_ieee)
{
    struct takt_block block;
    takt_status status = takt__vulkan_block_make(vulkan, 1024, true, &block);

    if (status != TAKT_OK)
        return status;
    status = run(vulkan, &block);
    *is_ieee = status == TAKT_OK &&
               are_same((const float *)block.host + 512 / sizeof(float));
    takt__vulkan_block_free(vulkan, &block);
    return status;
}
