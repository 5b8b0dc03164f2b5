/* SPDX-License-Identifier: MIT */
/* layers.c - convolution, pooling and attention as dispatches. */

#include "op/operands.h"
#include "vulkan/device_parts.h"
#include "vulkan/shaders/variants.h"

/* ---- convolution and pooling --------------------------------------------- */

/* An invocation for each element of the result. The push constants of both
 * shaders are the number of elements, the sizes from `first` on, those of the
 * result, and an option. */
static takt_status run_each(struct takt_vulkan *vulkan,
                            const struct takt_device_call *call,
                            enum takt_shader shader, const size_t *d,
                            unsigned first, bool option)
{
    const takt_call *of = call->call;
    const struct takt_rows out = takt__rows_of(of, TAKT_OUT);
    uint32_t words[TAKT_SHAPE_MAX_RANK + 3] = {(uint32_t)(out.rows * out.cols)};
    unsigned count = 1;

    for (unsigned i = first; i < takt__op_form(of->op)->window->rank_max; i++)
        words[count++] = (uint32_t)d[i];
    words[count++] = (uint32_t)d[TAKT_DIM_OUT_H];
    words[count++] = (uint32_t)d[TAKT_DIM_OUT_W];
    words[count++] = option;
    const struct takt_vulkan_dispatch dispatch = {
        .shader = shader,
        .at = {call->in[0], call->in[1], call->in[2], call->out},
        .parameters = words,
        .bytes = count * sizeof words[0],
        .groups = takt__vulkan_groups(words[0], GROUP),
    };

    return takt__vulkan_dispatch(vulkan, &dispatch);
}

/* The filters of a group are the rows of A, the positions at which they are put
 * on an image the columns of B. */
static takt_status conv2d_tiles(struct takt_vulkan *vulkan,
                                const struct takt_device_call *call,
                                const size_t *d)
{
    const uint32_t groups = (uint32_t)d[TAKT_CONV2D_GROUPS];
    const uint32_t depth = (uint32_t)d[TAKT_DIM_GROUP_C];
    const uint32_t filters = (uint32_t)d[TAKT_CONV2D_K] / groups;
    const uint32_t height = (uint32_t)d[TAKT_CONV2D_H];
    const uint32_t width = (uint32_t)d[TAKT_CONV2D_W];
    const uint32_t rows = (uint32_t)d[TAKT_CONV2D_R];
    const uint32_t cols = (uint32_t)d[TAKT_CONV2D_S];
    const uint32_t terms = depth * rows * cols;
    const uint32_t positions =
        (uint32_t)(d[TAKT_DIM_OUT_H] * d[TAKT_DIM_OUT_W]);
    const struct takt_vulkan_gemm gemm = {
        .m = filters,
        .n = positions,
        .k = terms,
        .batch = (uint32_t)d[TAKT_CONV2D_N] * groups,
        .a_row = terms,
        .a_col = 1,
        .ldc = positions,
        .a_step = filters * terms,
        .b_step = depth * height * width,
        .c_step = filters * positions,
        .groups = groups,
        .has_bias = call->call->in[2] != NULL,
        .height = height,
        .width = width,
        .rows = rows,
        .cols = cols,
        .stride = (uint32_t)d[TAKT_CONV2D_STRIDE],
        .pad = (uint32_t)d[TAKT_CONV2D_PAD],
        .out_width = (uint32_t)d[TAKT_DIM_OUT_W],
    };
    const struct takt_location at[] = {call->in[1], call->in[0], call->in[2],
                                       call->out};

    return takt__vulkan_gemm(vulkan, GEMM_CONV2D, at, &gemm);
}

/* Groups of few filters would leave the tiles empty (the number is a guess). */
takt_status takt__vulkan_run_conv2d(struct takt_vulkan *vulkan,
                                    const struct takt_device_call *call)
{
    const takt_call *of = call->call;
    size_t memory[TAKT_DIMS];
    const size_t *d =
        takt__form_dims(takt__op_form(of->op), &of->shape, memory);

    if (d[TAKT_CONV2D_K] / d[TAKT_CONV2D_GROUPS] >= 8)
        return conv2d_tiles(vulkan, call, d);
    return run_each(vulkan, call, TAKT_SHADER_CONV2D, d, TAKT_CONV2D_C,
                    of->in[2] != NULL);
}

