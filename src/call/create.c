/* SPDX-License-Identifier: MIT */
/* create.c - makes and destroys contexts, and the default one. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/exit.h"
#include "base/fpenv.h"
#include "base/log.h"
#include "base/name.h"
#include "base/sized.h"
#include "call/direct.h"
#include "call/gpus.h"
#include "call/learning.h"
#include "call/libraries.h"
#include "call/objective.h"
#include "call/pin.h"
#include "call/telemetry.h"

enum { most_threads = 256 };

/* Of the options in their first version. */
enum { first_options = offsetof(takt_ctx_options, objective) };

/* A copy that went through the setter is a valid one. */
static takt_status copy_cost(takt_cost_model *to, const takt_cost_model *from)
{
    *to = takt_cost_model_default();
    if (from == NULL)
        return TAKT_OK;
    return takt_cost_model_set(to, from->pcie_bandwidth, from->gpu_flops,
                               from->dispatch_ratio);
}

static unsigned threads_of(const takt_machine *machine, unsigned wanted)
{
    const unsigned threads = wanted > 0 ? wanted : machine->threads;
    return threads < most_threads ? threads : most_threads;
}

static takt_status find_fixed(takt_ctx *ctx, const char *expert)
{
    if (expert != NULL)
        takt__ctx_open_named(ctx, expert);
    const int found =
        expert == NULL ? -1 : takt__experts_find(&ctx->experts, expert);

    if (found < 0)
        return TAKT_ENODEV;
    ctx->decider.fixed = (unsigned)found;
    return TAKT_OK;
}

/* A GPU that is named is to be found, on whatever bus it is. */
static const char *gpus_of(const takt_ctx_options *options)
{
    const char *expert = options->expert;

    if (options->gpu != NULL)
        return options->gpu;
    if (options->policy == TAKT_POLICY_FIXED && expert != NULL &&
        (strncmp(expert, "cuda.", 5) == 0 ||
         strncmp(expert, "vulkan.", 7) == 0))
        return "all";
    return takt__config()->gpu;
}

/* CUDA's order is not always that of the bus, but GPUs of one machine are
 * mostly of one kind. */
static void name_gpus(takt_ctx *ctx)
{
    enum { nvidia = 0x10de };
    unsigned next = 0;

    for (unsigned d = 0; d < ctx->experts.devices.count; d++) {
        const struct takt_device *device = &ctx->experts.devices.device[d];
        const bool is_nvidia = device->driver->is_nvidia;
        if (device->index == 0)
            next = 0;
        while (next < ctx->machine->gpu_count &&
               (ctx->machine->gpu[next].vendor == nvidia) != is_nvidia)
            next++;
        if (next < ctx->machine->gpu_count)
            memcpy(ctx->gpu_fingerprint[d],
                   ctx->machine->gpu[next++].fingerprint, TAKT_SHA256_HEX);
    }
}

static takt_status add_gpus(takt_ctx *ctx)
{
    const unsigned count = ctx->experts.devices.count;

    takt__decider_add_gpus(&ctx->decider);
    name_gpus(ctx);
    ctx->gpu_watch = count == 0 ? NULL : calloc(count, sizeof *ctx->gpu_watch);
    return count > 0 && ctx->gpu_watch == NULL ? TAKT_ENOMEM : TAKT_OK;
}

static takt_status open_experts(takt_ctx *ctx, const takt_ctx_options *options)
{
    const char *blas =
        options->blas != NULL ? options->blas : takt__config()->blas;

    return takt__experts_open(
        &(struct takt_experts_options){
            .machine = ctx->machine,
            .threads = threads_of(ctx->machine, options->threads),
            .blas = ctx->is_recorded ? "" : blas,
            .gpu = gpus_of(options),
            .is_recorded = ctx->is_recorded},
        &ctx->experts);
}

static takt_status apply_policy(takt_ctx *ctx, const takt_ctx_options *options)
{
    if (options->policy == TAKT_POLICY_PINNED)
        return takt__ctx_read_pin(ctx, options->pin);
    if (options->policy == TAKT_POLICY_FIXED)
        return find_fixed(ctx, options->expert);
    return TAKT_OK;
}

static takt_status fill(takt_ctx *ctx, const takt_ctx_options *options)
{
    takt_status status = takt_machine_create(options->recording, &ctx->machine);

    ctx->is_recorded = options->recording != NULL;
    ctx->decider.policy = options->policy;
    if (status == TAKT_OK)
        status = open_experts(ctx, options);
    if (status == TAKT_OK)
        status = takt__decider_init(&ctx->decider, &ctx->experts, ctx->machine);
    if (status == TAKT_OK)
        status = add_gpus(ctx);
    if (status == TAKT_OK)
        status = takt__ctx_prepare_telemetry(ctx);
    if (status == TAKT_OK)
        status = takt__ctx_start_learning(ctx, options);
    if (status == TAKT_OK)
        status = takt__ctx_set_objective(ctx, options->objective);
    if (status != TAKT_OK)
        return status;
    atomic_store(&ctx->may_open_libraries,
                 ctx->experts.count > takt__experts_known(&ctx->experts));
    takt__ctx_watch_gpus(ctx);
    status = apply_policy(ctx, options);
    if (status == TAKT_OK)
        takt__ctx_open_telemetry(ctx, options);
    return status;
}

/* What the program itself asked for is its own to report. (Pin files are
 * reported where they are read, with the line.) */
