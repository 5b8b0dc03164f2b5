/* SPDX-License-Identifier: MIT */
/*
 * test_loops.c - loops and reductions of NumPy's: which can be cut, that
 * cutting them changes nothing, and where kinds with made-up times end.
 */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "loop_choice.h"
#include "loop_reduce.h"
#include "loop_split.h"
#include "support/random.h"
#include "support/tap.h"

/* ---- which can be cut ---- */

static const struct takt_loop_form binary = {2, 3, {4, 4, 4}};

static bool is_divisible(char *a, char *b, char *out, ptrdiff_t n,
                         const ptrdiff_t steps[3])
{
    char *args[] = {a, b, out};

    return takt__loop_is_divisible(
        &binary,
        &(struct takt_loop_call){.args = args, .steps = steps, .n = n});
}

static void arrays_that_are_apart_can_be_cut(void)
{
    static char m[4096];

    EXPECT(is_divisible(m, m + 400, m + 804, 100, (ptrdiff_t[]){4, 4, 4}));
    EXPECT(is_divisible(m, m, m + 404, 100, (ptrdiff_t[]){4, 0, 4}));
    EXPECT(is_divisible(m + 396, m, m + 404, 100, (ptrdiff_t[]){-4, 4, 8}));
    EXPECT(is_divisible(m, m + 400, m + 1204, 100, (ptrdiff_t[]){4, 4, -4}));
}

/* NumPy runs those by other code, with other last bits, if they are whole. */
static void arrays_that_touch_stay_whole(void)
{
    static char m[4096];

    EXPECT(!is_divisible(m, m + 404, m + 400, 100, (ptrdiff_t[]){4, 0, 4}));
    EXPECT(!is_divisible(m + 400, m + 900, m, 100, (ptrdiff_t[]){4, 4, 4}));
    EXPECT(!is_divisible(m + 796, m + 900, m, 100, (ptrdiff_t[]){-4, 4, 4}));
    EXPECT(!is_divisible(m + 800, m + 900, m, 100, (ptrdiff_t[]){-4, 4, 4}));
    EXPECT(is_divisible(m + 804, m + 900, m, 100, (ptrdiff_t[]){-4, 4, 4}));
}

static void in_place_can_be_cut(void)
{
    static char m[4096];

    EXPECT(is_divisible(m, m + 404, m, 100, (ptrdiff_t[]){4, 4, 4}));
    EXPECT(is_divisible(m, m, m, 100, (ptrdiff_t[]){4, 4, 4}));
    EXPECT(!is_divisible(m, m + 400, m, 100, (ptrdiff_t[]){8, 4, 4}));
}

static void what_depends_on_the_order_cannot_be_cut(void)
{
    static char m[4096];

    /* an input that runs ahead of the output, and one that follows it */
    EXPECT(!is_divisible(m + 4, m + 800, m, 100, (ptrdiff_t[]){4, 4, 4}));
    EXPECT(!is_divisible(m, m + 800, m + 4, 100, (ptrdiff_t[]){4, 4, 4}));
    EXPECT(!is_divisible(m + 396, m + 800, m, 100, (ptrdiff_t[]){-4, 4, 4}));
    /* a sum, and outputs on top of each other */
    EXPECT(!is_divisible(m, m + 800, m, 100, (ptrdiff_t[]){0, 4, 0}));
    EXPECT(!is_divisible(m + 800, m + 2000, m, 100, (ptrdiff_t[]){4, 4, 2}));
    /* a scalar that the output runs over */
    EXPECT(!is_divisible(m + 40, m + 800, m, 100, (ptrdiff_t[]){0, 4, 4}));
}

static void two_outputs_must_be_apart(void)
{
    static const struct takt_loop_form form = {1, 3, {4, 4, 4}};
    static const ptrdiff_t steps[] = {4, 4, 4};
    static char m[4096];
    char *apart[] = {m, m + 404, m + 808}, *same[] = {m, m + 400, m + 400};
    struct takt_loop_call call = {.args = apart, .steps = steps, .n = 100};

    EXPECT(takt__loop_is_divisible(&form, &call));
    call.args = same;
    EXPECT(!takt__loop_is_divisible(&form, &call));
}

/* ---- cutting ---- */

/* Every part, the last one first; as if the first threads came late. */
static takt_status run_parts(takt_ctx *ctx, unsigned parts, takt_part run,
                             void *job)
{
    (void)ctx;
    while (parts-- > 0)
        run(job, parts, 0);
    return TAKT_OK;
}

