/* SPDX-License-Identifier: MIT */
/* test_compare_stats.c - the statistics of `takt run --compare`, and whether
 * two outputs differ in numbers alone. */
#include <math.h>
#include <stdint.h>

#include "run_compare_output.h"
#include "run_compare_stats.h"
#include "support/random.h"
#include "support/tap.h"

static void medians_are_of_the_middle(void)
{
    EXPECT(isnan(median_of(NULL, 0)));
    EXPECT_NEAR(median_of((double[]){3}, 1), 3, 0);
    EXPECT_NEAR(median_of((double[]){9, 1, 5}, 3), 5, 0);
    EXPECT_NEAR(median_of((double[]){9, 1, 5, 6}, 4), 5.5, 0);
}

/* The two-sided 5% points of the signed-rank test, as tables have them. */
static void limits_are_those_of_the_tables(void)
{
    static const struct {
        size_t count;
        long want;
    } rows[] = {{1, -1},  {5, -1},  {6, 0},    {7, 2},    {8, 3},     {9, 5},
                {10, 8},  {11, 10}, {12, 13},  {13, 17},  {14, 21},   {15, 25},
                {20, 52}, {25, 89}, {30, 137}, {50, 434}, {100, 1955}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        TAP_CHECK(signed_rank_limit(rows[i].count) == rows[i].want,
                  "%zu pairs: %ld, not %ld", rows[i].count,
                  signed_rank_limit(rows[i].count), rows[i].want);
    EXPECT(signed_rank_limit(compare_given) > 0);
}

/* Hamilton depression scale (Hollander and Wolfe, table 3.1): their estimate
 * of the difference is 0.46, with an interval from 0.010 to 0.786. */
static void an_interval_is_that_of_the_textbook(void)
{
    static const double before[] = {1.83, 0.50, 1.62, 2.48, 1.68,
                                    1.88, 1.55, 3.06, 1.30};
    static const double after[] = {0.878, 0.647, 0.598, 2.05, 1.06,
                                   1.29,  1.06,  3.14,  1.29};
    double x[9], y[9];
    struct interval got;

    for (size_t i = 0; i < 9; i++) { /* a ratio of these is that difference */
        x[i] = exp(before[i]);
        y[i] = exp(after[i]);
    }
    EXPECT(ratio_interval(x, y, 9, &got));
    EXPECT_NEAR(log(got.ratio), 0.46, 1e-9);
    EXPECT_NEAR(log(got.low), 0.010, 1e-9);
    EXPECT_NEAR(log(got.high), 0.786, 1e-9);
}

static void few_pairs_have_a_ratio_and_no_interval(void)
{
    static const double two[] = {2, 2, 2, 2, 2, 2}, one[] = {1, 1, 1, 1, 1, 1};
    struct interval got;

    EXPECT(ratio_interval(two, one, 0, &got));
    EXPECT(isnan(got.ratio) && isnan(got.low) && isnan(got.high));
    for (size_t count = 1; count < compare_least; count++) {
        EXPECT(ratio_interval(two, one, count, &got));
        EXPECT_NEAR(got.ratio, 2, 1e-12);
        EXPECT(isnan(got.low) && isnan(got.high));
    }
    EXPECT(ratio_interval(two, one, compare_least, &got));
    EXPECT_NEAR(got.low, 2, 1e-12);
    EXPECT_NEAR(got.high, 2, 1e-12);
}

static void one_outlier_does_not_move_the_ratio(void)
{
    const double takt[] = {1.01, 0.99, 1.00, 1.02, 0.98, 1.00, 50, 1.01};
    const double plain[] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct interval got;

    EXPECT(ratio_interval(takt, plain, 8, &got));
    EXPECT_NEAR(got.ratio, 1.005, 0.02);
    EXPECT(got.low > 0.9 && got.low < 1);
}

/* Where a coin decides which of two is which, 95% of the intervals contain 1,
 * whatever the distribution. */
static void intervals_hold_what_they_promise(void)
{
    enum { trials = 4000 };
    uint64_t random = 11;

    for (size_t count = 6; count <= 14; count += 4) {
        unsigned inside = 0;
        for (int trial = 0; trial < trials; trial++) {
            double x[16], y[16];
            struct interval got;
            for (size_t i = 0; i < count; i++) {
                const double long_tail = pow(1 - random_unit(&random), -0.5);
                const bool is_first = random_next(&random) % 2 == 0;
                x[i] = is_first ? long_tail : 1;
                y[i] = is_first ? 1 : long_tail;
            }
            EXPECT(ratio_interval(x, y, count, &got));
            inside += got.low <= 1 && got.high >= 1;
        }
        TAP_CHECK(inside > 0.94 * trials, "%zu pairs: %u of %d contain 1",
                  count, inside, trials);
    }
}

static bool differ(const char *a, const char *b, double *difference)
{
    return differ_in_numbers(a, strlen(a), b, strlen(b), difference);
}

static void numbers_may_differ_in_their_last_digits(void)
{
    double difference;

    EXPECT(differ("loss 1.0000 at 3\n", "loss 1.0001 at 3\n", &difference));
    EXPECT_NEAR(difference, 1e-4, 1e-7);
    EXPECT(differ("[-2.5e-3, 1.]", "[-2.0e-3, 1.]", &difference));
    EXPECT_NEAR(difference, 0.2, 1e-12);
    EXPECT(differ("same 1.5", "same 1.5", &difference));
    EXPECT_NEAR(difference, 0, 0);
    EXPECT(differ("0.0", "-0.0", &difference));
    EXPECT_NEAR(difference, 0, 0);
    EXPECT(differ("1.0 0.99999", "1.0 1.0", &difference));
    EXPECT_NEAR(difference, 1e-5, 1e-9);
}

static void anything_else_is_another_text(void)
{
    static const char *const rows[][2] = {
        {"3 rows", "4 rows"}, {"loss 1.0", "lost 1.0"},
        {"1.0 2.0", "1.0"},   {"", "1.0"},
        {"1.5", "nan"},       {"inf.", "1.5"},
        {"v1.2.3", "v1.2.4"}, {"1.0\n2.0\n", "1.0 2.0\n"},
        {"1.0", "0x1.8p3"},   {"1.0", "1.0\n"}};
    double difference;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        TAP_CHECK(!differ(rows[i][0], rows[i][1], &difference), "'%s' and '%s'",
                  rows[i][0], rows[i][1]);
}

int main(void)
{
    RUN(medians_are_of_the_middle);
    RUN(limits_are_those_of_the_tables);
    RUN(an_interval_is_that_of_the_textbook);
    RUN(few_pairs_have_a_ratio_and_no_interval);
    RUN(one_outlier_does_not_move_the_ratio);
    RUN(intervals_hold_what_they_promise);
    RUN(numbers_may_differ_in_their_last_digits);
    RUN(anything_else_is_another_text);
    return tap_done();
}
