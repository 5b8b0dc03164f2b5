/* SPDX-License-Identifier: MIT */
/*
 * test_history.c - what is told is known at once, can be read back, kept and
 * forgotten; what makes no sense is refused and changes nothing.
 */
#define _GNU_SOURCE /* mkdtemp() */
#include "takt/history.h"

#include <sys/resource.h>
#include <time.h>

#include "call/ctx.h"
#include "store/scratch.h"
#include "support/config.h"
#include "support/tolerance.h"
#include "takt/takt.h"

static takt_ctx *open_ctx(const char *store)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){.store = store, .blas = "", .threads = 2},
                &ctx) == TAKT_OK);
    return ctx;
}

static takt_work work_of(const takt_shape *shape, takt_dtype dtype, void *self)
{
    (void)self;
    return (takt_work){.bytes =
                           (double)(shape->dim[0] * takt_dtype_size(dtype)),
                       .flops = 8 * (double)shape->dim[0]};
}

static const takt_op *define(takt_ctx *ctx, const char *name)
{
    const takt_op *op;
    REQUIRE(takt_ctx_define_op(ctx,
                               &(takt_op_spec){.name = name, .work = work_of},
                               &op) == TAKT_OK);
    return op;
}

static takt_request request_of(const takt_op *op, size_t n)
{
    return (takt_request){.op = op, .shape = {.rank = 1, .dim = {n}}};
}

static takt_status tell(takt_ctx *ctx, const takt_request *request,
                        const char *expert, double seconds)
{
    return takt_record(ctx, &(takt_measurement){.request = request,
                                                .expert = expert,
                                                .seconds = seconds});
}

/* A little apart from each other, as real times are. */
static void tell_often(takt_ctx *ctx, const takt_request *request,
                       const char *expert, double seconds)
{
    for (int i = 0; i < 10; i++)
        EXPECT_INT(tell(ctx, request, expert, seconds * (1 + 0.002 * i)),
                   TAKT_OK);
}

static const char *select_of(takt_ctx *ctx, const takt_request *request)
{
    static takt_decision decision;
    EXPECT_INT(takt_select(ctx, request, &decision), TAKT_OK);
    return decision.expert;
}

/* ---- telling -------------------------------------------------------------
 */

static void the_best_of_what_was_told_is_selected_at_once(void)
{
    takt_ctx *ctx = open_ctx("");
    const takt_op *op = define(ctx, "fft");
    const takt_request small = request_of(op, 1000);
    const takt_request large = request_of(op, 1000000);
    takt_decision decision = {.size = sizeof decision};

    tell_often(ctx, &small, "cpu", 1e-5);
    EXPECT_STR(select_of(ctx, &small), "cpu");
    tell_often(ctx, &small, "gpu", 1e-4);
    EXPECT_STR(select_of(ctx, &small), "cpu");
    tell_often(ctx, &large, "cpu", 1e-2);
    tell_often(ctx, &large, "gpu", 1e-3);
    EXPECT_STR(select_of(ctx, &small), "cpu");
    EXPECT_STR(select_of(ctx, &large), "gpu");
    EXPECT_INT(takt_select(ctx, &large, &decision), TAKT_OK);
    EXPECT_INT(decision.reason, TAKT_REASON_MODEL);
    EXPECT_NEAR(decision.predicted_s, 1e-3, 2e-4);
    EXPECT(decision.confidence > 0.9);
    takt_ctx_destroy(ctx);
}

static void an_expert_is_told_about_by_either_name(void)
{
    takt_ctx *ctx = open_ctx("");
    const takt_op *op = define(ctx, "own");
    const takt_request request = request_of(op, 1000);
    takt_estimate estimate[4] = {{.size = sizeof estimate[0]}};
    size_t count;

    EXPECT_INT(
        takt_ctx_add_expert(
            ctx, op,
            &(takt_expert_spec){.name = "mine", .backend = TAKT_BACKEND_SIMD}),
        TAKT_OK);
    EXPECT_INT(tell(ctx, &request, "mine", 1e-4), TAKT_OK);
    EXPECT_INT(tell(ctx, &request, "USER.mine", 1e-4), TAKT_OK);
    EXPECT_INT(takt_explain(ctx, &request, estimate, 4, &count), TAKT_OK);
    EXPECT_INT(count, 1); /* no second one of that name was made */
    EXPECT_STR(estimate[0].expert, "user.mine");
    EXPECT_NEAR(estimate[0].samples, 2, 1e-9);
    takt_ctx_destroy(ctx);
}

