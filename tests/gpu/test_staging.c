/* SPDX-License-Identifier: MIT */
/*
 * test_staging.c - operands on the host travel to a device and results come
 * back: every op, by small and by staged transfers, in stretches and in tiles,
 * with any number of threads, and never a byte beside what is the caller's.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "cuda/cuda.h"
#include "gpu/subject.h"

enum { small = 2000, small_copied = 24011, staged = 150011 };

static takt_ctx *ctx; /* one thread */

static void check(takt_ctx *on, const struct subject *s)
{
    subject_restart(s);
    const takt_status status =
        takt_run_on(on, &s->call, expert_of(on, "cuda.0"));
    TAP_CHECK(status == TAKT_OK, "%s: %s", guard_doing,
              takt_status_text(status));
    TAP_CHECK(subject_is_right(s), "%s: is not right", guard_doing);
}

static void check_one(takt_ctx *on, const char *op, takt_dtype dtype, size_t n,
                      unsigned how)
{
    struct subject s = subject_make(on, op, dtype, n, how);

    check(on, &s);
    subject_free(&s);
}

static bool can_be_run(const takt_op *op, int dtype)
{
    return takt__cuda_driver.has(op, (takt_dtype)dtype);
}

/* Doubles travel as floats do: threads have nothing new to show with them. */
static void every_op(size_t n, unsigned how)
{
    const int last = is_thread_sanitized ? TAKT_F32 : TAKT_F64;

    for (size_t i = 0; i < takt_op_count(); i++)
        for (int dtype = 0; dtype <= last; dtype++)
            if (can_be_run(takt_op_at(i), dtype))
                check_one(ctx, takt_op_at(i)->name, (takt_dtype)dtype, n, how);
}

/* ---- one thread ------------------------------------------------------------
 */

static void every_op_is_small(void)
{
    const unsigned long copies = fake.count("cuMemcpyHtoDAsync");

    every_op(small, USUAL);
    every_op(17, ADDING | GAPS | BARE);
    every_op(1, USUAL);
    EXPECT_INT(fake.count("cuMemcpyHtoDAsync"), copies);
}

/* Inputs are read in place and after a copy in turns, until it is known which
 * takes less. */
static void every_op_is_small_and_copied(void)
{
    const unsigned long copies = fake.count("cuMemcpyHtoDAsync");

    for (int round = 0; round < 2; round++)
        every_op(small_copied, round % 2 == 0 ? USUAL : ADDING | GAPS);
    EXPECT(fake.count("cuMemcpyHtoDAsync") > copies);
}

static void every_op_is_staged(void)
{
    const unsigned long copies = fake.count("cuMemcpyHtoDAsync");

    every_op(staged, USUAL);
    every_op(staged + 1, ADDING | GAPS | BARE);
    EXPECT(fake.count("cuMemcpyHtoDAsync") > copies);
}

static void results_may_take_the_place_of_operands(void)
{
    static const size_t sizes[] = {small, small_copied, staged};

    for (size_t i = 0; i < takt_op_count(); i++) {
        const takt_op *op = takt_op_at(i);
        const enum takt_form form = takt__op_entry(op)->form;
        if ((form != TAKT_FORM_map && form != TAKT_FORM_rows) ||
            !takt__cuda_driver.has(op, TAKT_F32))
            continue;
        for (int n = 0; n < 3; n++)
            check_one(ctx, op->name, TAKT_F32, sizes[n], IN_PLACE);
    }
    check_one(ctx, "add", TAKT_F64, 2500001, IN_PLACE); /* in stretches */
    if (!is_thread_sanitized)
        check_one(ctx, "softmax", TAKT_F32, 2500001, IN_PLACE);
}

static void both_operands_may_be_the_result(void)
{
    for (int n = 0; n < 2; n++) {
        struct subject s = subject_make(ctx, "add", TAKT_F32,
                                        n == 0 ? small : staged, IN_PLACE);
        s.call.in[1] = s.call.out;
        for (size_t i = 0; i < s.call.shape.dim[0]; i++)
            ((float *)s.want)[i] = 2 * ((float *)s.start)[i];
        check(ctx, &s);
        subject_free(&s);
    }
}

