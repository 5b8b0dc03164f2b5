/* SPDX-License-Identifier: MIT */
/*
 * scalar_run.h - runs an admitted call by the scalar definitions, without a
 * context.
 */
#ifndef TAKT_TESTS_SCALAR_RUN_H
#define TAKT_TESTS_SCALAR_RUN_H

#include <pthread.h>

#include "run/run.h"

static struct takt_fleet scalar_fleet;

static void scalar_make_fleet(void)
{
    const struct takt_gemm_caches caches = {
        .l1d = 32 << 10, .l2 = 1 << 20, .l3 = 1 << 20};

    takt__slots_fill(scalar_fleet.slots, 1U << TAKT_KERNEL_scalar, &caches);
    takt__pool_create(1, &scalar_fleet.pool);
    scalar_fleet.count = 1;
    scalar_fleet.expert[0] =
        (struct takt_expert){.kind = TAKT_EXPERT_CPU,
                             .threads = 1,
                             .slots = &scalar_fleet.slots[TAKT_KERNEL_scalar]};
}

static takt_status scalar_run(const takt_call *call)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, scalar_make_fleet);
    return takt__run(&scalar_fleet, 0, call);
}

#endif
