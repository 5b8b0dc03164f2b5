/* SPDX-License-Identifier: MIT */
/* explain.c - what every expert is expected to take for a call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "call/libraries.h"
#include "call/question.h"
#include "takt/history.h"

/* A question with what answers it. */
struct inquiry {
    const takt_ctx *ctx;
    struct takt_sizes sizes;
    struct takt_whereabouts where;
    unsigned situation;
    unsigned chosen; /* an arm */
};

/* GPUs that cannot be used, and software that calls itself one, are in nobody's
 * list; nor is a GPU that is open and cannot run such a call. */
static bool is_listed(const struct inquiry *inquiry, unsigned arm)
{
    const struct takt_device *gpu = takt__ctx_gpu_of(inquiry->ctx, arm);

    if (gpu == NULL || takt__device_is_software(gpu))
        return gpu == NULL;
    if (takt__device_is_ready(gpu))
        return inquiry->where.fares.is_open[gpu->number];
    return atomic_load(&gpu->state) != TAKT_DEVICE_ABSENT;
}

static double transfer_of(const struct inquiry *inquiry, unsigned arm)
{
    const struct takt_device *gpu = takt__ctx_gpu_of(inquiry->ctx, arm);
    const struct takt_fares *fares = &inquiry->where.fares;

    return gpu == NULL ? fares->host_s : fares->gpu_s[gpu->number];
}

static takt_estimate estimate_of(const struct inquiry *inquiry, unsigned arm,
                                 const struct takt_arm_estimate *of)
{
    static const double normal_95 = 1.96;
    const takt_ctx *ctx = inquiry->ctx;
    const struct takt_device *gpu = takt__ctx_gpu_of(ctx, arm);
    const double far = normal_95 * sqrt(of->variance);
    takt_estimate out = {
        .backend = takt__ctx_arm_backend(ctx, arm),
        .predicted_s = of->seconds,
        .low_s = exp(of->log_mean - far),
        .high_s = exp(of->log_mean + far),
        .transfer_s = transfer_of(inquiry, arm),
        .samples = of->samples,
        .first_s = of->first_s,
        .is_suspect = of->is_suspect,
        .is_chosen = arm == inquiry->chosen,
        .is_asleep = gpu != NULL && (!takt__device_is_ready(gpu) ||
                                     atomic_load(&gpu->is_occupied)),
    };

    memcpy(out.expert, takt__ctx_arm_name(ctx, arm), sizeof out.expert);
    return out;
}

static double cost_of(const takt_estimate *estimate)
{
    return estimate->predicted_s + estimate->transfer_s;
}

/* The one that was chosen, whoever can run it now, whoever sleeps. */
static int by_time(const void *a, const void *b)
{
    const takt_estimate *x = a, *y = b;

    if (x->is_chosen != y->is_chosen)
        return y->is_chosen - x->is_chosen;
    if (x->is_asleep != y->is_asleep)
        return x->is_asleep - y->is_asleep;
    return (cost_of(x) > cost_of(y)) - (cost_of(x) < cost_of(y));
}

/* All arms that may run the series; of processors, those that cannot run this
 * call are not known here, because there are no operands. */
static size_t estimate_all(struct inquiry *inquiry, struct takt_model *model,
                           takt_estimate all[TAKT_MAX_ARMS])
{
    const struct takt_sizes *sizes = &inquiry->sizes;
    const takt_work work = {sizes->work.bytes, sizes->work.flops};
    struct takt_verdict verdict;
    size_t count = 0;

    takt__model_set_typical(model, sizes->key.series, sizes->key.bucket, &work);
    struct takt_posterior *posterior =
        takt__model_posterior(model, sizes->key.series, inquiry->situation);
    if (!takt__posterior_judge(posterior, sizes->key.bucket, takt__now_ns(),
                               true, &verdict))
        return 0;
    if (inquiry->where.home < 0)
        inquiry->chosen = verdict.best;
    for (unsigned arm = 0; arm < takt__model_arm_count(model); arm++) {
        if (!takt__model_allows(model, sizes->key.series, arm) ||
            !is_listed(inquiry, arm))
            continue;
        const struct takt_arm_estimate of =
            takt__posterior_estimate(posterior, arm, sizes->key.bucket, &work);
        all[count++] = estimate_of(inquiry, arm, &of);
    }
    qsort(all, count, sizeof all[0], by_time);
    return count;
}

static void look_around(takt_ctx *ctx, const takt_request *request,
                        struct inquiry *inquiry)
{
    struct takt_choice choice;

    takt__question_where(ctx, request, &inquiry->sizes, &inquiry->where);
    if (inquiry->where.home < 0) {
        inquiry->situation &= ~(unsigned)TAKT_SITUATION_ON_GPU;
        return;
    }
    takt__question_place(ctx, request, &inquiry->sizes, &inquiry->where,
                         &choice);
    inquiry->chosen = choice.arm;
}

takt_status takt_explain(takt_ctx *ctx, const takt_request *request,
                         takt_estimate *out, size_t capacity, size_t *count)
{
    struct inquiry inquiry = {.ctx = NULL};
    takt_estimate all[TAKT_MAX_ARMS];

    if (count == NULL)
        return TAKT_EINVAL;
    *count = 0;
    if (request == NULL || (out == NULL && capacity > 0))
        return TAKT_EINVAL;
    ctx = takt__ctx_meant(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    inquiry.ctx = ctx;
    inquiry.situation = request->situation;
    const takt_status status = takt__request_sizes(request, &inquiry.sizes);
    if (status != TAKT_OK)
        return status;
    if (!inquiry.sizes.has_key)
        return TAKT_ESHAPE;
    takt__ctx_open_libraries_for(ctx, request->op);
    look_around(ctx, request, &inquiry);
    struct takt_model *model = takt__learner_enter(ctx->learner);
    *count = estimate_all(&inquiry, model, all);
    takt__learner_leave(ctx->learner);
    if (*count > capacity)
        *count = capacity;
    for (size_t i = 0; i < *count; i++)
        out[i] = all[i];
    return TAKT_OK;
}
