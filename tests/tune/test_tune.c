/* SPDX-License-Identifier: MIT */
/*
 * test_tune.c - what was asked for is measured, learned and reported; it ends
 * when it is told to; what makes no sense is refused and measures nothing.
 *
 * No test is about times: the machine that runs them is a loaded one, which is
 * why load is ignored.
 */
#define _GNU_SOURCE /* mkdtemp() */
#include "takt/tune.h"

#include <time.h>

#include "store/scratch.h"
#include "takt/takt.h"

static takt_ctx *open_with(const takt_ctx_options *options)
{
    takt_ctx *ctx;

    REQUIRE(takt_ctx_create(options, &ctx) == TAKT_OK);
    return ctx;
}

static takt_ctx *open_ctx(void)
{
    return open_with(&(takt_ctx_options){
        .store = "", .blas = "", .gpu = "", .telemetry = "", .threads = 2});
}

static const takt_shape two_sizes[] = {{.rank = 1, .dim = {1000}},
                                       {.rank = 1, .dim = {20000}}};

/* Two ops at two sizes, f32: four cells. */
static takt_tune_options small_plan(void)
{
    static const takt_op *ops[2];

    ops[0] = takt_op_find("add");
    ops[1] = takt_op_find("sum");
    return (takt_tune_options){.size = sizeof(takt_tune_options),
                               .effort = TAKT_TUNE_QUICK,
                               .budget_s = 1000,
                               .ops = ops,
                               .op_count = 2,
                               .dtypes = 1u << TAKT_F32,
                               .shapes = two_sizes,
                               .shape_count = 2,
                               .ignores_load = 1};
}

static takt_tune_result tune(takt_ctx *ctx, const takt_tune_options *options)
{
    takt_tune_result result = {.size = sizeof result};

    EXPECT_INT(takt_tune(ctx, options, &result), TAKT_OK);
    EXPECT_INT(result.learned, TAKT_OK);
    EXPECT_INT(result.stored, TAKT_OK);
    return result;
}

static bool is_known(takt_ctx *ctx, const char *op, size_t n)
{
    const takt_request request = {.op = takt_op_find(op),
                                  .shape = {.rank = 1, .dim = {n}}};
    takt_history_row row = {.size = sizeof row};

    return takt_history_best(ctx, &request, &row) == TAKT_OK;
}

static int count_row(void *self, const takt_history_row *row)
{
    *(double *)self += row->samples;
    return 0;
}

static double samples_in(takt_ctx *ctx)
{
    double samples = 0;

    EXPECT_INT(takt_history_read(ctx, count_row, &samples), TAKT_OK);
    return samples;
}

/* ---- what is measured ------------------------------------------------------
 */

static void what_was_asked_for_is_in_the_history(void)
{
    const takt_tune_options options = small_plan();
    takt_ctx *ctx = open_ctx(), *other = open_ctx();
    const takt_tune_result result = tune(ctx, &options);

    EXPECT_INT(result.end, TAKT_TUNE_COMPLETE);
    EXPECT_INT(result.size, sizeof result);
    EXPECT_INT(result.cells, 4);
    EXPECT_INT(result.known_cells, 0);
    EXPECT_INT(result.gpus, 0);
    EXPECT_INT(result.gpu_samples, 0);
    EXPECT_INT(result.discarded, 0);
    EXPECT(result.samples > 0 && result.seconds > 0);
    EXPECT(samples_in(ctx) >= (double)result.samples * 0.999);
    EXPECT(is_known(ctx, "add", 1000) && is_known(ctx, "add", 20000));
    EXPECT(is_known(ctx, "sum", 1000) && is_known(ctx, "sum", 20000));
    EXPECT(!is_known(ctx, "mul", 1000) && !is_known(ctx, "add", 1000000));
    EXPECT(samples_in(other) == 0);
    takt_ctx_destroy(other);
    takt_ctx_destroy(ctx);
}

/* Experts that were beaten at first may be looked at again once or twice. */
static void what_is_known_is_not_measured_again(void)
{
    const takt_tune_options options = small_plan();
    takt_ctx *ctx = open_ctx();
    takt_tune_result result = tune(ctx, &options);

    for (int i = 0; i < 20 && (result.cells > 0 || result.samples > 0); i++)
        result = tune(ctx, &options);
    EXPECT_INT(result.cells, 0);
    EXPECT_INT(result.samples, 0);
    EXPECT_INT(result.known_cells, 4);
    EXPECT_INT(result.end, TAKT_TUNE_COMPLETE);
    takt_ctx_destroy(ctx);
}

