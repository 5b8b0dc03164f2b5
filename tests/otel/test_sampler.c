/* SPDX-License-Identifier: MIT */
/* test_sampler.c - which traces are exported. */
#include "../../otel/sampler.h"
#include "support/tap.h"

/* A trace id whose last 8 bytes are these. */
static bool is_drawn(double share, uint64_t last)
{
    const struct takt_otel_sampler sampler = {false, share};
    unsigned char id[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

    for (int i = 0; i < 8; i++)
        id[8 + i] = (unsigned char)(last >> (56 - 8 * i));
    return takt__otel_sampled(&sampler, NULL, id);
}

static void a_share_is_drawn_by_the_end_of_the_trace_id(void)
{
    EXPECT(is_drawn(0.5, 0));
    EXPECT(is_drawn(0.5, 0x7fffffffffffffffu));
    EXPECT(!is_drawn(0.5, 0x8000000000000000u));
    EXPECT(!is_drawn(0.5, 0xffffffffffffffffu));
    EXPECT(is_drawn(0.25, 0x3fffffffffffffffu));
    EXPECT(!is_drawn(0.25, 0x4000000000000000u));
    EXPECT(is_drawn(0.001, 0x0041000000000000u));
    EXPECT(!is_drawn(0.001, 0x0042000000000000u));
}

static void none_and_all_mean_it(void)
{
    EXPECT(!is_drawn(0, 0));
    EXPECT(!is_drawn(0, 1));
    EXPECT(is_drawn(1, 0xffffffffffffffffu));
}

static void a_larger_share_holds_every_smaller_one(void)
{
    uint64_t id = 1;

    for (int i = 0; i < 10000; i++) {
        id = id * 6364136223846793005u + 1442695040888963407u;
        if (is_drawn(0.1, id))
            EXPECT(is_drawn(0.2, id));
    }
}

static void a_share_is_about_what_it_says(void)
{
    uint64_t id = 1;
    int drawn = 0;

    for (int i = 0; i < 100000; i++) {
        id = id * 6364136223846793005u + 1442695040888963407u;
        drawn += is_drawn(0.1, id);
    }
    EXPECT_NEAR(drawn, 10000, 500);
}

static void a_parent_decides_where_it_is_asked(void)
{
    const struct takt_otel_sampler asking = {true, 0}, deaf = {false, 1};
    const takt_span_context yes = {{1}, {1}, 1}, no = {{1}, {1}, 0};

    EXPECT(takt__otel_sampled(&asking, &yes, yes.trace_id));
    EXPECT(!takt__otel_sampled(&asking, &no, no.trace_id));
    EXPECT(!takt__otel_sampled(&asking, NULL, no.trace_id));
    EXPECT(takt__otel_sampled(&deaf, &no, no.trace_id));
    EXPECT(takt__otel_sampled(&TAKT_OTEL_SAMPLER_USUAL, NULL, no.trace_id));
}

static void shares_are_numbers_between_0_and_1(void)
{
    static const char *const wrong[] = {"",    "x",   "-0.1", "1.1", "0.5x",
                                        "nan", "inf", "0,5",  "1e9"};
    double share = 0;

    EXPECT(takt__otel_share_read("0.5", &share));
    EXPECT_NEAR(share, 0.5, 0);
    EXPECT(takt__otel_share_read("0", &share));
    EXPECT_NEAR(share, 0, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        EXPECT(!takt__otel_share_read(wrong[i], &share));
        EXPECT_NEAR(share, 1, 0);
    }
}

static void an_unknown_sampler_is_the_usual_one(void)
{
    struct takt_otel_sampler sampler;
    bool takes_share = true;

    EXPECT(!takt__otel_sampler_read("xray", &sampler, &takes_share));
    EXPECT(sampler.asks_parent && !takes_share);
    EXPECT_NEAR(sampler.share, 1, 0);
}

int main(void)
{
    RUN(a_share_is_drawn_by_the_end_of_the_trace_id);
    RUN(none_and_all_mean_it);
    RUN(a_larger_share_holds_every_smaller_one);
    RUN(a_share_is_about_what_it_says);
    RUN(a_parent_decides_where_it_is_asked);
    RUN(shares_are_numbers_between_0_and_1);
    RUN(an_unknown_sampler_is_the_usual_one);
    return tap_done();
}
