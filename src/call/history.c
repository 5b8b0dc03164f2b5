/* SPDX-License-Identifier: MIT */
/* history.c - what was learned: recorded by the user, read and forgotten. */
#include "takt/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fpenv.h"
#include "base/grow.h"
#include "base/sized.h"
#include "call/libraries.h"
#include "call/question.h"
#include "call/user_experts.h"

/* ---- recording ----------------------------------------------------------- */

static takt_status find_expert(takt_ctx *ctx, struct takt_model *model,
                               const takt_op *op, const char *name,
                               unsigned series, int *expert)
{
    if (op->is_user) {
        const unsigned before = atomic_load(&ctx->experts.user_count);
        const takt_status status =
            takt__ctx_resolve_expert(ctx, model, op, name, expert);
        if (atomic_load(&ctx->experts.user_count) != before)
            takt__learner_claim(ctx->learner); /* what is stored of it */
        return status;
    }
    const struct takt_expert *user =
        takt__user_expert_find(&ctx->experts, op, name);
    *expert = user != NULL ? (int)takt__expert_number(&ctx->experts, user)
                           : takt__experts_find(&ctx->experts, name);
    return *expert >= 0 && takt__model_allows(model, series, (unsigned)*expert)
               ? TAKT_OK
               : TAKT_ENODEV;
}

static struct takt_sample sample_of(const takt_measurement *given,
                                    const takt_request *request,
                                    const struct takt_question *question,
                                    int expert)
{
    const double calls = given->is_trial    ? 0
                         : given->calls > 1 ? given->calls
                                            : 1;

    return (struct takt_sample){
        .series = question->key.series,
        .bucket = question->key.bucket,
        .situation = (uint8_t)request->situation,
        .arm = (uint8_t)expert,
        .flags = (uint8_t)(TAKT_SAMPLE_REPORTED |
                           (given->is_trial ? TAKT_SAMPLE_TUNING : 0)),
        .calls = (uint16_t)(calls < UINT16_MAX ? calls : UINT16_MAX),
        .bytes = (float)question->work.bytes,
        .flops = (float)question->work.flops,
        .start_ns = takt__now_ns(),
        .seconds = given->seconds,
    };
}

/* Programs under `takt run` are ops whose experts are sides; the baseline
 * library is said to take a second (dropin/program_history.h). */
static bool is_comparison(const takt_op *op, const char *expert)
{
    return op->is_user && strncmp(op->name, "run.", 4) == 0 &&
           strcmp(expert, "baseline") != 0;
}

/* What the model can make something of: no NaN passes a comparison. */
static bool is_sane(const takt_ctx *ctx, const takt_measurement *given,
                    const takt_request *request)
{
    static const double longest_s = 1e9;

    return given->expert != NULL && request->op != NULL &&
           takt__ctx_has_op(ctx, request->op) && given->seconds > 0 &&
           given->seconds < longest_s && given->calls >= 0 &&
           isfinite(given->calls) &&
           (request->work == NULL || takt__work_is_sane(request->work));
}

static bool read_measurement(const takt_measurement *from,
                             takt_measurement *out, takt_request *request)
{
    return from != NULL && takt__sized_read(from, out) &&
           out->request != NULL && takt__request_read(out->request, request);
}

static takt_status record(takt_ctx *ctx, const takt_measurement *measurement)
{
    takt_measurement given;
    takt_request request;
    struct takt_question question;
    int expert = -1;

    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (!read_measurement(measurement, &given, &request) ||
        !is_sane(ctx, &given, &request))
        return TAKT_EINVAL;
    takt_status status = takt__request_question(&request, &question);
    if (status != TAKT_OK)
        return status;
    if (!question.has_key)
        return TAKT_ESHAPE;
    takt__ctx_open_named(ctx, given.expert);
    struct takt_model *model = takt__learner_enter(ctx->learner);
    status = find_expert(ctx, model, request.op, given.expert,
                         question.key.series, &expert);
    if (status == TAKT_OK) {
        const struct takt_sample sample =
            sample_of(&given, &request, &question, expert);
        takt__model_learn(model, &sample);
        if (is_comparison(request.op, given.expert))
            takt__learner_compare(ctx->learner, given.seconds);
    }
    takt__learner_leave(ctx->learner);
    if (status == TAKT_OK)
        takt__learner_notify(ctx->learner); /* its thread stores it */
    return status;
}

