/* SPDX-License-Identifier: MIT */
/*
 * test_cutting.c - which way syrk goes, by times that are made up.
 *
 * Every test has a route of its own, and so kinds of its own. Budgets are
 * common to all kinds, so every test first pays for its trials.
 */
#include "cutting.h"

#include "support/tap.h"

static takt_status explain(takt_ctx *ctx, const takt_request *request,
                           takt_estimate *out, size_t capacity, size_t *count)
{
    static const struct {
        const char *name;
        takt_backend backend;
        double predicted_s;
    } experts[] = {{"user.base", TAKT_BACKEND_SIMD, 1e-5},
                   {"simd", TAKT_BACKEND_SIMD, 3e-5},
                   {"simd.x2", TAKT_BACKEND_SIMD, 2e-5},
                   {"cuda.0", TAKT_BACKEND_GPU, 1e-6}};

    (void)ctx;
    EXPECT(request->shape.dim[0] == request->shape.dim[1]);
    *count = sizeof experts / sizeof *experts;
    for (size_t i = 0; i < *count && i < capacity; i++) {
        out[i] = (takt_estimate){.size = sizeof *out,
                                 .backend = experts[i].backend,
                                 .predicted_s = experts[i].predicted_s};
        strcpy(out[i].expert, experts[i].name);
    }
    return TAKT_OK;
}

static const char *name_of(const takt_ctx *ctx, size_t index,
                           takt_backend *backend)
{
    static const char *const names[] = {"scalar", "simd", "simd.x2", "cuda.0",
                                        "user.base"};

    (void)ctx;
    (void)backend;
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

static const struct takt_libtakt libtakt = {.explain = explain,
                                            .expert = name_of};

static struct takt_cutting *kind_of(struct takt_route *route)
{
    const struct takt_triangular call = {
        .routine = TAKT_SYRK, .n = 256, .k = 300};

    *route = (struct takt_route){.takt = &libtakt, .expert = "user.base"};
    struct takt_cutting *cutting = takt__cutting_of(route, &call);
    REQUIRE(cutting != NULL);
    return cutting;
}

/* What calls and trials take. */
struct times {
    uint64_t whole, cut;             /* in place */
    uint64_t whole_trial, cut_trial; /* beside the other way */
};

/* Makes calls; how many of them were cut. */
static unsigned make_calls(struct takt_cutting *cutting, unsigned calls,
                           const struct times *times, unsigned *trials)
{
    unsigned cut = 0;

    for (unsigned i = 0; i < calls; i++) {
        const bool is_cut = atomic_load(&cutting->is_cut);
        const uint64_t ns = is_cut ? times->cut : times->whole;
        cut += is_cut;
        if (!takt__cutting_ran(cutting, is_cut, ns, 1e6))
            continue;
        *trials += 1;
        const uint64_t trial = is_cut ? times->whole_trial : times->cut_trial;
        takt__cutting_tried(cutting, ns, trial, 2 * trial);
    }
    return cut;
}

static void the_fastest_expert_on_processors_runs_the_products(void)
{
    static struct takt_route route;

    EXPECT(kind_of(&route)->expert == 2);
}

static void calls_of_one_kind_share_a_state(void)
{
    static struct takt_route route;
    struct takt_cutting *cutting = kind_of(&route);
    struct takt_triangular call = {.routine = TAKT_SYRK, .n = 300, .k = 500};

    EXPECT(takt__cutting_of(&route, &call) == cutting);
    call.is_double = true;
    EXPECT(takt__cutting_of(&route, &call) != cutting);
    call.is_double = false;
    call.n = 400;
    EXPECT(takt__cutting_of(&route, &call) != cutting);
}

static void what_is_faster_in_place_is_taken_and_kept(void)
{
    static const struct times times = {200000, 150000, 210000, 220000};
    static struct takt_route route;
    struct takt_cutting *cutting = kind_of(&route);
    unsigned trials = 0;

    make_calls(cutting, 3000, &times, &trials);
    EXPECT(atomic_load(&cutting->is_cut));
    EXPECT(!cutting->is_on_probation);
    EXPECT_NEAR((double)atomic_load(&cutting->gain), 4.0 / 3, 0.01);
    EXPECT(make_calls(cutting, 3000, &times, &trials) == 3000);
}

static void a_failed_probation_is_short_and_rarer_each_time(void)
{
    /* Trials look better than calls in place are. */
    static const struct times times = {200000, 240000, 200000, 150000};
    static struct takt_route route;
    struct takt_cutting *cutting = kind_of(&route);
    unsigned trials = 0;

    const unsigned early = make_calls(cutting, 5000, &times, &trials);
    EXPECT(early > 0 && early * 240 < 5000 * 240 / 10);
    const unsigned late = make_calls(cutting, 20000, &times, &trials);
    EXPECT(late * 240 < 20000 * 240 / 50);
}

static void what_trials_show_to_be_slow_is_never_taken(void)
{
    static const struct times times = {200000, 150000, 200000, 500000};
    static struct takt_route route;
    unsigned trials = 0;

    EXPECT(make_calls(kind_of(&route), 5000, &times, &trials) == 0);
    EXPECT(trials > 0);
}

static void it_goes_back_when_the_library_gets_faster(void)
{
    static const struct times before = {200000, 150000, 200000, 150000};
    static const struct times after = {100000, 150000, 100000, 150000};
    static struct takt_route route;
    struct takt_cutting *cutting = kind_of(&route);
    unsigned trials = 0;

    make_calls(cutting, 5000, &before, &trials);
    EXPECT(atomic_load(&cutting->is_cut));
    make_calls(cutting, 20000, &after, &trials);
    EXPECT(!atomic_load(&cutting->is_cut));
}

static void trials_stay_within_their_share(void)
{
    static const struct times times = {200000, 200000, 300000, 300000};
    static struct takt_route route;
    unsigned trials = 0;

    make_calls(kind_of(&route), 100000, &times, &trials);
    EXPECT(trials * 600000.0 < 0.01 * 100000 * 200000.0 + 4e6);
}

/* The last test: it uses them all up. */
static void too_many_kinds_are_left_alone(void)
{
    static struct takt_route routes[TAKT_CUTTING_KINDS + 1];
    const struct takt_triangular call = {
        .routine = TAKT_SYRK, .n = 64, .k = 64};

    for (unsigned i = 0; i <= TAKT_CUTTING_KINDS; i++) {
        routes[i] =
            (struct takt_route){.takt = &libtakt, .expert = "user.base"};
        takt__cutting_of(&routes[i], &call);
    }
    EXPECT(takt__cutting_of(&routes[0], &call) != NULL);
    EXPECT(takt__cutting_of(&routes[TAKT_CUTTING_KINDS], &call) == NULL);
}

int main(void)
{
    RUN(the_fastest_expert_on_processors_runs_the_products);
    RUN(calls_of_one_kind_share_a_state);
    RUN(what_is_faster_in_place_is_taken_and_kept);
    RUN(a_failed_probation_is_short_and_rarer_each_time);
    RUN(what_trials_show_to_be_slow_is_never_taken);
    RUN(it_goes_back_when_the_library_gets_faster);
    RUN(trials_stay_within_their_share);
    RUN(too_many_kinds_are_left_alone);
    return tap_done();
}
