/* SPDX-License-Identifier: MIT */
/*
 * test_ops.c - every op on a Vulkan device gives what its definition gives, at
 * any place in memory; and the element-wise ones for every kind of number.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "vulkan/ops.h"

enum { trials = is_sanitized ? 6 : 16 };

/* ---- random calls ---------------------------------------------------------
 */

static void run_trials(size_t first, size_t count)
{
    for (size_t i = 0; i < takt_op_count(); i++) {
        const takt_op *op = takt_op_at(i);
        if (!takt__vulkan_driver.has(op, TAKT_F32))
            continue;
        for (size_t k = first; k < first + count; k++) {
            const struct trial t = trial_make(op, TAKT_F32, k);
            const size_t *d = t.call.shape.dim;
            DOING("%s trial %zu, %zux%zux%zux%zux%zu, ld %zu %zu %zu, flags "
                  "%u, alpha %g, beta %g",
                  op->name, k, d[0], d[1], d[2], d[3], d[4], t.call.ld[0],
                  t.call.ld[1], t.call.ld[2], t.call.flags, t.call.alpha,
                  t.call.beta);
            check(&t.call, t.terms);
        }
    }
}

static void every_op_gives_what_scalar_gives(void)
{
    run_trials(0, trials);
}

/* Few groups at once: the others are looped over, and attention goes by
 * stretches. */
static void large_calls_are_cut(void)
{
    struct takt_vulkan_limits *limits = &rig_inside()->limits;
    const struct takt_vulkan_limits before = *limits;

    limits->groups = 2;
    limits->scores = 512;
    run_trials(100, is_sanitized ? 3 : 8);
    *limits = before;
}

static void views_and_doubles_are_refused(void)
{
    float x[4] = {0};
    const takt_call view = {
        .op = takt_op_find("reshape"), .shape = {1, {4}}, .in = {x}, .out = x};
    const takt_call doubles = {
        .op = takt_op_find("add"), .dtype = TAKT_F64, .shape = {1, {4}}};
    const takt_call large = {.op = takt_op_find("add"),
                             .shape = {1, {(size_t)1 << 40}}};

    EXPECT(!driver->can_run(&gpu, &view));
    EXPECT(!driver->can_run(&gpu, &doubles));
    EXPECT(!driver->can_run(&gpu, &large));
}

static void bad_arithmetic_is_not_used(void)
{
    struct takt_vulkan *inside = rig_inside();
    const takt_call add = {.op = takt_op_find("add"), .shape = {1, {4}}};
    const takt_call fma = {.op = takt_op_find("fma"), .shape = {1, {4}}};
    const bool before = inside->is_ieee;

    inside->is_ieee = false;
    EXPECT(!driver->can_run(&gpu, &add));
    EXPECT(driver->can_run(&gpu, &fma));
    inside->is_ieee = before;
}

/* ---- maps -----------------------------------------------------------------
 */

static takt_call map_of(const takt_op *op, size_t n)
{
    takt_call call = {.op = op, .shape = {1, {n}}, .out = operands[3]};

    for (unsigned i = 0; i < op->inputs; i++)
        call.in[i] = operands[i];
    if (takt__op_id(op) == TAKT_OP_axpy)
        call.in[1] = call.out;
    return call;
}

static bool is_map(const takt_op *op)
{
    return takt__op_entry(op)->form == TAKT_FORM_map &&
           takt__vulkan_driver.has(op, TAKT_F32);
}

