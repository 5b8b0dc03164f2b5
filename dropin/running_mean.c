/* SPDX-License-Identifier: MIT */
/* running_mean.c - means in which older values count for less. */
#include "running_mean.h"

/* A thread that has to share its processor holds a call up once in many, and
 * then for long: that many are averaged. */
static const float least_weight = 1 / 64.0f;

void takt__mean_forget(struct takt_running_mean *mean, uint32_t kept)
{
    if (takt__mean_count(mean) > kept)
        atomic_store_explicit(&mean->count, kept, memory_order_relaxed);
}

static float typical(float value, float mean, uint32_t count, float far)
{
    enum { few = 4 };
    const float most = count == 0 ? value : count < few ? mean : far * mean;

    return value < most ? value : most;
}

void takt__mean_add(struct takt_running_mean *mean, float value, float far)
{
    const uint32_t count = takt__mean_count(mean);
    const float before = takt__mean_of(mean);
    const float change = typical(value, before, count, far) - before;
    const float distance =
        atomic_load_explicit(&mean->distance, memory_order_relaxed);
    float weight = count < 2 ? 1 : 1 / (float)count;

    if (weight < least_weight)
        weight = least_weight;
    atomic_store_explicit(&mean->mean, before + weight * change,
                          memory_order_relaxed);
    if (count > 0)
        atomic_store_explicit(
            &mean->distance,
            distance + weight * ((change < 0 ? -change : change) - distance),
            memory_order_relaxed);
    if (count < UINT32_MAX)
        atomic_store_explicit(&mean->count, count + 1, memory_order_relaxed);
}

struct takt_mean_estimate
takt__mean_expect(const struct takt_running_mean *mean, double work)
{
    /* Single calls vary by a tenth at least; the mean is that of some 16. */
    static const float least = 0.1f, root_of_calls = 4;
    const float value = takt__mean_of(mean);
    const float distance =
        atomic_load_explicit(&mean->distance, memory_order_relaxed);
    const float error = distance > least * value ? distance : least * value;

    if (takt__mean_count(mean) < 2)
        return (struct takt_mean_estimate){0, 0};
    return (struct takt_mean_estimate){(double)value * work,
                                       (double)(error / root_of_calls) * work};
}
