/* SPDX-License-Identifier: MIT */
/*
 * telemetry.c - gives a context its dispatcher, and tells the dispatcher the
 * names of things.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "call/gpus.h"
#include "call/inside.h"
#include "telemetry/listener.h"
#include "telemetry/otel.h"
#include "telemetry/stream.h"

static const double usual_threshold_s = 100e-6, usual_rate = 0.01,
                    usual_hot_rate = 10000;
static const unsigned usual_deadline_ms = 500;

/* ---- names, for the dispatcher
 * ------------------------------------------------
 */

static const char *op_name(void *self, unsigned number)
{
    const takt_ctx *ctx = self;
    const takt_op *op =
        number < TAKT_OP_COUNT
            ? takt_op_at(number)
            : takt__user_ops_at(&ctx->user_ops, number - TAKT_OP_COUNT);

    return op == NULL ? NULL : op->name;
}

static const char *arm_name(void *self, unsigned arm, takt_backend *backend)
{
    *backend = takt__ctx_arm_backend(self, arm);
    return takt__ctx_arm_name(self, arm);
}

/* The model of a GPU is known once it was opened, and then for good. */
static const char *device_name(const takt_ctx *ctx, unsigned arm)
{
    if (arm >= ctx->fleet.count ||
        ctx->fleet.expert[arm].kind != TAKT_EXPERT_GPU)
        return "";
    return ctx->fleet.expert[arm].device->known.model;
}

static unsigned threads_of(const takt_ctx *ctx, unsigned arm)
{
    const struct takt_user_expert *user = takt__ctx_user_expert(ctx, arm);

    if (user != NULL)
        return user->spec.threads > 0 ? user->spec.threads : 1;
    return ctx->fleet.expert[arm].kind == TAKT_EXPERT_GPU
               ? 0
               : ctx->fleet.expert[arm].threads;
}

/* Of a change only the series is known. */
static void describe_change(const takt_ctx *ctx,
                            const struct takt_event_record *note,
                            takt_event *out)
{
    enum takt_op_id op;
    unsigned user_op;
    char layout[TAKT_LAYOUT_NAME];

    takt__series_name(note->series, &op, &user_op, &out->dtype, layout);
    const takt_op *found = op == TAKT_OP_COUNT
                               ? takt__user_ops_at(&ctx->user_ops, user_op)
                               : takt_op_at(op);
    out->op = found == NULL ? "" : found->name;
    out->elements =
        (size_t)(note->work.bytes / (double)takt_dtype_size(out->dtype));
    out->actual_s = note->actual_s;
}

static void describe(void *self, const struct takt_event_record *note,
                     takt_event *out)
{
    const takt_ctx *ctx = self;

    *out = (takt_event){
        .kind = (takt_event_kind)note->kind,
        .told = note->told,
        .dtype = (takt_dtype)note->dtype,
        .shape = note->shape,
        .work = note->work,
        .backend = takt__ctx_arm_backend(ctx, note->expert),
        .expert = takt__ctx_arm_name(ctx, note->expert),
        .threads = threads_of(ctx, note->expert),
        .device = device_name(ctx, note->expert),
        .reason = (takt_reason)note->reason,
        .has_history = note->has_history,
        .runner_up = note->runner_up == note->best
                         ? ""
                         : takt__ctx_arm_name(ctx, note->runner_up),
        .predicted_s = note->predicted_s,
        .confidence = (double)note->confidence,
        .residency = (takt_residency)note->residency,
        .refused = note->refused == note->expert
                       ? ""
                       : takt__ctx_arm_name(ctx, note->refused),
        .refusal = (takt_status)note->refusal,
        .status = (takt_status)note->status,
        .thread_id = note->thread_id,
        .parent = note->parent,
    };
    if (note->op == NULL) {
        describe_change(ctx, note, out);
        return;
    }
    out->op = note->op->name;
    out->elements = takt_op_elements(note->op, &note->shape);
}

/* The smallest calls take the short way uncounted while nobody asks. */
static void show(void *self, struct takt_tap *tap)
{
    takt_ctx *ctx = self;

    atomic_store(&ctx->uncounted, tap == NULL ? TAKT_LEAST_TIMED : 0);
    atomic_store_explicit(&ctx->tap, tap, memory_order_release);
    takt__ctx_tell_all(ctx, tap != NULL && atomic_load(&tap->is_all));
}