static void products_of_all_layouts_arrive(void)
{
    static const size_t sizes[] = {900, staged, 300001};

    for (int n = 0; n < 3; n++)
        for (unsigned how = 0; how < BARE; how += 2) /* in place is none */
            if (n < 2 || !is_sanitized || how % 6 == 0)
                check_one(ctx, "matmul", n < 2 ? TAKT_F32 : TAKT_F64, sizes[n],
                          how);
    for (unsigned how = 0; how < BARE; how += is_sanitized ? 14 : 10)
        check_one(ctx, "matmul", TAKT_F32, 2100, how | LARGE);
    for (unsigned how = 0; how < TURNED_B; how += 2)
        check_one(ctx, "gemv", TAKT_F64, 200001, how);
}

static void products_without_terms_or_factor_are_what_they_should_be(void)
{
    static const size_t sizes[] = {900, staged};

    for (int n = 0; n < 2; n++)
        for (unsigned how = 0; how <= (ADDING | GAPS); how += ADDING) {
            struct subject s =
                subject_make(ctx, "matmul", TAKT_F32, sizes[n], how);
            if (n == 0)
                s.call.shape.dim[2] = 0;
            else {
                s.call.alpha = 0;
                s.call.flags |= TAKT_CALL_ALPHA_ZERO;
            }
            free(s.start);
            free(s.want);
            subject_define(&s, ctx);
            check(ctx, &s);
            subject_free(&s);
        }
}

/* More than two stretches of 8 MiB, and sizes that none of them divides. */
static void long_calls_travel_in_stretches(void)
{
    static const struct {
        const char *op;
        size_t n;
        unsigned how;
    } calls[] = {
        {"fma", 1700003, USUAL},        {"axpy", 3300007, USUAL},
        {"layernorm", 3300007, USUAL},  {"softmax", 3300007, USUAL},
        {"conv2d", 2700001, USUAL},     {"pooling", 5000001, USUAL},
        {"attention", 2600001, USUAL},  {"batched_matmul", 4600003, ADDING},
        {"batched_matmul", 4600003, 0},
    };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0];
         i += is_thread_sanitized ? 4 : 1)
        check_one(ctx, calls[i].op, TAKT_F32, calls[i].n, calls[i].how);
    check_one(ctx, "sum", TAKT_F64, 2500001, USUAL); /* cannot be cut */
    check_one(ctx, "transpose", TAKT_F64, 1300001, GAPS);
}

/* Pages lie in the gaps that nobody may touch, as columns of other threads
 * might. */
static void what_lies_between_rows_is_not_touched(void)
{
    enum { rows = 3 }; /* few enough for a small transfer */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t cols = page / sizeof(float), ld = 2 * cols;
    struct guard a = guard_make(2 * rows * page), c = guard_make(a.bytes);
    float *b = calloc(cols * cols, sizeof *b);
    const takt_call call = {.op = takt_op_find("matmul"),
                            .shape = {.rank = 3, .dim = {rows, 9, 9}},
                            .in = {a.low, b},
                            .out = c.low,
                            .ld = {ld, 9, ld},
                            .alpha = 1};

    REQUIRE(b != NULL);
    for (size_t i = 0; i < rows; i++) {
        mprotect(a.low + (2 * i + 1) * page, page, PROT_NONE);
        mprotect(c.low + (2 * i + 1) * page, page, PROT_NONE);
        for (size_t j = 0; j < 9; j++)
            ((float *)(void *)a.low)[i * ld + j] = (float)(i + j);
    }
    for (size_t i = 0; i < 9; i++)
        b[i * 9 + i] = 2;
    DOING("a matmul with pages between its rows");
    EXPECT_INT(takt_run_on(ctx, &call, expert_of(ctx, "cuda.0")), TAKT_OK);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < 9; j++)
            EXPECT_NEAR((double)((float *)(void *)c.low)[i * ld + j],
                        (double)(2 * (i + j)), 0);
    guard_free(&a);
    guard_free(&c);
    free(b);
}