/* ---- refusing ------------------------------------------------------------
 */

static uint64_t samples_of(takt_ctx *ctx)
{
    takt_learning learning = {.size = sizeof learning};
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    return learning.samples;
}

static void refuse(takt_ctx *ctx, const takt_measurement *told,
                   takt_status status, int line)
{
    const takt_status got = takt_record(ctx, told);
    TAP_CHECK(got == status, "line %d: %s, not %s", line, takt_status_text(got),
              takt_status_text(status));
}

#define REFUSE(told_, status_) refuse(ctx, told_, status_, __LINE__)

static void what_makes_no_sense_changes_nothing(void)
{
    takt_ctx *ctx = open_ctx(""), *other = open_ctx("");
    const takt_op *op = define(ctx, "own");
    define(other, "first");
    const takt_op *theirs = define(other, "theirs");
    const double bad[] = {0, -1, (double)NAN, (double)INFINITY, 1e10};
    const takt_work odd[] = {
        {(double)NAN, 1}, {1, (double)NAN}, {-1, 1}, {(double)INFINITY, 1}};
    const takt_request possible = request_of(op, 1000);
    takt_request request = possible;
    const takt_measurement good = {
        .request = &request, .expert = "cpu", .seconds = 1e-4};
    takt_measurement told;

    EXPECT_INT(takt_record(ctx, &good), TAKT_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        told = good;
        told.seconds = bad[i];
        REFUSE(&told, TAKT_EINVAL);
    }
    for (size_t i = 1; i < 4; i++) {
        told = good;
        told.calls = bad[i];
        REFUSE(&told, TAKT_EINVAL);
    }
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        request.work = &odd[i];
        REFUSE(&good, TAKT_EINVAL);
    }
    request = possible;
    REFUSE(NULL, TAKT_EINVAL);
    told = good;
    told.request = NULL;
    REFUSE(&told, TAKT_EINVAL);
    told = good;
    told.expert = NULL;
    REFUSE(&told, TAKT_EINVAL);
    told.expert = "";
    REFUSE(&told, TAKT_EINVAL);
    told.expert = "two words";
    REFUSE(&told, TAKT_EINVAL);
    told.expert = "12345678901234567890123456789012";
    REFUSE(&told, TAKT_EINVAL);
    told = good;
    request.op = NULL;
    REFUSE(&told, TAKT_EINVAL);
    request.op = theirs;
    REFUSE(&told, TAKT_EINVAL);
    request = possible;
    request.situation = 8;
    REFUSE(&told, TAKT_EINVAL);
    request = possible;
    request.op = takt_op_find("add");
    told.expert = "nobody";
    REFUSE(&told, TAKT_ENODEV);
    request.op = takt_op_find("matmul");
    told.expert = "scalar";
    REFUSE(&told, TAKT_ESHAPE); /* its elements alone will not do */
    EXPECT_INT(samples_of(ctx), 1);
    EXPECT_STR(select_of(ctx, &possible), "cpu");
    takt_ctx_destroy(ctx);
    takt_ctx_destroy(other);
}

static void a_seventeenth_name_is_one_too_many(void)
{
    takt_ctx *ctx = open_ctx("");
    const takt_request request = request_of(define(ctx, "own"), 1000);
    char name[16];

    for (int i = 0; i <= 16; i++) {
        snprintf(name, sizeof name, "e%d", i);
        EXPECT_INT(tell(ctx, &request, name, 1e-4),
                   i < 16 ? TAKT_OK : TAKT_EFULL);
    }
    EXPECT_INT(tell(ctx, &request, "e0", 1e-4), TAKT_OK);
    takt_ctx_destroy(ctx);
}

/* ---- expecting -----------------------------------------------------------
 */

