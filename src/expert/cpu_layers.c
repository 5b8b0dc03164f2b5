/* SPDX-License-Identifier: MIT */
/*
 * cpu_layers.c - convolution, pooling and attention on k threads.
 *
 * A layer is a number of units that need nothing from each other; each thread
 * gets a stretch of them.
 */
#include "expert/forms.h"
#include "op/operands.h"

struct layer_job {
    enum takt_op_id op;
    const struct takt_layer_kernels *kernels;
    const struct takt_gemm_blocks *blocks;
    size_t units;
    union {
        struct takt_conv2d_call conv2d;
        struct takt_pooling_call pooling;
        struct takt_attention_call attention;
    } call;
};

static struct layer_job job_of(const struct takt_expert *expert,
                               const takt_call *call)
{
    return (struct layer_job){.op = takt__op_id(call->op),
                              .kernels = expert->kernel_set->layers,
                              .blocks = &expert->kernel_set->blocks[TAKT_F32]};
}

/* Scratch in no proportion to the operands comes from padding or strides far
 * beyond the image. Scalar code, which needs none, is faster then. */
static bool is_proportionate(const takt_call *call, size_t room)
{
    enum { times = 16, little = 16 << 20 };

    return room <= little || room / times <= takt__call_bytes(call);
}

static void run_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    const struct layer_job *job = self;
    const struct takt_stretch s = takt__stretch(job->units, 1, part, parts);

    if (s.count == 0)
        return;
    if (job->op == TAKT_OP_conv2d)
        job->kernels->conv2d(&job->call.conv2d, s.first, s.count, job->blocks,
                             scratch);
    else if (job->op == TAKT_OP_pooling)
        job->kernels->pooling(&job->call.pooling, s.first, s.count, scratch);
    else
        job->kernels->attention(&job->call.attention, s.first, s.count,
                                job->blocks, scratch);
}

static takt_status run_units(struct takt_experts *experts,
                             const struct takt_expert *expert,
                             const takt_call *call, size_t room,
                             struct layer_job *job)
{
    if (!is_proportionate(call, room))
        return TAKT_ENOMEM;
    return takt__pool_run(experts->pool, expert->threads, room, run_part, job);
}

takt_status takt__cpu_conv2d(struct takt_experts *experts,
                             const struct takt_expert *expert,
                             const takt_call *call)
{
    struct layer_job job = job_of(expert, call);
    const size_t *d = call->shape.dim;

    job.call.conv2d = (struct takt_conv2d_call){
        .batch = d[TAKT_CONV2D_N],
        .channels = d[TAKT_CONV2D_C],
        .height = d[TAKT_CONV2D_H],
        .width = d[TAKT_CONV2D_W],
        .filters = d[TAKT_CONV2D_K],
        .rows = d[TAKT_CONV2D_R],
        .cols = d[TAKT_CONV2D_S],
        .stride = d[TAKT_CONV2D_STRIDE],
        .pad = d[TAKT_CONV2D_PAD],
        .groups = d[TAKT_CONV2D_GROUPS],
        .in = call->in[0],
        .weights = call->in[1],
        .bias = call->in[2],
        .out = call->out,
    };
    job.units = takt__conv2d_units(&job.call.conv2d);
    return run_units(experts, expert, call,
                     job.kernels->conv2d_room(&job.call.conv2d, job.blocks),
                     &job);
}

takt_status takt__cpu_pooling(struct takt_experts *experts,
                              const struct takt_expert *expert,
                              const takt_call *call)
{
    struct layer_job job = job_of(expert, call);
    const size_t *d = call->shape.dim;

    job.call.pooling = (struct takt_pooling_call){
        .batch = d[TAKT_POOL2D_N],
        .channels = d[TAKT_POOL2D_C],
        .height = d[TAKT_POOL2D_H],
        .width = d[TAKT_POOL2D_W],
        .window = d[TAKT_POOL2D_WINDOW],
        .stride = d[TAKT_POOL2D_STRIDE],
        .pad = d[TAKT_POOL2D_PAD],
        .is_mean = (call->flags & TAKT_CALL_MEAN_POOL) != 0,
        .in = call->in[0],
        .out = call->out,
    };
    job.units = takt__pooling_units(&job.call.pooling);
    return run_units(experts, expert, call,
                     job.kernels->pooling_room(&job.call.pooling), &job);
}

takt_status takt__cpu_attention(struct takt_experts *experts,
                                const struct takt_expert *expert,
                                const takt_call *call)
{
    struct layer_job job = job_of(expert, call);
    const size_t *d = call->shape.dim;

    job.call.attention = (struct takt_attention_call){
        .batch = d[TAKT_ATTENTION_B],
        .heads = d[TAKT_ATTENTION_H],
        .queries = d[TAKT_ATTENTION_Q],
        .keys = d[TAKT_ATTENTION_K],
        .depth = d[TAKT_ATTENTION_D],
        .scale = (float)call->alpha,
        .is_causal = (call->flags & TAKT_CALL_CAUSAL) != 0,
        .mask = call->in[3],
        .q = call->in[0],
        .k = call->in[1],
        .v = call->in[2],
        .out = call->out,
    };
    job.units = takt__attention_units(&job.call.attention);
    return run_units(
        experts, expert, call,
        job.kernels->attention_room(&job.call.attention, job.blocks), &job);
}
