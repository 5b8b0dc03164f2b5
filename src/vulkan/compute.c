/* SPDX-License-Identifier: MIT */
/*
 * compute.c - which calls a device takes, and those on vectors and rows.
 *
 * The structures of parameters are those of the shaders' push constants, from
 * behind `base` on.
 */
#include <math.h>

#include "op/operands.h"
#include "vulkan/device_parts.h"
#include "vulkan/shaders/variants.h"

/* How an op is run. Vulkan promises that sums and products of floats are
 * correct to a last place, but neither which way they are rounded nor that
 * denormal numbers are kept; of quotients, roots and fma() it promises less.
 * So some ops are computed in whole numbers and are exact everywhere. The
 * others need a device that rounds to nearest and flushes nothing: the code
 * requires that (code.c) and must have shown it (probe.c), or they are refused.
 */
struct recipe {
    bool is_there, is_whole;
    enum takt_shader shader;
    unsigned variant;
};

/* clang-format off */
#define WHOLE(shader_, variant_) {true, true, TAKT_SHADER_##shader_, variant_}
#define FLOAT(shader_, variant_) {true, false, TAKT_SHADER_##shader_, variant_}
/* clang-format on */

static const struct recipe recipes[TAKT_OP_COUNT] = {
    [TAKT_OP_add] = FLOAT(MAP, MAP_ADD),
    [TAKT_OP_sub] = FLOAT(MAP, MAP_SUB),
    [TAKT_OP_mul] = FLOAT(MAP, MAP_MUL),
    [TAKT_OP_div] = WHOLE(MAP, MAP_DIV),
    [TAKT_OP_scale] = FLOAT(MAP, MAP_SCALE),
    [TAKT_OP_axpy] = WHOLE(MAP, MAP_AXPY),
    [TAKT_OP_fma] = WHOLE(MAP, MAP_FMA),
    [TAKT_OP_abs] = WHOLE(MAP, MAP_ABS),
    [TAKT_OP_neg] = WHOLE(MAP, MAP_NEG),
    [TAKT_OP_clamp] = WHOLE(MAP, MAP_CLAMP),
    [TAKT_OP_sqrt] = WHOLE(MAP, MAP_SQRT),
    [TAKT_OP_exp] = FLOAT(MAP, MAP_EXP),
    [TAKT_OP_log] = FLOAT(MAP, MAP_LOG),
    [TAKT_OP_sigmoid] = FLOAT(MAP, MAP_SIGMOID),
    [TAKT_OP_tanh] = FLOAT(MAP, MAP_TANH),
    [TAKT_OP_relu] = WHOLE(MAP, MAP_RELU),
    [TAKT_OP_gelu] = FLOAT(MAP, MAP_GELU),
    [TAKT_OP_copy] = WHOLE(MAP, MAP_COPY),
    [TAKT_OP_transpose] = WHOLE(TRANSPOSE, 0),
    [TAKT_OP_sum] = FLOAT(REDUCE, REDUCE_SUM),
    [TAKT_OP_mean] = FLOAT(REDUCE, REDUCE_MEAN),
    [TAKT_OP_max] = WHOLE(REDUCE, REDUCE_MAX),
    [TAKT_OP_min] = WHOLE(REDUCE, REDUCE_MIN),
    [TAKT_OP_argmax] = WHOLE(REDUCE, REDUCE_ARGMAX),
    [TAKT_OP_argmin] = WHOLE(REDUCE, REDUCE_ARGMIN),
    [TAKT_OP_dot] = FLOAT(REDUCE, REDUCE_DOT),
    [TAKT_OP_norm1] = FLOAT(REDUCE, REDUCE_NORM1),
    [TAKT_OP_norm2] = FLOAT(REDUCE, REDUCE_NORM2),
    [TAKT_OP_variance] = FLOAT(REDUCE, REDUCE_AROUND),
    [TAKT_OP_softmax] = FLOAT(ROWS, ROWS_SOFTMAX),
    [TAKT_OP_layernorm] = FLOAT(ROWS, ROWS_LAYERNORM),
    [TAKT_OP_gemv] = FLOAT(GEMV, 0),
    [TAKT_OP_matmul] = FLOAT(GEMM, 0),
    [TAKT_OP_batched_matmul] = FLOAT(GEMM, 0),
    [TAKT_OP_conv2d] = FLOAT(CONV2D, 0),
    [TAKT_OP_pooling] = FLOAT(POOLING, 0),
    [TAKT_OP_attention] = FLOAT(GEMM, 0),
};

