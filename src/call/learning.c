/* SPDX-License-Identifier: MIT */
/* learning.c - makes the model and the learner of a context, and gives the
 * learner the names of things. */
#include "call/learning.h"
#include "call/objective.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "call/direct.h"
#include "call/gpus.h"
#include "call/telemetry.h"
#include "call/user_experts.h"
#include "hw/fingerprint.h"
#include "hw/probe.h"
#include "store/path.h"

static const double default_exploration = 0.02;

/* ---- arms ---------------------------------------------------------------- */

static struct takt_arm arm_of(const takt_ctx *ctx,
                              const struct takt_expert *expert)
{
    struct takt_arm arm = {
        .device = expert->threads > 1 ? TAKT_DEVICE_CORES : TAKT_DEVICE_CORE,
        .kin = (unsigned)expert->isa,
        .uses_pool = takt__expert_uses_pool(expert),
    };

    memcpy(arm.name, expert->name, sizeof arm.name);
    if (expert->device != NULL) {
        arm.device = TAKT_DEVICE_GPU + expert->device->number;
        arm.kin = 200 + expert->device->number;
        arm.rates = ctx->decider.gpu[expert->device->number].guessed;
        return arm;
    }
    if (expert->blas != NULL)
        arm.kin = 100 + (unsigned)(expert->blas - ctx->experts.blas);
    arm.rates = takt__prior_rates(expert, ctx->machine);
    return arm;
}

static const takt_op *op_at(const takt_ctx *ctx, unsigned series)
{
    takt_dtype dtype;
    char layout[TAKT_LAYOUT_NAME];

    return takt__ctx_op(ctx, series, &dtype, layout);
}

static void allow_series(const takt_ctx *ctx, struct takt_model *model,
                         unsigned first, unsigned end)
{
    for (unsigned series = 0; series < TAKT_SERIES_USER; series++) {
        takt_dtype dtype;
        char layout[TAKT_LAYOUT_NAME];
        const takt_op *op = takt__ctx_op(ctx, series, &dtype, layout);
        for (unsigned i = first; i < end; i++) {
            const struct takt_expert *expert = takt__ctx_expert(ctx, i);
            if (expert->class->may(expert, op, dtype))
                takt__model_allow(model, series, i);
        }
    }
}

static takt_status make_model(takt_ctx *ctx, double exploration,
                              struct takt_model **out)
{
    *out = takt__model_create(exploration);
    if (*out == NULL)
        return TAKT_ENOMEM;
    for (unsigned i = 0; i < ctx->experts.count; i++) {
        const struct takt_arm arm = arm_of(ctx, &ctx->experts.expert[i]);
        takt__model_add_arm(*out, &arm);
    }
    allow_series(ctx, *out, 0, takt__experts_known(&ctx->experts));
    takt__ctx_add_gpus(ctx, *out);
    return TAKT_OK;
}

void takt__ctx_learn_libraries(takt_ctx *ctx, struct takt_model *model,
                               unsigned first)
{
    const unsigned end = takt__experts_known(&ctx->experts);

    for (unsigned i = first; i < end; i++) {
        const struct takt_arm arm = arm_of(ctx, &ctx->experts.expert[i]);
        takt__model_set_arm(model, i, &arm);
    }
    allow_series(ctx, model, first, end);
}

/* ---- callbacks of the learner -------------------------------------------- */

/* What links are called in the store; no op has that name. */
static const char link_op[] = "takt:link";

static const char *op_of(void *self, unsigned series)
{
    if (takt__link_name(series) != NULL)
        return link_op;
    const takt_op *found = op_at(self, series);
    return found == NULL ? NULL : found->name;
}

static int find_series(void *self, const char *name, unsigned dtype,
                       const char *layout)
{
    if (strcmp(name, link_op) == 0)
        return takt__link_find(layout);
    takt_ctx *ctx = self;
    const takt_op *op = takt_op_find(name);
    if (op == NULL)
        op = takt__user_ops_find(&ctx->user_ops, name);
    if (op == NULL || dtype >= TAKT_DTYPES)
        return -1;
    return takt__series_find(op, (takt_dtype)dtype, layout);
}

static int find_expert(void *self, unsigned series, const char *name)
{
    const takt_ctx *ctx = self;
    const takt_op *op = op_at(ctx, series);
    const struct takt_expert *found =
        op == NULL ? NULL : takt__user_expert_find(&ctx->experts, op, name);

    if (found != NULL)
        return (int)takt__expert_number(&ctx->experts, found);
    return op != NULL && op->is_user ? -1
                                     : takt__experts_find(&ctx->experts, name);
}

static int add_expert(void *self, struct takt_model *model, unsigned series,
                      const char *expert)
{
    takt_ctx *ctx = self;

    const takt_op *op = op_at(ctx, series);
    return op == NULL || !op->is_user
               ? -1
               : takt__ctx_recall_expert(ctx, model, op, expert);
}

static void published(void *self, unsigned series)
{
    takt_dtype dtype;
    const enum takt_op_id op = takt__series_of(series, &dtype);

    if (op != TAKT_OP_COUNT)
        takt__direct_update(self, op, dtype);
}

/* A quota that was lowered leaves less CPU time: so many threads would use it
 * up early in each period and stand still for the rest. */
static void follow_quota(const takt_ctx *ctx)
{
    const struct takt_hw_source source = takt__host_source();
    const unsigned now = takt__machine_threads_now(&source, ctx->machine);

    takt__pool_limit(ctx->experts.pool,
                     now < ctx->machine->threads ? now : ctx->experts.threads);
}

