/* SPDX-License-Identifier: MIT */
/*
 * test_sums.c - reductions, rows, products and layers on a Vulkan device where
 * they are difficult: special values, extreme ranges, sums that cancel, and
 * what must not be read.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "vulkan/ops.h"

/* ---- reductions -----------------------------------------------------------
 */

static bool is_reduction(const takt_op *op)
{
    return takt__op_entry(op)->form == TAKT_FORM_reduce;
}

static void check_reduction(const takt_op *op, size_t n)
{
    const takt_call call = {
        .op = op,
        .shape = {1, {n}},
        .in = {operands[0], op->inputs > 1 ? operands[1] : NULL},
        .out = operands[3]};

    check(&call, n);
}

static void each_reduction(const char *of, size_t n)
{
    for (size_t i = 0; i < takt_op_count(); i++)
        if (is_reduction(takt_op_at(i))) {
            DOING("%s of %zu %s", takt_op_at(i)->name, n, of);
            check_reduction(takt_op_at(i), n);
        }
}

static void fill_unit(float *at, size_t n, double offset, double scale)
{
    for (size_t i = 0; i < n; i++)
        at[i] = (float)((offset + 2 * random_unit(&seed) - 1) * scale);
}

static void reductions_treat_special_values_alike(void)
{
    static const size_t lengths[] = {1, 5, 300, 5000};

    for (size_t k = 0; k < specials * (is_sanitized ? 1 : 3); k++) {
        const size_t n = lengths[k % 4];
        fill_unit(operands[0], n, 0, 1);
        fill_unit(operands[1], n, 0, 1);
        operands[0][random_next(&seed) % n] = special(k);
        if (k >= specials)
            operands[0][random_next(&seed) % n] = special(k * 7);
        if (k >= 2 * specials)
            operands[1][random_next(&seed) % n] = special(k * 5);
        each_reduction("with a special value", n);
    }
    for (int k = 0; k < 6; k++) {
        const size_t n = k < 3 ? 200 : 9000;
        for (size_t i = 0; i < n; i++)
            operands[0][i] =
                k % 3 == 0 || (k % 3 == 1 && i % 9 > 4) ? -0.0F : 0.0F;
        each_reduction("zeros", n);
    }
}

static void sums_neither_overflow_nor_underflow(void)
{
    static const double scales[] = {3e38, 1e30, 1e-30, 1e-38, 1e-42};

    for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++)
        for (size_t n = 3; n < 10000; n = n * 7 + 1) {
            fill_unit(operands[0], n, 0, scales[k]);
            fill_unit(operands[1], n, 0, 1 / scales[k]);
            if (k == 0) /* beyond the range on the way, not in the end */
                for (size_t i = 0; i < n; i++)
                    operands[0][i] = i % 2 == 0 ? FLT_MAX : -FLT_MAX;
            each_reduction("large or small numbers", n);
        }
    for (size_t n = 1; n < 10000; n = n * 9 + 1) {
        for (size_t i = 0; i < n; i++) {
            operands[0][i] = i % 2 == 0 ? 1e-30F : 1e30F;
            operands[1][i] = i % 3 == 0 ? 1e-30F : 1e-15F;
        }
        each_reduction("numbers of all sizes", n);
    }
}

static void sums_that_cancel_stay_accurate(void)
{
    const size_t n = 100000;

    for (size_t i = 0; i < n; i += 2) {
        const double x = random_real(&seed, -5, 5);
        operands[0][i] = (float)x;
        operands[0][i + 1] = (float)(-x * (1 + 1e-6));
        operands[1][i] = operands[1][i + 1] = 1;
    }
    each_reduction("numbers that cancel", n);
    for (size_t i = 0; i < n; i++)
        operands[0][i] = 1e6F + (float)(i % 3) * 0.0625F;
    each_reduction("numbers far from 0", n);
    for (size_t i = 0; i < n; i++)
        operands[0][i] = operands[1][i] = 0.1F;
    each_reduction("equal numbers", n);
    each_reduction("equal numbers", 1);
    each_reduction("equal numbers", 77);
}

/* A plain float sum of them is off by percents. */
static void long_sums_stay_accurate(void)
{
    const size_t n = is_sanitized ? 200000 : 2000000;

    for (size_t i = 0; i < n; i++)
        operands[0][i] = operands[1][i] = 0.1F;
    each_reduction("tenths", n);
}

/* ---- rows -----------------------------------------------------------------
 */