static takt_status refuse_parts(takt_ctx *ctx, unsigned parts, takt_part run,
                                void *job)
{
    (void)ctx;
    (void)parts;
    (void)run;
    (void)job;
    return TAKT_ENODEV;
}

static ptrdiff_t elements_run;

/* Counts how often an element is added to. */
static void add_floats(char **args, const ptrdiff_t *dimensions,
                       const ptrdiff_t *steps, void *data)
{
    elements_run += dimensions[0];
    EXPECT(data == &elements_run);
    for (ptrdiff_t i = 0; i < dimensions[0]; i++) {
        float a, b, sum;
        memcpy(&a, args[0] + i * steps[0], sizeof a);
        memcpy(&b, args[1] + i * steps[1], sizeof b);
        sum = a + b;
        memcpy(args[2] + i * steps[2], &sum, sizeof sum);
    }
}

static void every_element_is_run_once(void)
{
    enum { most = 5000 };
    static float a[2 * most], out[most];
    struct takt_libtakt takt = {.run_parts = run_parts};
    const struct takt_route route = {.takt = &takt};
    const ptrdiff_t steps[] = {2 * sizeof(float), 0, -(ptrdiff_t)sizeof(float)};
    float one = 1;

    for (ptrdiff_t n = 1; n <= most; n = n * 3 / 2 + 1)
        for (unsigned threads = 1; threads <= 7; threads += 2) {
            char *args[] = {(char *)a, (char *)&one, (char *)(out + n - 1)};
            const struct takt_loop_call call = {add_floats, args, steps,
                                                &elements_run, n};
            for (ptrdiff_t i = 0; i < n; i++)
                a[2 * i] = (float)i;
            takt.run_parts = threads == 7 ? refuse_parts : run_parts;
            elements_run = 0;
            takt__loop_split(&route, &binary, &call, threads);
            EXPECT_INT(elements_run, n);
            for (ptrdiff_t i = 0; i < n; i++)
                if (out[n - 1 - i] != (float)i + 1)
                    EXPECT_INT(i, -1);
        }
}

static void raise_overflow(char **args, const ptrdiff_t *dimensions,
                           const ptrdiff_t *steps, void *data)
{
    (void)args;
    (void)dimensions;
    (void)steps;
    (void)data;
    feraiseexcept(FE_OVERFLOW);
}

static void exceptions_are_kept(void)
{
    static float a[200];
    const struct takt_libtakt takt = {.run_parts = run_parts};
    const struct takt_route route = {.takt = &takt};
    const ptrdiff_t steps[] = {4, 4, 4};
    char *args[] = {(char *)a, (char *)a, (char *)a};
    const struct takt_loop_call call = {raise_overflow, args, steps, NULL, 200};

    feclearexcept(FE_ALL_EXCEPT);
    takt__loop_split(&route, &binary, &call, 2);
    EXPECT_INT(fetestexcept(FE_OVERFLOW | FE_INVALID), FE_OVERFLOW);
    feclearexcept(FE_ALL_EXCEPT);
}

/* ---- reductions ---- */

/* As NumPy adds up: blocks of up to 128, and halves of what is longer. */
static float sum_in_pairs(const char *from, ptrdiff_t n, ptrdiff_t step)
{
    const ptrdiff_t half = n / 2 / 8 * 8;
    float sum = -0.0f, value;

    if (n > 128) {
        const float first = sum_in_pairs(from, half, step);
        sum = sum_in_pairs(from + half * step, n - half, step);
        sum += first; /* of two NaNs the second one, as compilers have it */
        return sum;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        memcpy(&value, from + i * step, sizeof value);
        sum += value;
    }
    return sum;
}

static void sum_floats(char **args, const ptrdiff_t *dimensions,
                       const ptrdiff_t *steps, void *data)
{
    float sum;

    (void)data;
    memcpy(&sum, args[0], sizeof sum);
    sum += sum_in_pairs(args[1], dimensions[0], steps[1]);
    memcpy(args[2], &sum, sizeof sum);
}

static void largest_float(char **args, const ptrdiff_t *dimensions,
                          const ptrdiff_t *steps, void *data)
{
    float largest, value;

    (void)data;
    memcpy(&largest, args[0], sizeof largest);
    for (ptrdiff_t i = 0; i < dimensions[0]; i++) {
        memcpy(&value, args[1] + i * steps[1], sizeof value);
        if (value > largest)
            largest = value;
    }
    memcpy(args[2], &largest, sizeof largest);
}

