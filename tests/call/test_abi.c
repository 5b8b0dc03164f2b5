/* SPDX-License-Identifier: MIT */
/*
 * test_abi.c - structs of programs that were compiled with another version.
 *
 * A struct of an earlier version is shorter, one of a later version longer: see
 * takt/takt.h. The rule is tested on a struct of the test's own, which has had
 * two versions, and then on each public struct.
 */
#include <stdint.h>
#include <unistd.h>

#include "base/sized.h"
#include "support/tap.h"
#include "takt/takt.h"

enum { later_bytes = 24, mark = 0x5a };

/* ---- the rule --------------------------------------------------------------
 */

struct versions {
    size_t size;
    int old, older;
    double added; /* in the second version */
    int also_added;
};

static const size_t first = offsetof(struct versions, added);

static bool read_versions(const void *given, struct versions *out)
{
    return takt__sized_read_as(given, first, sizeof *out, out);
}

static void what_an_old_caller_does_not_know_is_zero(void)
{
    struct versions given = {0, 1, 2, 3, 4}, read;

    for (size_t size = 0; size <= first; size += first) { /* 0 is `first` */
        given.size = size;
        memset(&read, mark, sizeof read);
        EXPECT(read_versions(&given, &read));
        EXPECT_INT(read.size, sizeof read);
        EXPECT_INT(read.old, 1);
        EXPECT_INT(read.older, 2);
        EXPECT(read.added == 0 && read.also_added == 0);
    }
    given.size = offsetof(struct versions, also_added);
    EXPECT(read_versions(&given, &read));
    EXPECT(read.added == 3 && read.also_added == 0);
    given.size = sizeof given;
    EXPECT(read_versions(&given, &read));
    EXPECT(read.added == 3 && read.also_added == 4);
    for (size_t size = 1; size < first; size++) {
        given.size = size;
        EXPECT(!read_versions(&given, &read));
    }
}

static void an_old_caller_gets_no_byte_beyond_its_struct(void)
{
    const struct versions from = {sizeof from, 1, 2, 3, 4};
    union {
        struct versions is;
        unsigned char byte[sizeof(struct versions) + later_bytes];
    } out;

    for (size_t size = 0; size <= sizeof out; size += sizeof(int)) {
        memset(&out, mark, sizeof out);
        out.is.size = size;
        takt__sized_fill_as(&out, first, sizeof from, &from);
        const size_t least = size == 0 ? first : size < first ? 0 : size;
        const size_t known = least < sizeof from ? least : sizeof from;
        EXPECT_INT(out.is.size, size);
        for (size_t i = sizeof size; i < sizeof out; i++)
            EXPECT_INT(out.byte[i],
                       i < known ? ((const unsigned char *)&from)[i] : mark);
    }
}

/* ---- structs that are read -------------------------------------------------
 */

/* The struct with members after it that a later version might have. */
union later {
    size_t size;
    takt_call call;
    takt_ctx_options ctx_options;
    takt_request request;
    takt_measurement measurement;
    takt_op_spec op_spec;
    takt_expert_spec expert_spec;
    takt_sink sink;
    takt_trace_options trace_options;
    takt_otlp_options otlp_options;
    takt_conv2d conv2d;
    takt_pooling pooling;
    takt_attention attention;
    takt_decision decision;
    takt_gpu_device gpu;
    takt_learning learning;
    takt_telemetry telemetry;
    takt_history_row row;
    takt_store_report store_report;
    takt_estimate estimate;
    unsigned char byte[sizeof(takt_telemetry) + later_bytes];
};

static takt_ctx *ctx;
static takt_request a_sum;
static float in[8], out[8];

typedef takt_status use_struct(union later *given);

static takt_status run(union later *given)
{
    return takt_run(ctx, &given->call, NULL);
}

static takt_status run_on(union later *given)
{
    return takt_run_on(ctx, &given->call, 0);
}

static takt_status create(union later *given)
{
    takt_ctx *made;
    const takt_status status = takt_ctx_create(&given->ctx_options, &made);

    takt_ctx_destroy(made);
    return status;
}