static const struct recipe *recipe_of(const takt_call *call)
{
    return &recipes[takt__op_id(call->op)];
}

bool takt__vulkan_has(const takt_op *op, takt_dtype dtype)
{
    return dtype == TAKT_F32 && recipes[takt__op_id(op)].is_there;
}

/* The longer side of an image with its padding, in which shaders count too;
 * 0: the call has none. No size of it is above 2^32. */
static size_t padded_side(const takt_call *call)
{
    const struct takt_form_window *window = takt__op_form(call->op)->window;
    const size_t *d = call->shape.dim;

    if (window == NULL)
        return 0;
    return (d[TAKT_CONV2D_H] > d[TAKT_CONV2D_W] ? d[TAKT_CONV2D_H]
                                                : d[TAKT_CONV2D_W]) +
           2 * d[window->pad];
}

/* Indices are of 32 bits, and a shader sees only so much of a block. */
static bool is_small_enough(const takt_call *call, size_t most)
{
    struct takt_lengths lengths;

    takt__lengths_of(call, &lengths);
    if (lengths.overflow)
        return false;
    for (int i = 0; i < TAKT_OPERANDS; i++)
        if (lengths.of[i] > most)
            return false;
    for (unsigned i = 0; i < call->shape.rank; i++)
        if (call->shape.dim[i] > most)
            return false;
    for (unsigned i = 0; i < sizeof call->ld / sizeof call->ld[0]; i++)
        if (call->ld[i] > most)
            return false;
    return padded_side(call) <= most;
}

bool takt__vulkan_can_run(const struct takt_device *device,
                          const takt_call *call)
{
    const struct takt_vulkan *vulkan = takt__vulkan_of(device);

    if (vulkan == NULL || (device->driver->dtypes >> call->dtype & 1) == 0 ||
        takt__op_id(call->op) >= TAKT_OP_COUNT)
        return false;
    const struct recipe *recipe = recipe_of(call);
    return recipe->is_there && (recipe->is_whole || vulkan->is_ieee) &&
           is_small_enough(call, device->facts.most_elements);
}

/* ---- vectors ------------------------------------------------------------- */

static takt_status map(struct takt_vulkan *vulkan,
                       const struct takt_device_call *call)
{
    const takt_call *of = call->call;
    const struct {
        uint32_t count;
        float p, q;
    } parameters = {(uint32_t)of->shape.dim[0], (float)of->alpha,
                    (float)of->beta};
    const struct takt_vulkan_dispatch dispatch = {
        .shader = TAKT_SHADER_MAP,
        .variant = recipe_of(of)->variant,
        .at = {call->in[0], call->in[1], call->in[2], call->out},
        TAKT_PUSH(parameters),
        .groups = takt__vulkan_groups(parameters.count, GROUP),
    };

    return takt__vulkan_dispatch(vulkan, &dispatch);
}

static takt_status transpose(struct takt_vulkan *vulkan,
                             const struct takt_device_call *call)
{
    const takt_call *of = call->call;
    const size_t *d = of->shape.dim;
    const struct {
        uint32_t rows, cols, ld_in, ld_out;
    } parameters = {(uint32_t)d[TAKT_ROWS], (uint32_t)d[TAKT_COLS],
                    (uint32_t)of->ld[0], (uint32_t)of->ld[2]};
    const struct takt_vulkan_dispatch dispatch = {
        .shader = TAKT_SHADER_TRANSPOSE,
        .at = {[0] = call->in[0], [3] = call->out},
        TAKT_PUSH(parameters),
        .groups = takt__vulkan_groups(d[TAKT_ROWS], 32) *
                  takt__vulkan_groups(d[TAKT_COLS], 32),
    };

    return takt__vulkan_dispatch(vulkan, &dispatch);
}

