/* SPDX-License-Identifier: MIT */
/*
 * teach.c - gives a context its model and its learner, and tells the learner
 * the names of things.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "call/ctx.h"
#include "call/gpus.h"
#include "call/libraries.h"
#include "hw/fingerprint.h"

static const double usual_exploration = 0.02;

/* ---- arms ------------------------------------------------------------------
 */

static struct takt_arm arm_of(const takt_ctx *ctx,
                              const struct takt_expert *expert)
{
    struct takt_arm arm = {
        .device = expert->threads > 1 ? TAKT_DEVICE_CORES : TAKT_DEVICE_CORE,
        .kin = (unsigned)expert->isa,
    };

    memcpy(arm.name, expert->name, sizeof arm.name);
    if (expert->kind == TAKT_EXPERT_GPU) {
        arm.device = TAKT_DEVICE_GPU + expert->device->number;
        arm.kin = 200 + expert->device->number;
        arm.rates = ctx->decider.gpu[expert->device->number].guessed;
        return arm;
    }
    if (expert->blas != NULL)
        arm.kin = 100 + (unsigned)(expert->blas - ctx->fleet.blas);
    arm.rates = takt__prior_rates(expert, ctx->machine);
    return arm;
}

static bool can_ever_run(const struct takt_expert *expert, enum takt_op_id op)
{
    if (expert->kind == TAKT_EXPERT_CPU)
        return op != TAKT_OP_reshape;
    if (expert->kind == TAKT_EXPERT_GPU)
        return false; /* gpus.c knows */
    return takt__library_can_run(op);
}

static void allow_series(const takt_ctx *ctx, struct takt_model *model,
                         unsigned first, unsigned end)
{
    for (unsigned series = 0; series < TAKT_SERIES_USER; series++) {
        enum takt_op_id op;
        unsigned user_op;
        takt_dtype dtype;
        char layout[TAKT_LAYOUT_NAME];
        takt__series_name(series, &op, &user_op, &dtype, layout);
        for (unsigned i = first; i < end; i++)
            if (can_ever_run(&ctx->fleet.expert[i], op))
                takt__model_allow(model, series, i);
    }
}

static takt_status make_model(takt_ctx *ctx, double exploration,
                              struct takt_model **out)
{
    *out = takt__model_create(exploration);
    if (*out == NULL)
        return TAKT_ENOMEM;
    for (unsigned i = 0; i < ctx->fleet.count; i++) {
        const struct takt_arm arm = arm_of(ctx, &ctx->fleet.expert[i]);
        takt__model_add_arm(*out, &arm);
    }
    allow_series(ctx, *out, 0, takt__fleet_known(&ctx->fleet));
    takt__ctx_add_gpus(ctx, *out);
    return TAKT_OK;
}

void takt__ctx_teach_libraries(takt_ctx *ctx, struct takt_model *model,
                               unsigned first)
{
    const unsigned end = takt__fleet_known(&ctx->fleet);

    for (unsigned i = first; i < end; i++) {
        const struct takt_arm arm = arm_of(ctx, &ctx->fleet.expert[i]);
        takt__model_set_arm(model, i, &arm);
    }
    allow_series(ctx, model, first, end);
}

/* ---- names, for the learner ------------------------------------------------
 */

/* What links are called in the store; no op has that name. */
static const char link_op[] = "takt:link";

/* The op of a series; NULL: a link, or nobody's. */
static const takt_op *op_at(const takt_ctx *ctx, unsigned series)
{
    const unsigned number = takt__series_op(series);

    return number < TAKT_OP_COUNT ? takt_op_at(number)
           : number < TAKT_OP_NUMBERS
               ? takt__user_ops_at(&ctx->user_ops, number - TAKT_OP_COUNT)
               : NULL;
}

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
    const takt_op *op = takt_ctx_find_op(self, name);
    if (op == NULL || dtype >= TAKT_DTYPES)
        return -1;
    return takt__series_find(op, (takt_dtype)dtype, layout);
}

static int find_arm(void *self, unsigned series, const char *expert)
{
    const takt_ctx *ctx = self;
    const takt_op *op = op_at(ctx, series);
    const struct takt_user_expert *found =
        op == NULL ? NULL
                   : takt__user_experts_find(&ctx->user_experts, op, expert);

    if (found != NULL)
        return (int)found->arm;
    return op != NULL && op->is_user ? -1
                                     : takt__fleet_find(&ctx->fleet, expert);
}