/* Nobody ran it, but it says what it does and the machine is known. */
static void a_new_op_starts_from_what_the_machine_showed(void)
{
    takt_ctx *ctx = open_ctx("");
    const takt_request request = request_of(define(ctx, "own"), 1 << 20);
    takt_estimate estimate[4] = {{.size = sizeof estimate[0]}};
    takt_decision decision = {.size = sizeof decision};
    size_t count;

    EXPECT_INT(
        takt_ctx_add_expert(
            ctx, request.op,
            &(takt_expert_spec){.name = "simd", .backend = TAKT_BACKEND_SIMD}),
        TAKT_OK);
    EXPECT_INT(takt_ctx_add_expert(
                   ctx, request.op,
                   &(takt_expert_spec){.name = "scalar",
                                       .backend = TAKT_BACKEND_SCALAR}),
               TAKT_OK);
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    EXPECT_STR(decision.expert, "user.simd");
    EXPECT_INT(decision.reason, TAKT_REASON_PRIOR);
    /* 4 MB and 8 million operations: between 1 TB/s and 10 MB/s. */
    EXPECT(decision.predicted_s > 4e-6 && decision.predicted_s < 0.4);
    EXPECT_INT(takt_explain(ctx, &request, estimate, 4, &count), TAKT_OK);
    EXPECT_INT(count, 2);
    EXPECT(estimate[0].is_chosen && !estimate[1].is_chosen);
    EXPECT(estimate[0].predicted_s < estimate[1].predicted_s);
    for (size_t i = 0; i < count; i++) {
        EXPECT(estimate[i].low_s < estimate[i].predicted_s);
        EXPECT(estimate[i].predicted_s < estimate[i].high_s);
        EXPECT(estimate[i].samples == 0);
    }
    EXPECT_INT(takt_explain(ctx, &request, estimate, 1, &count), TAKT_OK);
    EXPECT_INT(count, 1);
    EXPECT_INT(takt_explain(ctx, &request, NULL, 0, &count), TAKT_OK);
    EXPECT_INT(count, 0);
    takt_ctx_destroy(ctx);
}

/* ---- reading -------------------------------------------------------------
 */

struct visits {
    takt_ctx *ctx;
    unsigned count, most;
    double calls;
};

static int visit(void *self, const takt_history_row *row)
{
    struct visits *visits = self;
    const takt_request request = request_of(row->op, 1000);
    takt_history_row best = {.size = sizeof best};

    visits->calls += row->calls;
    EXPECT(takt_ctx_find_op(visits->ctx, row->op->name) == row->op);
    EXPECT_INT(takt_history_best(visits->ctx, &request, &best), TAKT_OK);
    return ++visits->count == visits->most;
}

static void history_is_read_by_expert_and_size(void)
{
    takt_ctx *ctx = open_ctx("");
    const takt_request request = request_of(define(ctx, "own"), 1000);
    takt_request woken = request;
    struct visits visits = {.ctx = ctx};
    takt_history_row best = {.size = sizeof best};

    EXPECT_INT(takt_history_best(ctx, &request, &best), TAKT_ENOENT);
    EXPECT_INT(takt_record(ctx, &(takt_measurement){.request = &request,
                                                    .expert = "slow",
                                                    .seconds = 2e-3,
                                                    .calls = 100}),
               TAKT_OK);
    tell_often(ctx, &request, "fast", 1e-3);
    EXPECT_INT(takt_history_best(ctx, &request, &best), TAKT_OK);
    EXPECT_STR(best.expert, "fast");
    EXPECT_INT(best.backend, TAKT_BACKEND_SIMD);
    EXPECT(best.op == request.op);
    EXPECT_NEAR(best.samples, 10, 1e-9);
    EXPECT_NEAR(best.mean_s, 1.009e-3, 2e-5);
    EXPECT(best.spread > 0 && best.spread < 0.05);
    EXPECT_NEAR(best.calls, 10, 1e-9);
    EXPECT(best.work_low <= 4000 && 4000 < best.work_high);
    EXPECT_NEAR(best.work.flops, 8000, 1);
    woken.situation = TAKT_SITUATION_ASLEEP; /* one thread: all the same */
    EXPECT_INT(takt_history_best(ctx, &woken, &best), TAKT_OK);
    EXPECT_STR(best.expert, "fast");
    EXPECT_INT(takt_history_read(ctx, visit, &visits), TAKT_OK);
    EXPECT_INT(visits.count, 2);
    EXPECT_NEAR(visits.calls, 110, 1e-9);
    visits = (struct visits){.ctx = ctx, .most = 1};
    EXPECT_INT(takt_history_read(ctx, visit, &visits), TAKT_OK);
    EXPECT_INT(visits.count, 1);
    takt_ctx_destroy(ctx);
}