/* As by vectors: four lanes, of which the last one counts first. */
static void smallest_in_lanes(char **args, const ptrdiff_t *dimensions,
                              const ptrdiff_t *steps, void *data)
{
    float smallest, value;

    (void)data;
    memcpy(&smallest, args[0], sizeof smallest);
    for (ptrdiff_t lane = 3; lane >= 0; lane--)
        for (ptrdiff_t i = lane; i < dimensions[0]; i += 4) {
            memcpy(&value, args[1] + i * steps[1], sizeof value);
            if (value <= smallest || value != value)
                smallest = value;
        }
    memcpy(args[2], &smallest, sizeof smallest);
}

/* Whether NumPy's function and its parts have the same bits. */
static bool is_same_cut(takt_inner_loop *run, const char *ufunc, float *from,
                        ptrdiff_t n, ptrdiff_t step, unsigned threads)
{
    const struct takt_libtakt takt = {.run_parts = threads == 7 ? refuse_parts
                                                                : run_parts};
    const struct takt_route route = {.takt = &takt};
    const struct takt_reduction reduction = takt__reduction_of(ufunc, 'f', 4);
    const ptrdiff_t steps[] = {0, step * (ptrdiff_t)sizeof *from, 0};
    float whole = 1, split = 1;
    char *args[] = {(char *)&whole, (char *)from, (char *)&whole};
    struct takt_loop_call call = {run, args, steps, NULL, n};

    run(args, &n, steps, NULL);
    args[0] = args[2] = (char *)&split;
    EXPECT(takt__loop_is_reduction(&reduction, &call));
    takt__loop_reduce(&route, &reduction, &call, threads);
    return memcmp(&whole, &split, sizeof whole) == 0;
}

static void reductions_have_the_bits_of_the_whole(void)
{
    enum { most = 40000 };
    static float from[2 * most];
    uint64_t random = 5;

    for (size_t i = 0; i < 2 * most; i++)
        from[i] = (float)(random_unit(&random) - 0.5) * 1e6f;
    for (ptrdiff_t n = 1; n <= most; n = n * 3 / 2 + 1)
        for (unsigned threads = 1; threads <= 7; threads += 2) {
            EXPECT(is_same_cut(sum_floats, "add", from, n, 1, threads));
            EXPECT(is_same_cut(sum_floats, "add", from + 2 * n - 1, n, -2,
                               threads));
            EXPECT(is_same_cut(largest_float, "maximum", from, n, 2, threads));
        }
    for (size_t i = 0; i < most; i++)
        from[i] = -0.0f;
    EXPECT(is_same_cut(sum_floats, "add", from, most, 1, 3));
}

static void zeros_and_nans_are_those_of_the_whole(void)
{
    enum { n = 20000 };
    static float from[2 * n];

    for (uint64_t random = 1; random < 200; random++) {
        uint64_t next = random;
        for (size_t i = 0; i < 2 * n; i++)
            from[i] = (float)(random_unit(&next) + 0.5);
        for (size_t i = 0; i < random % 20; i++) {
            const float odd[] = {0, -0.0f, random % 3 == 0 ? NAN : 1, -NAN};
            from[(size_t)(random_unit(&next) * 2 * n)] = odd[i % 4];
        }
        for (ptrdiff_t step = 1; step <= 2; step++)
            for (unsigned threads = 3; threads <= 7; threads += 4)
                EXPECT(is_same_cut(smallest_in_lanes, "minimum", from, n, step,
                                   threads) &&
                       is_same_cut(sum_floats, "add", from, n, step, threads));
    }
}

static void any_true(char **args, const ptrdiff_t *dimensions,
                     const ptrdiff_t *steps, void *data)
{
    (void)data;
    elements_run += dimensions[0];
    for (ptrdiff_t i = 0; i < dimensions[0]; i++)
        args[2][0] = args[0][0] != 0 || args[1][i * steps[1]] != 0;
}

static void what_is_known_ends_a_reduction(void)
{
    enum { n = 100000 };
    static char from[n];
    const struct takt_libtakt takt = {.run_parts = run_parts};
    const struct takt_route route = {.takt = &takt};
    const struct takt_reduction reduction =
        takt__reduction_of("logical_or", '?', 1);
    const ptrdiff_t steps[] = {0, 1, 0};
    char out = 0;
    char *args[] = {&out, from, &out};
    const struct takt_loop_call call = {any_true, args, steps, NULL, n};

    takt__loop_reduce(&route, &reduction, &call, 4);
    EXPECT_INT(out, 0);
    from[5] = 1;
    elements_run = 0;
    takt__loop_reduce(&route, &reduction, &call, 4);
    EXPECT_INT(out, 1);
    EXPECT(elements_run < n / 2);
    out = 0;
    from[5] = 0;
    from[n - 1] = 1;
    takt__loop_reduce(&route, &reduction, &call, 4);
    EXPECT_INT(out, 1);
}