static takt_status select_it(union later *given)
{
    return takt_select(ctx, &given->request, &(takt_decision){0});
}

static takt_status explain(union later *given)
{
    takt_estimate estimate = {0};
    size_t count;

    return takt_explain(ctx, &given->request, &estimate, 1, &count);
}

static takt_status best(union later *given)
{
    return takt_history_best(ctx, &given->request, &(takt_history_row){0});
}

static takt_status record(union later *given)
{
    return takt_record(ctx, &given->measurement);
}

static takt_status record_request(union later *given)
{
    return takt_record(ctx, &(takt_measurement){.request = &given->request,
                                                .expert = "scalar",
                                                .seconds = 1e-6});
}

static takt_status define(union later *given)
{
    static char name[] = "own.a";
    const takt_op *op;

    given->op_spec.name = name;
    name[4]++; /* each time another one */
    return takt_ctx_define_op(ctx, &given->op_spec, &op);
}

static takt_status add_expert(union later *given)
{
    static char name[] = "a";

    given->expert_spec.name = name;
    name[0]++;
    return takt_ctx_add_expert(ctx, takt_op_find("sum"), &given->expert_spec);
}

static int on_event(void *self, const takt_event *event)
{
    (void)self;
    (void)event;
    return 0;
}

static void on_close(void *self, unsigned deadline_ms)
{
    (void)self;
    (void)deadline_ms;
}

static takt_status add_sink(union later *given)
{
    return takt_ctx_add_sink(ctx, &given->sink);
}

static takt_status trace(union later *given)
{
    return takt_ctx_trace(ctx, &given->trace_options);
}

static takt_status convolve(union later *given)
{
    return takt_conv2d_f32(&given->conv2d, in, in, NULL, out);
}

static takt_status pool(union later *given)
{
    return takt_pooling_f32(&given->pooling, in, out);
}

static takt_status attend(union later *given)
{
    return takt_attention_f32(&given->attention, in, in, in, out);
}

/* Whatever comes of it, if the struct is accepted. */
static takt_status export_it(union later *given)
{
    const takt_status status = takt_ctx_export(ctx, &given->otlp_options, NULL);
    return status == TAKT_EINVAL ? TAKT_EINVAL : TAKT_OK;
}

/* `oldest`: the size of its first version. */
static void read_in_all_sizes(const char *name, size_t oldest, size_t own,
                              use_struct *use, union later given)
{
    const struct {
        size_t size;
        unsigned char later;
        takt_status status;
    } cases[] = {{0, 1, TAKT_OK}, /* what follows is not looked at */
                 {own, 1, TAKT_OK},
                 {own + later_bytes, 0, TAKT_OK},
                 {own + later_bytes, 1, TAKT_EINVAL},
                 {oldest, 1, TAKT_OK},
                 {oldest - 1, 0, TAKT_EINVAL}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        given.size = cases[i].size;
        memset(given.byte + own, 0, later_bytes);
        given.byte[own + later_bytes - 1] = cases[i].later;
        const takt_status status = use(&given);
        TAP_CHECK(status == cases[i].status, "%s of %zu bytes: %s", name,
                  cases[i].size, takt_status_text(status));
    }
}

#define READ(use_, member_, ...)                                     \
    read_in_all_sizes(#use_, sizeof(((union later *)NULL)->member_), \
                      sizeof(((union later *)NULL)->member_), use_,  \
                      (union later){.member_ = __VA_ARGS__})
#define READ_GROWN(use_, member_, type_, added_, ...)                      \
    read_in_all_sizes(#use_, offsetof(type_, added_), sizeof(type_), use_, \
                      (union later){.member_ = __VA_ARGS__})