static int is_scalar(void *self, const takt_history_row *row)
{
    EXPECT(row->samples == 0 || strcmp(row->expert, "scalar") == 0);
    return *(int *)self;
}

static void experts_can_be_chosen(void)
{
    static const char *const names[] = {"Scalar", "no.such"};
    takt_tune_options options = small_plan();
    takt_ctx *ctx = open_ctx();
    takt_tune_result result = {.size = 0};
    int go_on = 0;

    options.experts = names;
    options.expert_count = 2;
    EXPECT_INT(takt_tune(ctx, &options, &result), TAKT_ENODEV);
    EXPECT(samples_in(ctx) == 0);
    options.expert_count = 1;
    result = tune(ctx, &options);
    EXPECT_INT(result.cells, 4);
    EXPECT_INT(takt_history_read(ctx, is_scalar, &go_on), TAKT_OK);
    takt_ctx_destroy(ctx);
}

static void sizes_are_measured_with_the_ops_they_fit(void)
{
    const takt_op *ops[] = {takt_op_find("add"), takt_op_find("matmul")};
    const takt_shape shapes[] = {{.rank = 1, .dim = {100}},
                                 {.rank = 3, .dim = {8, 8, 8}}};
    takt_tune_options options = small_plan();
    takt_ctx *ctx = open_ctx();

    options.ops = ops;
    options.shapes = shapes;
    options.dtypes = 0;
    const takt_tune_result result = tune(ctx, &options);
    EXPECT_INT(result.cells, 4); /* of both element types */
    takt_ctx_destroy(ctx);
}

static void no_context_is_the_default_one(void)
{
    const takt_tune_options options = small_plan();

    EXPECT_INT(takt_tune(NULL, &options, NULL), TAKT_OK);
    EXPECT(is_known(takt_ctx_default(), "sum", 1000));
}

static void what_was_learned_is_stored(void)
{
    const takt_tune_options options = small_plan();
    const takt_ctx_options stored = {
        .store = scratch_path(), .blas = "", .gpu = "", .telemetry = ""};
    takt_learning learning = {.size = sizeof learning};
    takt_ctx *ctx = open_with(&stored);
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    if (!learning.is_stored) {
        SKIP("this build has no store");
    } else {
        tune(ctx, &options);
        takt_ctx *later = open_with(&stored);
        EXPECT(is_known(later, "add", 20000));
        takt_ctx_destroy(later);
    }
    takt_ctx_destroy(ctx);
}

/* ---- progress, and its end -------------------------------------------------
 */

struct watcher {
    size_t calls, in_stage[4];
    size_t stop_at;      /* that call; 0: never */
    size_t second_op_at; /* stop at that call while the second op is measured */
    size_t second_op;    /* calls while it is */
    const takt_op *first; /* op that was measured */
    takt_dtype first_dtype;
    bool is_over; /* it was asked to stop */
};

static int watch(void *self, const takt_tune_progress *progress)
{
    struct watcher *watcher = self;

    EXPECT(!watcher->is_over);
    EXPECT(progress->done >= 0 && progress->done <= 1);
    EXPECT(progress->left_s >= 0);
    REQUIRE(progress->stage <= TAKT_TUNE_WAITING);
    watcher->calls++;
    watcher->in_stage[progress->stage]++;
    if (progress->stage == TAKT_TUNE_TRANSFERS)
        EXPECT_STR(progress->expert, "cuda.0");
    if (progress->stage == TAKT_TUNE_MEASURING) {
        EXPECT_INT(takt_op_check_shape(progress->op, &progress->shape),
                   TAKT_OK);
        if (watcher->first == NULL) {
            watcher->first = progress->op;
            watcher->first_dtype = progress->dtype;
        }
        watcher->second_op += progress->op != watcher->first;
    }
    watcher->is_over =
        (watcher->stop_at > 0 && watcher->calls == watcher->stop_at) ||
        (watcher->second_op_at > 0 &&
         watcher->second_op == watcher->second_op_at);
    return watcher->is_over ? -1 : 0;
}

static takt_tune_result tune_watched(takt_ctx *ctx, takt_tune_options *options,
                                     struct watcher *watcher)
{
    options->watch = watch;
    options->self = watcher;
    return tune(ctx, options);
}