/* ---- operands on a GPU ---------------------------------------------------
 */

static const takt_estimate *find(const takt_estimate *all, size_t count,
                                 const char *expert)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].expert, expert) == 0)
            return &all[i];
    static const takt_estimate none = {.predicted_s = -1};
    return &none;
}

static int count_resident(void *self, const takt_history_row *row)
{
    int *count = self;

    *count += row->situation == TAKT_SITUATION_ON_GPU;
    EXPECT(row->situation != TAKT_SITUATION_ON_GPU ||
           row->backend == TAKT_BACKEND_GPU);
    return 0;
}

/* TAKT_TEST_FAKE_CUDA is the file of a driver that computes on the processor.
 */
static takt_ctx *open_with_gpu(void)
{
    const char *cuda = getenv("TAKT_TEST_FAKE_CUDA");
    takt_ctx *ctx;

    if (cuda == NULL) {
        SKIP("no TAKT_TEST_FAKE_CUDA");
        return NULL;
    }
    test_config()->cuda = cuda;
    test_config()->cublas = "";
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){
                    .store = "", .blas = "", .threads = 2, .gpu = "all"},
                &ctx) == TAKT_OK);
    return ctx;
}

static void what_a_gpu_takes_depends_on_where_operands_are(void)
{
    takt_ctx *ctx = open_with_gpu();
    takt_request on_host = {.shape = {.rank = 1, .dim = {1 << 20}}};
    takt_estimate all[64] = {{.size = sizeof all[0]}};
    size_t count;
    int resident = 0;

    if (ctx == NULL)
        return;
    on_host.op = takt_op_find("add");
    takt_request on_gpu = on_host;
    on_gpu.situation = TAKT_SITUATION_ON_GPU;
    tell_often(ctx, &on_host, "cuda.0", 5e-3);
    tell_often(ctx, &on_gpu, "cuda.0", 1e-5);
    tell_often(ctx, &on_host, "scalar", 1e-3);
    EXPECT_STR(select_of(ctx, &on_gpu), "cuda.0");
    EXPECT(strcmp(select_of(ctx, &on_host), "cuda.0") != 0);

    EXPECT_INT(takt_explain(ctx, &on_host, all, 64, &count), TAKT_OK);
    EXPECT_NEAR(find(all, count, "cuda.0")->predicted_s, 5e-3, 1e-3);
    EXPECT_NEAR(find(all, count, "scalar")->predicted_s, 1e-3, 2e-4);
    EXPECT_NEAR(find(all, count, "scalar")->transfer_s, 0, 0);
    EXPECT(!find(all, count, "cuda.0")->is_chosen);

    EXPECT_INT(takt_explain(ctx, &on_gpu, all, 64, &count), TAKT_OK);
    EXPECT_STR(all[0].expert, "cuda.0");
    EXPECT(all[0].is_chosen && !all[0].is_asleep);
    EXPECT_NEAR(all[0].predicted_s, 1e-5, 2e-6);
    EXPECT_NEAR(all[0].transfer_s, 0, 0);
    EXPECT_NEAR(all[0].samples, 10, 1e-9);
    EXPECT_NEAR(find(all, count, "scalar")->predicted_s, 1e-3, 2e-4);
    EXPECT(find(all, count, "scalar")->transfer_s > 1e-5);
    for (size_t i = 2; i < count; i++)
        EXPECT(all[i - 1].predicted_s + all[i - 1].transfer_s <=
               all[i].predicted_s + all[i].transfer_s);

    takt_history_row best = {.size = sizeof best};
    EXPECT_INT(takt_history_best(ctx, &on_gpu, &best), TAKT_OK);
    EXPECT_STR(best.expert, "cuda.0");
    EXPECT_INT(best.situation, TAKT_SITUATION_ON_GPU);
    EXPECT_INT(takt_history_best(ctx, &on_host, &best), TAKT_OK);
    EXPECT_STR(best.expert, "scalar");
    on_host.situation = TAKT_SITUATION_REPEAT; /* which a GPU does not mind */
    EXPECT_INT(takt_history_best(ctx, &on_host, &best), TAKT_OK);
    EXPECT_STR(best.expert, "cuda.0");
    EXPECT_INT(takt_history_read(ctx, count_resident, &resident), TAKT_OK);
    EXPECT_INT(resident, 1);
    takt_ctx_destroy(ctx);
}