static void only_what_is_associative_is_reduced_in_parts(void)
{
    EXPECT_INT(takt__reduction_of("add", 'd', 8).size, 8);
    EXPECT_INT(takt__reduction_of("multiply", 'l', 8).size, 8);
    EXPECT_INT(takt__reduction_of("multiply", 'd', 8).size, 0);
    EXPECT_INT(takt__reduction_of("add", 'e', 2).size, 0);
    EXPECT_INT(takt__reduction_of("subtract", 'l', 8).size, 0);
    EXPECT_INT(takt__reduction_of("logical_and", '?', 1).neutral[0], 1);
    EXPECT_INT(takt__reduction_of("less", '?', 1).size, 0);
}

static void a_running_sum_is_no_reduction(void)
{
    static char m[400];
    const struct takt_reduction add = takt__reduction_of("add", 'f', 4);
    char *args[] = {m, m + 4, m + 4}, *inside[] = {m + 40, m, m + 40};
    const struct takt_loop_call running = {
        .args = args, .steps = (ptrdiff_t[]){4, 4, 4}, .n = 50};
    const struct takt_loop_call overlapping = {
        .args = inside, .steps = (ptrdiff_t[]){0, 4, 0}, .n = 50};

    EXPECT(!takt__loop_is_reduction(&add, &running));
    EXPECT(!takt__loop_is_reduction(&add, &overlapping));
}

/* ---- choosing ---- */

struct made_up {
    double whole_us, split_us;
    double wake_us;      /* what the first split call after a whole one lasts */
    double spikes;       /* share of calls that take 50 times as long */
    double seconds;      /* of calls */
    double split_spikes; /* the same of split calls alone */
    double spinning; /* a whole call within 0.1 ms after a split one takes so
                      * many times as long; 0: the same */
    double later;    /* split calls take so many times as long in the second
                      * half; 0: the same */
};

struct outcome {
    double split; /* share of the calls of the last quarter */
    double cost;  /* time against all calls whole */
};

static struct outcome run_kind(const struct made_up *made)
{
    enum { elements = 1000 };
    struct takt_loop_kind kind = {0};
    uint64_t random = 7;
    double now_us = 0, whole_us = 0, late = 0, late_split = 0;
    const double end_us = made->seconds * 1e6;
    double split_end_us = -1e9;
    bool was_whole = true;

    while (now_us < end_us) {
        const struct takt_loop_choice choice = takt__loop_choose(&kind);
        const bool is_whole = choice.side == TAKT_LOOP_WHOLE;
        const bool is_changed = made->later > 0 && now_us > end_us / 2;
        double us = is_whole ? made->whole_us
                             : made->split_us * (is_changed ? made->later : 1) +
                                   (was_whole ? made->wake_us : 0);
        us *= 0.9 + 0.2 * random_unit(&random);
        if (is_whole && made->spinning > 0 && now_us < split_end_us + 100)
            us *= made->spinning;
        whole_us += made->whole_us;
        if (random_unit(&random) < made->spikes) {
            us *= 50;
            whole_us += 49 * made->whole_us;
        }
        if (!is_whole && random_unit(&random) < made->split_spikes)
            us *= 100;
        was_whole = is_whole;
        now_us += us;
        if (!is_whole)
            split_end_us = now_us;
        if (choice.is_timed)
            takt__loop_learn(&kind, choice.side, elements,
                             (uint64_t)(us * 1000));
        late += now_us > 0.75 * end_us;
        late_split += now_us > 0.75 * end_us && !is_whole;
    }
    return (struct outcome){late_split / late, now_us / whole_us};
}

static void what_is_faster_split_is_split(void)
{
    const struct outcome outcome = run_kind(&(struct made_up){
        .whole_us = 40, .split_us = 25, .wake_us = 60, .seconds = 1});

    EXPECT(outcome.split > 0.95);
    EXPECT(outcome.split < 1); /* there is a control */
    EXPECT_NEAR(outcome.cost, 25 / 40.0, 0.03);
}