/* Calls that a GPU is still at are told of when they are done; at the end there
 * is no driver left to ask. */
static void settle(void *self, bool is_last)
{
    takt_ctx *ctx = self;

    takt__ctx_collect(ctx, is_last);
    takt__learner_enter(ctx->learner);
    takt__learner_leave(ctx->learner);
}

/* ---- from the environment --------------------------------------------------
 */

static double usual(double said, double otherwise)
{
    return said < 0 ? otherwise : said;
}

static double at_most_one(double share)
{
    return share < 1 ? share : 1;
}

static struct takt_tap_settings settings_of(const takt_trace_options *options)
{
    static const takt_trace_options none = {0};
    const struct takt_config *config = takt__config();
    struct takt_tap_settings out = {
        .threshold_s = usual(config->trace_threshold_s, usual_threshold_s),
        .rate = usual(config->trace_rate, usual_rate),
        .hot_rate = usual(config->hot_rate, usual_hot_rate),
        .is_debugging = config->is_tracing_all,
    };

    if (options == NULL)
        options = &none;
    if (options->threshold_s != 0)
        out.threshold_s = fmax(0, options->threshold_s);
    if (options->rate != 0)
        out.rate = fmax(0, options->rate);
    if (options->hot_rate != 0)
        out.hot_rate = options->hot_rate < 0 ? INFINITY : options->hot_rate;
    if (options->is_debugging != 0)
        out.is_debugging = true;
    out.rate = at_most_one(out.rate);
    return out;
}

takt_status takt__ctx_prepare_telemetry(takt_ctx *ctx)
{
    const unsigned said_ms = takt__config()->shutdown_ms;
    const struct takt_dispatcher_names names = {.self = ctx,
                                                .describe = describe,
                                                .op = op_name,
                                                .expert = arm_name,
                                                .show = show,
                                                .settle = settle};

    atomic_store(&ctx->uncounted, TAKT_LEAST_TIMED);
    pthread_mutex_init(&ctx->export_lock, NULL);
    ctx->dispatcher = takt__dispatcher_create(
        &names, said_ms > 0 ? said_ms : usual_deadline_ms);
    return ctx->dispatcher == NULL ? TAKT_ENOMEM : TAKT_OK;
}

static void keep_problem(takt_ctx *ctx, const takt_diag *diag)
{
    takt__lock(&ctx->export_lock);
    ctx->export_problem = *diag;
    takt__unlock(&ctx->export_lock);
}

/* Where a trace is written to or read from by `takt trace`. */
static void open_stream(takt_ctx *ctx, const char *where)
{
    takt_diag diag = {""};
    takt_sink sink;

    if (takt__stream_open(where, &sink, &diag) == TAKT_OK) {
        if (takt__dispatcher_add(ctx->dispatcher, &sink) != TAKT_OK)
            sink.close(sink.self, 0);
        else
            takt__dispatcher_flush_at_exit();
    }
    if (diag.text[0] != '\0')
        keep_problem(ctx, &diag);
}