/* ---- keeping and forgetting ----------------------------------------------
 */

static void user_ops_are_known_again_in_whatever_order(void)
{
    const char *path = scratch_path();
    takt_ctx *ctx = open_ctx(path);
    takt_request request = request_of(define(ctx, "own"), 1000);
    takt_expert_spec spec = {.name = "b", .backend = TAKT_BACKEND_SIMD};
    takt_history_row best = {.size = sizeof best};

    EXPECT_INT(takt_ctx_add_expert(ctx, request.op, &spec), TAKT_OK);
    tell_often(ctx, &request, "a", 1e-3);
    tell_often(ctx, &request, "user.b", 1e-4);
    takt_ctx_destroy(ctx);

    ctx = open_ctx(path);
    define(ctx, "another"); /* other numbers than the last time */
    request.op = define(ctx, "OWN");
    EXPECT_INT(takt_history_best(ctx, &request, &best), TAKT_OK);
    EXPECT_STR(best.expert, "a"); /* whom nobody has to add */
    EXPECT_NEAR(best.samples, 10, 1e-6);
    EXPECT_STR(select_of(ctx, &request), "a");
    EXPECT_INT(tell(ctx, &request, "a", 1e-3), TAKT_OK);
    EXPECT_INT(takt_ctx_add_expert(ctx, request.op, &spec), TAKT_OK);
    EXPECT_INT(takt_history_best(ctx, &request, &best), TAKT_OK);
    EXPECT_STR(best.expert, "user.b");
    EXPECT_NEAR(best.samples, 10, 1e-6);
    EXPECT_STR(select_of(ctx, &request), "user.b");
    takt_ctx_destroy(ctx);
}

/* Only so many are brought back unasked; the others when somebody speaks of
 * them. */
static void recorded_names_are_known_again(void)
{
    enum { names = 12 };
    const char *path = scratch_path();
    takt_ctx *ctx = open_ctx(path);
    takt_request request = request_of(define(ctx, "own"), 1000);
    takt_estimate estimate[16] = {{.size = sizeof estimate[0]}};
    size_t count;
    char name[16];

    for (int i = 0; i < names; i++) {
        snprintf(name, sizeof name, "e%d", i);
        tell_often(ctx, &request, name, 1e-3);
    }
    takt_ctx_destroy(ctx);
    ctx = open_ctx(path);
    request.op = define(ctx, "own");
    EXPECT_INT(takt_explain(ctx, &request, estimate, 16, &count), TAKT_OK);
    EXPECT(count > 0 && count < names);
    for (int i = 0; i < names; i++) {
        snprintf(name, sizeof name, "e%d", i);
        EXPECT_INT(tell(ctx, &request, name, 1e-3), TAKT_OK);
    }
    EXPECT_INT(takt_explain(ctx, &request, estimate, 16, &count), TAKT_OK);
    EXPECT_INT(count, names);
    for (size_t i = 0; i < count; i++)
        EXPECT_NEAR(estimate[i].samples, 11, 1e-6);
    takt_ctx_destroy(ctx);
}

