/* SPDX-License-Identifier: MIT */
/*
 * cpu_vectors.c - maps, reductions, rows and transposes on k threads.
 *
 * Stretches begin at multiples of a cache line's worth of elements, so that
 * two threads never write to the same line of an aligned output.
 */
#include <string.h>

#include "expert/forms.h"
#include "kernels/partial.h"

enum { grain = 64, most_parts = 256 };

/* ---- maps ---------------------------------------------------------------- */

struct map_job {
    takt_map_kernel *kernel;
    const takt_call *call;
    size_t size;
};

static const void *offset(const void *base, size_t bytes)
{
    return base == NULL ? NULL : (const char *)base + bytes;
}

static void map_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    const struct map_job *job = self;
    const takt_call *call = job->call;
    const struct takt_stretch s =
        takt__stretch(call->shape.dim[0], grain, part, parts);
    const size_t skip = s.first * job->size;

    (void)scratch;
    job->kernel(s.count, offset(call->in[0], skip), offset(call->in[1], skip),
                offset(call->in[2], skip), (char *)call->out + skip,
                call->alpha, call->beta);
}

/* Stores past the caches spare the read of each line that will be overwritten
 * anyway. They pay when little of the operands would still be in a cache, and
 * never in place, where the line has just been read. (Measured: copy, add and
 * fma break even between one and two times L3.) */
static bool pays_to_stream(const struct takt_experts *experts,
                           const takt_call *call, double elements)
{
    const double bytes = elements * (double)takt_dtype_size(call->dtype) *
                         (call->op->inputs + 1);

    for (unsigned i = 0; i < call->op->inputs; i++)
        if (call->in[i] == call->out)
            return false;
    return bytes > 1.5 * (double)experts->l3_bytes;
}

takt_status takt__cpu_map(struct takt_experts *experts,
                          const struct takt_expert *expert,
                          const takt_call *call)
{
    const enum takt_op_id op = takt__op_id(call->op);
    struct map_job job = {.kernel = expert->kernel_set->map[call->dtype][op],
                          .call = call,
                          .size = takt_dtype_size(call->dtype)};

    if (expert->kernel_set->stream_map[call->dtype][op] != NULL &&
        pays_to_stream(experts, call, (double)call->shape.dim[0]))
        job.kernel = expert->kernel_set->stream_map[call->dtype][op];
    return takt__cpu_run_parts(experts, expert, map_part, &job);
}

/* ---- reductions ---------------------------------------------------------- */

struct reduce_job {
    takt_reduce_kernel *kernel;
    const takt_call *call;
    size_t size;
    struct takt_partial partial[most_parts]; /* count 0: a part had nothing */
};

/* What is not named here is a sum: kind 0. */
static const uint8_t kinds[TAKT_OP_COUNT] = {
    [TAKT_OP_mean] = TAKT_PARTIAL_MEAN,
    [TAKT_OP_norm2] = TAKT_PARTIAL_NORM2,
    [TAKT_OP_variance] = TAKT_PARTIAL_VARIANCE,
    [TAKT_OP_max] = TAKT_PARTIAL_MAX,
    [TAKT_OP_min] = TAKT_PARTIAL_MIN,
    [TAKT_OP_argmax] = TAKT_PARTIAL_ARGMAX,
    [TAKT_OP_argmin] = TAKT_PARTIAL_ARGMIN,
};

static void reduce_part(void *self, unsigned part, unsigned parts,
                        void *scratch)
{
    struct reduce_job *job = self;
    const takt_call *call = job->call;
    const struct takt_stretch s =
        takt__stretch(call->shape.dim[0], grain, part, parts);
    const size_t skip = s.first * job->size;

    (void)scratch;
    if (s.count > 0)
        job->kernel(s.count, offset(call->in[0], skip),
                    offset(call->in[1], skip), &job->partial[part]);
}

takt_status takt__cpu_reduce(struct takt_experts *experts,
                             const struct takt_expert *expert,
                             const takt_call *call)
{
    const enum takt_op_id op = takt__op_id(call->op);
    const enum takt_partial_kind kind = (enum takt_partial_kind)kinds[op];
    const unsigned parts =
        expert->threads < most_parts ? expert->threads : most_parts;
    struct reduce_job job;

    job.kernel = expert->kernel_set->reduce[call->dtype][op];
    job.call = call;
    job.size = takt_dtype_size(call->dtype);
    for (unsigned i = 0; i < parts; i++)
        job.partial[i].count = 0;
    if (parts > 1)
        takt__pool_run(experts->pool, parts, 0, reduce_part, &job);
    else
        reduce_part(&job, 0, 1, NULL);
    for (unsigned i = 1; i < parts; i++)
        takt__partial_merge(kind, &job.partial[0], &job.partial[i]);
    if (job.partial[0].count == 0) /* the sum of nothing: else not admitted */
        memset(call->out, 0, job.size);
    else
        takt__partial_write(kind, &job.partial[0], call->dtype == TAKT_F64,
                            call->out);
    return TAKT_OK;
}

/* ---- rows ---------------------------------------------------------------- */

struct rows_job {
    takt_rows_kernel *kernel;
    const takt_call *call;
};

static void rows_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    const struct rows_job *job = self;
    const takt_call *call = job->call;
    const size_t cols = call->shape.dim[1];
    const struct takt_stretch s =
        takt__stretch(call->shape.dim[0], 1, part, parts);
    const size_t skip = s.first * cols * takt_dtype_size(call->dtype);

    (void)scratch;
    if (s.count > 0)
        job->kernel(s.count, cols, offset(call->in[0], skip), call->in[1],
                    call->in[2], (char *)call->out + skip, call->alpha);
}

takt_status takt__cpu_rows(struct takt_experts *experts,
                           const struct takt_expert *expert,
                           const takt_call *call)
{
    struct rows_job job = {expert->kernel_set->rows[takt__op_id(call->op)],
                           call};

    return takt__cpu_run_parts(experts, expert, rows_part, &job);
}

/* ---- transpose ----------------------------------------------------------- */

struct transpose_job {
    takt_transpose_kernel *kernel;
    const takt_call *call;
};

static void transpose_part(void *self, unsigned part, unsigned parts,
                           void *scratch)
{
    const struct transpose_job *job = self;
    const takt_call *call = job->call;
    const size_t size = takt_dtype_size(call->dtype);
    const struct takt_stretch s =
        takt__stretch(call->shape.dim[0], 16, part, parts);

    (void)scratch;
    if (s.count > 0)
        job->kernel(s.count, call->shape.dim[1],
                    offset(call->in[0], s.first * call->ld[0] * size),
                    call->ld[0], (char *)call->out + s.first * size,
                    call->ld[2]);
}

takt_status takt__cpu_transpose(struct takt_experts *experts,
                                const struct takt_expert *expert,
                                const takt_call *call)
{
    const double elements =
        (double)call->shape.dim[0] * (double)call->shape.dim[1];
    struct transpose_job job = {expert->kernel_set->transpose[call->dtype],
                                call};

    if (expert->kernel_set->stream_transpose[call->dtype] != NULL &&
        pays_to_stream(experts, call, elements))
        job.kernel = expert->kernel_set->stream_transpose[call->dtype];
    return takt__cpu_run_parts(experts, expert, transpose_part, &job);
}