takt_status takt_record(takt_ctx *ctx, const takt_measurement *measurement)
{
    const struct takt_fpenv callers = takt__fpenv_save();
    const takt_status status = record(ctx, measurement);

    takt__fpenv_restore(callers);
    return status;
}

takt_status takt_ctx_learning(takt_ctx *ctx, takt_learning *out)
{
    takt_learning found = {0};

    if (out == NULL || !takt__sized_fits(out))
        return TAKT_EINVAL;
    takt__sized_fill(out, &found);
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    struct takt_model *model = takt__learner_enter_all(ctx->learner);
    const struct takt_model_counters counters = takt__model_counters(model);
    const struct takt_learner_state state = takt__learner_state(ctx->learner);

    found = (takt_learning){
        .own_records = state.own_records,
        .other_records = state.other_records,
        .samples = counters.samples,
        .dropped = takt__learner_dropped(ctx->learner),
        .explored = counters.explored,
        .refused = counters.refused,
        .alarms = counters.alarms,
        .device_alarms = counters.device_alarms,
        .explored_s = counters.explored_s,
        .load = {takt__model_load(model, TAKT_DEVICE_CORE),
                 takt__model_load(model, TAKT_DEVICE_CORES)},
        .is_exploring = ctx->is_exploring,
        .is_stored = state.is_writable,
        .store_status = state.status,
    };
    snprintf(found.store, sizeof found.store, "%s", state.path);
    snprintf(found.diag.text, sizeof found.diag.text, "%s", state.diag);
    takt__learner_leave_all(ctx->learner);
    takt__sized_fill(out, &found);
    return TAKT_OK;
}

/* ---- reading ------------------------------------------------------------- */

/* Of a row in its first version. */
enum { first_row = offsetof(takt_history_row, p95_s) };

/* Rows are copied first and visited without the lock: a visitor may call the
 * context anything. */
struct row_copy {
    takt_history_row row;
    char layout[TAKT_LAYOUT_NAME];
};

struct row_list {
    takt_ctx *ctx;
    struct row_copy *row;
    size_t count, room;
    bool is_short; /* of memory */
};

/* What was seen, and no more: what is expected is takt_explain()'s. */
static double quantile_of(const struct takt_summary *memory,
                          enum takt_measure measure)
{
    struct takt_tail_shares shares = {.worth = 1e-3f};
    float mean, variance;

    if (!(takt__tail_samples(&memory->tail) > 0))
        return 0;
    takt__tail_learn(&shares, &memory->tail, 1);
    takt__tail_quantile(&shares, takt__measure_beyond(measure), &mean,
                        &variance);
    return exp(memory->origin + (double)mean) * 1e-9;
}

/* Everything of a row but its op. */
static takt_history_row row_of(const takt_ctx *ctx,
                               const struct takt_summary *memory)
{
    return (takt_history_row){
        .size = sizeof(takt_history_row),
        .situation = memory->situation,
        .expert = takt__ctx_expert(ctx, memory->arm)->name,
        .backend = takt__ctx_expert(ctx, memory->arm)->backend,
        .work_low = takt__bucket_low(memory->bucket),
        .work_high = takt__bucket_low(memory->bucket + 1),
        .work = {memory->bytes, memory->flops},
        .samples = memory->n,
        .mean_s = memory->n > 0 ? exp(memory->mean) * 1e-9 : 0,
        .spread = memory->n > 1 ? sqrt(memory->m2 / (memory->n - 1)) : 0,
        .first_s = memory->first_s,
        .calls = memory->calls,
        .seconds = memory->seconds,
        .p95_s = quantile_of(memory, TAKT_MEASURE_P95),
        .p99_s = quantile_of(memory, TAKT_MEASURE_P99),
        .p999_s = quantile_of(memory, TAKT_MEASURE_P999),
        .tail_samples = (double)takt__tail_samples(&memory->tail),
    };
}

static void copy_row(void *self, const struct takt_summary *memory)
{
    struct row_list *reading = self;

    reading->is_short |= !takt__grow(&reading->row, &reading->room,
                                     reading->count + 1, sizeof *reading->row);
    if (reading->is_short)
        return;
    struct row_copy *copy = &reading->row[reading->count];
    copy->row = row_of(reading->ctx, memory);
    copy->row.op = takt__ctx_op(reading->ctx, memory->series, &copy->row.dtype,
                                copy->layout);
    reading->count += copy->row.op != NULL;
}