static void run_each_second(void *self)
{
    takt_ctx *ctx = self;

    if (ctx->machine->quota_cpus > 0)
        follow_quota(ctx);
    takt__fleet_sync_look(&ctx->sync);
}

/* ---- callers ------------------------------------------------------------- */

static double callers_of(void *self)
{
    takt_ctx *ctx = self;

    return atomic_load(&ctx->counts_callers) == 0
               ? -1
               : (double)atomic_load_explicit(&ctx->callers,
                                              memory_order_relaxed);
}

/* ---- the learner --------------------------------------------------------- */

/* The names of the kernels of this build: a store of other kernels is another
 * machine's. */
static void hash_software(char out[TAKT_SHA256_HEX])
{
    struct takt_sha256 hash;
    char kernels[TAKT_SHA256_HEX];
    size_t count;
    const struct takt_kernel *table = takt__kernel_table(&count);

    takt__sha256_init(&hash);
    for (size_t i = 0; i < count; i++) {
        const unsigned char kind[] = {(unsigned char)table[i].kind,
                                      (unsigned char)table[i].dtype,
                                      (unsigned char)table[i].isa};
        takt__sha256_add(&hash, table[i].op, strlen(table[i].op) + 1);
        takt__sha256_add(&hash, kind, sizeof kind);
    }
    takt__sha256_finish_hex(&hash, kernels);
    takt__sw_fingerprint(&(struct takt_sw_traits){.kernels = kernels,
                                                  .driver = "",
                                                  .vulkan_driver = ""},
                         out);
}

static void find_path(const takt_ctx *ctx, const takt_ctx_options *options,
                      char *out, size_t size)
{
    out[0] = '\0';
    if (ctx->is_recorded && options->store == NULL)
        return; /* that of this machine has nothing to say about it */
    if (ctx->machine->hw_fingerprint[0] == '\0') {
        takt__log(TAKT_LOG_ERROR,
                  "a file of /proc or /sys cannot be read, so that it is not "
                  "known which machine this is: what was learned is not used, "
                  "what is learned is not kept");
        return;
    }
    if (options->store == NULL &&
        takt__path_of_machine(ctx->machine->hw_fingerprint, out, size) !=
            TAKT_OK)
        takt__log(TAKT_LOG_ERROR, "the path of the store is too long: what is "
                                  "learned is not kept (TAKT_DB)");
    else if (options->store != NULL)
        snprintf(out, size, "%s", options->store);
}

static void start_sharing(takt_ctx *ctx,
                          const struct takt_learner_options *learner)
{
    if (ctx->is_learning && !learner->is_store_foreign)
        takt__fleet_sync_start(&ctx->sync, learner->store_path);
}

static struct takt_learner_callbacks callbacks_of(takt_ctx *ctx)
{
    return (struct takt_learner_callbacks){.self = ctx,
                                           .op_of = op_of,
                                           .find_series = find_series,
                                           .find_expert = find_expert,
                                           .add_expert = add_expert,
                                           .published = published,
                                           .device_of = takt__ctx_device_of,
                                           .address_of = takt__ctx_address_of,
                                           .open = takt__ctx_wake,
                                           .each_second = run_each_second,
                                           .callers = callers_of,
                                           .learned = takt__ctx_learned};
}

static double share_of(double exploration)
{
    return exploration < 0    ? 0
           : exploration == 0 ? default_exploration
                              : exploration;
}

takt_status takt__ctx_start_learning(takt_ctx *ctx,
                                     const takt_ctx_options *options)
{
    const double share = share_of(options->exploration);
    char path[1024], software[TAKT_SHA256_HEX];
    struct takt_learner_options learner = {
        .table = &ctx->decider.table,
        .callbacks = callbacks_of(ctx),
        .store_path = path,
        .is_store_foreign = options->store_is_foreign != 0 || ctx->is_recorded,
        .is_store_set = options->store == NULL && takt__config()->db != NULL,
        .machine = ctx->machine->hw_fingerprint,
        .software = software,
        .is_published = options->policy != TAKT_POLICY_PINNED,
    };

    hash_software(software);
    find_path(ctx, options, path, sizeof path);
    const takt_status status = make_model(ctx, share, &learner.model);
    if (status != TAKT_OK)
        return status;
    ctx->is_learning =
        !ctx->is_recorded && options->policy != TAKT_POLICY_PINNED;
    learner.is_frozen = !ctx->is_learning;
    ctx->is_exploring = ctx->is_learning && share > 0;
    ctx->is_energy_wanted =
        ctx->is_learning && (takt__config()->is_energy_asked ||
                             takt__objective_wants_energy(options->objective));
    learner.is_energy_wanted = takt__energy_wanted(ctx);
    takt__direct_start(ctx);
    start_sharing(ctx, &learner);
    return takt__learner_create(&learner, &ctx->learner);
}

void takt__ctx_ask(takt_ctx *ctx, unsigned series, unsigned situations)
{
    takt__learner_ask(ctx->learner, series, situations);
    takt__table_set_asked(&ctx->decider.table, series, situations);
}

void takt__ctx_predict(takt_ctx *ctx, const struct takt_question *question)
{
    struct takt_model *model = takt__learner_enter(ctx->learner);

    takt__model_want(model, question->key.series);
    takt__model_set_typical(model, question->key.series, question->key.bucket,
                            &question->work);
    takt__learner_leave(ctx->learner);
}
