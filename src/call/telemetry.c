/* SPDX-License-Identifier: MIT */
/*
 * telemetry.c - gives a context its telemetry thread, and that the names of
 * things.
 */
#include "call/telemetry.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "call/direct.h"
#include "call/gpus.h"
#include "telemetry/listener.h"
#include "telemetry/otel.h"
#include "telemetry/stream.h"

static const double default_threshold_s = 100e-6, default_rate = 0.01,
                    default_hot_rate = 10000;
static const unsigned default_deadline_ms = 500;

/* ---- names, for the telemetry thread ------------------------------------- */

static const char *op_name(void *self, unsigned number)
{
    const takt_ctx *ctx = self;
    const takt_op *op =
        number < TAKT_OP_COUNT
            ? takt_op_at(number)
            : takt__user_ops_at(&ctx->user_ops, number - TAKT_OP_COUNT);

    return op == NULL ? NULL : op->name;
}

static const char *expert_name(void *self, unsigned number,
                               takt_backend *backend)
{
    *backend = takt__ctx_expert(self, number)->backend;
    return takt__ctx_expert(self, number)->name;
}

/* Of a change only the series is known. */
static void describe_change(const takt_ctx *ctx,
                            const struct takt_event_record *record,
                            takt_event *out)
{
    char layout[TAKT_LAYOUT_NAME];
    const takt_op *found =
        takt__ctx_op(ctx, record->series, &out->dtype, layout);

    out->op = found == NULL ? "" : found->name;
    out->elements =
        (size_t)(record->work.bytes / (double)takt_dtype_size(out->dtype));
    out->actual_s = record->actual_s;
}

static void describe(void *self, const struct takt_event_record *record,
                     takt_event *out)
{
    const takt_ctx *ctx = self;
    const struct takt_expert *expert = takt__ctx_expert(ctx, record->expert);

    *out = (takt_event){
        .kind = (takt_event_kind)record->kind,
        .told = record->told,
        .dtype = (takt_dtype)record->dtype,
        .shape = record->shape,
        .work = record->work,
        .backend = expert->backend,
        .expert = expert->name,
        .threads = expert->device != NULL ? 0 : expert->threads,
        .device = expert->device != NULL ? expert->device->known.model : "",
        .reason = (takt_reason)record->reason,
        .has_history = record->has_history,
        .runner_up = record->runner_up == record->best
                         ? ""
                         : takt__ctx_expert(ctx, record->runner_up)->name,
        .predicted_s = record->predicted_s,
        .confidence = (double)record->confidence,
        .residency = (takt_residency)record->residency,
        .refused = record->refused == record->expert
                       ? ""
                       : takt__ctx_expert(ctx, record->refused)->name,
        .refusal = (takt_status)record->refusal,
        .status = (takt_status)record->status,
        .thread_id = record->thread_id,
        .parent = record->parent,
    };
    if (record->op == NULL) {
        describe_change(ctx, record, out);
        return;
    }
    out->op = record->op->name;
    out->elements = takt_op_elements(record->op, &record->shape);
}

/* The smallest direct calls are not counted without telemetry. */
static void show(void *self, struct takt_tap *tap)
{
    takt_ctx *ctx = self;

    atomic_store(&ctx->direct.uncounted, tap == NULL ? TAKT_LEAST_TIMED : 0);
    atomic_store_explicit(&ctx->tap, tap, memory_order_release);
    takt__direct_emit_all(ctx, tap != NULL && atomic_load(&tap->is_all));
}

/* Events of calls that a GPU is still working on come when they are done; at
 * the end there is no driver left to read from. */
static void settle(void *self, bool is_last)
{
    takt_ctx *ctx = self;

    takt__ctx_collect(ctx, is_last);
    takt__learner_enter(ctx->learner);
    takt__learner_leave(ctx->learner);
}

/* ---- from the environment ------------------------------------------------ */

static double set_or(double said, double otherwise)
{
    return said < 0 ? otherwise : said;
}

static double at_most_one(double share)
{
    return share < 1 ? share : 1;
}

