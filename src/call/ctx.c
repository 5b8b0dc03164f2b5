/* SPDX-License-Identifier: MIT */
/* ctx.c - making and unmaking contexts, and the default one. */
#include "call/ctx.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/name.h"

enum { most_threads = 256 };

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

static void describe_libraries(takt_ctx *ctx)
{
    for (size_t i = 0; i < ctx->fleet.blas_count; i++)
        snprintf(ctx->library[i], sizeof ctx->library[i], "%s %s (%s)",
                 ctx->fleet.blas[i].name, ctx->fleet.blas[i].version,
                 ctx->fleet.blas[i].path);
}

static takt_status find_fixed(takt_ctx *ctx, const char *expert)
{
    const int found =
        expert == NULL ? -1 : takt__fleet_find(&ctx->fleet, expert);

    if (found < 0)
        return TAKT_ENODEV;
    ctx->decider.fixed = (unsigned)found;
    return TAKT_OK;
}

/* The largest power of two up to which one thread is first for a vector op,
 * whatever state the pool is in. */
static size_t straight_below(const struct takt_decider *decider,
                             const takt_op *op, takt_dtype dtype)
{
    size_t below = 1;
    takt_work work;

    for (size_t n = 1; n < (size_t)1 << 40; n *= 2) {
        const takt_shape shape = {.rank = 1, .dim = {n}};
        if (takt_op_work(op, dtype, &shape, &work) != TAKT_OK ||
            !takt__decider_is_alone(decider, &work))
            break;
        below = n;
    }
    return below;
}

/* Other policies want every call to be decided. */
static void find_straight(takt_ctx *ctx)
{
    const struct takt_decider *decider = &ctx->decider;

    ctx->straight = &ctx->fleet.slots[decider->best_isa];
    if (decider->policy != TAKT_POLICY_ADAPTIVE || ctx->is_recorded)
        return;
    ctx->is_straight = true;
    for (size_t i = 0; i < TAKT_OP_COUNT; i++)
        for (int dtype = 0; dtype < TAKT_DTYPES; dtype++)
            if (takt_op_at(i)->rank_max == 1)
                ctx->straight_below[dtype][i] =
                    straight_below(decider, takt_op_at(i), (takt_dtype)dtype);
}

static takt_status fill(takt_ctx *ctx, const takt_ctx_options *options)
{
    struct takt_decider *decider = &ctx->decider;
    takt_status status = takt_machine_create(options->recording, &ctx->machine);

    if (status != TAKT_OK)
        return status;
    const unsigned threads = threads_of(ctx->machine, options->threads);
    ctx->is_recorded = options->recording != NULL;
    status = takt__fleet_open(
        &(struct takt_fleet_options){.machine = ctx->machine,
                                     .threads = threads,
                                     .blas =
                                         ctx->is_recorded ? "" : options->blas,
                                     .is_recorded = ctx->is_recorded},
        &ctx->fleet);
    if (status != TAKT_OK)
        return status;
    describe_libraries(ctx);
    takt__decider_init(decider, &ctx->fleet, ctx->machine);
    decider->policy = options->policy;
    find_straight(ctx);
    return options->policy == TAKT_POLICY_FIXED
               ? find_fixed(ctx, options->expert)
               : TAKT_OK;
}

takt_status takt_ctx_create(const takt_ctx_options *options, takt_ctx **out)
{
    static const takt_ctx_options usual = {0};
    takt_cost_model cost;

    *out = NULL;
    if (options == NULL)
        options = &usual;
    takt_status status = copy_cost(&cost, options->cost);
    if (status != TAKT_OK)
        return status;
    if ((unsigned)options->policy > TAKT_POLICY_FIXED)
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
    status = fill(ctx, options);
    if (status == TAKT_OK)
        *out = ctx;
    else
        takt_ctx_destroy(ctx);
    return status;
}

void takt_ctx_destroy(takt_ctx *ctx)
{
    if (ctx == NULL)
        return;
    takt__fleet_close(&ctx->fleet);
    takt__user_ops_fini(&ctx->user_ops);
    takt_machine_destroy(ctx->machine);
    free(ctx);
}

/* ---- the default context ----------------------------------------------------
 */

static _Atomic(takt_ctx *) default_ctx;
static pthread_once_t default_once = PTHREAD_ONCE_INIT;

static takt_policy policy_of(const struct takt_config *config)
{
    if (config->policy == NULL)
        return config->expert != NULL ? TAKT_POLICY_FIXED
                                      : TAKT_POLICY_ADAPTIVE;
    for (int i = TAKT_POLICY_ADAPTIVE; i <= TAKT_POLICY_FIXED; i++)
        if (takt__name_equal(config->policy, takt_policy_name((takt_policy)i)))
            return (takt_policy)i;
    return TAKT_POLICY_ADAPTIVE;
}

/* A name in the environment that this machine does not know must not keep a
 * program from computing: it then decides as usual. */
static void make_default(void)
{
    const struct takt_config config = takt__config_read();
    takt_ctx_options options = {.policy = policy_of(&config),
                                .expert = config.expert,
                                .threads = config.threads,
                                .blas = config.blas};
    takt_ctx *ctx;

    if (takt_ctx_create(&options, &ctx) == TAKT_ENODEV) {
        options.policy = TAKT_POLICY_ADAPTIVE;
        takt_ctx_create(&options, &ctx);
    }
    atomic_store_explicit(&default_ctx, ctx, memory_order_release);
}

takt_ctx *takt_ctx_default(void)
{
    takt_ctx *ctx = atomic_load_explicit(&default_ctx, memory_order_acquire);

    if (ctx == NULL) {
        pthread_once(&default_once, make_default);
        ctx = atomic_load_explicit(&default_ctx, memory_order_acquire);
    }
    return ctx;
}

/* ---- questions
 * --------------------------------------------------------------- */

const takt_machine *takt_ctx_machine(const takt_ctx *ctx)
{
    return ctx->machine;
}

const char *takt_ctx_expert(const takt_ctx *ctx, size_t index,
                            takt_backend *backend)
{
    if (index >= ctx->fleet.count)
        return NULL;
    if (backend != NULL)
        *backend = ctx->fleet.expert[index].backend;
    return ctx->fleet.expert[index].name;
}

const char *takt_ctx_library(const takt_ctx *ctx, size_t index)
{
    return index < ctx->fleet.blas_count ? ctx->library[index] : NULL;
}

takt_status takt_ctx_define_op(takt_ctx *ctx, const takt_op_spec *spec,
                               const takt_op **out)
{
    return takt__user_ops_define(&ctx->user_ops, spec, out);
}

const takt_op *takt_ctx_find_op(takt_ctx *ctx, const char *name)
{
    if (name == NULL)
        return NULL;
    const takt_op *op = takt_op_find(name);
    return op != NULL ? op : takt__user_ops_find(&ctx->user_ops, name);
}
