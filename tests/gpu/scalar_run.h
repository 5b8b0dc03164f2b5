/* SPDX-License-Identifier: MIT */
/*
 * scalar_run.h - runs an admitted call by the scalar definitions, without a
 * context.
 */
#pragma once

#include <pthread.h>

#include "expert/expert.h"

static struct takt_experts scalar_experts;

static void scalar_make_experts(void)
{
    const struct takt_gemm_caches caches = {
        .l1d = 32 << 10, .l2 = 1 << 20, .l3 = 1 << 20};

    takt__kernel_sets_fill(scalar_experts.kernel_set, 1U << TAKT_KERNEL_scalar,
                           &caches);
    takt__pool_create(1, &scalar_experts.pool);
    scalar_experts.count = 1;
    scalar_experts.expert[0] = (struct takt_expert){
        .class = &takt__cpu_class,
        .threads = 1,
        .kernel_set = &scalar_experts.kernel_set[TAKT_KERNEL_scalar]};
}

static takt_status scalar_run(const takt_call *call)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, scalar_make_experts);
    return takt__expert_run(&scalar_experts, 0, call);
}