static void check_rows(const char *name, size_t rows, size_t cols,
                       const float *gain, const float *bias)
{
    const takt_call call = {.op = takt_op_find(name),
                            .shape = {2, {rows, cols}},
                            .in = {operands[0], gain, bias},
                            .out = operands[3],
                            .alpha = 1e-5};

    DOING("%s of %zux%zu", name, rows, cols);
    check(&call, 0);
}

static void rows_of_any_length_are_right(void)
{
    static const size_t lengths[] = {1, 2, 7, 31, 32, 33, 100, 256, 257, 1000};

    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        const size_t rows = 1 + 70 / lengths[k] + k % 3;
        fill_unit(operands[0], rows * lengths[k], k % 2 == 0 ? 0 : 100, 1);
        fill_unit(operands[1], lengths[k], 0, 1);
        fill_unit(operands[2], lengths[k], 0, 1);
        check_rows("softmax", rows, lengths[k], NULL, NULL);
        check_rows("layernorm", rows, lengths[k], NULL, NULL);
        check_rows("layernorm", rows, lengths[k], operands[1], operands[2]);
    }
}

static void rows_treat_special_values_alike(void)
{
    for (size_t k = 0; k < specials; k++) {
        const size_t cols = k % 2 == 0 ? 40 : 3;
        fill_unit(operands[0], 8 * cols, 0, 1);
        for (size_t i = 0; i < cols; i++) {
            operands[0][2 * cols + i] = -INFINITY;
            operands[0][4 * cols + i] = 7;
        }
        /* What is large would dwarf the tolerance of what is not. */
        operands[0][5 * cols + random_next(&seed) % cols] =
            fabsf(special(k)) < 2 || !isfinite(special(k)) ? special(k) : 0;
        check_rows("softmax", 8, cols, NULL, NULL);
        operands[0][2 * cols] = NAN;
        check_rows("layernorm", 8, cols, NULL, NULL);
    }
}

/* Rows of large and small numbers: nothing overflows, and epsilon counts. */
static void layernorm_keeps_any_scale(void)
{
    static const double scales[] = {1e38, 1e20, 1e-3, 1e-20, 1e-38, 1e-44};
    const size_t cols = 37;

    for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++) {
        for (size_t i = 0; i < cols; i++)
            operands[0][i] = (float)((2 * random_unit(&seed) - 1) * scales[k]);
        check_rows("layernorm", 1, cols, NULL, NULL);
    }
}

/* ---- products and layers ---------------------------------------------------
 */

/* What does not count is not read: it may be NaN. */
static void factors_of_0_hide_operands(void)
{
    const size_t m = 37, n = 70, k = 19;

    for (int hidden = 0; hidden < 2; hidden++)
        for (int is_gemv = 0; is_gemv < 2; is_gemv++) {
            fill_unit(operands[0], m * (is_gemv ? n : k), 0, 1);
            fill_unit(operands[1], k * n, 0, 1);
            for (size_t i = 0; i < m * n; i++)
                operands[3][i] = hidden == 0 ? NAN : 0.5F;
            if (hidden == 1)
                operands[0][5] = operands[1][7] = NAN;
            takt_call call = {.op = takt_op_find(is_gemv ? "gemv" : "matmul"),
                              .shape = {is_gemv ? 2 : 3, {m, n, k}},
                              .in = {operands[0], operands[1]},
                              .out = operands[3],
                              .alpha = hidden == 0 ? 1.5 : 0,
                              .beta = hidden == 0 ? 0 : -2,
                              .flags = TAKT_CALL_ALPHA_ZERO};
            DOING("%s with hidden operands", call.op->name);
            const size_t bytes = out_bytes_of(call);
            takt_status status = TAKT_OK;
            memcpy(want, operands[3], bytes);
            run_scalar(call, want);
            EXPECT(rig_run(call, &seed, &status));
            for (size_t i = 0; i < bytes / sizeof(float); i++)
                TAP_CHECK(fabsf(operands[3][i] - ((float *)want)[i]) < 1e-4F,
                          "%s: [%zu]", guard_doing, i);
        }
}