static void structs_that_are_read_may_be_of_any_version(void)
{
    const takt_call call = {.op = a_sum.op,
                            .shape = {.rank = 1, .dim = {8}},
                            .in = {in},
                            .out = out};

    READ(run, call, call);
    READ(run_on, call, call);
    READ_GROWN(create, ctx_options, takt_ctx_options, objective,
               {.store = "", .telemetry = ""});
    READ_GROWN(select_it, request, takt_request, objective, a_sum);
    READ_GROWN(explain, request, takt_request, objective, a_sum);
    READ_GROWN(record_request, request, takt_request, objective, a_sum);
    READ_GROWN(best, request, takt_request, objective, a_sum);
    READ(record, measurement,
         {.request = &a_sum, .expert = "scalar", .seconds = 1e-6});
    READ(define, op_spec, {.complexity = TAKT_COMPLEXITY_LOW});
    READ(add_expert, expert_spec, {.backend = TAKT_BACKEND_SIMD});
    READ(add_sink, sink, {.event = on_event, .close = on_close});
    READ(trace, trace_options, {.rate = 0.5});
    READ(convolve, conv2d,
         {.batch = 1,
          .channels = 1,
          .height = 2,
          .width = 2,
          .filters = 1,
          .rows = 1,
          .cols = 1});
    READ(pool, pooling,
         {.batch = 1, .channels = 1, .height = 2, .width = 2, .window = 1});
    READ(attend, attention,
         {.batch = 1, .heads = 1, .queries = 1, .keys = 1, .depth = 1});
    READ(export_it, otlp_options, {.file = "/dev/null"});
}

/* ---- structs that are filled -----------------------------------------------
 */

static takt_status fill_by_run(union later *given)
{
    const takt_call call = {.op = a_sum.op,
                            .shape = {.rank = 1, .dim = {8}},
                            .in = {in},
                            .out = out};

    return takt_run(ctx, &call, &given->decision);
}

static takt_status fill_by_select(union later *given)
{
    return takt_select(ctx, &a_sum, &given->decision);
}

static takt_status fill_gpu(union later *given)
{
    const takt_status status = takt_ctx_gpu(ctx, SIZE_MAX, &given->gpu);
    return status == TAKT_ENOENT ? TAKT_OK : status;
}

static takt_status fill_learning(union later *given)
{
    return takt_ctx_learning(ctx, &given->learning);
}

static takt_status fill_telemetry(union later *given)
{
    return takt_ctx_telemetry(ctx, &given->telemetry);
}

static takt_status fill_row(union later *given)
{
    return takt_history_best(ctx, &a_sum, &given->row);
}

static takt_status fill_options(union later *given)
{
    return takt_ctx_environment(&given->ctx_options);
}

static takt_status fill_estimate(union later *given)
{
    size_t count;
    return takt_explain(ctx, &a_sum, &given->estimate, 1, &count);
}

static takt_status fill_import(union later *given)
{
    const takt_status status = takt_store_import("/dev/null/none", STDIN_FILENO,
                                                 &given->store_report, NULL);
    return status == TAKT_EINVAL ? status : TAKT_OK;
}

static takt_status fill_merge(union later *given)
{
    const takt_status status = takt_store_merge(
        "/dev/null/none", "/dev/null/none", &given->store_report, NULL);
    return status == TAKT_EINVAL ? status : TAKT_OK;
}

static bool is_all_mark(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != mark)
            return false;
    return true;
}

/* `oldest`: the size of its first version. */
static void fill_in_all_sizes(const char *name, size_t oldest, size_t own,
                              use_struct *use)
{
    const size_t sizes[] = {0, oldest, own, own + later_bytes};
    union later given;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(&given, mark, sizeof given);
        given.size = sizes[i];
        TAP_CHECK(use(&given) == TAKT_OK, "%s of %zu bytes", name, sizes[i]);
        EXPECT_INT(given.size, sizes[i]);
        EXPECT(!is_all_mark(given.byte + sizeof given.size,
                            oldest - sizeof given.size));
        const size_t filled = sizes[i] < own ? oldest : own;
        EXPECT(is_all_mark(given.byte + filled, own - filled + later_bytes));
    }
    memset(&given, mark, sizeof given);
    given.size = oldest - 1;
    TAP_CHECK(use(&given) == TAKT_EINVAL, "%s that is too short", name);
    EXPECT(is_all_mark(given.byte + sizeof given.size, own));
}