static void progress_is_reported(void)
{
    takt_tune_options options = small_plan();
    struct watcher watcher = {.calls = 0};
    takt_ctx *ctx = open_ctx();
    const takt_tune_result result = tune_watched(ctx, &options, &watcher);

    EXPECT_INT(result.end, TAKT_TUNE_COMPLETE);
    EXPECT(watcher.in_stage[TAKT_TUNE_STARTING] > 0);
    EXPECT(watcher.in_stage[TAKT_TUNE_MEASURING] >= 4);
    EXPECT_INT(watcher.in_stage[TAKT_TUNE_TRANSFERS], 0);
    EXPECT(watcher.first == takt_op_find("add"));
    EXPECT(watcher.second_op >= 2);
    takt_ctx_destroy(ctx);
}

static void stopped_at_once_it_has_measured_nothing(void)
{
    takt_tune_options options = small_plan();
    struct watcher watcher = {.stop_at = 1};
    takt_ctx *ctx = open_ctx();
    const takt_tune_result result = tune_watched(ctx, &options, &watcher);

    EXPECT_INT(result.end, TAKT_TUNE_STOPPED);
    EXPECT_INT(watcher.calls, 1);
    EXPECT_INT(result.cells, 0);
    EXPECT_INT(result.samples, 0);
    EXPECT(samples_in(ctx) == 0);
    takt_ctx_destroy(ctx);
}

/* Both sizes of the first op come before the second op. */
static void stopped_later_it_has_learned_what_came_before(void)
{
    takt_tune_options options = small_plan();
    struct watcher watcher = {.second_op_at = 1};
    takt_ctx *ctx = open_ctx();
    takt_tune_result result = tune_watched(ctx, &options, &watcher);

    EXPECT_INT(result.end, TAKT_TUNE_STOPPED);
    EXPECT(result.samples > 0);
    EXPECT(is_known(ctx, "add", 1000) && is_known(ctx, "add", 20000));
    EXPECT(!is_known(ctx, "sum", 1000));
    watcher = (struct watcher){.calls = 0};
    result = tune_watched(ctx, &options, &watcher);
    EXPECT_INT(result.end, TAKT_TUNE_COMPLETE);
    EXPECT(is_known(ctx, "sum", 1000) && is_known(ctx, "sum", 20000));
    takt_ctx_destroy(ctx);
}

static void without_time_nothing_is_measured(void)
{
    takt_tune_options options = small_plan();
    takt_ctx *ctx = open_ctx();

    options.budget_s = 1e-9;
    takt_tune_result result = tune(ctx, &options);
    EXPECT_INT(result.end, TAKT_TUNE_TIME_UP);
    EXPECT_INT(result.cells, 0);
    EXPECT_INT(result.samples, 0);
    EXPECT(samples_in(ctx) == 0);
    takt_ctx_destroy(ctx);
}

/* The callback returns when there is no time left. */
static int use_up_the_time(void *self, const takt_tune_progress *progress)
{
    const struct timespec left = {.tv_sec = (time_t)progress->left_s + 1};

    if (progress->stage == TAKT_TUNE_MEASURING) {
        ++*(size_t *)self;
        nanosleep(&left, NULL);
    }
    return 0;
}

static void the_time_limit_ends_it_at_the_next_turn(void)
{
    takt_tune_options options = small_plan();
    takt_ctx *ctx = open_ctx();
    size_t calls = 0;

    options.budget_s = 0.5;
    options.watch = use_up_the_time;
    options.self = &calls;
    const takt_tune_result result = tune(ctx, &options);
    EXPECT_INT(result.end, TAKT_TUNE_TIME_UP);
    EXPECT(calls <= 1);
    EXPECT_INT(result.samples, 0);
    EXPECT(samples_in(ctx) == 0);
    takt_ctx_destroy(ctx);
}

static void the_usual_plan_begins_with_what_matters_most(void)
{
    takt_tune_options options = {
        .effort = TAKT_TUNE_QUICK, .budget_s = 1000, .ignores_load = 1};
    struct watcher watcher = {.stop_at = 4};
    takt_ctx *ctx = open_ctx();
    const takt_tune_result result = tune_watched(ctx, &options, &watcher);

    EXPECT_INT(result.end, TAKT_TUNE_STOPPED);
    EXPECT(watcher.first == takt_op_find("matmul"));
    EXPECT_INT(watcher.first_dtype, TAKT_F32);
    takt_ctx_destroy(ctx);
}

/* ---- GPUs ------------------------------------------------------------------
 */

static int count_resident(void *self, const takt_history_row *row)
{
    if ((row->situation & TAKT_SITUATION_ON_GPU) != 0 && row->samples > 0) {
        EXPECT_STR(row->expert, "cuda.0");
        *(double *)self += row->samples;
    }
    return 0;
}

