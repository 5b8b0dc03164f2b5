/* SPDX-License-Identifier: MIT */
/*
 * device_parts.h - what a Vulkan device is made of, for the files of this
 * folder.
 *
 * All three queues of a device are one queue of Vulkan, in which everything
 * runs in order. Commands are recorded into the open batch; a mark sends it
 * off. Batches are numbered, and a timeline semaphore counts those that are
 * done, which any thread may read at any time.
 *
 * Blocks and marks outlive a device that is stopped: what belongs to Vulkan is
 * taken from them then, and their owner gives back the rest.
 */
#pragma once

#include <string.h>

#include "vulkan/api.h"
#include "vulkan/vulkan.h"

struct takt_vulkan;

/* The shaders, and how spirv.inc calls their code. */
/* clang-format off */
#define TAKT_VULKAN_SHADERS(S) \
    S(MAP, map) S(TRANSPOSE, transpose) S(REDUCE, reduce) S(ROWS, rows) \
    S(GEMM, gemm) S(GEMV, gemv) S(CONV2D, conv2d) S(POOLING, pooling) \
    S(PROBE, probe)
/* clang-format on */

enum takt_shader {
#define TAKT_SHADER_ID(id, name) TAKT_SHADER_##id,
    TAKT_VULKAN_SHADERS(TAKT_SHADER_ID)
#undef TAKT_SHADER_ID
        TAKT_SHADERS
};

enum {
    TAKT_VULKAN_VARIANTS = 18,
    TAKT_VULKAN_BINDINGS = 4,    /* what every device has */
    TAKT_VULKAN_PARAMETERS = 32, /* words of push constants, likewise */
    TAKT_VULKAN_BATCHES = 8,     /* that may be on their way */
    TAKT_VULKAN_DISPATCHES = 64  /* in a batch */
};

/* Behind takt_block.address. */
struct takt_vulkan_block {
    struct takt_vulkan *owner; /* NULL: stopped */
    struct takt_vulkan_block *previous, *next;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize bytes;
    uint64_t batch; /* the last that uses it */
};

/* Behind takt_mark.point. */
struct takt_vulkan_point {
    struct takt_vulkan *owner;      /* NULL: stopped */
    struct takt_vulkan_point *next; /* all of them */
    VkQueryPool query;              /* NULL: was never timed */
    uint64_t batch;
    bool is_timed;
    bool is_free; /* to be used again */
};

struct takt_vulkan_batch {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkDescriptorPool sets;
    uint64_t number;
    unsigned dispatches;
};

struct takt_vulkan_limits {
    VkDeviceSize block;     /* bytes of one block */
    VkDeviceSize range;     /* bytes that a shader sees of one */
    VkDeviceSize alignment; /* of where it begins to see */
    uint64_t scores;        /* of attention, at once */
    uint32_t blocks, groups;
    double tick_s; /* of time stamps; 0: there are none */
    uint64_t tick_mask;
};

/* What float controls a device has (VkPhysicalDeviceFloatControlsProperties),
 * in the order in which code.c has them. */
enum {
    TAKT_CONTROL_DENORM = 1,
    TAKT_CONTROL_SPECIAL = 2,
    TAKT_CONTROL_ROUNDING = 4
};

/* Behind takt_device.self. */
struct takt_vulkan {
    struct takt_vulkan_api api;
    struct takt_vulkan_limits limits;
    unsigned forks;        /* when it was started */
    _Atomic bool is_lost;  /* nothing will come of anything */
    _Atomic unsigned busy; /* threads that wait or ask without the lock */
    _Atomic uint64_t done; /* batches that are known to be */

    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkPhysicalDeviceMemoryProperties memory;
    VkSemaphore timeline;
    struct takt_vulkan_batch batches[TAKT_VULKAN_BATCHES];
    uint64_t sent; /* batches so far */
    bool is_open;  /* the next one is being recorded */

    unsigned controls; /* TAKT_CONTROL_... */
    bool is_ieee;      /* sums and products are as the processor's */
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipelineCache cache;
    VkShaderModule modules[TAKT_SHADERS];
    VkPipeline pipelines[TAKT_SHADERS][TAKT_VULKAN_VARIANTS];

    uint32_t block_count;
    struct takt_vulkan_block *blocks;
    struct takt_vulkan_point *points;
    struct takt_block scratch; /* of reductions; stands in for what is not */
    struct takt_block scores;  /* of attention; made when needed */
};

/* Groups of `each` for so many invocations or tiles. */
static inline uint64_t takt__vulkan_groups(uint64_t count, uint64_t each)
{
    return (count + each - 1) / each;
}

/* A shader that is to be run. */
struct takt_vulkan_dispatch {
    enum takt_shader shader;
    unsigned variant;
    struct takt_location at[TAKT_VULKAN_BINDINGS]; /* in, in, in, out */
    const void *parameters; /* what comes behind `base` */
    size_t bytes;
    uint64_t groups; /* more than fit are looped over */
};
#define TAKT_PUSH(constants) \
    .parameters = &(constants), .bytes = sizeof(constants)

