/* SPDX-License-Identifier: MIT */
/*
 * running_mean.h - what calls of one kind take per unit of work, one way.
 *
 * Older calls count for less. One that takes far longer than the others is cut:
 * another process had the processor. Of the first few the fastest counts.
 *
 * Threads: any. Two that add at once may lose one of their values.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct takt_running_mean {
    _Atomic float mean;     /* ns per unit of work */
    _Atomic float distance; /* of single calls from it */
    _Atomic uint32_t count;
};

/* What some work takes, and the standard error of that. 0: not known. */
struct takt_mean_estimate {
    double ns, error_ns;
};

static inline float takt__mean_of(const struct takt_running_mean *mean)
{
    return atomic_load_explicit(&mean->mean, memory_order_relaxed);
}

static inline uint32_t takt__mean_count(const struct takt_running_mean *mean)
{
    return atomic_load_explicit(&mean->count, memory_order_relaxed);
}

/* Later values change the mean as if there had been no more than these. */
void takt__mean_forget(struct takt_running_mean *mean, uint32_t kept);

/* A value counts as `far` times the mean at most. The first one is replaced by
 * the second: memory is touched for the first time. */
void takt__mean_add(struct takt_running_mean *mean, float value, float far);

struct takt_mean_estimate
takt__mean_expect(const struct takt_running_mean *mean, double work);
