/* SPDX-License-Identifier: MIT */
/*
 * layers.c - convolution, pooling and attention as dispatches.
 */
#include <stdint.h>

#include "op/op_id.h"
#include "vulkan/gemm.h"
#include "vulkan/shaders/variants.h"

static uint32_t steps(size_t size, size_t window, size_t stride, size_t pad)
{
    return (uint32_t)((size + 2 * pad - window) / stride + 1);
}

/* ---- convolution --------------------------------------------------------- */

/* An invocation for each element of the result. */
static takt_status conv2d_each(struct takt_vulkan *vulkan,
                               const struct takt_device_call *call,
                               uint32_t high, uint32_t wide)
{
    const size_t *d = call->call->shape.dim;
    const struct {
        uint32_t count;
        uint32_t channels, height, width;
        uint32_t filters, rows, cols;
        uint32_t stride, pad, groups;
        uint32_t out_height, out_width;
        uint32_t has_bias;
    } parameters = {(uint32_t)(d[0] * d[4] * high * wide),
                    (uint32_t)d[1],
                    (uint32_t)d[2],
                    (uint32_t)d[3],
                    (uint32_t)d[4],
                    (uint32_t)d[5],
                    (uint32_t)d[6],
                    (uint32_t)d[7],
                    (uint32_t)d[8],
                    (uint32_t)d[9],
                    high,
                    wide,
                    call->call->in[2] != NULL};
    const struct takt_vulkan_dispatch dispatch = {
        .shader = TAKT_SHADER_CONV2D,
        .at = {call->in[0], call->in[1], call->in[2], call->out},
        .parameters = &parameters,
        .bytes = sizeof parameters,
        .groups = ((uint64_t)parameters.count + GROUP - 1) / GROUP,
    };

    return takt__vulkan_dispatch(vulkan, &dispatch);
}

/* The filters of a group are the rows of A, the places where they are put on
 * an image the columns of B. */
static takt_status conv2d_tiles(struct takt_vulkan *vulkan,
                                const struct takt_device_call *call,
                                uint32_t high, uint32_t wide)
{
    const size_t *d = call->call->shape.dim;
    const uint32_t groups = (uint32_t)d[9];
    const uint32_t depth = (uint32_t)(d[1] / d[9]);
    const uint32_t filters = (uint32_t)(d[4] / d[9]);
    const uint32_t terms = (uint32_t)(depth * d[5] * d[6]);
    const struct takt_vulkan_gemm gemm = {
        .m = filters,
        .n = high * wide,
        .k = terms,
        .batch = (uint32_t)d[0] * groups,
        .a_row = terms,
        .a_col = 1,
        .ldc = high * wide,
        .a_step = filters * terms,
        .b_step = (uint32_t)(depth * d[2] * d[3]),
        .c_step = filters * high * wide,
        .groups = groups,
        .has_bias = call->call->in[2] != NULL,
        .height = (uint32_t)d[2],
        .width = (uint32_t)d[3],
        .rows = (uint32_t)d[5],
        .cols = (uint32_t)d[6],
        .stride = (uint32_t)d[7],
        .pad = (uint32_t)d[8],
        .out_width = wide,
    };
    const struct takt_location at[] = {call->in[1], call->in[0], call->in[2],
                                       call->out};

    return takt__vulkan_gemm(vulkan, GEMM_CONV2D, at, &gemm);
}

/* Groups of few filters would leave the tiles empty (the number is a guess). */
takt_status takt__vulkan_run_conv2d(struct takt_vulkan *vulkan,
                                    const struct takt_device_call *call)
{
    const size_t *d = call->call->shape.dim;
    const uint32_t high = steps(d[2], d[5], d[7], d[8]);
    const uint32_t wide = steps(d[3], d[6], d[7], d[8]);

    if (d[4] / d[9] < 8)
        return conv2d_each(vulkan, call, high, wide);
    return conv2d_tiles(vulkan, call, high, wide);
}