static void long_loops_are_split_soon(void)
{
    const struct outcome outcome = run_kind(&(struct made_up){
        .whole_us = 8000, .split_us = 4500, .wake_us = 60, .seconds = 1});

    EXPECT_NEAR(outcome.cost, 4500 / 8000.0, 0.05);

    /* A program that calls a long loop ten times gains by most of them. */
    const struct outcome few = run_kind(&(struct made_up){
        .whole_us = 20000, .split_us = 2000, .wake_us = 60, .seconds = 0.055});
    EXPECT(few.split == 1);
    EXPECT(few.cost < 0.45);

    /* And loses little where splitting is slower. */
    EXPECT(run_kind(&(struct made_up){.whole_us = 8000,
                                      .split_us = 10000,
                                      .wake_us = 60,
                                      .seconds = 2})
               .cost < 1.03);
}

static void what_is_slower_split_is_not(void)
{
    static const double slower[] = {1.02, 1.3, 3, 20};

    for (unsigned i = 0; i < 4; i++) {
        const struct outcome outcome =
            run_kind(&(struct made_up){.whole_us = 20,
                                       .split_us = 20 * slower[i],
                                       .wake_us = 60,
                                       .seconds = 2});
        EXPECT(outcome.split < 0.1);
        EXPECT(outcome.cost < 1.025);
    }
}

static void single_slow_calls_decide_nothing(void)
{
    EXPECT(run_kind(&(struct made_up){.whole_us = 40,
                                      .split_us = 25,
                                      .spikes = 0.02,
                                      .seconds = 2})
               .cost < 0.9);
    EXPECT(run_kind(&(struct made_up){.whole_us = 40,
                                      .split_us = 50,
                                      .spikes = 0.02,
                                      .seconds = 2})
               .cost < 1.03);
}

/* Threads that are held up by others, and threads that still spin. */
static void what_splitting_does_to_others_counts(void)
{
    const struct outcome held_up = run_kind(&(struct made_up){
        .whole_us = 40, .split_us = 25, .split_spikes = 0.04, .seconds = 4});
    const struct outcome spinning = run_kind(&(struct made_up){
        .whole_us = 40, .split_us = 44, .spinning = 1.5, .seconds = 2});

    EXPECT(held_up.split < 0.2);
    EXPECT(held_up.cost < 1.2); /* without a control it would be 3 */
    EXPECT(spinning.split < 0.1);
    EXPECT(spinning.cost < 1.03);
}

static void a_side_that_becomes_slower_is_left(void)
{
    const struct outcome outcome = run_kind(&(struct made_up){
        .whole_us = 40, .split_us = 25, .later = 4, .seconds = 2});

    EXPECT(outcome.split < 0.1);
}

static void what_a_side_takes_is_told_when_it_is_known(void)
{
    struct takt_loop_kind kind = {0};

    EXPECT(takt__loop_expect(&kind, TAKT_LOOP_WHOLE, 10).ns == 0);
    for (unsigned i = 0; i < 4; i++)
        takt__loop_learn(&kind, TAKT_LOOP_WHOLE, 1000, 2000);
    const struct takt_mean_estimate whole =
        takt__loop_expect(&kind, TAKT_LOOP_WHOLE, 10);
    EXPECT_NEAR(whole.ns, 20, 0.01);
    EXPECT(whole.error_ns > 0 && whole.error_ns < 2);
    EXPECT(takt__loop_expect(&kind, TAKT_LOOP_SPLIT, 10).ns == 0);
}

int main(void)
{
    RUN(arrays_that_are_apart_can_be_cut);
    RUN(arrays_that_touch_stay_whole);
    RUN(in_place_can_be_cut);
    RUN(what_depends_on_the_order_cannot_be_cut);
    RUN(two_outputs_must_be_apart);
    RUN(every_element_is_run_once);
    RUN(exceptions_are_kept);
    RUN(reductions_have_the_bits_of_the_whole);
    RUN(zeros_and_nans_are_those_of_the_whole);
    RUN(what_is_known_ends_a_reduction);
    RUN(only_what_is_associative_is_reduced_in_parts);
    RUN(a_running_sum_is_no_reduction);
    RUN(what_is_faster_split_is_split);
    RUN(long_loops_are_split_soon);
    RUN(what_is_slower_split_is_not);
    RUN(single_slow_calls_decide_nothing);
    RUN(what_splitting_does_to_others_counts);
    RUN(a_side_that_becomes_slower_is_left);
    RUN(what_a_side_takes_is_told_when_it_is_known);
    return tap_done();
}
