/* SPDX-License-Identifier: MIT */
/*
 * test_teams.c - on how many threads kinds of calls with made-up times end, and
 * what that costs; and the threads of a made-up library.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library_threads.h"
#include "support/random.h"
#include "support/tap.h"
#include "team_choice.h"

/* ---- choices ------------------------------------------------------------- */

struct made_up {
    unsigned threads; /* of the program */
    double us[5];     /* of a call on all, half, a quarter, ... of them */
    unsigned calls;
    double spikes; /* share of calls that take 30 times as long */
    unsigned hint;
    double wake_us; /* more for the first call on more threads than before */
    bool is_later;  /* in the second half, the times are the other way round */
    double gpu_us;  /* 0: there is none */
    double own_us;  /* the same of Takt's kernels */
};

struct outcome {
    double cost;       /* time against all calls as the program has it */
    double late;       /* the same in the last quarter, against the best */
    unsigned controls; /* calls of the second half as the program has it */
    unsigned preferred;
    unsigned chosen; /* calls for which there was a choice */
    unsigned on_gpu, own;
};

static struct outcome run_kind(const struct made_up *made)
{
    const unsigned count = takt__teams_of(made->threads);
    struct takt_team_kind kind = {0};
    struct outcome outcome = {0};
    uint64_t random = 11;
    double all = 0, plain = 0, late = 0, late_best = 0, best = made->us[0];
    unsigned before = 0;

    for (unsigned i = 1; i < count; i++)
        best = made->us[i] < best ? made->us[i] : best;
    for (unsigned i = 0; i < made->calls; i++) {
        const double work = 1000 * (0.9 + 0.2 * random_unit(&random));
        const struct takt_team_choice choice =
            takt__team_passes(&kind)
                ? (struct takt_team_choice){.threads = made->threads}
                : takt__team_choose(&kind, &(struct takt_team_call){
                                               .threads = made->threads,
                                               .hint = made->hint,
                                               .has_gpu = made->gpu_us > 0,
                                               .has_own = made->own_us > 0,
                                               .work = work});
        outcome.chosen += choice.is_timed || choice.choice > 0;
        const bool is_turned = made->is_later && i > made->calls / 2;
        const double noise = 0.9 + 0.2 * random_unit(&random);
        const double spike = random_unit(&random) < made->spikes ? 30 : 1;
        const bool is_gpu = choice.choice == TAKT_CHOICE_GPU;
        const bool is_own = choice.choice == TAKT_CHOICE_OWN;
        const unsigned at = is_gpu || is_own ? 0
                            : is_turned      ? count - 1 - choice.choice
                                             : choice.choice;
        const double wakes = choice.choice < before ? made->wake_us : 0;
        const double of_call = is_gpu   ? made->gpu_us
                               : is_own ? made->own_us
                                        : made->us[at] + wakes;
        const double us = noise * spike * of_call * work / 1000;
        before = choice.choice;
        all += us;
        plain +=
            noise * spike * made->us[is_turned ? count - 1 : 0] * work / 1000;
        if (i >= made->calls / 4 * 3) {
            late += us;
            late_best += noise * spike * best * work / 1000;
        }
        outcome.on_gpu += is_gpu;
        outcome.own += is_own;
        outcome.controls += i > made->calls / 2 && choice.choice == 0;
        if (choice.is_timed)
            takt__team_learn(&kind, &choice, work, (uint64_t)(us * 1000));
    }
    outcome.cost = all / plain;
    outcome.late = late / late_best;
    outcome.preferred = takt__team_preferred(&kind);
    return outcome;
}

static void teams_are_powers_of_two(void)
{
    EXPECT(takt__teams_of(1) == 1);
    EXPECT(takt__teams_of(2) == 2);
    EXPECT(takt__teams_of(12) == 5);
    EXPECT(takt__teams_of(16) == 5);
    EXPECT(takt__teams_of(1u << 15) == TAKT_TEAMS);
    EXPECT(takt__team_threads(0, 12) == 12);
    EXPECT(takt__team_threads(1, 12) == 8);
    EXPECT(takt__team_threads(4, 12) == 1);
    EXPECT(takt__team_threads(1, 2) == 1);
}

static void fewer_threads_are_taken_where_they_are_faster(void)
{
    const struct outcome small = run_kind(&(struct made_up){
        .threads = 16, .us = {680, 400, 250, 160, 116}, .calls = 1000});
    const struct outcome middle = run_kind(&(struct made_up){
        .threads = 16, .us = {400, 300, 240, 300, 500}, .calls = 1000});
    const struct outcome two =
        run_kind(&(struct made_up){.threads = 2, .us = {8, 5}, .calls = 20000});

    EXPECT(small.preferred == 4);
    EXPECT(small.late < 1.03);
    EXPECT(small.controls > 0);
    EXPECT(middle.preferred == 2);
    EXPECT(middle.late < 1.03);
    EXPECT(two.preferred == 1);
    EXPECT_NEAR(two.cost, 5 / 8.0, 0.03);
}

