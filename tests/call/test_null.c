/* SPDX-License-Identifier: MIT */
/*
 * test_null.c - every public function, with NULL wherever it takes a pointer.
 *
 * What takt/takt.h says of NULL holds for all of them: the default context for
 * a context, TAKT_EINVAL or nothing for the rest. The list of what the library
 * exports is read, so that a new function has to be added here.
 */
#include <stdint.h>

#include "support/tap.h"
#include "takt/takt.h"

enum { most_names = 256 };
static const char *called[most_names]; /* the last one: now */
static size_t called_count;

static void begin(const char *name)
{
    REQUIRE(called_count < most_names);
    called[called_count++] = name;
}

/* `call_` of the function `name_` must answer `want_`. */
#define CASE(name_, call_, want_)                                             \
    do {                                                                      \
        begin(#name_);                                                        \
        const long long got_ = (long long)(call_);                            \
        TAP_CHECK(got_ == (long long)(want_), "%s is %lld, not %lld", #call_, \
                  got_, (long long)(want_));                                  \
    } while (0)

#define REFUSED(name_, call_) CASE(name_, call_, TAKT_EINVAL)
#define NONE(name_, call_) CASE(name_, (call_) == NULL, true)
#define SOME(name_, call_) CASE(name_, (call_) != NULL, true)

/* ---- ops -------------------------------------------------------------------
 */

#define EACH_UNARY(X) \
    X(abs)            \
    X(neg)            \
    X(sqrt)           \
    X(copy)           \
    X(exp)            \
    X(exp2)           \
    X(expm1)          \
    X(log) X(log2) X(log1p) X(sin) X(cos) X(sigmoid) X(tanh) X(relu) X(gelu)
#define EACH_BINARY(X) X(add) X(sub) X(mul) X(div)
#define EACH_REDUCTION(X) \
    X(sum)                \
    X(mean) X(max) X(min) X(argmax) X(argmin) X(norm1) X(norm2) X(variance)

#define UNARY(op_)                                              \
    REFUSED(takt_##op_##_f32, takt_##op_##_f32(1, NULL, NULL)); \
    REFUSED(takt_##op_##_f64, takt_##op_##_f64(1, NULL, NULL));
#define BINARY(op_)                                                   \
    REFUSED(takt_##op_##_f32, takt_##op_##_f32(1, NULL, NULL, NULL)); \
    REFUSED(takt_##op_##_f64, takt_##op_##_f64(1, NULL, NULL, NULL));

static void vectors_are_refused(void)
{
    EACH_UNARY(UNARY)
    EACH_REDUCTION(UNARY)
    EACH_BINARY(BINARY)
    BINARY(dot)
    REFUSED(takt_scale_f32, takt_scale_f32(1, 1, NULL, NULL));
    REFUSED(takt_scale_f64, takt_scale_f64(1, 1, NULL, NULL));
    REFUSED(takt_axpy_f32, takt_axpy_f32(1, 1, NULL, NULL));
    REFUSED(takt_axpy_f64, takt_axpy_f64(1, 1, NULL, NULL));
    REFUSED(takt_fma_f32, takt_fma_f32(1, NULL, NULL, NULL, NULL));
    REFUSED(takt_fma_f64, takt_fma_f64(1, NULL, NULL, NULL, NULL));
    REFUSED(takt_clamp_f32, takt_clamp_f32(1, 0, 1, NULL, NULL));
    REFUSED(takt_clamp_f64, takt_clamp_f64(1, 0, 1, NULL, NULL));
}

#define BIAS(op_)                                                        \
    REFUSED(takt_##op_##_f32, takt_##op_##_f32(1, 1, NULL, NULL, NULL)); \
    REFUSED(takt_##op_##_f64, takt_##op_##_f64(1, 1, NULL, NULL, NULL));
#define AXIS(op_)                                                  \
    REFUSED(takt_##op_##_f32, takt_##op_##_f32(1, 1, NULL, NULL)); \
    REFUSED(takt_##op_##_f64, takt_##op_##_f64(1, 1, NULL, NULL));
#define EACH_AXIS(X) \
    X(row_sum) X(row_mean) X(row_max) X(col_sum) X(col_mean) X(col_max)

#define MATRIX(type_)                                                        \
    REFUSED(takt_transpose_##type_,                                          \
            takt_transpose_##type_(1, 1, NULL, 0, NULL, 0));                 \
    REFUSED(takt_matmul_##type_,                                             \
            takt_matmul_##type_(1, 1, 1, NULL, NULL, NULL));                 \
    REFUSED(takt_gemm_##type_,                                               \
            takt_gemm_##type_(0, 1, 1, 1, 1, NULL, 0, NULL, 0, 0, NULL, 0)); \
    REFUSED(takt_gemv_##type_,                                               \
            takt_gemv_##type_(0, 1, 1, 1, NULL, 0, NULL, 0, NULL));          \
    REFUSED(takt_batched_matmul_##type_,                                     \
            takt_batched_matmul_##type_(1, 1, 1, 1, NULL, NULL, NULL));      \
    REFUSED(takt_cholesky_##type_,                                           \
            takt_cholesky_##type_(1, NULL, 0, NULL, 0));                     \
    REFUSED(takt_lstsq_##type_,                                              \
            takt_lstsq_##type_(1, 1, 1, NULL, 0, NULL, 0, NULL, 0));         \
    REFUSED(takt_qr_##type_, takt_qr_##type_(1, 1, NULL, 0, NULL, 0));       \
    REFUSED(takt_solve_##type_,                                              \
            takt_solve_##type_(1, 1, NULL, 0, NULL, 0, NULL, 0));

static void matrices_and_layers_are_refused(void)
{
    MATRIX(f32)
    MATRIX(f64)
    BIAS(bias_add)
    BIAS(bias_mul)
    EACH_AXIS(AXIS)
    REFUSED(takt_softmax_f32, takt_softmax_f32(1, 1, NULL, NULL));
    REFUSED(takt_layernorm_f32,
            takt_layernorm_f32(1, 1, NULL, NULL, NULL, 0, NULL));
    REFUSED(takt_conv2d_f32, takt_conv2d_f32(NULL, NULL, NULL, NULL, NULL));
    REFUSED(takt_pooling_f32, takt_pooling_f32(NULL, NULL, NULL));
    REFUSED(takt_attention_f32,
            takt_attention_f32(NULL, NULL, NULL, NULL, NULL));
}

/* ---- contexts --------------------------------------------------------------
 */

static int visit(void *self, const takt_history_row *row)
{
    (void)self;
    (void)row;
    return 0;
}

static takt_status run_nothing(const takt_call *call, void *self)
{
    (void)call;
    (void)self;
    return TAKT_OK;
}

static void count_part(void *job, unsigned part, unsigned parts)
{
    _Atomic unsigned *count = job;

    EXPECT(part < parts);
    (*count)++;
}

static int take_event(void *self, const takt_event *event)
{
    (void)self;
    (void)event;
    return 0;
}

static void close_sink(void *self, unsigned deadline_ms)
{
    (void)self;
    (void)deadline_ms;
}

static int stop(void *self, const takt_tune_progress *progress)
{
    (void)self;
    (void)progress;
    return 1;
}

static const takt_request a_sum = {.dtype = TAKT_F32,
                                   .shape = {.rank = 1, .dim = {1000}}};

static void no_context_is_the_default_one(void)
{
    takt_ctx *usual = takt_ctx_default();
    float one = 1, two = 0;
    _Atomic unsigned parts_run = 0;
    takt_call call = {.op = takt_op_find("copy"),
                      .shape = {.rank = 1, .dim = {1}},
                      .in = {&one},
                      .out = &two};
    takt_request request = a_sum;
    takt_decision decision = {.size = sizeof decision};
    takt_buffer *buffer;

    request.op = takt_op_find("sum");
    REQUIRE(usual != NULL);
    CASE(takt_run, takt_run(NULL, &call, NULL), TAKT_OK);
    CASE(takt_run_on, takt_run_on(NULL, &call, 0), TAKT_OK);
    EXPECT(two == 1);
    CASE(takt_run_parts, takt_run_parts(NULL, 5, count_part, &parts_run),
         TAKT_OK);
    EXPECT_INT(parts_run, 5);
    CASE(takt_select, takt_select(NULL, &request, &decision), TAKT_OK);
    CASE(takt_sync, takt_sync(NULL), TAKT_OK);
    begin("takt_solver_open");
    takt_solver_open(NULL);
    CASE(takt_buffer_create, takt_buffer_create(NULL, 64, NULL, &buffer),
         TAKT_OK);
    takt_buffer_destroy(buffer);
    CASE(takt_ctx_machine, takt_ctx_machine(NULL) == takt_ctx_machine(usual),
         true);
    CASE(takt_ctx_expert,
         takt_ctx_expert(NULL, 0, NULL) == takt_ctx_expert(usual, 0, NULL),
         true);
    CASE(takt_ctx_library,
         takt_ctx_library(NULL, 0) == takt_ctx_library(usual, 0), true);
    CASE(takt_ctx_library_problem,
         takt_ctx_library_problem(NULL) == takt_ctx_library_problem(usual),
         true);
    NONE(takt_ctx_gpu_problem, takt_ctx_gpu_problem(NULL, SIZE_MAX));
    begin("takt_ctx_open_gpus");
    takt_ctx_open_gpus(NULL);
    begin("takt_ctx_open_gpus_later");
    takt_ctx_open_gpus_later(NULL);
    begin("takt_ctx_default");
    CASE(takt_log_set, takt_log_set(TAKT_LOG_ERROR, NULL, NULL), TAKT_OK);
}

static void ops_and_experts_go_to_the_default_context(void)
{
    const takt_expert_spec spec = {.name = "one", .run = run_nothing};
    const takt_op *op;

    CASE(takt_ctx_define_op,
         takt_ctx_define_op(NULL, &(takt_op_spec){.name = "mine"}, &op),
         TAKT_OK);
    CASE(takt_ctx_find_op,
         takt_ctx_find_op(NULL, "mine") == op &&
             takt_ctx_find_op(takt_ctx_default(), "mine") == op,
         true);
    CASE(takt_ctx_add_expert, takt_ctx_add_expert(NULL, op, &spec), TAKT_OK);
}

static void objectives_are_those_of_the_default_context(void)
{
    unsigned number;

    CASE(takt_objective_check, takt_objective_check(NULL, NULL, NULL),
         TAKT_EINVAL);
    CASE(takt_ctx_add_objective,
         takt_ctx_add_objective(NULL, "p99", &number, NULL), TAKT_OK);
    CASE(takt_ctx_objective,
         strcmp(takt_ctx_objective(NULL, number),
                takt_ctx_objective(takt_ctx_default(), number)),
         0);
    EXPECT_INT(takt_ctx_add_objective(NULL, NULL, NULL, NULL), TAKT_EINVAL);
}

static void history_and_telemetry_are_those_of_the_default_context(void)
{
    const takt_sink sink = {.event = take_event, .close = close_sink};
    takt_request request = a_sum;
    takt_estimate estimate = {.size = sizeof estimate};
    takt_learning learning = {.size = sizeof learning};
    takt_telemetry telemetry = {.size = sizeof telemetry};
    takt_history_row row = {.size = sizeof row};
    takt_gpu_device gpu = {.size = sizeof gpu};
    size_t count;

    request.op = takt_op_find("sum");
    CASE(takt_record,
         takt_record(NULL, &(takt_measurement){.request = &request,
                                               .expert = "scalar",
                                               .seconds = 1e-6}),
         TAKT_OK);
    CASE(takt_explain, takt_explain(NULL, &request, &estimate, 1, &count),
         TAKT_OK);
    CASE(takt_ctx_learning, takt_ctx_learning(NULL, &learning), TAKT_OK);
    CASE(takt_history_read, takt_history_read(NULL, visit, NULL), TAKT_OK);
    CASE(takt_history_best, takt_history_best(NULL, &request, &row), TAKT_OK);
    CASE(takt_history_reset, takt_history_reset(NULL, NULL), TAKT_OK);
    CASE(takt_ctx_flush, takt_ctx_flush(NULL), TAKT_OK);
    CASE(takt_ctx_gpu, takt_ctx_gpu(NULL, SIZE_MAX, &gpu), TAKT_ENOENT);
    CASE(takt_ctx_trace, takt_ctx_trace(NULL, NULL), TAKT_OK);
    CASE(takt_ctx_add_sink, takt_ctx_add_sink(NULL, &sink), TAKT_OK);
    CASE(takt_ctx_telemetry, takt_ctx_telemetry(NULL, &telemetry), TAKT_OK);
    CASE(takt_tune,
         takt_tune(NULL, &(takt_tune_options){.ignores_load = 1, .watch = stop},
                   NULL),
         TAKT_OK);
    EXPECT(telemetry.is_on);
}

/* ---- what is needed --------------------------------------------------------
 */

static void what_a_context_needs_is_not_null(void)
{
    takt_request request = a_sum;
    takt_decision decision = {.size = sizeof decision};
    size_t count;

    REFUSED(takt_ctx_create, takt_ctx_create(NULL, NULL));
    REFUSED(takt_ctx_environment, takt_ctx_environment(NULL));
    REFUSED(takt_ctx_define_op, takt_ctx_define_op(NULL, NULL, NULL));
    REFUSED(takt_ctx_add_expert, takt_ctx_add_expert(NULL, NULL, NULL));
    NONE(takt_ctx_find_op, takt_ctx_find_op(NULL, NULL));
    REFUSED(takt_ctx_gpu, takt_ctx_gpu(NULL, 0, NULL));
    REFUSED(takt_ctx_add_sink, takt_ctx_add_sink(NULL, NULL));
    REFUSED(takt_ctx_telemetry, takt_ctx_telemetry(NULL, NULL));
    REFUSED(takt_ctx_learning, takt_ctx_learning(NULL, NULL));
    REFUSED(takt_ctx_write_pin, takt_ctx_write_pin(NULL, NULL, NULL));
    REFUSED(takt_run, takt_run(NULL, NULL, NULL));
    REFUSED(takt_run_on, takt_run_on(NULL, NULL, 0));
    REFUSED(takt_run_parts, takt_run_parts(NULL, 1, NULL, NULL));
    REFUSED(takt_select, takt_select(NULL, NULL, &decision));
    REFUSED(takt_select, takt_select(NULL, &request, NULL));
    REFUSED(takt_record, takt_record(NULL, NULL));
    REFUSED(takt_explain, takt_explain(NULL, NULL, NULL, 0, &count));
    REFUSED(takt_explain, takt_explain(NULL, &request, NULL, 1, &count));
    REFUSED(takt_explain, takt_explain(NULL, &request, NULL, 0, NULL));
    REFUSED(takt_history_read, takt_history_read(NULL, NULL, NULL));
    REFUSED(takt_history_best, takt_history_best(NULL, NULL, NULL));
    REFUSED(takt_buffer_create, takt_buffer_create(NULL, 1, NULL, NULL));
    REFUSED(takt_tune, takt_tune(NULL, NULL, NULL));
    begin("takt_ctx_destroy");
    takt_ctx_destroy(NULL);
    begin("takt_ctx_export"); /* depends on the environment */
    const takt_status status = takt_ctx_export(NULL, NULL, NULL);
    EXPECT(status != TAKT_EINVAL);
}

static void what_other_functions_need_is_not_null(void)
{
    char text[8] = "x";
    takt_span_context span;

    NONE(takt_buffer_address, takt_buffer_address(NULL));
    CASE(takt_buffer_bytes, takt_buffer_bytes(NULL), 0);
    REFUSED(takt_buffer_map, takt_buffer_map(NULL, TAKT_MAP_READ, NULL));
    REFUSED(takt_buffer_unmap, takt_buffer_unmap(NULL));
    begin("takt_buffer_residency");
    takt_buffer_residency(NULL, text, sizeof text);
    EXPECT_STR(text, "");
    takt_buffer_residency(NULL, NULL, 0);
    begin("takt_buffer_destroy");
    takt_buffer_destroy(NULL);
    begin("takt_machine_destroy");
    takt_machine_destroy(NULL);
    REFUSED(takt_machine_create, takt_machine_create(NULL, NULL));
    REFUSED(takt_machine_record, takt_machine_record(NULL));
    CASE(takt_machine_best_isa, takt_machine_best_isa(NULL), TAKT_ISA_SCALAR);
    REFUSED(takt_store_path, takt_store_path(NULL, 8));
    REFUSED(takt_store_merge, takt_store_merge(NULL, NULL, NULL, NULL));
    REFUSED(takt_store_export, takt_store_export(NULL, 1, NULL));
    REFUSED(takt_store_import, takt_store_import(NULL, 0, NULL, NULL));
    REFUSED(takt_span_context_parse, takt_span_context_parse(NULL, &span));
    REFUSED(takt_span_context_parse, takt_span_context_parse("", NULL));
    begin("takt_trace_parent");
    takt_trace_parent(NULL);
}

static void questions_about_nothing_have_plain_answers(void)
{
    const takt_shape shape = {.rank = 1, .dim = {1}};
    const takt_work work = {1, 1};

    NONE(takt_op_find, takt_op_find(NULL));
    NONE(takt_op_nearest, takt_op_nearest(NULL));
    NONE(takt_op_alias_at, takt_op_alias_at(SIZE_MAX, NULL));
    NONE(takt_op_at, takt_op_at(SIZE_MAX));
    REFUSED(takt_op_check_shape, takt_op_check_shape(NULL, NULL));
    CASE(takt_op_elements, takt_op_elements(NULL, NULL), 0);
    REFUSED(takt_op_work, takt_op_work(NULL, TAKT_F32, NULL, NULL));
    REFUSED(takt_op_work,
            takt_op_work(takt_op_find("sum"), TAKT_F32, &shape, NULL));
    REFUSED(takt_framework_find, takt_framework_find(NULL, NULL));
    REFUSED(takt_framework_find, takt_framework_find("numpy.add", NULL));
    CASE(takt_framework_nearest, takt_framework_nearest(NULL, NULL, 0), 0);
    CASE(takt_framework_nearest, takt_framework_nearest("nump.ad", NULL, 9), 0);
    CASE(takt_framework_recommend, takt_framework_recommend(NULL, SIZE_MAX),
         TAKT_BACKEND_SCALAR);
    NONE(takt_framework_op_at, takt_framework_op_at(SIZE_MAX));
    REFUSED(takt_solver_run, takt_solver_run(NULL, NULL));
    REFUSED(takt_solver_run_here, takt_solver_run_here(NULL, NULL));
    REFUSED(takt_cost_model_set, takt_cost_model_set(NULL, 1, 1, 1));
    const takt_cost_model usual = takt_cost_model_default();
    CASE(takt_cost_select, takt_cost_select(NULL, work),
         takt_cost_select(&usual, work));
    CASE(takt_cost_select_matmul, takt_cost_select_matmul(NULL, 9, 9, 9),
         takt_cost_select_matmul(&usual, 9, 9, 9));
    CASE(takt_cost_select_vector, takt_cost_select_vector(NULL, 9, 1),
         takt_cost_select_vector(&usual, 9, 1));
    CASE(takt_heuristic_select, takt_heuristic_select(NULL, 1),
         TAKT_BACKEND_SCALAR);
}

/* They take no pointer: any number will do. */
static void names_of_anything_are_there(void)
{
    SOME(takt_backend_key, takt_backend_key((takt_backend)99));
    SOME(takt_backend_name, takt_backend_name((takt_backend)99));
    SOME(takt_complexity_name, takt_complexity_name((takt_complexity)99));
    SOME(takt_dtype_name, takt_dtype_name((takt_dtype)99));
    SOME(takt_framework_name, takt_framework_name((takt_framework)99));
    SOME(takt_gpu_state_name, takt_gpu_state_name((takt_gpu_state)99));
    SOME(takt_isa_name, takt_isa_name((takt_isa)99));
    SOME(takt_log_level_name, takt_log_level_name((takt_log_level)99));
    SOME(takt_policy_name, takt_policy_name((takt_policy)99));
    SOME(takt_reason_name, takt_reason_name((takt_reason)99));
    SOME(takt_residency_name, takt_residency_name((takt_residency)99));
    SOME(takt_status_text, takt_status_text((takt_status)99));
    SOME(takt_version, takt_version());
    SOME(takt_duration_bounds, takt_duration_bounds());
    begin("takt_cost_model_default");
    begin("takt_cost_select_elementwise");
    begin("takt_dtype_size");
    begin("takt_framework_op_count");
    begin("takt_moe_select");
    begin("takt_moe_threshold");
    begin("takt_op_count");
    begin("takt_gpus_leave");
    takt_gpus_leave();
}

/* ---- all of them -----------------------------------------------------------
 */

static bool is_called(const char *name)
{
    for (size_t i = 0; i < called_count; i++)
        if (strcmp(called[i], name) == 0)
            return true;
    return false;
}

static void every_exported_function_was_called(void)
{
    FILE *file = fopen(TAKT_SOURCE_DIR "/tests/install/takt.symbols", "r");
    char name[128];

    REQUIRE(file != NULL);
    while (fscanf(file, "%127s", name) == 1)
        TAP_CHECK(is_called(name), "%s is exported and not called here", name);
    fclose(file);
}

int main(void)
{
    RUN(vectors_are_refused);
    RUN(matrices_and_layers_are_refused);
    RUN(no_context_is_the_default_one);
    RUN(ops_and_experts_go_to_the_default_context);
    RUN(objectives_are_those_of_the_default_context);
    RUN(history_and_telemetry_are_those_of_the_default_context);
    RUN(what_a_context_needs_is_not_null);
    RUN(what_other_functions_need_is_not_null);
    RUN(questions_about_nothing_have_plain_answers);
    RUN(names_of_anything_are_there);
    RUN(every_exported_function_was_called);
    return tap_done();
}