#define FILL(use_, member_)                                          \
    fill_in_all_sizes(#use_, sizeof(((union later *)NULL)->member_), \
                      sizeof(((union later *)NULL)->member_), use_)
#define FILL_GROWN(use_, type_, added_) \
    fill_in_all_sizes(#use_, offsetof(type_, added_), sizeof(type_), use_)

static void structs_that_are_filled_may_be_of_any_version(void)
{
    FILL_GROWN(fill_by_run, takt_decision, transfer_s);
    FILL_GROWN(fill_by_select, takt_decision, transfer_s);
    FILL_GROWN(fill_gpu, takt_gpu_device, is_shared);
    FILL(fill_learning, learning);
    FILL(fill_telemetry, telemetry);
    FILL_GROWN(fill_row, takt_history_row, p95_s);
    FILL_GROWN(fill_options, takt_ctx_options, objective);
    FILL_GROWN(fill_estimate, takt_estimate, machines);
    FILL(fill_import, store_report);
    FILL(fill_merge, store_report);
}

/* The first element of an array has the size of all. */
static void estimates_are_as_far_apart_as_the_caller_has_them(void)
{
    struct {
        takt_estimate known;
        unsigned char later[later_bytes];
    } wide[2];
    takt_estimate plain[2] = {{.size = sizeof plain[0]}};
    size_t count;

    memset(wide, mark, sizeof wide);
    wide[0].known.size = sizeof wide[0];
    EXPECT_INT(takt_explain(ctx, &a_sum, &wide[0].known, 2, &count), TAKT_OK);
    REQUIRE(count == 2);
    EXPECT_INT(takt_explain(ctx, &a_sum, plain, 2, &count), TAKT_OK);
    for (size_t i = 0; i < 2; i++) {
        EXPECT_INT(wide[i].known.size, sizeof wide[0]);
        EXPECT_STR(wide[i].known.expert, plain[i].expert);
        EXPECT(is_all_mark(wide[i].later, later_bytes));
    }
}

/* What the library hands to the user's code has a size, too. */

static size_t row_size, call_size;

static int visit(void *self, const takt_history_row *row)
{
    (void)self;
    row_size = row->size;
    return 1;
}

static takt_status run_own(const takt_call *call, void *self)
{
    (void)self;
    call_size = call->size;
    return TAKT_OK;
}

static void what_is_handed_out_has_its_size(void)
{
    takt_call call = {.shape = {.rank = 1, .dim = {1}}};
    union later wide = {0};
    const takt_op *op;
    const takt_expert_spec spec = {.name = "mine", .run = run_own};

    EXPECT_INT(takt_history_read(ctx, visit, NULL), TAKT_OK);
    EXPECT_INT(row_size, sizeof(takt_history_row));
    EXPECT_INT(takt_ctx_define_op(ctx, &(takt_op_spec){.name = "handed"}, &op),
               TAKT_OK);
    EXPECT_INT(takt_ctx_add_expert(ctx, op, &spec), TAKT_OK);
    call.op = op;
    for (size_t size = 0; size <= sizeof call; size += sizeof call) {
        call.size = size;
        EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
        EXPECT(call_size == size);
    }
    wide.call = call;
    wide.size = sizeof call + later_bytes;
    EXPECT_INT(takt_run(ctx, &wide.call, NULL), TAKT_OK);
    EXPECT_INT(call_size, sizeof(takt_call));
}

int main(void)
{
    const takt_ctx_options options = {.store = "", .telemetry = ""};

    REQUIRE(takt_ctx_create(&options, &ctx) == TAKT_OK);
    a_sum = (takt_request){.op = takt_op_find("sum"),
                           .shape = {.rank = 1, .dim = {8}}};
    RUN(what_an_old_caller_does_not_know_is_zero);
    RUN(an_old_caller_gets_no_byte_beyond_its_struct);
    RUN(structs_that_are_read_may_be_of_any_version);
    RUN(structs_that_are_filled_may_be_of_any_version);
    RUN(estimates_are_as_far_apart_as_the_caller_has_them);
    RUN(what_is_handed_out_has_its_size);
    takt_ctx_destroy(ctx);
    return tap_done();
}
