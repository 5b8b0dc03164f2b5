/* SPDX-License-Identifier: MIT */
/* cpu_products.c - matrix products on k threads. */
#include "expert/arguments.h"

#include "expert/forms.h"
#include "kernels/gemm_team.h"
#include "pool/scratch.h"

struct gemm_job {
    const struct takt_gemm_kernels *kernels;
    const struct takt_gemm_blocks *blocks;
    struct takt_gemm whole;
    const takt_call *call;
};

static struct gemm_job job_of(const struct takt_expert *expert,
                              const takt_call *call)
{
    return (struct gemm_job){.kernels = expert->kernel_set->gemm[call->dtype],
                             .blocks = &expert->kernel_set->blocks[call->dtype],
                             .call = call};
}

static void team_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    (void)parts, (void)scratch;
    takt__gemm_team_work(self, part);
}

/* One product on several threads, which share memory of the calling one. */
static takt_status run_on_team(struct takt_experts *experts, unsigned threads,
                               const struct gemm_job *job)
{
    const struct takt_gemm_plan plan =
        takt__gemm_plan(&job->whole, job->kernels, job->blocks, threads);
    const size_t room = takt__gemm_team_room(&plan, threads);
    struct takt_scratch *own = takt__scratch_of_thread();
    void *scratch = own == NULL ? NULL : takt__scratch_get(own, room);

    if (scratch == NULL)
        return TAKT_ENOMEM;
    struct takt_gemm_team *team = takt__gemm_team_open(
        &job->whole, job->kernels, job->blocks, &plan, threads, scratch);
    return takt__pool_run(experts->pool, threads, 0, team_part, team);
}

static void run_alone(void *self, unsigned part, unsigned parts, void *scratch)
{
    const struct gemm_job *job = self;

    (void)part, (void)parts;
    job->kernels->run(&job->whole, job->blocks, scratch);
}

takt_status takt__cpu_gemm(struct takt_experts *experts,
                           const struct takt_expert *expert,
                           const takt_call *call)
{
    struct gemm_job job = job_of(expert, call);

    job.whole = takt__gemm_of(call);
    if (expert->threads > 1)
        return run_on_team(experts, expert->threads, &job);
    const size_t room = job.kernels->room(&job.whole, job.blocks);
    if (room > 0)
        return takt__pool_run(experts->pool, 1, room, run_alone, &job);
    run_alone(&job, 0, 1, NULL);
    return TAKT_OK;
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

    for (size_t i = 0; i < job->call->shape.dim[0] && status == TAKT_OK; i++) {
        job->whole = takt__gemm_of_batch(job->call, i);
        status = run_on_team(experts, threads, job);
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
    const size_t room = job.kernels->room(&job.whole, job.blocks);
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
    struct gemv_job job = {.kernel =
                               expert->kernel_set->gemm[call->dtype]->gemv,
                           .whole = takt__gemv_of(call),
                           .size = takt_dtype_size(call->dtype)};

    if (expert->threads > 1)
        return takt__pool_run(experts->pool, expert->threads, 0, gemv_part,
                              &job);
    job.kernel(&job.whole);
    return TAKT_OK;
}