static void infinities_spread_along_rows_and_columns_only(void)
{
    const size_t n = 70;
    takt_status status = TAKT_OK;

    for (size_t kind = 0; kind < 2; kind++) {
        fill_unit(operands[0], n * n, 2, 1);
        fill_unit(operands[1], n * n, 2, 1);
        operands[0][3 * n + 5] = kind == 0 ? INFINITY : NAN;
        operands[1][9 * n + 68] = -INFINITY;
        takt_call call = {.op = takt_op_find("matmul"),
                          .shape = {3, {n, n, n}},
                          .in = {operands[0], operands[1]},
                          .out = operands[3],
                          .alpha = 1};
        EXPECT(rig_run(call, &seed, &status));
        run_scalar(call, want);
        for (size_t i = 0; i < n * n; i++) {
            const float right = ((float *)want)[i];
            TAP_CHECK(isfinite(right)
                          ? fabsf(operands[3][i] - right) < 1e-2F
                          : same_value((double)operands[3][i], (double)right),
                      "matmul: [%zu] is %g, not %g", i, (double)operands[3][i],
                      (double)right);
        }
        call.op = takt_op_find("gemv");
        call.shape = (takt_shape){2, {n, n}};
        for (unsigned flags = 0; flags < 2; flags++) {
            call.flags = flags == 0 ? 0 : TAKT_TRANS_A;
            EXPECT(rig_run(call, &seed, &status));
            run_scalar(call, want);
            for (size_t i = 0; i < n; i++)
                EXPECT(isfinite(((float *)want)[i])
                           ? fabsf(operands[3][i] - ((float *)want)[i]) < 1e-2F
                           : same_value((double)operands[3][i],
                                        (double)((float *)want)[i]));
        }
    }
}

static void poolings_treat_special_values_alike(void)
{
    const size_t high = 20, wide = 33;

    for (size_t k = 0; k < 24; k++) {
        const takt_call call = {
            .op = takt_op_find("pooling"),
            .shape = {7, {1, 1, high, wide, 1 + k % 4, 1 + k % 3, k % 4 / 2}},
            .in = {operands[0]},
            .out = operands[3],
            .flags = k % 2 == 0 ? 0 : TAKT_CALL_MEAN_POOL};
        for (size_t i = 0; i < high * wide; i++)
            operands[0][i] = k < 8
                                 ? (random_next(&seed) % 2 ? 0.0F : -0.0F)
                                 : special(random_next(&seed) % (specials * 3));
        DOING("pooling of special values, window %zu, flags %u", 1 + k % 4,
              call.flags);
        check(&call, 0);
    }
}

/* A NaN that no query sees has no influence; one that sees nothing gets
 * zeros. */
static void hidden_keys_have_no_influence(void)
{
    enum { q = 11, k = 17, d = 9 };
    takt_call call = {.op = takt_op_find("attention"),
                      .shape = {5, {1, 2, q, k, d}},
                      .in = {operands[0], operands[1], operands[2]},
                      .out = operands[3],
                      .flags = TAKT_CALL_CAUSAL};
    static float mask[q * k];

    fill_unit(operands[0], 2 * q * d, 0, 1);
    fill_unit(operands[1], 2 * k * d, 0, 1);
    fill_unit(operands[2], 2 * k * d, 0, 1);
    for (size_t i = 0; i < d; i++) /* the last key: only the last query */
        operands[1][(k - 1) * d + i] = operands[2][(k - 1) * d + i] = NAN;
    DOING("attention with a hidden NaN");
    check(&call, 0);
    for (size_t i = 0; i < q * k; i++)
        mask[i] = i / k == 3 || i % 3 == 0 ? -INFINITY : 0.25F;
    call.in[3] = mask;
    DOING("attention with a masked NaN");
    check(&call, 0);
    operands[1][3] = INFINITY;
    DOING("attention with an infinite score");
    check(&call, 0);
    call.shape.dim[2] = k;
    call.shape.dim[3] = 5;
    call.in[3] = NULL;
    fill_unit(operands[0], 2 * k * d, 0, 1);
    fill_unit(operands[1], 2 * k * d, 0, 1);
    fill_unit(operands[2], 2 * k * d, 0, 1);
    DOING("attention with queries that see nothing");
    check(&call, 0);
}

int main(void)
{
    ops_open();
    RUN(reductions_treat_special_values_alike);
    RUN(sums_neither_overflow_nor_underflow);
    RUN(sums_that_cancel_stay_accurate);
    RUN(long_sums_stay_accurate);
    RUN(rows_of_any_length_are_right);
    RUN(rows_treat_special_values_alike);
    RUN(layernorm_keeps_any_scale);
    RUN(factors_of_0_hide_operands);
    RUN(infinities_spread_along_rows_and_columns_only);
    RUN(poolings_treat_special_values_alike);
    RUN(hidden_keys_have_no_influence);
    return ops_close();
}
