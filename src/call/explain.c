/* SPDX-License-Identifier: MIT */
/* explain.c - what every expert is expected to take for a call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fpenv.h"
#include "base/sized.h"
#include "call/objective.h"
#include "call/question.h"
#include "takt/history.h"

/* A question with what answers it. */
struct inquiry {
    const takt_ctx *ctx;
    struct takt_question question;
    struct takt_question_location where;
    unsigned situation;
    unsigned chosen;
    takt_call call; /* such a call, if has_call */
    bool has_call;
    bool has_objective; /* another one than the context's: */
    struct takt_objective objective;
};

/* Experts that would refuse such a call are not listed, nor is software that
 * calls itself a GPU. A GPU that is not open may be able to run it. */
static bool is_listed(const struct inquiry *inquiry, unsigned number)
{
    const struct takt_expert *expert = takt__ctx_expert(inquiry->ctx, number);
    const struct takt_device *gpu = expert->device;

    if (gpu == NULL)
        return !inquiry->has_call || takt__question_can(expert, &inquiry->call);
    if (takt__device_is_software(gpu))
        return false;
    if (takt__device_is_ready(gpu))
        return inquiry->where.moves.is_open[gpu->number];
    return atomic_load(&gpu->state) != TAKT_DEVICE_ABSENT;
}

static double transfer_of(const struct inquiry *inquiry, unsigned number)
{
    const struct takt_device *gpu =
        takt__ctx_expert(inquiry->ctx, number)->device;
    const struct takt_move_costs *moves = &inquiry->where.moves;

    return gpu == NULL ? moves->host_s : moves->gpu_s[gpu->number];
}

static takt_estimate estimate_of(const struct inquiry *inquiry, unsigned number,
                                 const struct takt_arm_estimate *of)
{
    static const double normal_95 = 1.96;
    const takt_ctx *ctx = inquiry->ctx;
    const struct takt_device *gpu = takt__ctx_expert(ctx, number)->device;
    const double far = normal_95 * sqrt(of->variance);
    takt_estimate out = {
        .backend = takt__ctx_expert(ctx, number)->backend,
        .predicted_s = of->seconds,
        .low_s = exp(of->log_mean - far),
        .high_s = exp(of->log_mean + far),
        .transfer_s = transfer_of(inquiry, number),
        .samples = of->samples,
        .first_s = of->first_s,
        .machines = of->machines,
        .is_suspect = of->is_suspect,
        .is_chosen = number == inquiry->chosen,
        .is_asleep = gpu != NULL && (!takt__device_is_ready(gpu) ||
                                     atomic_load(&gpu->is_occupied)),
    };

    memcpy(out.expert, takt__ctx_expert(ctx, number)->name, sizeof out.expert);
    return out;
}

static double value_of(struct takt_posterior *posterior, unsigned number,
                       const struct takt_question *question,
                       enum takt_measure measure, double *low, double *high)
{
    static const double normal_95 = 1.96;
    struct takt_arm_measure of;

    if (!takt__posterior_measure(posterior, number, question->key.bucket,
                                 &question->work, measure, &of))
        return *low = *high = -1;
    *low = of.value * exp(-normal_95 * of.deviation);
    *high = of.value * exp(normal_95 * of.deviation);
    return of.value;
}

static void add_measures(struct takt_posterior *posterior, unsigned number,
                         const struct takt_question *question,
                         takt_estimate *out)
{
    double low, high;

    out->p95_s =
        value_of(posterior, number, question, TAKT_MEASURE_P95, &low, &high);
    out->p999_s =
        value_of(posterior, number, question, TAKT_MEASURE_P999, &low, &high);
    out->p99_s = value_of(posterior, number, question, TAKT_MEASURE_P99,
                          &out->p99_low_s, &out->p99_high_s);
    out->joules = value_of(posterior, number, question, TAKT_MEASURE_ENERGY,
                           &out->joules_low, &out->joules_high);
    out->tail_samples =
        takt__posterior_tail_samples(posterior, number, question->key.bucket);
}

/* ---- the front ----------------------------------------------------------- */

/* Whether one expert is as good as another in all that is known of both, and
 * better in something. */
static bool dominates(const takt_estimate *a, const takt_estimate *b)
{
    const double x[] = {a->predicted_s + a->transfer_s,
                        a->p99_s + a->transfer_s, a->joules},
                 y[] = {b->predicted_s + b->transfer_s,
                        b->p99_s + b->transfer_s, b->joules};
    bool is_better = false;

    for (unsigned i = 0; i < 3; i++) {
        if (i == 2 && (x[i] < 0 || y[i] < 0))
            continue;
        if (x[i] > y[i])
            return false;
        is_better |= x[i] < y[i];
    }
    return is_better;
}

static void mark_dominated(takt_estimate *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            all[i].is_dominated |= !all[j].is_suspect && !all[j].is_asleep &&
                                   dominates(&all[j], &all[i]);
}

static double cost_of(const takt_estimate *estimate)
{
    return estimate->predicted_s + estimate->transfer_s;
}