static void reset_forgets_one_op_or_all(void)
{
    const char *path = scratch_path();
    takt_ctx *ctx = open_ctx(path);
    const takt_request own = request_of(define(ctx, "own"), 1000);
    const takt_request other = request_of(define(ctx, "other"), 1000);
    const takt_request add = request_of(takt_op_find("add"), 1000);
    takt_history_row best = {.size = sizeof best};

    tell_often(ctx, &own, "a", 1e-3);
    tell_often(ctx, &other, "a", 1e-3);
    tell_often(ctx, &add, "scalar", 1e-3);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    EXPECT_INT(takt_history_reset(ctx, own.op), TAKT_OK);
    EXPECT_INT(takt_history_best(ctx, &own, &best), TAKT_ENOENT);
    EXPECT_INT(takt_history_best(ctx, &other, &best), TAKT_OK);
    EXPECT_INT(takt_history_best(ctx, &add, &best), TAKT_OK);
    tell_often(ctx, &own, "a", 5e-3); /* it can be learned anew */
    EXPECT_INT(takt_history_best(ctx, &own, &best), TAKT_OK);
    EXPECT_NEAR(best.samples, 10, 1e-9);
    EXPECT_INT(takt_history_reset(ctx, NULL), TAKT_OK);
    EXPECT_INT(takt_history_best(ctx, &add, &best), TAKT_ENOENT);
    takt_ctx_destroy(ctx);
    char *text = scratch_export(path);
    EXPECT(strstr(text, "scalar") == NULL);
    free(text);
}

/* What is kept aside for ops that are not defined yet is not another's to
 * forget. */
static void reset_leaves_undefined_ops_alone(void)
{
    const char *path = scratch_path();
    takt_ctx *ctx = open_ctx(path);
    takt_request own = request_of(define(ctx, "own"), 1000);
    takt_history_row best = {.size = sizeof best};

    tell_often(ctx, &own, "a", 1e-3);
    takt_ctx_destroy(ctx);
    ctx = open_ctx(path);
    EXPECT_INT(takt_history_reset(ctx, takt_op_find("add")), TAKT_OK);
    own.op = define(ctx, "own");
    EXPECT_INT(tell(ctx, &own, "b", 1), TAKT_OK);
    EXPECT_INT(tell(ctx, &own, "a", 1e-3), TAKT_OK);
    EXPECT_INT(takt_history_best(ctx, &own, &best), TAKT_OK);
    EXPECT_NEAR(best.samples, 11, 1e-6);
    takt_ctx_destroy(ctx);
}

/* As on a full disk. */
static void set_room(rlim_t bytes)
{
    struct rlimit limit;

    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* So much that no log of that size holds it. */
static void tell_of_much(takt_ctx *ctx)
{
    char name[16];

    for (unsigned i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "op%u", i);
        const takt_op *op = takt_ctx_find_op(ctx, name);
        if (op == NULL)
            op = define(ctx, name);
        for (unsigned n = 0; n < 30; n++) {
            const takt_request request = request_of(op, (size_t)1 << n);
            EXPECT_INT(tell(ctx, &request, "a", 1e-3), TAKT_OK);
        }
    }
}

/* The store is opened again meanwhile, which does succeed. */
static void a_store_that_cannot_be_written_says_so_until_it_can(void)
{
    takt_ctx *ctx = open_ctx(scratch_path());
    takt_learning state = {.size = sizeof state};

    tell_of_much(ctx);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    set_room(40000);
    for (int i = 0; i < 6; i++) {
        tell_of_much(ctx);
        EXPECT_INT(takt_ctx_flush(ctx), TAKT_EIO);
        EXPECT_INT(takt_ctx_learning(ctx, &state), TAKT_OK);
        TAP_CHECK(strstr(state.diag.text, "cannot be") != NULL, "%d: %s", i,
                  state.diag.text);
    }
    set_room(RLIM_INFINITY);
    for (int i = 0; i < 100 && takt_ctx_flush(ctx) != TAKT_OK; i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    EXPECT_INT(takt_ctx_learning(ctx, &state), TAKT_OK);
    EXPECT_STR(state.diag.text, "");
    takt_ctx_destroy(ctx);
}

int main(void)
{
    scratch_make();
    RUN(the_best_of_what_was_told_is_selected_at_once);
    RUN(an_expert_is_told_about_by_either_name);
    RUN(what_makes_no_sense_changes_nothing);
    RUN(a_seventeenth_name_is_one_too_many);
    RUN(a_new_op_starts_from_what_the_machine_showed);
    RUN(history_is_read_by_expert_and_size);
    RUN(what_a_gpu_takes_depends_on_where_operands_are);
    RUN(user_ops_are_known_again_in_whatever_order);
    RUN(recorded_names_are_known_again);
    RUN(reset_forgets_one_op_or_all);
    RUN(reset_leaves_undefined_ops_alone);
    RUN(a_store_that_cannot_be_written_says_so_until_it_can);
    return tap_done();
}