takt_status takt__vulkan_run_pooling(struct takt_vulkan *vulkan,
                                     const struct takt_device_call *call)
{
    const takt_call *of = call->call;
    size_t memory[TAKT_DIMS];
    const size_t *d =
        takt__form_dims(takt__op_form(of->op), &of->shape, memory);

    return run_each(vulkan, call, TAKT_SHADER_POOLING, d, TAKT_POOL2D_H,
                    (of->flags & TAKT_CALL_MEAN_POOL) != 0);
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

/* One of the two products: A has a row for each query, B all keys of a head. */
static takt_status multiply(struct takt_vulkan *vulkan,
                            const struct stretch *is, unsigned variant,
                            struct takt_vulkan_gemm gemm,
                            const struct takt_location at[4])
{
    gemm.m = is->count;
    gemm.batch = gemm.groups = is->heads;
    gemm.a_row = gemm.k;
    gemm.a_col = 1;
    gemm.b_step = is->keys * is->depth;
    gemm.ldc = gemm.n;
    return takt__vulkan_gemm(vulkan, variant, at, &gemm);
}

/* From the first head of the stretch on, of the queries, keys or values. */
static struct takt_location queries_at(struct takt_location at,
                                       const struct stretch *is)
{
    at.offset += (is->head * (size_t)is->queries + is->first) * is->depth *
                 sizeof(float);
    return at;
}

static struct takt_location keys_at(struct takt_location at,
                                    const struct stretch *is)
{
    at.offset += (size_t)is->head * is->keys * is->depth * sizeof(float);
    return at;
}

static takt_status score(struct takt_vulkan *vulkan, const struct stretch *is)
{
    const struct takt_vulkan_gemm gemm = {
        .n = is->keys,
        .k = is->depth,
        .b_row = 1,
        .b_col = is->depth,
        .a_step = is->queries * is->depth,
        .c_step = is->count * is->keys,
        .alpha = (float)is->call->call->alpha,
    };
    const struct takt_location at[4] = {
        queries_at(is->call->in[0], is),
        keys_at(is->call->in[1], is), [3] = {&vulkan->scores, 0}};

    return multiply(vulkan, is, GEMM_PLAIN, gemm, at);
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
        .at =
            {{&vulkan->scores, 0}, is->call->in[3], [3] = {&vulkan->scores, 0}},
        TAKT_PUSH(parameters),
        .groups = lanes.groups,
    };

    return takt__vulkan_dispatch(vulkan, &dispatch);
}

static takt_status add_values(struct takt_vulkan *vulkan,
                              const struct stretch *is)
{
    const struct takt_vulkan_gemm gemm = {
        .n = is->depth,
        .k = is->keys,
        .b_row = is->depth,
        .b_col = 1,
        .a_step = is->count * is->keys,
        .c_step = is->queries * is->depth,
        .queries = is->queries,
        .first = is->first,
        .is_causal = (is->call->call->flags & TAKT_CALL_CAUSAL) != 0,
    };
    const struct takt_location at[4] = {{&vulkan->scores, 0},
                                        keys_at(is->call->in[2], is),
                                        [3] = queries_at(is->call->out, is)};

    return multiply(vulkan, is, GEMM_VALUES, gemm, at);
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

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

takt_status takt__vulkan_run_attention(struct takt_vulkan *vulkan,
                                       const struct takt_device_call *call)
{
    const size_t *d = call->call->shape.dim;
    const uint32_t heads =
        (uint32_t)(d[TAKT_ATTENTION_B] * d[TAKT_ATTENTION_H]);
    const uint64_t queries = d[TAKT_ATTENTION_Q];
    const uint64_t keys = d[TAKT_ATTENTION_K] > 0 ? d[TAKT_ATTENTION_K] : 1;
    const uint64_t rows = vulkan->limits.scores / keys;
    struct stretch is = {.call = call,
                         .queries = (uint32_t)queries,
                         .keys = (uint32_t)d[TAKT_ATTENTION_K],
                         .depth = (uint32_t)d[TAKT_ATTENTION_D]};

    if (rows == 0)
        return TAKT_ENODEV;
    const uint32_t at_once = least(rows, queries);
    const uint32_t heads_at_once =
        least(rows / queries > 1 ? rows / queries : 1, heads);
    takt_status status =
        make_scores(vulkan, (uint64_t)heads_at_once * at_once * keys);
    for (is.head = 0; is.head < heads; is.head += is.heads) {
        is.heads = least(heads - is.head, heads_at_once);
        for (is.first = 0; is.first < is.queries; is.first += is.count) {
            is.count = least(is.queries - is.first, at_once);
            if (status == TAKT_OK)
                status = attend(vulkan, &is);
        }
    }
    return status;
}
