/* SPDX-License-Identifier: MIT */
/* forms.h - calls on Takt's own kernels, by form, on an expert's threads. */
#pragma once

#include "expert/expert.h"

/* A stretch of `count` things for one part of a job. */
struct takt_stretch {
    size_t first, count;
};

/* The stretch of `part`: nearly equal ones, each but the last a multiple of
 * `grain`; count is 0 for parts that are left over. */
static inline struct takt_stretch takt__stretch(size_t total, size_t grain,
                                                unsigned part, unsigned parts)
{
    if (parts == 1)
        return (struct takt_stretch){.first = 0, .count = total};

    const size_t grains = (total + grain - 1) / grain;
    const size_t each = (grains + parts - 1) / parts * grain;
    const size_t first = part * each;

    if (first >= total)
        return (struct takt_stretch){.first = total};
    return (struct takt_stretch){
        .first = first, .count = total - first < each ? total - first : each};
}

/* Runs the parts of a job that needs no working memory on the threads of an
 * expert. */
static inline takt_status takt__cpu_run_parts(struct takt_experts *experts,
                                              const struct takt_expert *expert,
                                              takt_pool_task *task, void *job)
{
    if (expert->threads > 1)
        return takt__pool_run(experts->pool, expert->threads, 0, task, job);
    task(job, 0, 1, NULL);
    return TAKT_OK;
}

/* Runs an admitted call of its form.
 * TAKT_ENOMEM: no working memory; nothing was touched. */
typedef takt_status takt_cpu_run(struct takt_experts *experts,
                                 const struct takt_expert *expert,
                                 const takt_call *call);

/* cpu_vectors.c, cpu_axes.c, cpu_products.c, cpu_solve.c, cpu_least.c,
 * cpu_layers.c */
takt_cpu_run takt__cpu_map, takt__cpu_reduce, takt__cpu_rows, takt__cpu_bias,
    takt__cpu_by_rows, takt__cpu_by_cols, takt__cpu_transpose, takt__cpu_gemv,
    takt__cpu_gemm, takt__cpu_batched, takt__cpu_conv2d, takt__cpu_pooling,
    takt__cpu_attention, takt__cpu_cholesky, takt__cpu_solve, takt__cpu_lstsq,
    takt__cpu_qr;