takt_status takt_history_read(takt_ctx *ctx, takt_history_visit *visit,
                              void *self)
{
    struct row_list reading = {.ctx = takt__ctx_or_default(ctx)};

    if (visit == NULL)
        return TAKT_EINVAL;
    ctx = reading.ctx;
    if (ctx == NULL)
        return TAKT_ENOMEM;
    takt__ctx_open_libraries(ctx);
    struct takt_model *model = takt__learner_enter(ctx->learner);

    takt__model_visit(model, false, copy_row, &reading);
    takt__learner_leave(ctx->learner);
    for (size_t i = 0; i < reading.count && !reading.is_short; i++) {
        reading.row[i].row.layout = reading.row[i].layout;
        if (visit(self, &reading.row[i].row) != 0)
            break;
    }
    free(reading.row);
    return reading.is_short ? TAKT_ENOMEM : TAKT_OK;
}

struct best {
    const takt_ctx *ctx;
    const struct takt_question *question;
    unsigned situation;
    struct takt_summary memory;
    bool is_found;
};

/* Whether what was seen in one situation is so in another. One thread is the
 * same awake or asleep, and is recorded as awake; for a GPU only the location
 * of the operands matters. */
static bool is_same(const struct best *best, const struct takt_summary *memory)
{
    const unsigned apart = memory->situation ^ best->situation;

    if ((apart & TAKT_RESIDENT) != 0)
        return false;
    if (takt__ctx_expert(best->ctx, memory->arm)->device != NULL)
        return true;
    return (apart & TAKT_REPEAT) == 0 &&
           (apart == 0 || (memory->situation & TAKT_ASLEEP) == 0);
}

static void visit_best(void *self, const struct takt_summary *memory)
{
    struct best *best = self;

    if (memory->series != best->question->key.series ||
        memory->bucket != best->question->key.bucket || memory->n <= 0 ||
        !is_same(best, memory))
        return;
    if (!best->is_found || memory->mean < best->memory.mean)
        best->memory = *memory;
    best->is_found = true;
}

static takt_status find_best(takt_ctx *ctx, const takt_request *request,
                             takt_history_row *out)
{
    struct takt_question question;
    struct takt_question_location where;

    *out = (takt_history_row){.layout = ""};
    const takt_status status = takt__question_begin(&ctx, request, &question);
    if (status != TAKT_OK)
        return status;
    takt__question_where(ctx, request, &question, &where);
    struct best best = {.ctx = ctx,
                        .question = &question,
                        .situation =
                            request->situation &
                            (where.home < 0 ? ~TAKT_SITUATION_ON_GPU : ~0u)};
    struct takt_model *model = takt__learner_enter(ctx->learner);
    takt__model_visit(model, false, visit_best, &best);
    takt__learner_leave(ctx->learner);
    if (!best.is_found)
        return TAKT_ENOENT;
    *out = row_of(ctx, &best.memory);
    out->op = request->op;
    out->dtype = request->dtype;
    out->layout = "";
    return TAKT_OK;
}

takt_status takt_history_best(takt_ctx *ctx, const takt_request *request,
                              takt_history_row *out)
{
    takt_request copy;
    takt_history_row row;

    if (request == NULL || out == NULL ||
        takt__sized_size(out, first_row) == 0 ||
        !takt__request_read(request, &copy))
        return TAKT_EINVAL;
    const struct takt_fpenv callers = takt__fpenv_save();
    const takt_status status = find_best(ctx, &copy, &row);
    takt__fpenv_restore(callers);
    takt__sized_fill_as(out, first_row, sizeof row, &row);
    return status;
}

/* ---- forgetting and keeping ---------------------------------------------- */

takt_status takt_history_reset(takt_ctx *ctx, const takt_op *op)
{
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    struct takt_model *model = takt__learner_enter_all(ctx->learner);
    const takt_status status =
        takt__learner_reset(ctx->learner, op == NULL ? NULL : op->name);

    for (unsigned series = 0; series < TAKT_SERIES_COUNT; series++) {
        takt_dtype dtype;
        char layout[TAKT_LAYOUT_NAME];
        if (op != NULL && takt__ctx_op(ctx, series, &dtype, layout) != op)
            continue;
        takt__model_forget(model, series);
        if (ctx->decider.policy != TAKT_POLICY_PINNED)
            takt__table_clear(&ctx->decider.table, series);
    }
    takt__learner_leave_all(ctx->learner);
    return status;
}

takt_status takt_ctx_flush(takt_ctx *ctx)
{
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    takt__dispatcher_flush(ctx->dispatcher);
    return takt__learner_store(ctx->learner);
}