/* Elements to states and, where there are several, states to the result. */
static takt_status reduce_by(struct takt_vulkan *vulkan,
                             const struct takt_device_call *call,
                             unsigned variant)
{
    const uint32_t n = (uint32_t)call->call->shape.dim[0];
    const uint64_t most = vulkan->limits.groups < REDUCE_MOST_GROUPS
                              ? vulkan->limits.groups
                              : REDUCE_MOST_GROUPS;
    const uint64_t wanted = takt__vulkan_groups(n > 0 ? n : 1, 16 * GROUP);
    const uint64_t groups = wanted < most ? wanted : most;
    struct {
        uint32_t count, n, has_states, is_last;
    } parameters = {n, n, 0, groups == 1};
    struct takt_vulkan_dispatch dispatch = {
        .shader = TAKT_SHADER_REDUCE,
        .variant = variant,
        .at = {call->in[0], call->in[1], {&vulkan->scratch, 0}, call->out},
        TAKT_PUSH(parameters),
        .groups = groups,
    };
    const takt_status status = takt__vulkan_dispatch(vulkan, &dispatch);

    if (status != TAKT_OK || groups == 1)
        return status;
    parameters.count = (uint32_t)groups;
    parameters.has_states = parameters.is_last = 1;
    dispatch.groups = 1;
    return takt__vulkan_dispatch(vulkan, &dispatch);
}

static takt_status reduce(struct takt_vulkan *vulkan,
                          const struct takt_device_call *call)
{
    const unsigned variant = recipe_of(call->call)->variant;
    takt_status status = TAKT_OK;

    if (variant == REDUCE_AROUND)
        status = reduce_by(vulkan, call, REDUCE_MOMENT);
    return status == TAKT_OK ? reduce_by(vulkan, call, variant) : status;
}

/* ---- rows ---------------------------------------------------------------- */

static takt_status rows(struct takt_vulkan *vulkan,
                        const struct takt_device_call *call)
{
    const takt_call *of = call->call;
    const size_t count = of->shape.dim[TAKT_ROWS];
    const size_t cols = of->shape.dim[TAKT_COLS];
    const struct takt_vulkan_lanes lanes = takt__vulkan_lanes(count, cols);
    int exponent = 0;
    const double epsilon = frexp(of->alpha, &exponent);
    const struct {
        uint32_t rows, cols, has_gain, has_bias;
        float epsilon;
        int32_t epsilon_exponent;
    } parameters = {(uint32_t)count,   (uint32_t)cols, of->in[1] != NULL,
                    of->in[2] != NULL, (float)epsilon, exponent};
    const struct takt_vulkan_dispatch dispatch = {
        .shader = TAKT_SHADER_ROWS,
        .variant = recipe_of(of)->variant + lanes.variant,
        .at = {call->in[0], call->in[1], call->in[2], call->out},
        TAKT_PUSH(parameters),
        .groups = lanes.groups,
    };

    return takt__vulkan_dispatch(vulkan, &dispatch);
}

/* ---- any call ------------------------------------------------------------ */

static takt_vulkan_launch *const launchers[TAKT_FORMS] = {
    [TAKT_FORM_map] = map,
    [TAKT_FORM_matrix] = transpose,
    [TAKT_FORM_reduce] = reduce,
    [TAKT_FORM_rows] = rows,
    [TAKT_FORM_gemv] = takt__vulkan_run_gemv,
    [TAKT_FORM_matmul] = takt__vulkan_run_matmul,
    [TAKT_FORM_batched] = takt__vulkan_run_matmul,
    [TAKT_FORM_conv2d] = takt__vulkan_run_conv2d,
    [TAKT_FORM_pool2d] = takt__vulkan_run_pooling,
    [TAKT_FORM_attention] = takt__vulkan_run_attention,
};

takt_status takt__vulkan_compute(struct takt_device *device,
                                 const struct takt_device_call *call)
{
    struct takt_vulkan *vulkan = takt__vulkan_of(device);
    struct takt_lengths lengths;

    if (vulkan == NULL)
        return TAKT_ELOST;
    if (!takt__vulkan_can_run(device, call->call))
        return TAKT_ENODEV;
    takt__lengths_of(call->call, &lengths);
    if (lengths.of[TAKT_OUT] == 0)
        return TAKT_OK;
    return launchers[takt__op_entry(call->call->op)->form](vulkan, call);
}