static int meet_arm(void *self, struct takt_model *model, unsigned series,
                    const char *expert)
{
    takt_ctx *ctx = self;

    const takt_op *op = op_at(ctx, series);
    return op == NULL || !op->is_user
               ? -1
               : takt__ctx_recall_expert(ctx, model, op, expert);
}

/* ---- straight calls --------------------------------------------------------
 */

/* Calls this small never look anything up: an add of 64 elements takes less
 * than reading a clock. */
enum { always_straight = 64 };

static double bytes_each(const takt_op *op, takt_dtype dtype)
{
    static const takt_shape many = {.rank = 1, .dim = {1 << 20}};
    takt_work work;

    return takt_op_work(op, dtype, &many, &work) == TAKT_OK
               ? work.bytes / (double)many.dim[0]
               : 1;
}

/* Calls shorter than this go straight whoever is first: looking it up takes a
 * tenth of that, and no other expert of one thread gains as much. */
static const float too_short_s = 0.7e-6f;

/* Whether one thread of the best instruction set is first in a bucket, whatever
 * the situation; a bucket that nobody wrote is decided by the prior. */
static bool is_alone(const takt_ctx *ctx, unsigned series, unsigned bucket,
                     const takt_work *work)
{
    const struct takt_key key = {(uint16_t)series, (uint8_t)bucket};

    for (unsigned s = 0; s < TAKT_RESIDENT; s++) { /* plain pointers */
        const uint64_t word = takt__table_load(&ctx->decider.table, key, s);
        if (word != 0 && (uint8_t)word != ctx->decider.team[0].expert &&
            takt__cell_unpack(word).seconds > too_short_s)
            return false;
        if (word == 0 && !takt__decider_is_alone(&ctx->decider, work))
            return false;
    }
    return true;
}

/* Up to which size the calls of a vector op can go straight to its kernel. */
static size_t straight_most(const takt_ctx *ctx, const takt_op *op,
                            takt_dtype dtype)
{
    const double each = bytes_each(op, dtype);
    const int series = takt__series_find(op, dtype, "");
    unsigned bucket = takt__bucket_of(always_straight * each) + 1;

    for (; bucket < TAKT_BUCKETS; bucket++) {
        const double n = takt__bucket_work(bucket) / each;
        const takt_shape shape = {.rank = 1, .dim = {(size_t)n}};
        takt_work work;
        if (takt_op_work(op, dtype, &shape, &work) != TAKT_OK ||
            !is_alone(ctx, (unsigned)series, bucket, &work))
            break;
    }
    const double low = ldexp(bucket % 2 == 0 ? 1 : 1.5, (int)bucket / 2);
    const size_t most = (size_t)(low / each) - 1;
    return most > always_straight ? most : always_straight;
}

static void find_straight(takt_ctx *ctx, enum takt_op_id op, takt_dtype dtype)
{
    _Atomic size_t *most = &ctx->straight_most[dtype][op];

    if (!ctx->is_straight || ctx->is_all_told ||
        takt_op_at(op)->rank_max != 1 || op == TAKT_OP_reshape)
        return;
    atomic_store(most, straight_most(ctx, takt_op_at(op), dtype));
    if (!ctx->is_straight || ctx->is_all_told) /* since a moment ago */
        atomic_store(most, 0);
}

void takt__ctx_tell_all(takt_ctx *ctx, bool is_all)
{
    if (atomic_exchange(&ctx->is_all_told, is_all) == is_all)
        return;
    for (int op = 0; op < TAKT_OP_COUNT; op++)
        for (int dtype = 0; dtype < TAKT_DTYPES; dtype++) {
            if (is_all)
                atomic_store(&ctx->straight_most[dtype][op], 0);
            else
                find_straight(ctx, (enum takt_op_id)op, (takt_dtype)dtype);
        }
}

/* There are buffers that move: nobody may use memory without a look. */
static _Atomic bool has_moving_buffers;