static void a_gpu_is_measured_with_operands_on_either_side(void)
{
    const takt_op *ops[] = {takt_op_find("add"), takt_op_find("axpy"),
                            takt_op_find("sum")};
    takt_tune_options options = small_plan();
    struct watcher watcher = {.calls = 0};
    double resident = 0;
    takt_ctx *ctx = open_with(&(takt_ctx_options){
        .store = "", .blas = "", .gpu = "all", .telemetry = ""});

    options.ops = ops;
    options.op_count = 3;
    options.shape_count = 1;
    const takt_tune_result result = tune_watched(ctx, &options, &watcher);
    EXPECT_INT(result.gpus, 1);
    EXPECT_INT(result.cells, 3);
    EXPECT(watcher.in_stage[TAKT_TUNE_TRANSFERS] > 0);
    EXPECT_INT(takt_history_read(ctx, count_resident, &resident), TAKT_OK);
    EXPECT(resident > 0 && result.gpu_samples > 0);
    EXPECT(result.gpu_samples < result.samples);
    takt_ctx_destroy(ctx);
}

static void a_gpu_that_is_not_chosen_takes_no_part(void)
{
    static const char *const names[] = {"scalar"};
    takt_tune_options options = small_plan();
    takt_ctx *ctx = open_with(&(takt_ctx_options){
        .store = "", .blas = "", .gpu = "all", .telemetry = ""});

    options.experts = names;
    options.expert_count = 1;
    const takt_tune_result result = tune(ctx, &options);
    EXPECT_INT(result.gpus, 0);
    EXPECT_INT(result.gpu_samples, 0);
    takt_ctx_destroy(ctx);
}

/* ---- what is refused -------------------------------------------------------
 */

static int never(void *self, const takt_tune_progress *progress)
{
    (void)self;
    EXPECT(progress == NULL); /* it is not called */
    return 1;
}

static takt_tune_options refused_plan(void)
{
    takt_tune_options options = small_plan();

    options.watch = never;
    return options;
}

