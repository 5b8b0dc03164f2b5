/* SPDX-License-Identifier: MIT */
/* cpu_products.c - matrix products on k threads, each with own scratch. */
#include "expert/arguments.h"

#include "expert/forms.h"

struct gemm_job {
    const struct takt_gemm_kernels *kernels;
    const struct takt_gemm_blocks *blocks;
    struct takt_gemm whole;
    const takt_call *call;
    size_t size;
};

static struct gemm_job job_of(const struct takt_expert *expert,
                              const takt_call *call)
{
    return (struct gemm_job){.kernels = expert->slots->gemm[call->dtype],
                             .blocks = &expert->slots->blocks[call->dtype],
                             .call = call,
                             .size = takt_dtype_size(call->dtype)};
}

static void gemm_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    const struct gemm_job *job = self;
    struct takt_gemm piece = job->whole;

    if (parts > 1)
        takt__gemm_split(&job->whole, job->size, part, parts, &piece);
    if (piece.m > 0 && piece.n > 0)
        job->kernels->run(&piece, job->blocks, scratch);
}

/* What the hungriest part needs. */
static size_t room_of(const struct gemm_job *job, unsigned parts)
{
    size_t most = 0;

    for (unsigned i = 0; i < parts; i++) {
        struct takt_gemm piece = job->whole;
        if (parts > 1)
            takt__gemm_split(&job->whole, job->size, i, parts, &piece);
        const size_t room = job->kernels->room(&piece, job->blocks);
        most = room > most ? room : most;
    }
    return most;
}

takt_status takt__cpu_gemm(struct takt_experts *experts,
                           const struct takt_expert *expert,
                           const takt_call *call)
{
    struct gemm_job job = job_of(expert, call);

    job.whole = takt__gemm_of(call);
    const size_t room = room_of(&job, expert->threads);
    if (expert->threads == 1 && room == 0) {
        job.kernels->run(&job.whole, job.blocks, NULL);
        return TAKT_OK;
    }
    return takt__pool_run(experts->pool, expert->threads, room, gemm_part,
                          &job);
}

/* Whole matrices per thread: they are many, or threads would not be asked. */
static void batch_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    const struct gemm_job *job = self;
    const struct takt_stretch s =
        takt__stretch(job->call->shape.dim[0], 1, part, parts);

    for (size_t i = s.first; i < s.first + s.count; i++) {
        const struct takt_gemm one = takt__gemm_of_batch(job->call, i);
        job->kernels->run(&one, job->blocks, scratch);
    }
}

/* Few large matrices are cut one after the other. */
static takt_status run_one_by_one(struct takt_experts *experts,
                                  unsigned threads, struct gemm_job *job)
{
    takt_status status = TAKT_OK;

    job->whole = takt__gemm_of_batch(job->call, 0);
    const size_t room = room_of(job, threads);

    for (size_t i = 0; i < job->call->shape.dim[0] && status == TAKT_OK; i++) {
        job->whole = takt__gemm_of_batch(job->call, i);
        status = takt__pool_run(experts->pool, threads, room, gemm_part, job);
    }
    return status;
}

takt_status takt__cpu_batched(struct takt_experts *experts,
                              const struct takt_expert *expert,
                              const takt_call *call)
{
    struct gemm_job job = job_of(expert, call);

    if (call->shape.dim[0] < expert->threads)
        return run_one_by_one(experts, expert->threads, &job);
    job.whole = takt__gemm_of_batch(call, 0);
    const size_t room = room_of(&job, 1);
    return takt__pool_run(experts->pool, expert->threads, room, batch_part,
                          &job);
}

struct gemv_job {
    takt_gemv_kernel *kernel;
    struct takt_gemv whole;
    size_t size;
};

static void gemv_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    const struct gemv_job *job = self;
    struct takt_gemv piece = job->whole;
    const struct takt_stretch s = takt__stretch(piece.m, 16, part, parts);

    (void)scratch;
    piece.m = s.count;
    piece.a = (const char *)piece.a + s.first * piece.a_row * job->size;
    piece.y = (char *)piece.y + s.first * piece.y_step * job->size;
    if (s.count > 0)
        job->kernel(&piece);
}

takt_status takt__cpu_gemv(struct takt_experts *experts,
                           const struct takt_expert *expert,
                           const takt_call *call)
{
    struct gemv_job job = {.kernel = expert->slots->gemm[call->dtype]->gemv,
                           .whole = takt__gemv_of(call),
                           .size = takt_dtype_size(call->dtype)};

    if (expert->threads > 1)
        return takt__pool_run(experts->pool, expert->threads, 0, gemv_part,
                              &job);
    job.kernel(&job.whole);
    return TAKT_OK;
}
