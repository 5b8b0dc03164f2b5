/* SPDX-License-Identifier: MIT */
/* test_number.c - sizes, shapes and rates as people write them. */
#include "number.h"

#include <stdint.h>

#include "support/random.h"
#include "support/tap.h"

static void counts_are_read_exactly(void)
{
    static const struct {
        const char *text;
        size_t want;
    } rows[] = {
        {"0", 0},
        {"5", 5},
        {"007", 7},
        {"64K", 64000},
        {"64k", 64000},
        {"2M", 2000000},
        {"1e6", 1000000},
        {"1E+6", 1000000},
        {"1.5M", 1500000},
        {"4Ki", 4096},
        {"1Gi", 1u << 30},
        {"1.5Ki", 1536},
        {"0.001K", 1},
        {"25e-1K", 2500},
        {"1e3K", 1000000},
        {"0e999999", 0},
        {"5.", 5},
        {"5.0", 5},
        {"3T", 3000000000000},
        {"18446744073709551615", SIZE_MAX},
        {"10000000000000000000", 10000000000000000000u},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t got = 1234567;
        const char *wrong = parse_count(rows[i].text, &got);
        TAP_CHECK(wrong == NULL && got == rows[i].want, "%s is %zu (%s)",
                  rows[i].text, got, wrong ? wrong : "ok");
    }
}

static void wrong_counts_say_what_is_wrong(void)
{
    static const char *const rows[] = {
        "",
        "-5",
        "+5",
        "1e400",
        "12Q",
        "4x",
        " 5",
        "5 ",
        "0x10",
        "1.5",
        "1e-1",
        ".",
        "e5",
        "K",
        "1KK",
        "1KiB",
        "1e",
        "1e+",
        "1..5",
        "nan",
        "inf",
        "1,000",
        "18446744073709551616",
        "18446744073709551615K",
        "1e20",
        "16777216Ti",
        "0.0001K",
        "99999999999999999999999999999999999999999999999999999999999",
        "\xff",
        "5\n",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t got = 77;
        TAP_CHECK(parse_count(rows[i], &got) != NULL && got == 77,
                  "'%s' was read as %zu", rows[i], got);
    }
}

static void shapes_are_counts_joined_by_x(void)
{
    takt_shape shape = {0};

    EXPECT_STR(parse_shape("1024x512x256", &shape), NULL);
    EXPECT_INT(shape.rank, 3);
    EXPECT_INT(shape.dim[0], 1024);
    EXPECT_INT(shape.dim[2], 256);
    EXPECT_STR(parse_shape("2Kx3X4Ki", &shape), NULL);
    EXPECT_INT(shape.dim[1], 3);
    EXPECT_INT(shape.dim[2], 4096);
    EXPECT_STR(parse_shape("1x2x3x4x5x6x7x8x9x10", &shape), NULL);
    EXPECT_INT(shape.rank, 10);
}

static void wrong_shapes_leave_the_shape_alone(void)
{
    static const char *const rows[] = {
        "",     "x",    "4x",
        "x4",   "4xx4", "4x-1",
        "4x4x", "4y4",  "1x2x3x4x5x6x7x8x9x10x11"};
    takt_shape shape = {.rank = 1, .dim = {9}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        TAP_CHECK(parse_shape(rows[i], &shape) != NULL, "'%s' is a shape",
                  rows[i]);
    EXPECT_INT(shape.rank, 1);
    EXPECT_INT(shape.dim[0], 9);
}

static void rates_are_finite_and_not_negative(void)
{
    double rate = -1;

    EXPECT_STR(parse_rate("32e9", &rate), NULL);
    EXPECT_NEAR(rate, 32e9, 0);
    EXPECT_STR(parse_rate("100e12", &rate), NULL);
    EXPECT_NEAR(rate, 100e12, 0);
    EXPECT_STR(parse_rate("32G", &rate), NULL);
    EXPECT_NEAR(rate, 32e9, 0);
    EXPECT_STR(parse_rate("0.1", &rate), NULL);
    EXPECT_NEAR(rate, 0.1, 0);
    EXPECT_STR(parse_rate("3125000000", &rate), NULL);
    EXPECT_NEAR(rate, 3125000000.0, 0);
    EXPECT_STR(parse_rate("0", &rate), NULL);
    EXPECT_NEAR(rate, 0, 0);
    EXPECT(parse_rate("-1", &rate) != NULL);
    EXPECT(parse_rate("nan", &rate) != NULL);
    EXPECT(parse_rate("inf", &rate) != NULL);
    EXPECT(parse_rate("1e400", &rate) != NULL);
    EXPECT(parse_rate("", &rate) != NULL);
}

static void counts_read_back_what_was_printed(void)
{
    uint64_t state = 3;

    for (int i = 0; i < 20000; i++) {
        char text[32];
        size_t got = 0;
        const size_t want = random_size(&state);
        snprintf(text, sizeof text, "%zu", want);
        if (parse_count(text, &got) != NULL || got != want) {
            TAP_CHECK(false, "%s read as %zu", text, got);
            return;
        }
    }
}

static void numbers_are_printed_for_people(void)
{
    const struct number_text none = count_text(0),
                             million = count_text(1234567),
                             most = count_text(SIZE_MAX),
                             bytes = amount_text(1.5e9, "B"),
                             flops = amount_text(12, "FLOP");
    const struct shape_text shape =
        shape_text(&(takt_shape){.rank = 2, .dim = {3, 4}});

    EXPECT_STR(none.at, "0");
    EXPECT_STR(million.at, "1,234,567");
    EXPECT_STR(most.at, "18,446,744,073,709,551,615");
    EXPECT_STR(bytes.at, "1.5 GB");
    EXPECT_STR(flops.at, "12 FLOP");
    EXPECT_STR(shape.at, "3x4");
}

int main(void)
{
    RUN(counts_are_read_exactly);
    RUN(wrong_counts_say_what_is_wrong);
    RUN(shapes_are_counts_joined_by_x);
    RUN(wrong_shapes_leave_the_shape_alone);
    RUN(rates_are_finite_and_not_negative);
    RUN(counts_read_back_what_was_printed);
    RUN(numbers_are_printed_for_people);
    return tap_done();
}
