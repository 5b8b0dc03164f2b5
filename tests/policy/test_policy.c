/* SPDX-License-Identifier: MIT */
/* test_policy.c - the exact rules: boundaries as tables, then properties. */
#include "takt/policy.h"

#include <float.h>
#include <stdint.h>

#include "support/random.h"
#include "support/tap.h"

enum { S = TAKT_BACKEND_SCALAR, V = TAKT_BACKEND_SIMD, G = TAKT_BACKEND_GPU };
enum { L = TAKT_COMPLEXITY_LOW, M = TAKT_COMPLEXITY_MEDIUM };
enum { H = TAKT_COMPLEXITY_HIGH };

static void moe_changes_exactly_at_its_thresholds(void)
{
    static const struct {
        int complexity;
        size_t n;
        int want;
    } rows[] = {
        {L, 0, S},        {L, 1, S},        {L, 1000000, S}, {L, 1000001, V},
        {L, 1u << 31, V}, {L, SIZE_MAX, V}, {M, 0, S},       {M, 10000, S},
        {M, 10001, V},    {M, 100000, V},   {M, 100001, G},  {M, SIZE_MAX, G},
        {H, 0, S},        {H, 1000, S},     {H, 1001, V},    {H, 10000, V},
        {H, 10001, G},    {H, SIZE_MAX, G},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        TAP_CHECK((int)takt_moe_select((takt_complexity)rows[i].complexity,
                                       rows[i].n) == rows[i].want,
                  "moe %d %zu is not %d", rows[i].complexity, rows[i].n,
                  rows[i].want);
}

static void moe_thresholds_can_be_asked(void)
{
    EXPECT_INT(takt_moe_threshold(TAKT_COMPLEXITY_MEDIUM, TAKT_BACKEND_SIMD),
               10000);
    EXPECT_INT(takt_moe_threshold(TAKT_COMPLEXITY_HIGH, TAKT_BACKEND_GPU),
               10000);
    EXPECT(takt_moe_threshold(TAKT_COMPLEXITY_LOW, TAKT_BACKEND_GPU) ==
           SIZE_MAX);
    EXPECT_INT(takt_moe_threshold(TAKT_COMPLEXITY_LOW, TAKT_BACKEND_SCALAR), 0);
}

static void moe_never_steps_back_as_sizes_grow(void)
{
    uint64_t state = 1;

    for (int i = 0; i < 100000; i++) {
        const takt_complexity c = (takt_complexity)(random_next(&state) % 3);
        const size_t a = random_size(&state), b = random_size(&state);
        const size_t small = a < b ? a : b, large = a < b ? b : a;
        if (takt_moe_select(c, small) > takt_moe_select(c, large)) {
            TAP_CHECK(false, "%d: %zu before %zu", (int)c, small, large);
            return;
        }
    }
}

static void cost_defaults_are_the_documented_ones(void)
{
    const takt_cost_model model = takt_cost_model_default();

    EXPECT_NEAR(model.pcie_bandwidth, 32e9, 0);
    EXPECT_NEAR(model.gpu_flops, 20e12, 0);
    EXPECT_NEAR(model.dispatch_ratio, 5, 0);
}

static void cost_boundary_is_strict(void)
{
    const takt_cost_model model = takt_cost_model_default();

    EXPECT_INT(takt_cost_select(&model, (takt_work){1e6, 3125000000.0}), V);
    EXPECT_INT(takt_cost_select(&model, (takt_work){1e6, 3125000001.0}), G);
    EXPECT_INT(takt_cost_select(&model, (takt_work){1e6, 3156250000.0}), G);
    EXPECT_INT(takt_cost_select(&model, (takt_work){0, 0}), V);
    EXPECT_INT(takt_cost_select(&model, (takt_work){0, 1}), G);
    EXPECT_INT(takt_cost_select(&model, (takt_work){1, 0}), V);
}

static void cost_of_matmul_turns_at_18751(void)
{
    const takt_cost_model model = takt_cost_model_default();

    EXPECT_INT(takt_cost_select_matmul(&model, 18750, 18750, 18750), V);
    EXPECT_INT(takt_cost_select_matmul(&model, 18751, 18751, 18751), G);
    EXPECT_INT(takt_cost_select_matmul(&model, 0, 0, 0), V);
    EXPECT_INT(takt_cost_select_matmul(&model, 0, 5, 5), V);
}

static void cost_products_do_not_wrap(void)
{
    const takt_cost_model model = takt_cost_model_default();

    for (int bits = 15; bits < 64; bits++) {
        const size_t n = (size_t)1 << bits;
        TAP_CHECK(takt_cost_select_matmul(&model, n, n, n) == TAKT_BACKEND_GPU,
                  "2^%d is not GPU", bits);
    }
    EXPECT_INT(takt_cost_select_matmul(&model, SIZE_MAX, SIZE_MAX, SIZE_MAX),
               G);
    EXPECT_INT(takt_cost_select_vector(&model, SIZE_MAX, 2), V);
    EXPECT_INT(takt_cost_select_vector(&model, SIZE_MAX, 1e9), G);
}

static void cost_of_vectors_and_elements(void)
{
    const takt_cost_model model = takt_cost_model_default();

    /* 12n bytes at 32e9, five times, against n * ops at 20e12: 37500. */
    EXPECT_INT(takt_cost_select_vector(&model, 1024, 37500), V);
    EXPECT_INT(takt_cost_select_vector(&model, 1024, 37501), G);
    EXPECT_INT(takt_cost_select_vector(&model, 0, 37501), V);
    EXPECT_INT(takt_cost_select_elementwise(0), S);
    EXPECT_INT(takt_cost_select_elementwise(1000000), S);
    EXPECT_INT(takt_cost_select_elementwise(1000001), V);
    EXPECT_INT(takt_cost_select_elementwise(SIZE_MAX), V);
}

static void cost_parameters_move_the_boundary_both_ways(void)
{
    const takt_work work = {1e6, 3125000000.0};
    takt_cost_model model = takt_cost_model_default();

    EXPECT_INT(takt_cost_model_set(&model, 64e9, 20e12, 5), TAKT_OK);
    EXPECT_INT(takt_cost_select(&model, work), G);
    EXPECT_INT(takt_cost_model_set(&model, 32e9, 10e12, 5), TAKT_OK);
    EXPECT_INT(takt_cost_select(&model, work), G);
    EXPECT_INT(takt_cost_model_set(&model, 32e9, 20e12, 4.99), TAKT_OK);
    EXPECT_INT(takt_cost_select(&model, work), G);
    EXPECT_INT(takt_cost_model_set(&model, 1e9, 100e12, 5), TAKT_OK);
    EXPECT_INT(takt_cost_select(&model, work), V);
    EXPECT_INT(takt_cost_select_matmul(&model, 100000, 100000, 100000), V);
    EXPECT_INT(takt_cost_model_set(&model, 32e9, 20e12, 0), TAKT_OK);
    EXPECT_INT(takt_cost_select(&model, (takt_work){1e6, 1}), G);
}

static void wrong_cost_parameters_change_nothing(void)
{
    static const double wrong[] = {0.0, -0.0, -1.0, NAN, INFINITY, -INFINITY};
    takt_cost_model model = {1, 2, 3};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        EXPECT_INT(takt_cost_model_set(&model, wrong[i], 9, 9), TAKT_EINVAL);
        EXPECT_INT(takt_cost_model_set(&model, 9, wrong[i], 9), TAKT_EINVAL);
        if (wrong[i] != 0)
            EXPECT_INT(takt_cost_model_set(&model, 9, 9, wrong[i]),
                       TAKT_EINVAL);
    }
    EXPECT_INT(takt_cost_model_set(NULL, 9, 9, 9), TAKT_EINVAL);
    EXPECT_NEAR(model.pcie_bandwidth, 1, 0);
    EXPECT_NEAR(model.gpu_flops, 2, 0);
    EXPECT_NEAR(model.dispatch_ratio, 3, 0);
}