/* Creates an object of Vulkan and gives the result. What a creation that fails
 * leaves in *out is undefined, so it is cleared. */
#define TAKT_VULKAN_CREATE(vulkan, what, wanted, out)                        \
    takt__vulkan_created(                                                    \
        (vulkan)->api.Create##what((vulkan)->device, (wanted), NULL, (out)), \
        (out), sizeof *(out))

static inline VkResult takt__vulkan_created(VkResult result, void *out,
                                            size_t size)
{
    if (result != VK_SUCCESS)
        memset(out, 0, size);
    return result;
}

/* The device behind it, if it may be called; else NULL. */
struct takt_vulkan *takt__vulkan_of(const struct takt_device *device);

/* What a result of Vulkan means; TAKT_ELOST is remembered. `otherwise` is for
 * failures after which the device is as before. */
takt_status takt__vulkan_status(struct takt_vulkan *vulkan, VkResult result,
                                takt_status otherwise);

/* memory.c */
takt_device_reserve takt__vulkan_reserve;
takt_device_release takt__vulkan_release;
takt_status takt__vulkan_block_make(struct takt_vulkan *vulkan, size_t bytes,
                                    bool is_pinned, struct takt_block *out);
void takt__vulkan_block_free(struct takt_vulkan *vulkan,
                             struct takt_block *block);
void takt__vulkan_blocks_end(struct takt_vulkan *vulkan);

/* queue.c */
takt_status takt__vulkan_batches_make(struct takt_vulkan *vulkan);
void takt__vulkan_batches_end(struct takt_vulkan *vulkan);

/* The commands of the open batch, behind a barrier; NULL: *status says why. */
VkCommandBuffer takt__vulkan_record(struct takt_vulkan *vulkan,
                                    takt_status *status);

/* Sends the open batch off, if there is one. */
takt_status takt__vulkan_send(struct takt_vulkan *vulkan);
takt_status takt__vulkan_await(struct takt_vulkan *vulkan, uint64_t batch);
takt_device_copy takt__vulkan_copy;
takt_status takt__vulkan_dispatch(struct takt_vulkan *vulkan,
                                  const struct takt_vulkan_dispatch *dispatch);

/* marks.c */
takt_device_mark takt__vulkan_mark;
takt_device_drop takt__vulkan_drop;
takt_device_follow takt__vulkan_follow;
takt_device_wait takt__vulkan_wait;
takt_device_is_past takt__vulkan_is_past;
takt_device_between takt__vulkan_between_s;
void takt__vulkan_points_end(struct takt_vulkan *vulkan);

/* code.c: the pipeline of a shader, made when it is first asked for; NULL: it
 * cannot be. */
takt_status takt__vulkan_code_make(struct takt_vulkan *vulkan);
void takt__vulkan_code_end(struct takt_vulkan *vulkan);
VkPipeline takt__vulkan_pipeline(struct takt_vulkan *vulkan,
                                 enum takt_shader shader, unsigned variant);

/* What to add to the variant of rows.comp for rows of that length, and the
 * groups that so many of them take. */
struct takt_vulkan_lanes {
    unsigned variant;
    uint64_t groups;
};

struct takt_vulkan_lanes takt__vulkan_lanes(uint64_t rows, uint64_t cols);

/* compute.c, products.c, layers.c */
takt_device_can_run takt__vulkan_can_run;
bool takt__vulkan_has(const takt_op *op, takt_dtype dtype);
takt_device_compute takt__vulkan_compute;

/* How calls of a form are run. */
typedef takt_status takt_vulkan_launch(struct takt_vulkan *vulkan,
                                       const struct takt_device_call *call);
takt_vulkan_launch takt__vulkan_run_gemv;
takt_vulkan_launch takt__vulkan_run_matmul; /* and batched */
takt_vulkan_launch takt__vulkan_run_conv2d;
takt_vulkan_launch takt__vulkan_run_pooling;
takt_vulkan_launch takt__vulkan_run_attention;

/* The push constants of gemm.comp (products, convolutions, attention), from
 * behind `base` on; what a variant does not read may be 0. */
struct takt_vulkan_gemm {
    uint32_t m, n, k, batch;
    uint32_t a_row, a_col, b_row, b_col, ldc;
    uint32_t a_step, b_step, c_step;
    float alpha, beta;
    uint32_t groups;
    uint32_t has_bias;
    uint32_t height, width, rows, cols, stride, pad, out_width;
    uint32_t queries, first, is_causal;
};

/* `variant` is one of GEMM_...; `at` are A, B, the bias, C. */
takt_status takt__vulkan_gemm(struct takt_vulkan *vulkan, unsigned variant,
                              const struct takt_location at[4],
                              const struct takt_vulkan_gemm *gemm);

/* probe.c: whether sums and products are those of the processor. */
takt_status takt__vulkan_probe(struct takt_vulkan *vulkan, bool *is_ieee);
