/* SPDX-License-Identifier: MIT */
/*
 * compute.c - which kernel runs a call, on how many blocks.
 *
 * A plan depends on the sizes of the call and the number of multiprocessors
 * alone, so that the same call is always added up in the same order.
 */

#include "cuda/cublas.h"
#include "cuda/device_parts.h"
#include "op/operands.h"
#include "takt/ops.h"

_Static_assert(TAKT_CUDA_TRANS_A == TAKT_TRANS_A &&
                   TAKT_CUDA_TRANS_B == TAKT_TRANS_B &&
                   TAKT_CUDA_CAUSAL == TAKT_CALL_CAUSAL &&
                   TAKT_CUDA_MEAN_POOL == TAKT_CALL_MEAN_POOL,
               "the device code reads the flags of a call");

/* One launch. */
struct launch_plan {
    enum takt_cuda_kernel kernel;
    uint64_t blocks; /* 0: nothing is to be done */
    uint64_t pieces; /* blocks that share an output, along y */
    unsigned threads;
    uint32_t cut[2];
    unsigned units; /* multiprocessors of the device */
};

/* What the driver takes. */
static const uint64_t most_blocks = INT32_MAX, most_pieces = 65535;

/* One more than the kernel of an op, where there is but one, or the default
 * one; 0: there is none. */