static size_t power(size_t base, unsigned exponent)
{
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

static void fill_special(float *at, size_t n, size_t slow)
{
    for (size_t i = 0; i < n; i++)
        at[i] = special(i / slow);
}

/* Every combination of operands; parameters go round. */
static void specials_of(const takt_op *op)
{
    const size_t n = power(specials, op->inputs);
    takt_call call = map_of(op, n);
    const bool is_axpy = takt__op_id(op) == TAKT_OP_axpy;

    for (size_t p = 0; p < specials; p += is_sanitized ? 5 : 1) {
        for (unsigned i = 0; i < op->inputs; i++)
            fill_special(is_axpy && i == 1 ? operands[3] : operands[i], n,
                         power(specials, i));
        call.alpha = (double)special(p);
        call.flags = TAKT_CALL_ALPHA_ZERO;
        if (takt__op_id(op) == TAKT_OP_clamp) {
            if (isnan(call.alpha))
                continue;
            call.beta = call.alpha + 1;
        }
        DOING("%s of special values, p %g", op->name, call.alpha);
        check(&call, 0);
        if (takt__op_id(op) != TAKT_OP_scale && !is_axpy &&
            takt__op_id(op) != TAKT_OP_clamp)
            break;
    }
}

static void maps_treat_special_values_alike(void)
{
    for (size_t i = 0; i < takt_op_count(); i++)
        if (is_map(takt_op_at(i)))
            specials_of(takt_op_at(i));
}

/* Any bits: all exponents, NaN and infinities among them. */
static void maps_take_any_bits(void)
{
    for (size_t i = 0; i < takt_op_count(); i++) {
        const takt_op *op = takt_op_at(i);
        const size_t n = is_sanitized ? 20000 : 300000;
        if (!is_map(op))
            continue;
        takt_call call = map_of(op, n);
        for (size_t k = 0; k < 4 * n; k++)
            operands[k / n][k % n] = float_of((uint32_t)random_next(&seed));
        call.alpha = -1.7e10;
        call.beta = 3e-9;
        DOING("%s of any bits", op->name);
        check(&call, 0);
        /* Near each other, where sums cancel. */
        for (size_t k = 0; k < n; k++) {
            operands[1][k] = operands[0][k] * (1 + (float)(k % 7) * 0x1p-23F);
            operands[2][k] = -operands[0][k] * operands[1][k];
        }
        DOING("%s of bits alike", op->name);
        check(&call, 0);
    }
}

/* The functions again, in double; scalar kernels round their results. */
static double exact(enum takt_op_id op, double x)
{
    switch (op) {
    case TAKT_OP_exp:
        return exp(x);
    case TAKT_OP_log:
        return log(x);
    case TAKT_OP_tanh:
        return tanh(x);
    case TAKT_OP_sigmoid:
        return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
    default:
        return x * 0.5 * erfc(-x * 0.70710678118654752440);
    }
}

static void check_function(const takt_op *op, size_t n)
{
    const double units = tolerance_find(op->name)->units;

    for (size_t i = 0; i < n; i++) {
        const double got = (double)operands[3][i];
        const double scalar = (double)((const float *)want)[i];
        const double real = exact(takt__op_id(op), (double)operands[0][i]);
        const double off = fabs(got - real) / ulp_of_f32(real);
        if (isfinite(scalar) && scalar != 0)
            tolerance_note(op->name, "vulkan, exactly", false, off, units);
        if (isfinite(scalar) && scalar != 0
                ? off > units
                : !same_value(got, scalar) && fabs(got) > 0x1p-149) {
            TAP_CHECK(false, "%s(%a) is %.9g, not %.9g", op->name,
                      (double)operands[0][i], got, real);
            return;
        }
    }
}

/* Steps through the bits of all floats. */
static void functions_are_accurate_over_all_floats(void)
{
    const char *given = getenv("TAKT_TEST_STEP");
    const uint64_t step = given != NULL  ? strtoull(given, NULL, 10)
                          : is_sanitized ? 160001
                                         : 16001;
    const size_t n = 200000;

    for (size_t k = 0; k < takt_op_count(); k++) {
        const takt_op *op = takt_op_at(k);
        if (!is_map(op) || tolerance_find(op->name)->of != TAKT_ACCURACY_ULP)
            continue;
        for (uint64_t bits = 0; bits <= UINT32_MAX;) {
            takt_status status = TAKT_OK;
            for (size_t i = 0; i < n; i++, bits += step)
                operands[0][i] = float_of((uint32_t)bits);
            const takt_call call = map_of(op, n);
            EXPECT(rig_run(call, &seed, &status));
            run_scalar(call, want);
            check_function(op, n);
        }
    }
}

int main(void)
{
    ops_open();
    RUN(every_op_gives_what_scalar_gives);
    RUN(large_calls_are_cut);
    RUN(views_and_doubles_are_refused);
    RUN(bad_arithmetic_is_not_used);
    RUN(maps_treat_special_values_alike);
    RUN(maps_take_any_bits);
    RUN(functions_are_accurate_over_all_floats);
    return ops_close();
}