/* ---- pooling ------------------------------------------------------------- */

takt_status takt__vulkan_run_pooling(struct takt_vulkan *vulkan,
                                     const struct takt_device_call *call)
{
    const size_t *d = call->call->shape.dim;
    const uint32_t high = steps(d[2], d[4], d[5], d[6]);
    const uint32_t wide = steps(d[3], d[4], d[5], d[6]);
    const struct {
        uint32_t count;
        uint32_t height, width;
        uint32_t window, stride, pad;
        uint32_t out_height, out_width;
        uint32_t is_mean;
    } parameters = {(uint32_t)(d[0] * d[1] * high * wide),
                    (uint32_t)d[2],
                    (uint32_t)d[3],
                    (uint32_t)d[4],
                    (uint32_t)d[5],
                    (uint32_t)d[6],
                    high,
                    wide,
                    (call->call->flags & TAKT_CALL_MEAN_POOL) != 0};
    const struct takt_vulkan_dispatch dispatch = {
        .shader = TAKT_SHADER_POOLING,
        .at = {call->in[0], {NULL, 0}, {NULL, 0}, call->out},
        .parameters = &parameters,
        .bytes = sizeof parameters,
        .groups = ((uint64_t)parameters.count + GROUP - 1) / GROUP,
    };

    return takt__vulkan_dispatch(vulkan, &dispatch);
}

/* ---- attention ----------------------------------------------------------- */

/* Scores, weights, values: three dispatches for some heads, or for some queries
 * of one head, as many as the memory for their scores has room for. */
struct stretch {
    const struct takt_device_call *call;
    uint32_t queries, keys, depth; /* of a head */
    uint32_t head, heads;
    uint32_t first, count; /* queries of each */
};

static struct takt_location moved(struct takt_location at, uint64_t elements)
{
    at.offset += (size_t)elements * sizeof(float);
    return at;
}

static takt_status score(struct takt_vulkan *vulkan, const struct stretch *is)
{
    const struct takt_vulkan_gemm gemm = {
        .m = is->count,
        .n = is->keys,
        .k = is->depth,
        .batch = is->heads,
        .a_row = is->depth,
        .a_col = 1,
        .b_row = 1,
        .b_col = is->depth,
        .ldc = is->keys,
        .a_step = is->queries * is->depth,
        .b_step = is->keys * is->depth,
        .c_step = is->count * is->keys,
        .alpha = (float)is->call->call->alpha,
        .groups = is->heads,
    };
    const uint64_t query = (uint64_t)is->head * is->queries + is->first;
    const struct takt_location at[] = {
        moved(is->call->in[0], query * is->depth),
        moved(is->call->in[1], (uint64_t)is->head * is->keys * is->depth),
        {NULL, 0},
        {&vulkan->scores, 0}};

    return takt__vulkan_gemm(vulkan, GEMM_PLAIN, at, &gemm);
}

static takt_status weigh(struct takt_vulkan *vulkan, const struct stretch *is)
{
    const takt_call *of = is->call->call;
    const struct takt_vulkan_lanes lanes =
        takt__vulkan_lanes((uint64_t)is->heads * is->count, is->keys);
    const struct {
        uint32_t rows, cols, has_gain, has_bias;
        float epsilon;
        int32_t epsilon_exponent;
        uint32_t has_mask, is_causal, queries, first, per_head;
    } parameters = {.rows = is->heads * is->count,
                    .cols = is->keys,
                    .has_mask = of->in[3] != NULL,
                    .is_causal = (of->flags & TAKT_CALL_CAUSAL) != 0,
                    .queries = is->queries,
                    .first = is->first,
                    .per_head = is->count};
    const struct takt_vulkan_dispatch dispatch = {
        .shader = TAKT_SHADER_ROWS,
        .variant = ROWS_WEIGHTS + lanes.variant,
        .at = {{&vulkan->scores, 0},
               is->call->in[3],
               {NULL, 0},
               {&vulkan->scores, 0}},
        .parameters = &parameters,
        .bytes = sizeof parameters,
        .groups = lanes.groups,
    };

    return takt__vulkan_dispatch(vulkan, &dispatch);
}