static unsigned default_kernel(const takt_op *op, takt_dtype dtype)
{
    static const uint8_t of[TAKT_OP_COUNT][2] = {
#define TAKT_CUDA_KERNEL(module, op, dtype) \
    [TAKT_OP_##op][TAKT_CUDA_DTYPE_##dtype] = TAKT_CUDA_##op##_##dtype + 1,
#define TAKT_CUDA_DTYPE_f32 TAKT_F32
#define TAKT_CUDA_DTYPE_f64 TAKT_F64
#include "cuda/kernels.def"
    };
    return of[takt__op_id(op)][dtype];
}

bool takt__cuda_has(const takt_op *op, takt_dtype dtype)
{
    return default_kernel(op, dtype) != 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* At least 1, and at most `most`. */
static uint64_t between(uint64_t x, uint64_t most)
{
    const uint64_t lower = x < most ? x : most;
    return lower < 1 ? 1 : lower;
}

static uint64_t vector_width(const takt_call *call)
{
    return 16 / takt_dtype_size(call->dtype);
}

/* ---- vectors and rows ---------------------------------------------------- */

/* Small blocks while there are multiprocessors without one. */
static void plan_map(const takt_call *call, struct launch_plan *plan)
{
    const uint64_t vectors = ceil_div(call->shape.dim[0], vector_width(call));
    const uint64_t few = (uint64_t)plan->units * 256 * TAKT_CUDA_MAP_VECTORS;

    plan->threads = vectors < few ? 64 : 256;
    plan->blocks = ceil_div(vectors, plan->threads * TAKT_CUDA_MAP_VECTORS);
}

static void plan_reduction(const takt_call *call, struct launch_plan *plan)
{
    const uint64_t each = TAKT_CUDA_REDUCE_THREADS * 4 * vector_width(call);

    plan->threads = TAKT_CUDA_REDUCE_THREADS;
    plan->blocks =
        between(ceil_div(call->shape.dim[0], each), (uint64_t)plan->units * 8);
}

/* So many lanes keep a short row that each has up to four vectors of it, as far
 * as there are lanes: the sums are over few. Rows that do not lie in vectors
 * take a warp each. */
static uint32_t lanes_of_row(const takt_call *call)
{
    const uint64_t cols = call->shape.dim[1];
    uint32_t lanes = 4;

    while (lanes < 32 && (cols % 4 != 0 || lanes * 4 * 4 < cols))
        lanes *= 2;
    return lanes;
}

/* As many threads as keep a long row. */
static unsigned threads_of_row(uint64_t cols)
{
    const uint64_t each = TAKT_CUDA_ROW_VECTORS * 4;

    return 32 * (unsigned)between(ceil_div(cols, 32 * each),
                                  TAKT_CUDA_ROW_THREADS / 32);
}

static void plan_rows(const takt_call *call, struct launch_plan *plan)
{
    const bool is_softmax = takt__op_id(call->op) == TAKT_OP_softmax;
    const uint64_t rows = call->shape.dim[0], cols = call->shape.dim[1];

    if (cols <= TAKT_CUDA_SHORT_ROW &&
        ceil_div(rows, 256 / 32) <= most_blocks) {
        plan->kernel = is_softmax ? TAKT_CUDA_softmax_f32_short
                                  : TAKT_CUDA_layernorm_f32_short;
        plan->threads = 256;
        plan->cut[0] = lanes_of_row(call);
        plan->blocks = ceil_div(rows, 256 / plan->cut[0]);
    } else {
        plan->threads = threads_of_row(cols);
        plan->blocks = least(rows, most_blocks);
    }
}

static void plan_transpose(const takt_call *call, struct launch_plan *plan)
{
    const uint64_t side = TAKT_CUDA_TRANSPOSE_SIDE;

    plan->threads = 256;
    plan->blocks = least(ceil_div(call->shape.dim[0], side) *
                             ceil_div(call->shape.dim[1], side),
                         most_blocks);
}

/* One thread for each output. */
static void plan_outputs(uint64_t outputs, struct launch_plan *plan)
{
    plan->threads = TAKT_CUDA_LAYER_THREADS;
    plan->blocks =
        least(ceil_div(outputs, TAKT_CUDA_LAYER_THREADS), most_blocks);
}

/* ---- products ------------------------------------------------------------ */

/* Into how many pieces a sum is cut, where `blocks` would compute it whole and
 * `wanted` are worth having; a piece should be `enough` deep, and what blocks
 * leave for each other has its room. */
static uint64_t find_pieces(uint64_t blocks, uint64_t wanted, uint64_t depth,
                            uint64_t enough, uint64_t bytes_each)
{
    const uint64_t room = TAKT_CUDA_PARTS_BYTES / bytes_each;

    if (blocks >= wanted || blocks > TAKT_CUDA_COUNTERS)
        return 1;
    return between(least(wanted / blocks, depth / enough),
                   least(room / blocks, 1024));
}

static void plan_gemv(const takt_call *call, struct launch_plan *plan)
{
    const uint64_t m = call->shape.dim[0], n = call->shape.dim[1];
    const uint64_t size = takt_dtype_size(call->dtype);
    const uint64_t wanted = (uint64_t)plan->units * 8;

    plan->threads = TAKT_CUDA_GEMV_THREADS;
    if ((call->flags & TAKT_TRANS_A) != 0) {
        plan->kernel = call->dtype == TAKT_F32 ? TAKT_CUDA_gemv_f32_trans
                                               : TAKT_CUDA_gemv_f64_trans;
        plan->blocks = ceil_div(n, TAKT_CUDA_GEMV_COLUMNS);
        plan->pieces = find_pieces(plan->blocks, wanted, m, 128,
                                   TAKT_CUDA_GEMV_COLUMNS * size);
    } else {
        plan->cut[0] = n < 2048 ? 32 : TAKT_CUDA_GEMV_THREADS;
        const uint64_t rows = TAKT_CUDA_GEMV_THREADS / plan->cut[0];
        plan->blocks = ceil_div(m, rows);
        plan->pieces =
            find_pieces(plan->blocks, wanted / 2, n, 8192, rows * size);
    }
    plan->cut[1] = (uint32_t)plan->pieces;
}

/* `batch` products of m x n elements, k deep. */
struct products {
    uint64_t batch, m, n, k;
};

static uint64_t tiles_of(const struct products *p, uint64_t side)
{
    const uint64_t each = ceil_div(p->m, side) * ceil_div(p->n, side);
    uint64_t all;

    return __builtin_mul_overflow(each, p->batch, &all) ? UINT64_MAX : all;
}

/* Tiles of `side`, of which `at_once` run on a multiprocessor together. */
static void plan_tiles(const struct products *p, uint64_t side, uint64_t size,
                       uint64_t at_once, struct launch_plan *plan)
{
    const uint64_t deep = TAKT_CUDA_GEMM_DEEP, most_deep = 1u << 30;
    const uint64_t tiles = tiles_of(p, side);
    uint64_t pieces = tiles == 0
                          ? 1
                          : find_pieces(tiles, at_once * plan->units, p->k,
                                        16 * deep, side * side * size);

    if (ceil_div(p->k, pieces) > most_deep)
        pieces = ceil_div(p->k, most_deep);
    const uint64_t each = ceil_div(ceil_div(p->k, pieces), deep) * deep;
    plan->threads = TAKT_CUDA_GEMM_THREADS;
    plan->blocks = tiles;
    plan->pieces = p->k == 0 ? 1 : ceil_div(p->k, each);
    plan->cut[0] = (uint32_t)plan->pieces;
    plan->cut[1] = (uint32_t)each;
}

/* Large tiles compute more for what they read, if they keep the device busy. */
static void plan_large_or_small(const struct products *p,
                                enum takt_cuda_kernel large,
                                enum takt_cuda_kernel small,
                                struct launch_plan *plan)
{
    plan->kernel = large;
    plan_tiles(p, TAKT_CUDA_GEMM_SIDE, sizeof(float), 2, plan);
    if (p->m > TAKT_CUDA_GEMM_SMALL_SIDE && p->n > TAKT_CUDA_GEMM_SMALL_SIDE &&
        plan->blocks * plan->pieces >= plan->units)
        return;
    plan->kernel = small;
    plan_tiles(p, TAKT_CUDA_GEMM_SMALL_SIDE, sizeof(float), 3, plan);
}

static void plan_matmul(const takt_call *call, struct launch_plan *plan)
{
    const bool is_batched = takt__op_id(call->op) == TAKT_OP_batched_matmul;
    const size_t *d = call->shape.dim + (is_batched ? 1 : 0);
    const struct products p = {is_batched ? call->shape.dim[0] : 1, d[0], d[1],
                               d[2]};

    if (call->dtype == TAKT_F64)
        plan_tiles(&p, TAKT_CUDA_GEMM_SMALL_SIDE, sizeof(double), 2, plan);
    else if (is_batched)
        plan_large_or_small(&p, TAKT_CUDA_batched_matmul_f32,
                            TAKT_CUDA_batched_matmul_f32_small, plan);
    else
        plan_large_or_small(&p, TAKT_CUDA_matmul_f32,
                            TAKT_CUDA_matmul_f32_small, plan);
}

/* ---- layers -------------------------------------------------------------- */

/* Whether the convolution is worth computing as a product, and its sizes fit
 * what the kernel keeps them in. */
static bool is_product(const size_t *d)
{
    const uint64_t most = 32767, many = INT32_MAX;
    const size_t pad = d[TAKT_CONV2D_PAD];

    return d[TAKT_CONV2D_K] / d[TAKT_CONV2D_GROUPS] >= 8 &&
           d[TAKT_CONV2D_C] <= most && d[TAKT_CONV2D_K] <= many &&
           d[TAKT_CONV2D_H] + 2 * pad <= most &&
           d[TAKT_CONV2D_W] + 2 * pad <= most &&
           d[TAKT_CONV2D_STRIDE] <= most &&
           d[TAKT_DIM_GROUP_C] * d[TAKT_CONV2D_R] <= many / most;
}

static void plan_conv2d(const takt_call *call, struct launch_plan *plan)
{
    size_t memory[TAKT_DIMS];
    const size_t *d =
        takt__form_dims(takt__op_form(call->op), &call->shape, memory);
    const uint64_t groups = d[TAKT_CONV2D_GROUPS];
    const uint64_t positions = d[TAKT_DIM_OUT_H] * d[TAKT_DIM_OUT_W];
    const struct products p = {
        d[TAKT_CONV2D_N] * groups, d[TAKT_CONV2D_K] / groups, positions,
        d[TAKT_DIM_GROUP_C] * d[TAKT_CONV2D_R] * d[TAKT_CONV2D_S]};

    if (is_product(d) &&
        tiles_of(&p, TAKT_CUDA_GEMM_SMALL_SIDE) <= most_blocks) {
        plan_large_or_small(&p, TAKT_CUDA_conv2d_f32,
                            TAKT_CUDA_conv2d_f32_small, plan);
        return;
    }
    plan->kernel = TAKT_CUDA_conv2d_f32_direct;
    plan_outputs(d[TAKT_CONV2D_N] * d[TAKT_CONV2D_K] * positions, plan);
}

static void plan_pooling(const takt_call *call, struct launch_plan *plan)
{
    const struct takt_rows out = takt__rows_of(call, TAKT_OUT);

    plan_outputs(out.rows * out.cols, plan);
}

static void plan_attention(const takt_call *call, struct launch_plan *plan)
{
    const size_t *d = call->shape.dim;
    const uint64_t depth = d[TAKT_ATTENTION_D], queries = d[TAKT_ATTENTION_Q];
    const uint64_t heads =
        depth == 0 ? 0 : d[TAKT_ATTENTION_B] * d[TAKT_ATTENTION_H];

    plan->threads = TAKT_CUDA_LAYER_THREADS;
    if (queries < 8) {
        plan->kernel = TAKT_CUDA_attention_f32_each;
        plan->blocks = heads * queries;
        return;
    }
    plan->blocks = heads * ceil_div(queries, TAKT_CUDA_ATTENTION_QUERIES);
    if (depth > TAKT_CUDA_ATTENTION_DEPTH) {
        plan->kernel = TAKT_CUDA_attention_f32_deep;
        plan->pieces = ceil_div(depth, TAKT_CUDA_ATTENTION_DEEP);
    }
}

/* ---- any op -------------------------------------------------------------- */

/* How calls of a form are run: on how many blocks, and what NVIDIA's library
 * has for them, which a device that was opened partly has already. */
static const struct launcher {
    void (*plan)(const takt_call *call, struct launch_plan *plan);
    bool (*library)(struct takt_cuda *cuda, const takt_call *call, uint64_t a,
                    uint64_t b, uint64_t c, takt_status *status);
} launchers[TAKT_FORMS] = {
    [TAKT_FORM_map] = {plan_map, NULL},
    [TAKT_FORM_reduce] = {plan_reduction, NULL},
    [TAKT_FORM_rows] = {plan_rows, NULL},
    [TAKT_FORM_matrix] = {plan_transpose, NULL},
    [TAKT_FORM_gemv] = {plan_gemv, takt__cublas_gemv},
    [TAKT_FORM_matmul] = {plan_matmul, takt__cublas_gemm},
    [TAKT_FORM_batched] = {plan_matmul, takt__cublas_batched},
    [TAKT_FORM_conv2d] = {plan_conv2d, NULL},
    [TAKT_FORM_pool2d] = {plan_pooling, NULL},
    [TAKT_FORM_attention] = {plan_attention, NULL},
};

static const struct launcher *launcher_of(const takt_call *call)
{
    return &launchers[takt__op_entry(call->op)->form];
}

static struct launch_plan plan_of(const takt_call *call, unsigned units)
{
    const struct launcher *launcher = launcher_of(call);
    struct launch_plan plan = {
        .blocks = UINT64_MAX, .pieces = 1, .units = units};

    if (!takt__cuda_has(call->op, call->dtype)) /* impossible */
        return plan;
    plan.kernel =
        (enum takt_cuda_kernel)(default_kernel(call->op, call->dtype) - 1);
    launcher->plan(call, &plan);
    return plan;
}

static bool is_possible(const struct launch_plan *plan)
{
    return plan->blocks <= most_blocks && plan->pieces <= most_pieces;
}

bool takt__cuda_can_run(const struct takt_device *device, const takt_call *call)
{
    const struct launch_plan plan = plan_of(call, device->facts.units);

    if (!takt__cuda_is_usable() || !is_possible(&plan))
        return false;
    if (atomic_load_explicit(&device->is_complete, memory_order_acquire))
        return true;
    return launcher_of(call)->library != NULL && call->alpha != 0 &&
           (!atomic_load(&device->is_lacking) ||
            atomic_load(&device->completion_failed));
}

static uint64_t address_of(struct takt_location at)
{
    return at.block == NULL ? 0 : at.block->address + at.offset;
}

static struct takt_cuda_args args_of(const struct takt_cuda *cuda,
                                     const struct takt_device_call *on,
                                     const struct launch_plan *plan)
{
    const takt_call *call = on->call;
    struct takt_cuda_args args = {
        .out = address_of(on->out),
        .scratch = cuda->scratch.address,
        .alpha = call->alpha,
        .beta = call->beta,
        .flags = call->flags,
        .cut = {plan->cut[0], plan->cut[1]},
    };

    for (int i = 0; i < 4; i++) {
        args.in[i] = address_of(on->in[i]);
        args.has |= (args.in[i] != 0 ? 1u : 0u) << i;
    }
    for (unsigned i = 0; i < call->shape.rank; i++)
        args.dim[i] = call->shape.dim[i];
    for (int i = 0; i < 3; i++)
        args.ld[i] = call->ld[i];
    return args;
}

static takt_status launch(struct takt_cuda *cuda, enum takt_cuda_kernel kernel,
                          const struct launch_plan *plan,
                          struct takt_cuda_args *args)
{
    void *arguments[] = {args};
    const takt_status status = takt__cuda_status(cuda->api->cuLaunchKernel(
        cuda->code.kernel[kernel], (unsigned)plan->blocks,
        (unsigned)plan->pieces, 1, plan->threads, 1, 1, 0,
        cuda->stream[TAKT_QUEUE_COMPUTE], arguments, NULL));

    return status == TAKT_ENOMEM ? TAKT_ENODEV : status;
}

/* Whether NVIDIA's library took the call. */
static bool is_taken(struct takt_cuda *cuda, const struct takt_device_call *on,
                     takt_status *status)
{
    const struct launcher *launcher = launcher_of(on->call);

    return launcher->library != NULL &&
           launcher->library(cuda, on->call, address_of(on->in[0]),
                             address_of(on->in[1]), address_of(on->out),
                             status);
}

takt_status takt__cuda_compute(struct takt_cuda *cuda,
                               const struct takt_device_call *call)
{
    const struct launch_plan plan = plan_of(call->call, cuda->units);
    struct takt_cuda_args args = args_of(cuda, call, &plan);
    takt_status status = TAKT_OK;

    if (!is_possible(&plan))
        return TAKT_ENODEV;
    if (plan.blocks == 0)
        return TAKT_OK;
    if (cuda->cublas != NULL && is_taken(cuda, call, &status))
        return status;
    if (!atomic_load_explicit(&cuda->is_loaded, memory_order_acquire))
        return TAKT_ENODEV;
    if (plan.kernel == TAKT_CUDA_variance_f64)
        status = launch(cuda, TAKT_CUDA_variance_f64_mean, &plan, &args);
    return status != TAKT_OK ? status : launch(cuda, plan.kernel, &plan, &args);
}
