/* SPDX-License-Identifier: MIT */
/*
 * layers.c - convolution, pooling and attention on k threads.
 *
 * A layer is a number of units that need nothing from each other; each thread
 * gets a stretch of them.
 */
#include "base/size.h"
#include "expert/forms.h"
#include "expert/stretch.h"
#include "op/operands.h"
#include "takt/ops.h"

struct layer_job {
    const struct takt_layer_kernels *kernels;
    const struct takt_gemm_blocks *blocks;
    size_t units;
    union {
        struct takt_conv2d_call conv2d;
        struct takt_pooling_call pooling;
        struct takt_attention_call attention;
    } call;
};

static struct layer_job job_of(const struct takt_expert *expert)
{
    return (struct layer_job){.kernels = expert->slots->layers,
                              .blocks = &expert->slots->blocks[TAKT_F32]};
}

/* Scratch in no proportion to the operands comes from padding or strides far
 * beyond the image. Scalar code, which needs none, is faster then. */
static bool is_proportionate(const takt_call *call, size_t room)
{
    enum { times = 16, little = 16 << 20 };
    struct takt_extents extents;
    size_t bytes = 0;

    if (room <= little)
        return true;
    takt__extents_of(call, &extents);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        bytes = takt__size_add(bytes, extents.bytes[i]);
    return room / times <= bytes;
}

static takt_status run_units(struct takt_experts *experts,
                             const struct takt_expert *expert,
                             const takt_call *call, size_t room,
                             takt_pool_task *task, struct layer_job *job)
{
    if (!is_proportionate(call, room))
        return TAKT_ENOMEM;
    return takt__pool_run(experts->pool, expert->threads, room, task, job);
}

static void conv2d_part(void *self, unsigned part, unsigned parts,
                        void *scratch)
{
    const struct layer_job *job = self;
    const struct takt_stretch s = takt__stretch(job->units, 1, part, parts);

    if (s.count > 0)
        job->kernels->conv2d(&job->call.conv2d, s.first, s.count, job->blocks,
                             scratch);
}

takt_status takt__cpu_conv2d(struct takt_experts *experts,
                             const struct takt_expert *expert,
                             const takt_call *call)
{
    struct layer_job job = job_of(expert);
    const size_t *d = call->shape.dim;

    job.call.conv2d = (struct takt_conv2d_call){
        .batch = d[0],
        .channels = d[1],
        .height = d[2],
        .width = d[3],
        .filters = d[4],
        .rows = d[5],
        .cols = d[6],
        .stride = d[7],
        .pad = d[8],
        .groups = d[9],
        .in = call->in[0],
        .weights = call->in[1],
        .bias = call->in[2],
        .out = call->out,
    };
    job.units = takt__conv2d_units(&job.call.conv2d);
    return run_units(experts, expert, call,
                     job.kernels->conv2d_room(&job.call.conv2d, job.blocks),
                     conv2d_part, &job);
}

static void pooling_part(void *self, unsigned part, unsigned parts,
                         void *scratch)
{
    const struct layer_job *job = self;
    const struct takt_stretch s = takt__stretch(job->units, 1, part, parts);

    if (s.count > 0)
        job->kernels->pooling(&job->call.pooling, s.first, s.count, scratch);
}

takt_status takt__cpu_pooling(struct takt_experts *experts,
                              const struct takt_expert *expert,
                              const takt_call *call)
{
    struct layer_job job = job_of(expert);
    const size_t *d = call->shape.dim;

    job.call.pooling = (struct takt_pooling_call){
        .batch = d[0],
        .channels = d[1],
        .height = d[2],
        .width = d[3],
        .window = d[4],
        .stride = d[5],
        .pad = d[6],
        .is_mean = (call->flags & TAKT_CALL_MEAN_POOL) != 0,
        .in = call->in[0],
        .out = call->out,
    };
    job.units = takt__pooling_units(&job.call.pooling);
    return run_units(experts, expert, call,
                     job.kernels->pooling_room(&job.call.pooling), pooling_part,
                     &job);
}

static void attention_part(void *self, unsigned part, unsigned parts,
                           void *scratch)
{
    const struct layer_job *job = self;
    const struct takt_stretch s = takt__stretch(job->units, 1, part, parts);

    if (s.count > 0)
        job->kernels->attention(&job->call.attention, s.first, s.count,
                                job->blocks, scratch);
}

takt_status takt__cpu_attention(struct takt_experts *experts,
                                const struct takt_expert *expert,
                                const takt_call *call)
{
    struct layer_job job = job_of(expert);
    const size_t *d = call->shape.dim;

    job.call.attention = (struct takt_attention_call){
        .batch = d[0],
        .heads = d[1],
        .queries = d[2],
        .keys = d[3],
        .depth = d[4],
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
        job.kernels->attention_room(&job.call.attention, job.blocks),
        attention_part, &job);
}