/* A row that fits no slot is refused; under a policy somebody else runs it. */
static void rows_that_are_too_long_are_refused_or_right(void)
{
    struct subject s = subject_make(ctx, "transpose", TAKT_F32, 600001, GAPS);
    takt_ctx *fixed = context_of(TAKT_POLICY_FIXED, 1);

    s.call.shape.dim[0] = 2;
    s.call.shape.dim[1] = 290000;
    s.call.ld[0] = 290001;
    s.call.ld[2] = 2;
    free(s.start);
    free(s.want);
    subject_define(&s, ctx);
    const takt_status status =
        takt_run_on(ctx, &s.call, expert_of(ctx, "cuda.0"));
    EXPECT(status == TAKT_OK
               ? subject_is_right(&s)
               : status == TAKT_ENODEV && subject_is_untouched(&s));
    subject_restart(&s);
    EXPECT_INT(takt_run(fixed, &s.call, NULL), TAKT_OK);
    EXPECT(subject_is_right(&s));
    takt_ctx_destroy(fixed);
    subject_free(&s);
}

/* ---- several ---------------------------------------------------------------
 */

static void any_number_of_threads_moves_the_same(void)
{
    const unsigned most = is_hurried() ? 4 : 8;

    for (unsigned threads = most / 4 * 2; threads <= most; threads *= 2) {
        takt_ctx *on = context_of(TAKT_POLICY_ADAPTIVE, threads);
        check_one(on, "add", TAKT_F32, 2000003, USUAL);
        check_one(on, "axpy", TAKT_F64, 300007, USUAL);
        check_one(on, "matmul", TAKT_F32, 900001, ADDING | GAPS);
        check_one(on, "softmax", TAKT_F32, 2500001, IN_PLACE);
        check_one(on, "dot", TAKT_F32, 700001, USUAL);
        takt_ctx_destroy(on);
    }
}

struct caller {
    takt_ctx *ctx;
    struct subject subject;
    size_t expert;
    int failures;
};

static void *call_often(void *self)
{
    enum { times = is_sanitized ? 6 : 20 };
    struct caller *caller = self;

    for (int i = 0; i < times; i++) {
        subject_restart(&caller->subject);
        caller->failures += takt_run_on(caller->ctx, &caller->subject.call,
                                        caller->expert) != TAKT_OK ||
                            !subject_is_right(&caller->subject);
    }
    return NULL;
}

/* Staged and small transfers, and teams of processors that want the same
 * threads. */
static void threads_call_at_once_and_each_gets_its_own(void)
{
    static const struct {
        const char *op;
        size_t n;
        bool is_on_host;
    } calls[] = {
        {"add", 300007, false},  {"matmul", 200003, false},
        {"neg", 5000, false},    {"sum", 200001, false},
        {"softmax", 700, false}, {"mul", 300007, true},
    };
    enum { callers = sizeof calls / sizeof calls[0] };
    takt_ctx *on = context_of(TAKT_POLICY_ADAPTIVE, 4);
    struct caller caller[callers];
    pthread_t thread[callers];

    for (int i = 0; i < callers; i++)
        caller[i] = (struct caller){
            .ctx = on,
            .subject =
                subject_make(on, calls[i].op, TAKT_F32, calls[i].n, USUAL),
            .expert = calls[i].is_on_host ? expert_of(on, "cuda.0") - 1
                                          : expert_of(on, "cuda.0"),
        };
    for (int i = 0; i < callers; i++)
        REQUIRE(pthread_create(&thread[i], NULL, call_often, &caller[i]) == 0);
    for (int i = 0; i < callers; i++) {
        pthread_join(thread[i], NULL);
        TAP_CHECK(caller[i].failures == 0, "%s: %d times", calls[i].op,
                  caller[i].failures);
        subject_free(&caller[i].subject);
    }
    takt_ctx_destroy(on);
}

/* ---- what a call spends on other things than computing ---------------------
 */

static takt_decision run_described(takt_ctx *on, const struct subject *s)
{
    takt_decision decision = {.size = sizeof decision};

    subject_restart(s);
    EXPECT_INT(takt_run(on, &s->call, &decision), TAKT_OK);
    return decision;
}