static takt_status add_values(struct takt_vulkan *vulkan,
                              const struct stretch *is)
{
    const struct takt_vulkan_gemm gemm = {
        .m = is->count,
        .n = is->depth,
        .k = is->keys,
        .batch = is->heads,
        .a_row = is->keys,
        .a_col = 1,
        .b_row = is->depth,
        .b_col = 1,
        .ldc = is->depth,
        .a_step = is->count * is->keys,
        .b_step = is->keys * is->depth,
        .c_step = is->queries * is->depth,
        .groups = is->heads,
        .queries = is->queries,
        .first = is->first,
        .is_causal = (is->call->call->flags & TAKT_CALL_CAUSAL) != 0,
    };
    const uint64_t query = (uint64_t)is->head * is->queries + is->first;
    const struct takt_location at[] = {
        {&vulkan->scores, 0},
        moved(is->call->in[2], (uint64_t)is->head * is->keys * is->depth),
        {NULL, 0},
        moved(is->call->out, query * is->depth)};

    return takt__vulkan_gemm(vulkan, GEMM_VALUES, at, &gemm);
}

static takt_status attend(struct takt_vulkan *vulkan, const struct stretch *is)
{
    takt_status status = TAKT_OK;

    if (is->keys > 0)
        status = score(vulkan, is);
    if (is->keys > 0 && status == TAKT_OK)
        status = weigh(vulkan, is);
    return status == TAKT_OK ? add_values(vulkan, is) : status;
}

/* No memory: the call is refused, and runs elsewhere. */
static takt_status make_scores(struct takt_vulkan *vulkan, uint64_t elements)
{
    const size_t bytes = (size_t)elements * sizeof(float);

    if (vulkan->scores.bytes >= bytes)
        return TAKT_OK;
    if (vulkan->scores.address != 0)
        takt__vulkan_block_free(vulkan, &vulkan->scores);
    const takt_status status =
        takt__vulkan_block_make(vulkan, bytes, false, &vulkan->scores);
    return status == TAKT_ENOMEM ? TAKT_ENODEV : status;
}

takt_status takt__vulkan_run_attention(struct takt_vulkan *vulkan,
                                       const struct takt_device_call *call)
{
    const size_t *d = call->call->shape.dim;
    const uint32_t heads = (uint32_t)(d[0] * d[1]);
    const uint64_t keys = d[3] > 0 ? d[3] : 1;
    const uint64_t rows = vulkan->limits.scores / keys;
    struct stretch is = {.call = call,
                         .queries = (uint32_t)d[2],
                         .keys = (uint32_t)d[3],
                         .depth = (uint32_t)d[4]};

    if (rows == 0)
        return TAKT_ENODEV;
    const uint32_t at_once = rows < d[2] ? (uint32_t)rows : (uint32_t)d[2];
    const uint64_t heads_fit = rows / d[2] > 1 ? rows / d[2] : 1;
    const uint32_t heads_at_once =
        heads_fit < heads ? (uint32_t)heads_fit : heads;
    takt_status status =
        make_scores(vulkan, (uint64_t)heads_at_once * at_once * keys);
    for (is.head = 0; is.head < heads; is.head += is.heads) {
        is.heads =
            heads - is.head < heads_at_once ? heads - is.head : heads_at_once;
        for (is.first = 0; is.first < is.queries; is.first += is.count) {
            is.count = is.queries - is.first < at_once ? is.queries - is.first
                                                       : at_once;
            if (status == TAKT_OK)
                status = attend(vulkan, &is);
        }
    }
    return status;
}