struct takt_tap_settings
takt__telemetry_settings(const takt_trace_options *options)
{
    const struct takt_config *config = takt__config();
    struct takt_tap_settings out = {
        .threshold_s = set_or(config->trace_threshold_s, default_threshold_s),
        .rate = set_or(config->trace_rate, default_rate),
        .hot_rate = set_or(config->hot_rate, default_hot_rate),
        .is_debugging = config->is_tracing_all,
    };

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
                                                .expert = expert_name,
                                                .show = show,
                                                .settle = settle};

    atomic_store(&ctx->direct.uncounted, TAKT_LEAST_TIMED);
    pthread_mutex_init(&ctx->export_lock, NULL);
    ctx->dispatcher = takt__dispatcher_create(
        &names, said_ms > 0 ? said_ms : default_deadline_ms);
    return ctx->dispatcher == NULL ? TAKT_ENOMEM : TAKT_OK;
}

static void set_problem(takt_ctx *ctx, const takt_diag *diag)
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
        set_problem(ctx, &diag);
}

takt_status takt__ctx_add_sink(takt_ctx *ctx, const takt_sink *sink)
{
    if (ctx->is_recorded)
        return TAKT_ENODEV;
    const takt_status status = takt__dispatcher_add(ctx->dispatcher, sink);
    if (status == TAKT_OK)
        takt__dispatcher_flush_at_exit();
    return status;
}

takt_status takt__ctx_export(takt_ctx *ctx, const takt_otlp_options *options,
                             takt_diag *diag)
{
    takt_diag own = {""};
    takt_sink sink;

    if (diag == NULL)
        diag = &own;
    diag->text[0] = '\0';
    takt_status status =
        ctx->is_recorded ? TAKT_ENODEV
                         : takt__otel_open(options, ctx->machine, &sink, diag);
    if (status == TAKT_OK) {
        status = takt__ctx_add_sink(ctx, &sink);
        if (status != TAKT_OK)
            sink.close(sink.self, 0);
    }
    if (diag->text[0] != '\0')
        set_problem(ctx, diag);
    return status;
}

/* A program computes whether or not its telemetry can be opened. */
void takt__ctx_open_telemetry(takt_ctx *ctx, const takt_ctx_options *options)
{
    const struct takt_config *config = takt__config();
    const struct takt_tap_settings settings =
        takt__telemetry_settings(&(takt_trace_options){0});

    takt__dispatcher_set(ctx->dispatcher, &settings);
    ctx->is_followed = !ctx->is_recorded && options->telemetry == NULL &&
                       !config->is_privileged;
    if (!ctx->is_followed)
        return;
    if (config->trace != NULL && config->trace[0] != '\0')
        open_stream(ctx, config->trace);
    else if (config->trace != NULL)
        ctx->is_followed = false; /* set and empty: no reader */
    if (config->is_export_asked)
        takt__ctx_export(ctx, NULL, NULL);
    if (ctx->export_problem.text[0] != '\0')
        takt__log(TAKT_LOG_ERROR, "telemetry: %s", ctx->export_problem.text);
}

/* ---- what was learned ---------------------------------------------------- */

/* Opens a stream to a reader, once for each time that one listens. */
static void follow(takt_ctx *ctx, long pid, struct takt_follower *known)
{
    char where[256];
    struct stat socket;

    if (!takt__listener_path(pid, where, sizeof where) ||
        stat(where + strlen("unix:"), &socket) != 0 ||
        (socket.st_ino == known->ino &&
         socket.st_ctim.tv_sec == known->time.tv_sec &&
         socket.st_ctim.tv_nsec == known->time.tv_nsec))
        return;
    known->ino = socket.st_ino; /* numbers are used again */
    known->time = socket.st_ctim;
    open_stream(ctx, where);
}

/* Checks once a second whether `takt trace` waits for this process, or `takt
 * top` for all. By the learner, so it costs no caller anything. */
static void check_followers(takt_ctx *ctx, uint64_t now_ns)
{
    static const uint64_t second_ns = 1000000000;

    if (!ctx->is_followed || now_ns - ctx->followers_checked_ns < second_ns)
        return;
    ctx->followers_checked_ns = now_ns;
    follow(ctx, (long)getpid(), &ctx->follower[0]);
    follow(ctx, 0, &ctx->follower[1]);
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
    check_followers(ctx, sample->start_ns);
}
