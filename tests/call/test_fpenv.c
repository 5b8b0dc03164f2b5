/* SPDX-License-Identifier: MIT */
/*
 * test_fpenv.c - the floating-point environment of a caller holds on all
 * threads of a call, and nothing but the call's own work shows in it.
 */
#define _GNU_SOURCE /* feenableexcept() */
#include "base/fpenv.h"

#include <float.h>

#include "base/clock.h"
#include "call/exec.h"
#include "call/question.h"
#include "support/random.h"
#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/takt.h"

enum { n = is_sanitized ? 12007 : 40003, threads = 4, inputs = 3, modes = 8 };

#if defined(__x86_64__)
enum { flushing = 0x8040 }; /* of results and of operands */
#elif defined(__aarch64__)
enum { flushing = 1 << 24 };
#endif

static double in[inputs][n], out[2][n];

/* ---- modes -----------------------------------------------------------------
 */

/* Four directions of rounding, flushing denormal numbers or not. */
static void set_mode(int mode)
{
    static const int directions[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                     FE_TOWARDZERO};
    struct takt_fpenv env;

    fesetenv(FE_DFL_ENV);
    fesetround(directions[mode % 4]);
    env = takt__fpenv_get();
    env.control |= mode / 4 ? flushing : 0;
    takt__fpenv_set(env);
}

/* Numbers of any size; every fourth is denormal, or becomes so. */
static void fill(takt_dtype dtype)
{
    uint64_t seed = 7;

    for (int k = 0; k < inputs; k++)
        for (size_t i = 0; i < n; i++) {
            const double x = 2 * random_unit(&seed) - 1;
            if (dtype == TAKT_F64)
                in[k][i] = i % 4 == 0 ? x * DBL_MIN : x;
            else
                ((float *)in[k])[i] =
                    (float)(i % 4 == 0 ? x * (double)FLT_MIN : x);
        }
}

static takt_ctx *new_ctx(void)
{
    takt_ctx *ctx;

    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){
                    .store = "", .blas = "", .gpu = "", .threads = threads},
                &ctx) == TAKT_OK);
    return ctx;
}

/* The best instruction set on so many threads. */
static size_t expert_of(takt_ctx *ctx, unsigned count)
{
    const takt_isa best = takt_machine_best_isa(takt_ctx_machine(ctx));
    char name[TAKT_EXPERT_NAME_MAX];

    snprintf(name, sizeof name, count == 1 ? "simd.%s" : "simd.%sx%u",
             takt_isa_name(best), count);
    const int found = takt__experts_find(&ctx->experts, name);
    REQUIRE(found >= 0);
    return (size_t)found;
}

static takt_call call_of(const takt_op *op, takt_dtype dtype, void *to)
{
    takt_call call = {.op = op,
                      .dtype = dtype,
                      .shape = {.rank = 1, .dim = {n}},
                      .alpha = -0.3,
                      .beta = 0.7,
                      .out = to};

    for (unsigned i = 0; i < op->inputs; i++)
        call.in[i] = in[i];
    if (takt__op_id(op) == TAKT_OP_axpy)
        call.in[1] = to;
    return call;
}

static void run_on(takt_ctx *ctx, const takt_op *op, takt_dtype dtype,
                   size_t expert, double *to)
{
    const takt_call call = call_of(op, dtype, to);

    memcpy(to, in[inputs - 1], sizeof out[0]);
    REQUIRE(takt_run_on(ctx, &call, expert) == TAKT_OK);
}

/* ---- bits ------------------------------------------------------------------
 */

static void compare_threads(takt_ctx *ctx, const takt_op *op, takt_dtype dtype,
                            int started, int mode)
{
    set_mode(mode);
    const struct takt_fpenv before = takt__fpenv_get();
    run_on(ctx, op, dtype, expert_of(ctx, 1), out[0]);
    run_on(ctx, op, dtype, expert_of(ctx, threads), out[1]);
    const struct takt_fpenv after = takt__fpenv_get();
    fesetenv(FE_DFL_ENV);
    EXPECT_INT(after.control, before.control);
    TAP_CHECK(memcmp(out[0], out[1], n * takt_dtype_size(dtype)) == 0,
              "%s %s: other bits on %d threads in mode %d, started in %d",
              op->name, takt_dtype_name(dtype), threads, mode, started);
}