static void decisions_say_what_moving_took(void)
{
    static const size_t sizes[] = {small, staged, 2500001};
    takt_ctx *on = context_of(TAKT_POLICY_FIXED, 1);

    for (int n = 0; n < 3; n++) {
        struct subject s = subject_make(on, "add", TAKT_F32, sizes[n], USUAL);
        const takt_decision told = run_described(on, &s);
        EXPECT(strcmp(told.expert, "cuda.0") == 0);
        TAP_CHECK(told.transfer_s > 0 && told.transfer_s <= told.actual_s,
                  "%zu: %g of %g s", sizes[n], told.transfer_s, told.actual_s);
        EXPECT_NEAR(told.wait_s, 0, 0); /* nobody else calls */
        subject_free(&s);
    }
    struct subject s = subject_make(on, "add", TAKT_F32, 100, USUAL);
    takt_ctx *host = NULL;
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.policy = TAKT_POLICY_FIXED,
                                                .expert = "scalar",
                                                .blas = "",
                                                .store = ""},
                            &host) == TAKT_OK);
    run_described(on, &s);
    const takt_decision told = run_described(host, &s);
    EXPECT_NEAR(told.transfer_s + told.wait_s, 0, 0);
    subject_free(&s);
    takt_ctx_destroy(host);
    takt_ctx_destroy(on);
}

static void decisions_of_the_first_version_get_no_more(void)
{
    takt_ctx *on = context_of(TAKT_POLICY_FIXED, 1);
    struct subject s = subject_make(on, "add", TAKT_F32, staged, USUAL);

    for (int i = 0; i < 2; i++) {
        takt_decision told = {
            .size = i == 0 ? 0 : offsetof(takt_decision, transfer_s),
            .transfer_s = -7,
            .wait_s = -7};
        EXPECT_INT(takt_run(on, &s.call, &told), TAKT_OK);
        EXPECT(told.actual_s > 0);
        EXPECT_NEAR(told.transfer_s + told.wait_s, -14, 0);
    }
    takt_decision shorter = {.size = offsetof(takt_decision, actual_s)};
    EXPECT_INT(takt_run(on, &s.call, &shorter), TAKT_EINVAL);
    subject_free(&s);
    takt_ctx_destroy(on);
}

struct waiter {
    takt_ctx *ctx;
    struct subject subject;
    _Atomic bool *has_waited;
};

static void *call_until_one_waits(void *self)
{
    struct waiter *waiter = self;

    for (int i = 0; i < 100000 && !atomic_load(waiter->has_waited); i++) {
        const takt_decision told = run_described(waiter->ctx, &waiter->subject);
        if (told.wait_s > 0)
            atomic_store(waiter->has_waited, true);
    }
    return NULL;
}

/* One transfer at a time: of two threads, one waits sooner or later. */
static void decisions_say_what_waiting_took(void)
{
    takt_ctx *on = context_of(TAKT_POLICY_FIXED, 1);
    struct waiter waiter[2];
    pthread_t thread[2];
    _Atomic bool has_waited = false;

    for (int i = 0; i < 2; i++) {
        waiter[i] = (struct waiter){
            .ctx = on,
            .subject = subject_make(on, "add", TAKT_F32, 300007, USUAL),
            .has_waited = &has_waited};
        REQUIRE(pthread_create(&thread[i], NULL, call_until_one_waits,
                               &waiter[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        subject_free(&waiter[i].subject);
    }
    EXPECT(has_waited);
    takt_ctx_destroy(on);
}

static void nothing_is_left_on_the_device(void)
{
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

int main(void)
{
    guard_watch();
    subject_choose_fake();
    ctx = context_of(TAKT_POLICY_ADAPTIVE, 1);
    RUN(every_op_is_small);
    RUN(every_op_is_small_and_copied);
    RUN(every_op_is_staged);
    RUN(results_may_take_the_place_of_operands);
    RUN(both_operands_may_be_the_result);
    RUN(products_of_all_layouts_arrive);
    RUN(products_without_terms_or_factor_are_what_they_should_be);
    RUN(long_calls_travel_in_stretches);
    RUN(what_lies_between_rows_is_not_touched);
    RUN(rows_that_are_too_long_are_refused_or_right);
    RUN(any_number_of_threads_moves_the_same);
    RUN(threads_call_at_once_and_each_gets_its_own);
    RUN(decisions_say_what_moving_took);
    RUN(decisions_of_the_first_version_get_no_more);
    RUN(decisions_say_what_waiting_took);
    RUN(nothing_is_left_on_the_device);
    return tap_done();
}