/* Without options it is the environment that asks, or does not. */
static takt_status export_calls(takt_ctx *ctx, const takt_otlp_options *options,
                                takt_diag *diag)
{
    takt_diag own = {""};
    takt_sink sink;

    if (diag == NULL)
        diag = &own;
    diag->text[0] = '\0';
    ctx = takt__ctx_meant(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    takt_status status =
        ctx->is_recorded ? TAKT_ENODEV
                         : takt__otel_open(options, ctx->machine, &sink, diag);
    if (status == TAKT_OK) {
        status = takt_ctx_add_sink(ctx, &sink);
        if (status != TAKT_OK)
            sink.close(sink.self, 0);
    }
    if (diag->text[0] != '\0')
        keep_problem(ctx, diag);
    return status;
}

/* A program computes whether or not somebody can be told of it. */
void takt__ctx_open_telemetry(takt_ctx *ctx, const takt_ctx_options *options)
{
    const struct takt_config *config = takt__config();
    const struct takt_tap_settings settings = settings_of(NULL);

    takt__dispatcher_set(ctx->dispatcher, &settings);
    ctx->is_followed = !ctx->is_recorded && options->telemetry == NULL &&
                       !config->is_privileged;
    if (!ctx->is_followed)
        return;
    if (config->trace != NULL && config->trace[0] != '\0')
        open_stream(ctx, config->trace);
    if (config->is_export_asked)
        export_calls(ctx, NULL, NULL);
    if (ctx->export_problem.text[0] != '\0')
        takt__log(TAKT_LOG_ERROR, "telemetry: %s", ctx->export_problem.text);
}

/* ---- what was learned ------------------------------------------------------
 */

/* Looks once a second whether `takt trace` waits for this process: once for
 * each time that it does. By the learner, so it costs no caller anything. */
static void look_for_followers(takt_ctx *ctx, uint64_t now_ns)
{
    static const uint64_t second_ns = 1000000000;
    char where[256];
    struct stat socket;

    if (!ctx->is_followed || now_ns - ctx->looked_ns < second_ns)
        return;
    ctx->looked_ns = now_ns;
    if (!takt__listener_path((long)getpid(), where, sizeof where) ||
        stat(where + strlen("unix:"), &socket) != 0 ||
        (socket.st_ino == ctx->follower_ino &&
         socket.st_ctim.tv_sec == ctx->follower_time.tv_sec &&
         socket.st_ctim.tv_nsec == ctx->follower_time.tv_nsec))
        return;
    ctx->follower_ino = socket.st_ino; /* numbers are used again */
    ctx->follower_time = socket.st_ctim;
    open_stream(ctx, where);
}

void takt__ctx_learned(void *self, const struct takt_sample *sample,
                       const struct takt_model_counters *counters)
{
    takt_ctx *ctx = self;
    const struct takt_learning_counts counts = {
        .alarms = counters->alarms,
        .samples_dropped = takt__learner_dropped(ctx->learner),
        .explored_s = counters->explored_s,
    };
    const struct takt_cell cell = takt__cell_unpack(takt__table_load(
        &ctx->decider.table, (struct takt_key){sample->series, sample->bucket},
        sample->situation));

    takt__dispatcher_add_sample(ctx->dispatcher, sample,
                                cell.best == sample->arm && cell.seconds > 0
                                    ? (double)cell.seconds
                                    : -1,
                                &counts);
    look_for_followers(ctx, sample->start_ns);
}

/* ---- for users -------------------------------------------------------------
 */

takt_status takt_ctx_add_sink(takt_ctx *ctx, const takt_sink *sink)
{
    if (sink == NULL)
        return TAKT_EINVAL;
    ctx = takt__ctx_meant(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (ctx->is_recorded)
        return TAKT_ENODEV;
    const takt_status status = takt__dispatcher_add(ctx->dispatcher, sink);
    if (status == TAKT_OK)
        takt__dispatcher_flush_at_exit();
    return status;
}

takt_status takt_ctx_export(takt_ctx *ctx, const takt_otlp_options *options,
                            takt_diag *diag)
{
    static const takt_otlp_options usual = {0};

    takt__section_begin();
    const takt_status status =
        export_calls(ctx, options != NULL ? options : &usual, diag);
    takt__section_end();
    return status;
}

takt_status takt_ctx_trace(takt_ctx *ctx, const takt_trace_options *options)
{
    if (options != NULL && (isnan(options->threshold_s) ||
                            isnan(options->rate) || isnan(options->hot_rate)))
        return TAKT_EINVAL;
    ctx = takt__ctx_meant(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    const struct takt_tap_settings settings = settings_of(options);
    takt__dispatcher_set(ctx->dispatcher, &settings);
    return TAKT_OK;
}

takt_status takt_ctx_telemetry(takt_ctx *ctx, takt_telemetry *out)
{
    if (out == NULL)
        return TAKT_EINVAL;
    *out = (takt_telemetry){0};
    ctx = takt__ctx_meant(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    takt__dispatcher_report(ctx->dispatcher, out);
    takt__lock(&ctx->export_lock);
    out->diag = ctx->export_problem;
    takt__unlock(&ctx->export_lock);
    return TAKT_OK;
}