static void compare_ops(takt_ctx *ctx, int started, int mode)
{
    for (size_t i = 0; i < takt_op_count() * 2; i++) {
        const takt_op *op = takt_op_at(i / 2);
        const takt_dtype dtype = (takt_dtype)(i % 2);
        if (takt__op_entry(op)->form != TAKT_FORM_map ||
            (op->dtypes >> dtype & 1) == 0)
            continue;
        fill(dtype);
        compare_threads(ctx, op, dtype, started, mode);
    }
}

static void threads_give_the_same_bits_in_every_mode(void)
{
    for (int mode = 0; mode < modes; mode++) {
        takt_ctx *ctx = new_ctx();
        const int started = (mode + 5) % modes;
        compare_ops(ctx, started, started); /* this starts the threads */
        compare_ops(ctx, started, mode);
        takt_ctx_destroy(ctx);
    }
}

/* 1/3 is not the same in any two of these modes. */
static void modes_matter(void)
{
    takt_ctx *ctx = new_ctx();
    const takt_op *div = takt_op_find("div");
    double up[2], down[2];

    for (size_t i = 0; i < n; i++) {
        in[0][i] = 1;
        in[1][i] = 3;
    }
    set_mode(1);
    run_on(ctx, div, TAKT_F64, expert_of(ctx, threads), out[0]);
    up[0] = out[0][0];
    up[1] = out[0][n - 1];
    set_mode(2);
    run_on(ctx, div, TAKT_F64, expert_of(ctx, threads), out[0]);
    down[0] = out[0][0];
    down[1] = out[0][n - 1];
    fesetenv(FE_DFL_ENV);
    EXPECT(up[0] > down[0]);
    EXPECT(up[1] > down[1]);
    takt_ctx_destroy(ctx);
}

/* ---- what the caller did not ask for ---------------------------------------
 */

static void a_shadow_run_raises_nothing(void)
{
    takt_ctx *ctx = new_ctx();
    takt_call call = call_of(takt_op_find("div"), TAKT_F64, out[0]);
    struct takt_exec exec;

    memset(in, 0, sizeof in);
    call.flags = TAKT_CALL_STEADY;
    takt__exec_begin(&exec, ctx, &call, NULL);
    takt__call_question(&call, &exec.question);
    exec.start = exec.end = takt__ticks();
    exec.shadow = (int)expert_of(ctx, threads);
    feclearexcept(FE_ALL_EXCEPT);
    takt__shadow_run(&exec);
    EXPECT_INT(fetestexcept(FE_INVALID | FE_DIVBYZERO), 0);
#ifdef __GLIBC__
    feenableexcept(FE_INVALID); /* it would end the program */
    exec.shadow = (int)expert_of(ctx, 1);
    takt__shadow_run(&exec);
    fedisableexcept(FE_INVALID);
#endif
    feclearexcept(FE_ALL_EXCEPT);
    takt_ctx_destroy(ctx);
}

static void contexts_come_and_go_without_a_trace(void)
{
    set_mode(modes - 1);
    const struct takt_fpenv before = takt__fpenv_get();
    takt_ctx *ctx = new_ctx();
    EXPECT_INT(takt__fpenv_get().control, before.control);
    EXPECT_INT(takt__fpenv_get().flags, before.flags);
    takt_ctx_destroy(ctx);
    EXPECT_INT(takt__fpenv_get().control, before.control);
    EXPECT_INT(takt__fpenv_get().flags, before.flags);
    fesetenv(FE_DFL_ENV);
}

#ifdef __GLIBC__
/* Even inexact results trap here: whatever Takt computes for itself in the
 * caller's environment, or on a thread that has inherited it, ends the test.
 * The caller's own sums are exact. */
static void traps_do_not_meet_the_work_of_takt_itself(void)
{
    enum { calls = 2000 };
    takt_decision decision = {.size = sizeof decision};
    takt_learning learning = {.size = sizeof learning};

    if (feenableexcept(FE_ALL_EXCEPT) == -1 || fegetexcept() != FE_ALL_EXCEPT) {
        SKIP("this machine does not trap");
        return;
    }
    takt_ctx *ctx = new_ctx();
    for (size_t i = 0; i < n; i++)
        in[0][i] = in[1][i] = 1;
    const takt_call call = call_of(takt_op_find("add"), TAKT_F64, out[0]);
    const takt_request request = {
        .op = call.op, .dtype = TAKT_F64, .shape = call.shape};
    for (int i = 0; i < calls; i++)
        REQUIRE(takt_run(ctx, &call, i % 2 == 0 ? &decision : NULL) == TAKT_OK);
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    takt_ctx_destroy(ctx);
    fesetenv(FE_DFL_ENV);
}
#endif