static void a_gpu_is_taken_where_it_is_faster(void)
{
    const struct outcome large = run_kind(&(struct made_up){
        .threads = 2, .us = {100e3, 190e3}, .gpu_us = 10e3, .calls = 60});
    const struct outcome slow = run_kind(&(struct made_up){
        .threads = 2, .us = {2e3, 3e3}, .gpu_us = 4e3, .calls = 1000});
    const struct outcome small = run_kind(&(struct made_up){
        .threads = 2, .us = {200, 300}, .gpu_us = 100, .calls = 1000});

    EXPECT(large.on_gpu >= 55);
    EXPECT(large.cost < 0.25);
    EXPECT(slow.on_gpu >= 3 && slow.on_gpu < 30);
    EXPECT(slow.cost < 1.05);
    EXPECT(small.on_gpu == 0); /* too short to be tried */
}

/* What a GPU does in a tenth of the time is not given to other code. */
static void other_code_is_tried_unless_a_gpu_is_faster(void)
{
    const struct made_up made = {.threads = 2,
                                 .us = {100e3, 190e3},
                                 .gpu_us = 10e3,
                                 .own_us = 95e3,
                                 .calls = 60};
    struct made_up alone = made;

    EXPECT(run_kind(&made).own == 0);
    alone.gpu_us = 0;
    EXPECT(run_kind(&alone).own >= 1);
    alone.own_us = 50e3;
    EXPECT(run_kind(&alone).own >= 55);
}

/* Two percent, and four calls or 5 ms. */
static void trials_that_lose_are_within_their_budget(void)
{
    static const struct made_up lost[] = {
        {.threads = 16, .us = {100, 190, 370, 700, 1400}, .calls = 1000},
        {.threads = 2, .us = {100, 195}, .calls = 1000},
        {.threads = 2, .us = {5, 7}, .calls = 10000},
        {.threads = 4, .us = {100, 102, 104}, .calls = 1000}};
    const struct outcome few = run_kind(
        &(struct made_up){.threads = 2, .us = {120e3, 230e3}, .calls = 20});

    for (unsigned i = 0; i < sizeof lost / sizeof *lost; i++) {
        const struct outcome outcome = run_kind(&lost[i]);
        EXPECT(outcome.preferred == 0);
        EXPECT(outcome.cost < 1.03);
    }
    EXPECT(few.cost < 1.001); /* nothing is tried: it would cost a tenth */
}

/* What is short and stays as it is takes next to nothing, and a change is
 * noticed all the same. */
static void settled_short_calls_need_no_choice(void)
{
    const struct outcome settled = run_kind(
        &(struct made_up){.threads = 2, .us = {4, 4.1}, .calls = 20000});
    const struct outcome turned = run_kind(&(struct made_up){
        .threads = 2, .us = {4, 8}, .calls = 40000, .is_later = true});

    EXPECT(settled.preferred == 0);
    EXPECT(settled.chosen < 2000);
    EXPECT(turned.preferred == 1);
}

/* Calls that are not as the program has them are chosen for, each of them. */
static void short_calls_gain_more_than_a_choice_takes(void)
{
    const struct outcome little = run_kind(
        &(struct made_up){.threads = 2, .us = {1, 0.93}, .calls = 20000});
    const struct outcome much = run_kind(
        &(struct made_up){.threads = 2, .us = {1, 0.7}, .calls = 20000});

    EXPECT(little.preferred == 0);
    EXPECT(much.preferred == 1);
}

static void similar_calls_give_a_hint(void)
{
    const struct made_up made = {
        .threads = 16, .us = {680, 400, 250, 160, 116}, .calls = 12};
    struct made_up hinted = made;

    hinted.hint = 4;
    EXPECT(run_kind(&hinted).cost < run_kind(&made).cost);
}

static void spikes_and_waking_decide_nothing(void)
{
    const struct outcome spikes = run_kind(&(struct made_up){
        .threads = 2, .us = {80, 50}, .calls = 4000, .spikes = 0.02});
    const struct outcome waking = run_kind(&(struct made_up){
        .threads = 2, .us = {50, 60}, .calls = 4000, .wake_us = 300});

    EXPECT(spikes.preferred == 1);
    EXPECT(waking.preferred == 0);
    EXPECT(waking.cost < 1.03);
}