static void log_refusal(const takt_ctx_options *options, takt_status status)
{
    const struct takt_config *config = takt__config();

    if (options->pin != config->pin || options->expert != config->expert)
        return;
    if (options->policy == TAKT_POLICY_FIXED && options->expert == NULL)
        takt__log(TAKT_LOG_ERROR, "TAKT_POLICY=fixed is ignored: TAKT_EXPERT "
                                  "does not say which expert");
    else if (options->policy == TAKT_POLICY_FIXED)
        takt__log(TAKT_LOG_ERROR, "TAKT_EXPERT=%.200s is ignored: %s",
                  options->expert,
                  status == TAKT_ENODEV ? "this machine has no such expert "
                                          "('takt machine' lists them)"
                                        : takt_status_text(status));
}

static void destroy(takt_ctx *ctx)
{
    takt__ctx_leave_gpus(ctx);
    if (ctx->learner != NULL) /* it has the names of the last events */
        takt__dispatcher_finish(ctx->dispatcher);
    takt__learner_destroy(ctx->learner);
    takt__fleet_sync_end(&ctx->sync);
    takt__dispatcher_destroy(ctx->dispatcher);
    takt__decider_fini(&ctx->decider);
    takt__experts_close(&ctx->experts);
    takt__user_ops_fini(&ctx->user_ops);
    takt_machine_destroy(ctx->machine);
    free(ctx->gpu_watch);
    free(ctx);
}

static takt_status create(const takt_ctx_options *options, takt_ctx **out)
{
    takt_cost_model cost;
    fenv_t fpenv;

    takt_status status = copy_cost(&cost, options->cost);
    if (status != TAKT_OK)
        return status;
    if ((unsigned)options->policy > TAKT_POLICY_PINNED ||
        !(options->exploration <= 1) ||
        (options->policy == TAKT_POLICY_PINNED && options->pin == NULL))
        return TAKT_EINVAL;

    takt_ctx *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    status = takt__user_ops_init(&ctx->user_ops);
    if (status != TAKT_OK) {
        free(ctx);
        return status;
    }
    ctx->decider.cost = cost;
    takt__fpenv_leave(&fpenv);
    status = fill(ctx, options);
    takt__fpenv_return(&fpenv);
    if (status == TAKT_OK)
        *out = ctx;
    else
        destroy(ctx);
    if (status != TAKT_OK)
        log_refusal(options, status);
    return status;
}

/* A thread that is cancelled in here would leave a context half made, or
 * handlers that know of it. */
takt_status takt_ctx_create(const takt_ctx_options *options, takt_ctx **out)
{
    takt_ctx_options copy = {.size = sizeof copy};

    if (out == NULL)
        return TAKT_EINVAL;
    *out = NULL;
    if (options != NULL &&
        !takt__sized_read_as(options, first_options, sizeof copy, &copy))
        return TAKT_EINVAL;
    takt__section_begin();
    const takt_status status = create(&copy, out);
    takt__section_end();
    return status;
}

/* Inside of a section only exit() in a signal handler can come here: the thread
 * has locks that it will not release. What a thread of Takt's is still using at
 * exit stays as well. */
void takt_ctx_destroy(takt_ctx *ctx)
{
    fenv_t fpenv;

    if (ctx == NULL || takt__section_is_open() || takt__exit_gave_up())
        return;
    takt__section_begin();
    takt__fpenv_leave(&fpenv);
    destroy(ctx);
    takt__fpenv_return(&fpenv);
    takt__section_end();
}

/* ---- the default context ------------------------------------------------- */

static pthread_once_t default_once = PTHREAD_ONCE_INIT;

static takt_policy policy_of(const struct takt_config *config)
{
    if (config->pin != NULL && config->pin[0] != '\0')
        return TAKT_POLICY_PINNED;
    if (config->policy == NULL)
        return config->expert != NULL ? TAKT_POLICY_FIXED
                                      : TAKT_POLICY_ADAPTIVE;
    for (int i = TAKT_POLICY_ADAPTIVE; i <= TAKT_POLICY_FIXED; i++)
        if (takt__name_equal(config->policy, takt_policy_name((takt_policy)i)))
            return (takt_policy)i;
    takt__log(TAKT_LOG_ERROR,
              "TAKT_POLICY=%.200s is ignored: it is not adaptive, moe, cost, "
              "heuristic or fixed; adaptive is used",
              config->policy);
    return TAKT_POLICY_ADAPTIVE;
}

static takt_ctx_options options_of_environment(void)
{
    const struct takt_config *config = takt__config();

    return (takt_ctx_options){.policy = policy_of(config),
                              .expert = config->expert,
                              .threads = config->threads,
                              .blas = config->blas,
                              .pin = config->pin,
                              .exploration = config->exploration};
}

takt_status takt_ctx_environment(takt_ctx_options *out)
{
    if (out == NULL || takt__sized_size(out, first_options) == 0)
        return TAKT_EINVAL;
    const takt_ctx_options options = options_of_environment();
    takt__sized_fill_as(out, first_options, sizeof options, &options);
    return TAKT_OK;
}

/* A name in the environment that this machine does not have must not keep a
 * program from computing: the adaptive policy then decides. */
static void make_default(void)
{
    takt_ctx_options options = options_of_environment();
    takt_ctx *ctx;
    takt_status status = takt_ctx_create(&options, &ctx);

    if (status != TAKT_OK) {
        options.policy = TAKT_POLICY_ADAPTIVE;
        status = takt_ctx_create(&options, &ctx);
    }
    if (status != TAKT_OK)
        takt__log(TAKT_LOG_ERROR, "Takt cannot be used: %s",
                  takt_status_text(status));
    takt__direct_set_default(ctx);
}

takt_ctx *takt_ctx_default(void)
{
    takt_ctx *ctx =
        atomic_load_explicit(&takt__default_ctx, memory_order_acquire);

    if (ctx == NULL) {
        takt__section_begin(); /* not to be begun a second time */
        pthread_once(&default_once, make_default);
        takt__section_end();
        ctx = atomic_load_explicit(&takt__default_ctx, memory_order_acquire);
    }
    return ctx;
}