static void cost_is_monotone_in_flops_and_antimonotone_in_bytes(void)
{
    uint64_t state = 7;

    for (int i = 0; i < 100000; i++) {
        takt_cost_model model;
        REQUIRE(takt_cost_model_set(&model, random_real(&state, 6, 12),
                                    random_real(&state, 9, 15),
                                    random_real(&state, -2, 3)) == TAKT_OK);
        const takt_work work = {random_real(&state, 0, 18),
                                random_real(&state, 0, 24)};
        const takt_work more = {work.bytes,
                                work.flops * random_real(&state, 0, 3)};
        const takt_work heavier = {work.bytes * random_real(&state, 0, 3),
                                   work.flops};
        const takt_backend base = takt_cost_select(&model, work);
        if (takt_cost_select(&model, more) < base ||
            takt_cost_select(&model, heavier) > base) {
            TAP_CHECK(false, "%g bytes, %g flops", work.bytes, work.flops);
            return;
        }
    }
}

static void heuristic_knows_its_names(void)
{
    static const struct {
        const char *op;
        size_t n;
        int want;
    } rows[] = {
        {"matrix_multiply", 10000, S},
        {"matrix_multiply", 10001, G},
        {"matrix_add", 10000, S},
        {"matrix_add", 10001, G},
        {"matrix_transpose", 10000, S},
        {"matrix_transpose", 10001, G},
        {"convolution", 1000, S},
        {"convolution", 1001, G},
        {"pooling", 1000, S},
        {"pooling", 1001, G},
        {"vector_add", 1, V},
        {"vector_add", SIZE_MAX, V},
        {"vector_multiply", 1000, V},
        {"vector_scale", 1000, V},
        {"dot_product", 1000, V},
        {"elementwise_add", 1000, V},
        {"elementwise_multiply", 9, V},
        {"sum", 1000, V},
        {"mean", 1000, V},
        {"max", 1000, V},
        {"min", 1000, V},
        {"matmul", 10001, G},
        {"transpose", 10001, G},
        {"conv2d", 1001, G},
        {"add", 1000, V},
        {"mul", 1000, V},
        {"scale", 1000, V},
        {"dot", 1000, V},
        {"Matrix_Multiply", 10001, G},
        {"SUM", 5, V},
        {"random_access", 1000000, S},
        {"random", 1000000, S},
        {"custom_operation", 100, S},
        {"summ", 1000000, S},
        {"su", 1000000, S},
        {"", 1000000, S},
        {"xum", 1000000, S},
        {"sxm", 1000000, S},
        {"matrix_multiplz", 20000, S},
        {"a_name_that_is_far_too_long", 9, S},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        TAP_CHECK((int)takt_heuristic_select(rows[i].op, rows[i].n) ==
                      rows[i].want,
                  "%s %zu is not %d", rows[i].op, rows[i].n, rows[i].want);
    EXPECT_INT(takt_heuristic_select(NULL, 1000000), S);
}

int main(void)
{
    RUN(moe_changes_exactly_at_its_thresholds);
    RUN(moe_thresholds_can_be_asked);
    RUN(moe_never_steps_back_as_sizes_grow);
    RUN(cost_defaults_are_the_documented_ones);
    RUN(cost_boundary_is_strict);
    RUN(cost_of_matmul_turns_at_18751);
    RUN(cost_products_do_not_wrap);
    RUN(cost_of_vectors_and_elements);
    RUN(cost_parameters_move_the_boundary_both_ways);
    RUN(wrong_cost_parameters_change_nothing);
    RUN(cost_is_monotone_in_flops_and_antimonotone_in_bytes);
    RUN(heuristic_knows_its_names);
    return tap_done();
}