#define REFUSED(status_, ...)                                \
    do {                                                     \
        takt_tune_options options_ = refused_plan();         \
        takt_tune_options *o = &options_;                    \
        __VA_ARGS__;                                         \
        EXPECT_INT(takt_tune(ctx, o, NULL), TAKT_##status_); \
    } while (0)

static void bad_options_are_refused(void)
{
    static const char *const no_name[] = {NULL};
    const takt_op *reshape = takt_op_find("reshape"), *none = NULL;
    const takt_op *softmax = takt_op_find("softmax");
    takt_ctx *ctx = open_ctx();

    EXPECT_INT(takt_tune(ctx, NULL, NULL), TAKT_EINVAL);
    REFUSED(EINVAL, o->effort = (takt_tune_effort)3);
    REFUSED(EINVAL, o->effort = (takt_tune_effort)-1);
    REFUSED(EINVAL, o->budget_s = -1);
    REFUSED(EINVAL, o->budget_s = (double)NAN);
    REFUSED(EINVAL, o->budget_s = (double)INFINITY);
    REFUSED(EINVAL, o->dtypes = 4);
    REFUSED(EINVAL, o->ops = NULL);
    REFUSED(EINVAL, o->op_count = 0);
    REFUSED(EINVAL, o->shapes = NULL);
    REFUSED(EINVAL, o->shape_count = 0);
    REFUSED(EINVAL, o->expert_count = 1);
    REFUSED(EINVAL, o->experts = no_name);
    REFUSED(EINVAL, o->experts = no_name; o->expert_count = 1);
    REFUSED(EINVAL, o->ops = &none; o->op_count = 1);
    REFUSED(EINVAL, o->ops = &reshape; o->op_count = 1);
    REFUSED(EINVAL, o->ops = &softmax; o->op_count = 1;
            o->dtypes = 1u << TAKT_F64);
    EXPECT(samples_in(ctx) == 0);
    takt_ctx_destroy(ctx);
}

static void ops_of_the_user_are_refused(void)
{
    takt_ctx *ctx = open_ctx(), *other = open_ctx();
    const takt_op *mine;

    REQUIRE(takt_ctx_define_op(ctx, &(takt_op_spec){.name = "mine"}, &mine) ==
            TAKT_OK);
    REFUSED(EINVAL, o->ops = &mine; o->op_count = 1);
    EXPECT_INT(takt_tune(other,
                         &(takt_tune_options){
                             .ops = &mine, .op_count = 1, .watch = never},
                         NULL),
               TAKT_EINVAL);
    takt_ctx_destroy(other);
    takt_ctx_destroy(ctx);
}

static void shapes_that_fit_no_op_are_refused(void)
{
    static const takt_shape wrong[] = {
        {.rank = 2, .dim = {4, 4}},
        {.rank = 0},
        {.rank = 1, .dim = {0}},
        {.rank = TAKT_SHAPE_MAX_RANK + 1, .dim = {4}},
    };
    takt_ctx *ctx = open_ctx();

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        REFUSED(ESHAPE, o->shapes = &wrong[i]; o->shape_count = 1);
    takt_ctx_destroy(ctx);
}

static void a_context_that_learns_nothing_is_refused(void)
{
    const char *machine = TAKT_SOURCE_DIR "/tests/fixtures/machines/haswell-4";
    static const char text[] = "takt pin 1\nend\n";
    const char *pin = scratch_path();
    const int file = open(pin, O_WRONLY | O_CREAT, 0600);

    takt_ctx *ctx = open_with(&(takt_ctx_options){.recording = machine});
    REFUSED(ENOTSUP, (void)o);
    takt_ctx_destroy(ctx);
    REQUIRE(file >= 0 && write(file, text, sizeof text - 1) > 0);
    close(file);
    ctx = open_with(&(takt_ctx_options){.policy = TAKT_POLICY_PINNED,
                                        .pin = pin,
                                        .store = "",
                                        .blas = "",
                                        .gpu = "",
                                        .telemetry = ""});
    REFUSED(ENOTSUP, (void)o);
    takt_ctx_destroy(ctx);
}

/* ---- structs of other versions ---------------------------------------------
 */

static void options_of_another_version_are_read(void)
{
    struct {
        takt_tune_options known;
        size_t later;
    } options = {.known = small_plan()};
    takt_ctx *ctx = open_ctx();

    options.known.size = 0; /* the first one */
    tune(ctx, &options.known);
    options.known.size = sizeof options;
    tune(ctx, &options.known);
    options.later = 1; /* which this one cannot do */
    EXPECT_INT(takt_tune(ctx, &options.known, NULL), TAKT_EINVAL);
    options.known.size = sizeof options.known - 1;
    EXPECT_INT(takt_tune(ctx, &options.known, NULL), TAKT_EINVAL);
    takt_ctx_destroy(ctx);
}

static void a_result_of_another_version_is_written(void)
{
    struct {
        takt_tune_result known;
        size_t later;
    } result = {.known = {.size = sizeof result}, .later = 77};
    const takt_tune_options options = small_plan();
    takt_ctx *ctx = open_ctx();

    EXPECT_INT(takt_tune(ctx, &options, &result.known), TAKT_OK);
    EXPECT_INT(result.known.size, sizeof result);
    EXPECT_INT(result.known.cells, 4);
    EXPECT_INT(result.later, 77);
    result.known = (takt_tune_result){.size = 0};
    EXPECT_INT(takt_tune(ctx, &options, &result.known), TAKT_OK);
    EXPECT(result.known.seconds > 0);
    result.known = (takt_tune_result){.size = 1};
    EXPECT_INT(takt_tune(ctx, &options, &result.known), TAKT_EINVAL);
    EXPECT(result.known.seconds == 0);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    scratch_make();
    setenv("TAKT_CUDA", TAKT_FAKE_CUDA, 1);
    setenv("TAKT_CUBLAS", "", 1);
    setenv("TAKT_VULKAN", "/nowhere/libvulkan.so.1", 1);
    setenv("TAKT_DB", "", 1);
    RUN(what_was_asked_for_is_in_the_history);
    RUN(what_is_known_is_not_measured_again);
    RUN(experts_can_be_chosen);
    RUN(sizes_are_measured_with_the_ops_they_fit);
    RUN(no_context_is_the_default_one);
    RUN(what_was_learned_is_stored);
    RUN(progress_is_reported);
    RUN(stopped_at_once_it_has_measured_nothing);
    RUN(stopped_later_it_has_learned_what_came_before);
    RUN(without_time_nothing_is_measured);
    RUN(the_time_limit_ends_it_at_the_next_turn);
    RUN(the_usual_plan_begins_with_what_matters_most);
    RUN(a_gpu_is_measured_with_operands_on_either_side);
    RUN(a_gpu_that_is_not_chosen_takes_no_part);
    RUN(bad_options_are_refused);
    RUN(ops_of_the_user_are_refused);
    RUN(shapes_that_fit_no_op_are_refused);
    RUN(a_context_that_learns_nothing_is_refused);
    RUN(options_of_another_version_are_read);
    RUN(a_result_of_another_version_is_written);
    return tap_done();
}