static void end_straight(takt_ctx *ctx)
{
    ctx->is_straight = false;
    for (int op = 0; op < TAKT_OP_COUNT; op++)
        for (int dtype = 0; dtype < TAKT_DTYPES; dtype++)
            atomic_store(&ctx->straight_most[dtype][op], 0);
}

void takt__ctx_look_around(takt_ctx *ctx)
{
    if (atomic_load(&has_moving_buffers))
        end_straight(ctx);
}

void takt__ctx_end_straight(takt_ctx *ctx)
{
    takt_ctx *usual = atomic_load(&takt__default_ctx);

    if (ctx->fleet.devices.count == 0 || atomic_load(&has_moving_buffers))
        return; /* its buffers are where they always are, or all is said */
    atomic_store(&has_moving_buffers, true);
    end_straight(ctx);
    if (usual != NULL && usual != ctx)
        end_straight(usual);
}

static void published(void *self, unsigned series)
{
    enum takt_op_id op;
    unsigned user_op;
    takt_dtype dtype;
    char layout[TAKT_LAYOUT_NAME];

    takt__series_name(series, &op, &user_op, &dtype, layout);
    if (op != TAKT_OP_COUNT)
        find_straight(self, op, dtype);
}

/* Other policies want every call to be decided. */
static void find_all_straight(takt_ctx *ctx)
{
    ctx->straight = &ctx->fleet.slots[ctx->decider.best_isa];
    if (ctx->decider.policy != TAKT_POLICY_ADAPTIVE || ctx->is_recorded)
        return;
    if (atomic_load(&has_moving_buffers))
        return;
    ctx->is_straight = true;
    for (int op = 0; op < TAKT_OP_COUNT; op++)
        for (int dtype = 0; dtype < TAKT_DTYPES; dtype++)
            find_straight(ctx, (enum takt_op_id)op, (takt_dtype)dtype);
}

/* ---- the learner -----------------------------------------------------------
 */

/* What the kernels of this build are called, hashed. */
static void hash_kernels(char out[TAKT_SHA256_HEX])
{
    struct takt_sha256 hash;
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
    takt__sha256_finish_hex(&hash, out);
}

static void find_path(const takt_ctx *ctx, const takt_ctx_options *options,
                      char *out, size_t size)
{
    out[0] = '\0';
    if (ctx->is_recorded)
        return;
    if (options->store == NULL && takt_store_path(out, size) != TAKT_OK)
        takt__log(TAKT_LOG_ERROR, "the path of the store is too long: what is "
                                  "learned is not kept (TAKT_DB)");
    else if (options->store != NULL)
        snprintf(out, size, "%s", options->store);
}

takt_status takt__ctx_teach(takt_ctx *ctx, const takt_ctx_options *options)
{
    const double share = options->exploration < 0    ? 0
                         : options->exploration == 0 ? usual_exploration
                                                     : options->exploration;
    char path[1024], kernels[TAKT_SHA256_HEX], software[TAKT_SHA256_HEX];
    struct takt_learner_options learner = {
        .table = &ctx->decider.table,
        .names = {.self = ctx,
                  .op_of = op_of,
                  .find_series = find_series,
                  .find_expert = find_arm,
                  .add_expert = meet_arm,
                  .published = published,
                  .device_of = takt__ctx_device_of,
                  .open = takt__ctx_wake,
                  .learned = takt__ctx_learned},
        .store_path = path,
        .is_store_foreign = options->store_is_foreign != 0,
        .is_store_set = options->store == NULL && takt__config()->db != NULL,
        .machine = ctx->machine->hw_fingerprint,
        .software = software,
        .is_published = options->policy != TAKT_POLICY_PINNED,
    };

    hash_kernels(kernels);
    takt__sw_fingerprint(&(struct takt_sw_traits){.kernels = kernels,
                                                  .driver = "",
                                                  .vulkan_driver = ""},
                         software);
    find_path(ctx, options, path, sizeof path);
    const takt_status status = make_model(ctx, share, &learner.model);
    if (status != TAKT_OK)
        return status;
    ctx->is_learning =
        !ctx->is_recorded && options->policy != TAKT_POLICY_PINNED;
    learner.is_frozen = !ctx->is_learning;
    ctx->is_exploring = ctx->is_learning && share > 0;
    find_all_straight(ctx);
    return takt__learner_create(&learner, &ctx->learner);
}