/* Flags that a caller reads after a call are those of its own arithmetic. */
static void exact_calls_raise_no_flag(void)
{
    enum { calls = 2000 };
    takt_ctx *ctx = new_ctx();
    takt_decision decision = {.size = sizeof decision};
    takt_call call = call_of(takt_op_find("add"), TAKT_F64, out[0]);

    for (size_t i = 0; i < n; i++)
        in[0][i] = in[1][i] = 1;
    takt__fpenv_set((struct takt_fpenv){takt__fpenv_get().control, 0});
    for (int i = 0; i < calls; i++) {
        call.shape.dim[0] = (size_t)n >> i % 12;
        REQUIRE(takt_run(ctx, &call, i % 3 == 0 ? &decision : NULL) == TAKT_OK);
    }
    EXPECT_INT(takt__fpenv_get().flags, 0);
    takt_ctx_destroy(ctx);
}

/* ---- overflow on the way ---------------------------------------------------
 *
 * In two directions what overflows becomes the largest number, and is no sign
 * of itself. */

static bool is_about(double result, double expected)
{
    return result == expected || fabs(result - expected) <= 1e-5 * expected;
}

static void expect_result(takt_ctx *ctx, const char *op, takt_dtype dtype,
                          takt_shape shape, double expected)
{
    const char *expert;
    takt_call call = {.op = takt_op_find(op),
                      .dtype = dtype,
                      .shape = shape,
                      .in = {in[0]},
                      .out = out[0]};

    for (int mode = 0; mode < 4; mode++)
        for (size_t i = 0; (expert = takt_ctx_expert(ctx, i, NULL)) != NULL;
             i++) {
            set_mode(mode);
            const takt_status status = takt_run_on(ctx, &call, i);
            fesetenv(FE_DFL_ENV);
            const double result =
                dtype == TAKT_F64 ? out[0][0] : (double)*(float *)out[0];
            if (status != TAKT_ENODEV && !is_about(result, expected))
                printf("# %s of %s in mode %d: %g, not %g\n", op, expert, mode,
                       result, expected);
            EXPECT(status == TAKT_ENODEV || is_about(result, expected));
        }
}

static void what_fits_does_not_overflow_on_the_way(void)
{
    enum { rows = 8, cols = 67 };
    const takt_shape all = {.rank = 1, .dim = {n}};
    takt_ctx *ctx = new_ctx();
    float *narrow = (float *)in[0];

    for (size_t i = 0; i < n; i++)
        in[0][i] = 0x1p700;
    expect_result(ctx, "norm2", TAKT_F64, all, 0x1p700 * sqrt(n));
    for (size_t i = 0; i < n; i++) /* each of several threads has less */
        in[0][i] = 0x1p512 * 1.2 / sqrt(n);
    expect_result(ctx, "norm2", TAKT_F64, all, 0x1p512 * 1.2);
    for (size_t i = 0; i < n; i++)
        in[0][i] = i % 3 == 0 ? 0x1p1020 : 0x1p1019; /* their sums, too */
    expect_result(ctx, "variance", TAKT_F64, all, (double)INFINITY);
    for (size_t i = 0; i < n; i++)
        narrow[i] = i % 4 < 2 ? 3e38f : -3e38f;
    expect_result(ctx, "sum", TAKT_F32, all, 3e38); /* n % 4 is 3 */
    for (size_t i = 0; i < n; i++)
        narrow[i] = i % 2 == 0 ? 1.5e19f : -1.5e19f;
    expect_result(ctx, "variance", TAKT_F32, all, 2.25e38);
    for (size_t i = 0; i < (size_t)rows * cols; i++)
        narrow[i] = i / cols > 2 ? 0 : i / cols == 1 ? -3e38f : 3e38f;
    expect_result(ctx, "col_sum", TAKT_F32,
                  (takt_shape){.rank = 2, .dim = {rows, cols}}, 3e38);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    RUN(threads_give_the_same_bits_in_every_mode);
    RUN(modes_matter);
    RUN(a_shadow_run_raises_nothing);
    RUN(contexts_come_and_go_without_a_trace);
    RUN(exact_calls_raise_no_flag);
    RUN(what_fits_does_not_overflow_on_the_way);
#ifdef __GLIBC__
    RUN(traps_do_not_meet_the_work_of_takt_itself);
#endif
    return tap_done();
}