/* The one that was chosen, those that can run it now, those that sleep. */
static int by_time(const void *a, const void *b)
{
    const takt_estimate *x = a, *y = b;

    if (x->is_chosen != y->is_chosen)
        return y->is_chosen - x->is_chosen;
    if (x->is_asleep != y->is_asleep)
        return x->is_asleep - y->is_asleep;
    return (cost_of(x) > cost_of(y)) - (cost_of(x) < cost_of(y));
}

/* All experts that can run such a call: `all` has room for every one. */
static size_t estimate_all(struct inquiry *inquiry, struct takt_model *model,
                           takt_estimate *all)
{
    const struct takt_question *question = &inquiry->question;
    const takt_work work = question->work;
    struct takt_verdict verdict;
    size_t count = 0;

    takt__model_set_typical(model, question->key.series, question->key.bucket,
                            &work);
    struct takt_posterior *posterior =
        takt__model_posterior(model, question->key.series, inquiry->situation);
    if (inquiry->has_objective)
        takt__posterior_pursue(posterior, &inquiry->objective, TAKT_OBJECTIVES);
    if (!takt__posterior_judge(posterior, question->key.bucket, takt__now_ns(),
                               true, &verdict))
        return 0;
    if (inquiry->where.home < 0)
        inquiry->chosen = is_listed(inquiry, verdict.best)
                              ? verdict.best
                              : inquiry->ctx->decider.team[0].expert;
    for (unsigned number = 0; number < takt__model_arm_count(model); number++) {
        if (!takt__model_allows(model, question->key.series, number) ||
            !is_listed(inquiry, number))
            continue;
        const struct takt_arm_estimate of = takt__posterior_estimate(
            posterior, number, question->key.bucket, &work);
        all[count] = estimate_of(inquiry, number, &of);
        add_measures(posterior, number, question, &all[count++]);
    }
    mark_dominated(all, count);
    qsort(all, count, sizeof all[0], by_time);
    return count;
}

static void find_operands(takt_ctx *ctx, const takt_request *request,
                          struct inquiry *inquiry)
{
    struct takt_choice choice;

    inquiry->has_call =
        !request->op->is_user && takt__question_call(request, &inquiry->call);
    takt__question_where(ctx, request, &inquiry->question, &inquiry->where);
    if (inquiry->where.home < 0) {
        inquiry->situation &= ~(unsigned)TAKT_SITUATION_ON_GPU;
        return;
    }
    takt__question_locate(ctx, request, &inquiry->question, &inquiry->where,
                          &choice);
    inquiry->chosen = choice.expert;
}

/* Of the struct in its first version. */
enum { first_size = offsetof(takt_estimate, machines) };

/* The first element says which size they all have. */
static void fill(takt_estimate *out, const takt_estimate *all, size_t count)
{
    const size_t given = count == 0 ? 0 : out->size;
    const size_t stride = given == 0 ? first_size : given;
    char *to = (char *)out;

    for (size_t i = 0; i < count; i++, to += stride) {
        memcpy(to, &given, sizeof given);
        takt__sized_fill_as(to, first_size, sizeof all[i], &all[i]);
    }
}

static bool is_sane(const takt_estimate *out, size_t capacity)
{
    return capacity == 0 ||
           (out != NULL && takt__sized_size(out, first_size) > 0);
}

static takt_status estimate(takt_ctx *ctx, const takt_request *request,
                            takt_estimate *all, size_t *count)
{
    struct inquiry inquiry = {.situation = request->situation};
    takt_status status = takt__question_begin(&ctx, request, &inquiry.question);

    if (status == TAKT_OK)
        status = takt__question_objective(request, &inquiry.objective,
                                          &inquiry.has_objective);
    if (status != TAKT_OK)
        return status;
    inquiry.ctx = ctx;
    find_operands(ctx, request, &inquiry);
    struct takt_model *model = takt__learner_enter(ctx->learner);
    status = takt__objective_allowed(&inquiry.objective, model, NULL);
    if (status == TAKT_OK)
        *count = estimate_all(&inquiry, model, all);
    takt__learner_leave(ctx->learner);
    return status;
}

takt_status takt_explain(takt_ctx *ctx, const takt_request *given,
                         takt_estimate *out, size_t capacity, size_t *count)
{
    takt_request request;

    if (count == NULL)
        return TAKT_EINVAL;
    *count = 0;
    if (given == NULL || !takt__request_read(given, &request) ||
        !is_sane(out, capacity))
        return TAKT_EINVAL;
    /* Threads with small stacks ask, too. */
    takt_estimate *all = malloc(TAKT_MAX_ARMS * sizeof *all);
    if (all == NULL)
        return TAKT_ENOMEM;
    const struct takt_fpenv callers = takt__fpenv_save();
    const takt_status status = estimate(ctx, &request, all, count);
    takt__fpenv_restore(callers);
    if (*count > capacity)
        *count = capacity;
    fill(out, all, *count);
    free(all);
    return status;
}