static void a_change_is_noticed(void)
{
    const struct outcome outcome = run_kind(&(struct made_up){
        .threads = 2, .us = {80, 50}, .calls = 20000, .is_later = true});

    EXPECT(outcome.preferred == 0);
}

/* ---- the threads of a library -------------------------------------------- */

static int threads_of_library;

static int get(void)
{
    return threads_of_library;
}

static void set(int threads)
{
    threads_of_library = threads;
}

static void changes_are_shared_and_restored(void)
{
    threads_of_library = 8;
    struct takt_library_threads *library = takt__library_threads(get, set);

    REQUIRE(library != NULL);
    EXPECT(takt__library_threads(get, set) == library);
    EXPECT(takt__threads_begin(library, 2));
    EXPECT(threads_of_library == 2);
    EXPECT(takt__threads_of_program(library) == 8);
    EXPECT(!takt__threads_begin(library, 4)); /* another number */
    EXPECT(takt__threads_begin(library, 2));
    takt__threads_end(library);
    EXPECT(threads_of_library == 2);
    takt__threads_end(library);
    EXPECT(threads_of_library == 8);
    EXPECT(takt__threads_of_program(library) == 8);
    EXPECT(!takt__threads_begin(library, 0));
}

static struct takt_library_threads *asked;

/* Another thread begins a change while this one asks. */
static int get_late(void)
{
    static bool is_inside;

    if (asked != NULL && !is_inside) {
        is_inside = true;
        EXPECT(takt__threads_begin(asked, 2));
        is_inside = false;
    }
    return threads_of_library;
}

static void set_late(int threads)
{
    threads_of_library = threads;
}

static void a_change_that_begins_meanwhile_is_not_the_programs(void)
{
    threads_of_library = 8;
    struct takt_library_threads *library =
        takt__library_threads(get_late, set_late);

    REQUIRE(library != NULL);
    asked = library;
    EXPECT(takt__threads_of_program(library) == 8);
    asked = NULL;
    takt__threads_end(library);
    EXPECT(threads_of_library == 8);
}

static void what_the_program_sets_meanwhile_stays(void)
{
    threads_of_library = 8;
    struct takt_library_threads *library = takt__library_threads(get, set);

    EXPECT(takt__threads_begin(library, 2));
    set(5);
    takt__threads_end(library);
    EXPECT(threads_of_library == 5);
}

static void a_child_has_what_the_program_had(void)
{
    threads_of_library = 8;
    struct takt_library_threads *library = takt__library_threads(get, set);
    int status = 0;

    EXPECT(takt__threads_begin(library, 2));
    const pid_t child = fork();
    if (child == 0)
        _exit(threads_of_library == 8 && takt__threads_begin(library, 4) ? 0
                                                                         : 1);
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT(status == 0);
    takt__threads_end(library);
    EXPECT(threads_of_library == 8);
}

/* ---- many threads at once ------------------------------------------------ */

static _Atomic int atomic_threads;

static int get_atomic(void)
{
    return atomic_threads;
}

static void set_atomic(int threads)
{
    atomic_threads = threads;
}

static void *change_often(void *self)
{
    struct takt_library_threads *library = self;
    uint64_t random = (uintptr_t)&random;

    for (unsigned i = 0; i < 20000; i++)
        if (takt__threads_begin(library, 1 + (random_unit(&random) > 0.5)))
            takt__threads_end(library);
    return NULL;
}

static void threads_that_change_at_once_restore_it(void)
{
    pthread_t thread[4];
    struct takt_library_threads *library;

    atomic_threads = 8;
    library = takt__library_threads(get_atomic, set_atomic);
    for (unsigned i = 0; i < 4; i++)
        REQUIRE(pthread_create(&thread[i], NULL, change_often, library) == 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    EXPECT(atomic_threads == 8);
}

int main(void)
{
    RUN(teams_are_powers_of_two);
    RUN(fewer_threads_are_taken_where_they_are_faster);
    RUN(a_gpu_is_taken_where_it_is_faster);
    RUN(other_code_is_tried_unless_a_gpu_is_faster);
    RUN(trials_that_lose_are_within_their_budget);
    RUN(settled_short_calls_need_no_choice);
    RUN(short_calls_gain_more_than_a_choice_takes);
    RUN(similar_calls_give_a_hint);
    RUN(spikes_and_waking_decide_nothing);
    RUN(a_change_is_noticed);
    RUN(changes_are_shared_and_restored);
    RUN(a_change_that_begins_meanwhile_is_not_the_programs);
    RUN(what_the_program_sets_meanwhile_stays);
    RUN(a_child_has_what_the_program_had);
    RUN(threads_that_change_at_once_restore_it);
    return tap_done();
}
