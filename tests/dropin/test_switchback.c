/* SPDX-License-Identifier: MIT */
/*
 * test_switchback.c - programs whose calls take made-up times, on a made-up
 * clock: which side do they end on, and what did it cost to find out?
 *
 * A process has one comparison, so each program runs in a child. Nothing is
 * divided by what was not measured.
 */
#include "switchback.h"

#include <fenv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "support/random.h"
#include "support/tap.h"

enum { most_kinds = 3 };

/* What calls of a kind take, in nanoseconds, and the gaps before them. */
struct made_up {
    double baseline_ns, routed_ns, gap_ns, routed_gap_ns;
};

struct program {
    struct made_up kind[most_kinds]; /* take turns */
    unsigned kinds;
    double seconds; /* until it ends, on the made-up clock */
    double noise;   /* 0.1: calls vary by 10% */
    double spikes;  /* share of calls that take 50 times as long */
    double tail;    /* share of routed calls that take 25 times as long */
    double slower_from_s, slower; /* from then on routed calls take longer */
    double gpu_from_s;            /* when a GPU is ready; 0: there is none */
    double opening; /* calls take up to so much longer until then */
    enum takt_history history;
    unsigned spin_power; /* 0: 25 */
    double price_factor;
    unsigned threads; /* of the library; 0: 2 */
    double spinning;  /* of them, those that its calls leave spinning */
    bool has_cpu;     /* the CPU time of the process is known */
    double pace;      /* of routed calls in earlier runs */
    double stop_ns;   /* the process is stopped for so long in a call */
    unsigned stopped; /* the number of that call */
    uint64_t seed;    /* 0: 7 */
    bool is_early;    /* routing is possible before the first call */
    bool is_closed;   /* routing is never possible */
};

struct outcome {
    double cost;   /* time against the baseline library alone */
    double late;   /* the same for the second half */
    double routed; /* share of the calls of the last quarter */
    double kind_routed[most_kinds];
    double off;     /* share of the calls before which all was to be off */
    double control; /* what the library is said to take, against the truth */
    unsigned changes, kept;
    int flags; /* that were raised in callers */
    bool is_first_routed;
    struct takt_switchback_result result;
};

static struct outcome *shared;
static double now_s, cpu_ns;
static const struct program *running;

static bool is_gpu_ready(uint64_t now_ns)
{
    (void)now_ns;
    return running->gpu_from_s > 0 && now_s >= running->gpu_from_s;
}

static uint64_t process_ns(void)
{
    return (uint64_t)cpu_ns;
}

static void keep(const struct takt_switchback_result *result)
{
    shared->kept++;
    shared->result = *result;
}

static struct takt_kind *kind_number(unsigned number)
{
    struct takt_arguments arguments = {.routine = TAKT_GEMM,
                                       .type = TAKT_S,
                                       .m = 100 << number,
                                       .n = 100,
                                       .k = 100};

    arguments.work = takt__arguments_work(&arguments);
    return takt__kind_of(&arguments);
}

static double vary(const struct program *program, uint64_t *random)
{
    const double noise =
        1 + program->noise * (random_unit(random) + random_unit(random) - 1);

    return random_unit(random) < program->spikes ? 50 * noise : noise;
}

/* How long the library's threads still spin in a call of `ns` that follows a
 * change of sides, at most. */
static double spinning_ns(const struct program *program, double ns)
{
    const unsigned power = program->spin_power ? program->spin_power : 25;
    const double spin_ns = (double)(UINT64_C(1) << power) / 2;

    return ns < spin_ns ? ns : spin_ns;
}

/* One call; returns what it would have taken without us. */
static double call(const struct program *program, unsigned number,
                   uint64_t *clock_ns, uint64_t *random, bool *is_routed)
{
    static unsigned calls;
    const struct made_up *of = &program->kind[number];
    struct takt_kind *kind = kind_number(number);
    const double varies = vary(program, random);
    const enum takt_side side = takt__side_of(kind);
    double ns = of->baseline_ns, gap_ns = of->gap_ns;

    *is_routed = side == TAKT_SIDE_ROUTED;
    if (*is_routed) {
        ns = of->routed_ns;
        gap_ns = of->routed_gap_ns;
        if (program->slower > 0 && now_s > program->slower_from_s)
            ns *= program->slower;
        if (takt__side_is_settling(*clock_ns))
            ns += 0.8 * spinning_ns(program, ns);
        if (random_unit(random) < program->tail)
            ns *= 25; /* threads of Takt's had to be woken */
    }
    if (program->opening > 0 && !is_gpu_ready(0))
        ns *= 1 + program->opening * random_unit(random);
    const uint64_t start_ns = *clock_ns + (uint64_t)gap_ns;
    const double stop_ns = calls++ == program->stopped ? program->stop_ns : 0;
    const uint64_t end_ns = start_ns + (uint64_t)(ns * varies + stop_ns);
    cpu_ns += (double)(end_ns - *clock_ns) *
              (1 + (*is_routed ? 0 : program->spinning));
    *clock_ns = end_ns;
    feclearexcept(FE_ALL_EXCEPT);
    takt__switchback_add(
        &(struct takt_switchback_call){.kind = kind,
                                       .side = side,
                                       .is_gpu = *is_routed && is_gpu_ready(0),
                                       .work = 1e6 * (1u << number),
                                       .weight = 1,
                                       .start_ns = start_ns,
                                       .end_ns = end_ns});
    shared->flags |= fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    return of->baseline_ns * varies + of->gap_ns + stop_ns;
}

static void run_program(const struct program *program, struct outcome *out)
{
    const uint64_t start_ns = takt__now_ns();
    uint64_t clock_ns = start_ns;
    uint64_t random = program->seed > 0 ? program->seed : 7;
    double would_ns = 0, late_ns = 0, late_would_ns = 0;
    double late[most_kinds] = {0}, late_calls = 0, routed = 0;
    double calls = 0, off = 0;
    bool was_routed = false, is_routed = false;
    const struct takt_switchback_options options = {
        .threads = program->threads > 0 ? program->threads : 2,
        .pace = program->pace,
        .cpu_ns = program->has_cpu ? process_ns : NULL,
        .spin_power = program->spin_power > 0 ? program->spin_power : 25,
        .price_factor = program->price_factor,
        .history = program->history,
        .is_gpu_ready = program->gpu_from_s > 0 ? is_gpu_ready : NULL,
        .keep = keep};

    running = program;
    kind_number(most_kinds); /* that is never called */
    for (unsigned i = 0; now_s < program->seconds; i++) {
        const uint64_t before_ns = clock_ns;
        const unsigned number = i % program->kinds;
        if ((now_s > 0.02 || program->is_early) && !program->is_closed)
            takt__switchback_open(&options);
        if (program->is_early)
            takt__switchback_begin_call(clock_ns);
        calls++;
        off += takt__side_wants_off();
        const double would =
            call(program, number, &clock_ns, &random, &is_routed);
        now_s = (double)(clock_ns - start_ns) * 1e-9;
        would_ns += would;
        out->is_first_routed = i == 0 ? is_routed : out->is_first_routed;
        out->changes += is_routed != was_routed && program->kinds == 1;
        was_routed = is_routed;
        if (now_s > program->seconds / 2) {
            late_ns += (double)(clock_ns - before_ns);
            late_would_ns += would;
        }
        if (now_s > program->seconds * 0.75) {
            late_calls++;
            routed += is_routed;
            late[number] += is_routed;
        }
    }
    out->control = kind_number(0)->control * 1e6 / program->kind[0].baseline_ns;
    out->cost = now_s * 1e9 / would_ns;
    out->late = late_ns / late_would_ns;
    out->routed = routed / late_calls;
    out->off = off / calls;
    for (unsigned i = 0; i < program->kinds; i++)
        out->kind_routed[i] = late[i] * program->kinds / late_calls;
}

static struct outcome try_program(const struct program *program)
{
    *shared = (struct outcome){0};
    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        run_program(program, shared);
        _exit(0);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    printf("# cost %.3f, late %.3f, routed %.2f, %u changes, ratio %.3f +- "
           "%.3f after %u probes\n",
           shared->cost, shared->late, shared->routed, shared->changes,
           shared->result.ratio, shared->result.error, shared->result.probes);
    EXPECT_INT(shared->flags, 0);
    return *shared;
}

/* ---- programs --------------------------------------------------------------
 */

static void what_is_faster_routed_is_routed(void)
{
    const struct program program = {.kind = {{100e3, 75e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 4,
                                    .noise = 0.2};
    const struct outcome got = try_program(&program);

    EXPECT(got.routed > 0.9);
    EXPECT(got.late < 0.8);
    EXPECT(got.result.is_clear && got.result.is_routed);
    EXPECT(!got.result.is_even);
    EXPECT_NEAR(got.result.ratio, 0.75, 0.04);
}

static void a_small_gain_is_found_in_time(void)
{
    const struct program program = {.kind = {{1400e3, 1290e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 6,
                                    .noise = 0.1};
    const struct outcome got = try_program(&program);

    EXPECT(got.routed > 0.8);
    EXPECT(got.late < 0.97);
    EXPECT(got.cost < 1.01);
}

static void what_is_slower_routed_is_not(void)
{
    const struct program program = {.kind = {{100e3, 130e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 4,
                                    .noise = 0.2};
    const struct outcome got = try_program(&program);

    EXPECT(got.routed < 0.1);
    EXPECT(got.cost < 1.02);
    EXPECT(!got.result.is_routed);
}

static void what_is_as_fast_stays_where_it_was(void)
{
    const struct program program = {.kind = {{100e3, 100e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 6,
                                    .noise = 0.4,
                                    .spikes = 0.001};
    const struct outcome got = try_program(&program);

    EXPECT(got.routed < 0.2);
    EXPECT(got.cost < 1.02);
    EXPECT(got.result.is_even && !got.result.is_clear);
}

/* Thirteen calls that vary by a quarter show no gain of a tenth; fifty do. */
static void a_probe_that_gains_goes_on_until_it_shows(void)
{
    struct program program = {.kind = {{2300e3, 2030e3, 5e3, 5e3}},
                              .kinds = 1,
                              .seconds = 1.2,
                              .noise = 0.5};
    unsigned clear = 0;

    for (program.seed = 1; program.seed <= 20; program.seed++)
        clear += try_program(&program).result.is_clear;
    EXPECT(clear >= 15);
}

/* The library's threads spin for 134 ms, in which calls take 1.8 times as long:
 * a change of sides costs 0.1 s. */
static void a_change_that_costs_much_is_made_late(void)
{
    struct program program = {.kind = {{100e3, 130e3, 5e3, 5e3}},
                              .kinds = 1,
                              .seconds = 4,
                              .noise = 0.2,
                              .spin_power = 28,
                              .price_factor = 1};
    const struct outcome slower = try_program(&program);

    EXPECT_INT(slower.changes, 0);
    EXPECT(slower.cost < 1.001);
    program.kind[0].routed_ns = 60e3;
    program.seconds = 20;
    const struct outcome faster = try_program(&program);
    EXPECT(faster.routed > 0.9);
    EXPECT(faster.cost < 0.85);
}

/* Threads that the library does not use for such calls sleep. */
static void a_change_costs_what_threads_spin(void)
{
    struct program program = {.kind = {{10e3, 7e3, 1e3, 1e3}},
                              .kinds = 1,
                              .seconds = 2,
                              .noise = 0.2,
                              .spin_power = 28,
                              .price_factor = 1,
                              .threads = 16,
                              .has_cpu = true};
    const struct outcome none = try_program(&program);

    EXPECT(none.routed > 0.9);
    EXPECT(none.late < 0.8);
    program.spinning = 15;
    const struct outcome all = try_program(&program);
    EXPECT_INT(all.changes, 0);
}

/* Over runs with all price factors, probes cost their share. */
static void short_runs_take_turns_in_probing(void)
{
    enum { runs = 20 };
    struct program program = {.kind = {{100e3, 100e3, 5e3, 5e3}},
                              .kinds = 1,
                              .seconds = 3,
                              .noise = 0.2,
                              .spin_power = 28};
    double cost = 0;
    unsigned probed = 0;

    for (unsigned i = 0; i < runs; i++) {
        program.price_factor = (i + 0.5) / runs;
        const struct outcome got = try_program(&program);
        cost += got.cost / runs;
        probed += got.result.probes > 0;
    }
    EXPECT(cost < 1.02);
    EXPECT(probed > runs / 4 && probed < runs);
}

/* A run that ends soon after its first probe gains nothing by it. */
static void short_runs_lose_little(void)
{
    enum { runs = 20 };

    for (double seconds = 0.3; seconds < 1.3; seconds += 0.15) {
        struct program program = {.kind = {{100e3, 130e3, 5e3, 5e3}},
                                  .kinds = 1,
                                  .seconds = seconds,
                                  .noise = 0.2};
        double cost = 0;
        for (unsigned i = 0; i < runs; i++) {
            program.price_factor = (i + 0.5) / runs;
            cost += try_program(&program).cost / runs;
        }
        printf("# %.2f s: %.4f\n", seconds, cost);
        EXPECT(cost < 1.02);
    }
}

/* What is said to be gained is measured against a few calls of the library. */
static void a_stop_among_the_first_calls_makes_no_gain(void)
{
    struct program program = {.kind = {{5e6, 5e6, 5e3, 5e3}},
                              .kinds = 1,
                              .seconds = 2,
                              .noise = 0.1,
                              .stop_ns = 1e9,
                              .history = TAKT_HISTORY_ROUTED};

    for (program.stopped = 0; program.stopped < 5; program.stopped++) {
        const struct outcome got = try_program(&program);
        printf("# control %.2f\n", got.control);
        EXPECT(got.control < 2.1);
    }
}

/* Half the time in most calls, and 1.4 times in all. */
static void calls_that_are_often_held_up_count(void)
{
    struct program program = {.kind = {{72e3, 36e3, 5e3, 5e3}},
                              .kinds = 1,
                              .seconds = 4,
                              .noise = 0.2,
                              .tail = 0.08};
    const struct outcome lost = try_program(&program);

    EXPECT(lost.routed < 0.1);
    EXPECT(lost.cost < 1.03);
    program.tail = 0.005;
    const struct outcome gained = try_program(&program);
    EXPECT(gained.routed > 0.9);
    EXPECT(gained.cost < 0.8);
}

static void long_calls_are_not_risked_early(void)
{
    const struct program program = {.kind = {{150e6, 400e6, 1e6, 1e6}},
                                    .kinds = 1,
                                    .seconds = 9,
                                    .noise = 0.1,
                                    .price_factor = 1};
    const struct outcome got = try_program(&program);

    EXPECT(got.cost < 1.08);
    EXPECT(got.routed < 0.1);
}

/* A program that makes few long calls, and whose answer is remembered. */
static void few_long_calls_are_routed_where_that_is_faster(void)
{
    struct program program = {.kind = {{160e6, 110e6, 1e6, 1e6}},
                              .kinds = 1,
                              .seconds = 2.7,
                              .noise = 0.1};
    unsigned gained = 0;

    for (program.seed = 1; program.seed <= 20; program.seed++)
        gained += try_program(&program).cost < 0.85;
    EXPECT(gained >= 18);
    program.kind[0].routed_ns = 200e6;
    const struct outcome slower = try_program(&program);
    EXPECT(slower.routed < 0.1);
    EXPECT(slower.cost < 1.06);
}

/* Calls gain 10%, and the rest of the program loses more. */
static void gaps_count(void)
{
    const struct program program = {.kind = {{100e3, 90e3, 100e3, 130e3}},
                                    .kinds = 1,
                                    .seconds = 4,
                                    .noise = 0.1};
    const struct outcome got = try_program(&program);

    EXPECT(got.routed < 0.1);
    EXPECT(got.cost < 1.02);
}

static void a_slow_kind_stays_while_others_are_routed(void)
{
    const struct program program = {
        .kind = {{100e3, 60e3, 5e3, 5e3}, {200e3, 280e3, 5e3, 5e3}},
        .kinds = 2,
        .seconds = 8,
        .noise = 0.1};
    const struct program worth_it = {
        .kind = {{400e3, 200e3, 5e3, 5e3}, {200e3, 280e3, 5e3, 5e3}},
        .kinds = 2,
        .seconds = 8,
        .noise = 0.1};
    const struct outcome got = try_program(&program);
    const struct outcome worth = try_program(&worth_it);

    EXPECT(got.cost < 1.02);
    EXPECT(worth.kind_routed[0] > 0.8);
    EXPECT(worth.kind_routed[1] < 0.5);
    EXPECT(worth.late < 0.75);
}

static void a_side_that_becomes_slower_is_left(void)
{
    const struct program program = {.kind = {{100e3, 70e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 12,
                                    .noise = 0.2,
                                    .slower_from_s = 3,
                                    .slower = 2};
    const struct outcome got = try_program(&program);

    EXPECT(got.routed < 0.1);
    EXPECT(got.late < 1.05);
    EXPECT(got.off < 0.1); /* only in probes, also when one ends routing */
}

static void the_side_changes_seldom(void)
{
    const struct program program = {.kind = {{100e3, 97e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 30,
                                    .noise = 0.5,
                                    .spikes = 0.002};
    const struct outcome got = try_program(&program);

    EXPECT(got.changes < 70); /* two for each probe */
    EXPECT(got.cost < 1.01);
}

static void without_a_router_nothing_changes(void)
{
    const struct program program = {.kind = {{100e3, 50e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 2,
                                    .is_closed = true};
    const struct outcome got = try_program(&program);

    EXPECT_INT(got.changes, 0);
    EXPECT_INT(got.kept, 0);
}

/* ---- memory ----------------------------------------------------------------
 */

static void a_program_begins_where_it_gained_before(void)
{
    const struct program program = {.kind = {{100e3, 70e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 0.4,
                                    .noise = 0.1,
                                    .history = TAKT_HISTORY_ROUTED};
    const struct outcome got = try_program(&program);

    EXPECT(got.routed > 0.9);
    EXPECT(got.cost < 0.85);
}

static void memory_is_checked(void)
{
    const struct program program = {.kind = {{100e3, 140e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 6,
                                    .noise = 0.1,
                                    .history = TAKT_HISTORY_ROUTED};
    const struct outcome got = try_program(&program);

    EXPECT(got.routed < 0.1);
    EXPECT(got.late < 1.02);
    EXPECT(got.kept > 0 && !got.result.is_routed);
}

/* Where threads spin for long, a probe would come late: the first calls, which
 * the library ran, show it. */
static void memory_is_checked_soon(void)
{
    const struct program program = {.kind = {{200e3, 500e3, 400e3, 400e3}},
                                    .kinds = 1,
                                    .seconds = 4,
                                    .noise = 0.2,
                                    .spin_power = 28,
                                    .price_factor = 1,
                                    .history = TAKT_HISTORY_ROUTED,
                                    .is_early = true};
    const struct outcome got = try_program(&program);

    EXPECT(got.routed < 0.1);
    EXPECT(got.cost < 1.1);
}

/* Where the pace of earlier runs is known, no call runs in the library first,
 * whose threads would spin after it. */
static void a_program_with_a_pace_begins_routed_at_once(void)
{
    const struct program program = {.kind = {{100e3, 50e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 1,
                                    .noise = 0.1,
                                    .spin_power = 28,
                                    .price_factor = 1,
                                    .history = TAKT_HISTORY_ROUTED,
                                    .pace = 50e3 / 1e6,
                                    .is_early = true};
    const struct outcome got = try_program(&program);

    EXPECT(got.is_first_routed);
    EXPECT(got.cost < 0.62);
    EXPECT_INT(got.changes, 1);
}

static void a_pace_is_checked_soon(void)
{
    const struct program program = {.kind = {{200e3, 500e3, 400e3, 400e3}},
                                    .kinds = 1,
                                    .seconds = 4,
                                    .noise = 0.2,
                                    .spin_power = 28,
                                    .price_factor = 1,
                                    .history = TAKT_HISTORY_ROUTED,
                                    .pace = 150e3 / 1e6,
                                    .is_early = true};
    const struct outcome got = try_program(&program);

    EXPECT(got.routed < 0.1);
    EXPECT(got.cost < 1.1);
    EXPECT_NEAR(got.result.pace, 500e3 / 1e6, 0.1);
}

/* A library without vector code: the machine is busier than in earlier runs, so
 * routed calls take longer than then, and one call in the library is enough to
 * see that it takes longer still. */
static void a_doubt_in_the_pace_costs_one_long_call(void)
{
    const struct program program = {.kind = {{75e6, 9e6, 1e6, 1e6}},
                                    .kinds = 1,
                                    .seconds = 4,
                                    .noise = 0.1,
                                    .spin_power = 28,
                                    .price_factor = 1,
                                    .history = TAKT_HISTORY_ROUTED,
                                    .pace = 5e6 / 1e6};
    const struct outcome got = try_program(&program);

    EXPECT(got.routed > 0.9);
    EXPECT(got.cost < 0.25);
}

static void a_program_that_lost_before_is_left_alone(void)
{
    const struct program program = {.kind = {{100e3, 140e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 6,
                                    .noise = 0.1,
                                    .history = TAKT_HISTORY_BASELINE};
    const struct outcome got = try_program(&program);

    EXPECT_INT(got.changes, 0);
    EXPECT(got.cost < 1.001);
}

static void a_gpu_is_used_when_it_is_ready(void)
{
    const struct program known = {.kind = {{30e6, 5e6, 1e6, 1e6}},
                                  .kinds = 1,
                                  .seconds = 2,
                                  .noise = 0.1,
                                  .gpu_from_s = 0.5,
                                  .history = TAKT_HISTORY_GPU};
    const struct program unknown = {.kind = {{30e6, 5e6, 1e6, 1e6}},
                                    .kinds = 1,
                                    .seconds = 4,
                                    .noise = 0.1,
                                    .gpu_from_s = 1.0};
    const struct outcome got = try_program(&known);
    const struct outcome found = try_program(&unknown);

    EXPECT(got.routed > 0.9);
    EXPECT(got.cost < 0.6);
    EXPECT(found.routed > 0.8);
    EXPECT(found.result.is_gpu);
}

/* To open a GPU takes processor time: calls that the library runs meanwhile say
 * more than it takes without Takt. */
static void opening_a_gpu_makes_no_gain(void)
{
    struct program program = {.kind = {{30e6, 5e6, 1e6, 1e6}},
                              .kinds = 1,
                              .seconds = 1.5,
                              .noise = 0.02,
                              .gpu_from_s = 0.5,
                              .opening = 0.8,
                              .history = TAKT_HISTORY_GPU};

    for (program.seed = 1; program.seed < 9; program.seed++) {
        const struct outcome got = try_program(&program);
        printf("# control %.2f\n", got.control);
        EXPECT(got.control > 0.95);
        EXPECT(got.control < 1.15);
    }
}

int main(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    RUN(what_is_faster_routed_is_routed);
    RUN(a_small_gain_is_found_in_time);
    RUN(what_is_slower_routed_is_not);
    RUN(what_is_as_fast_stays_where_it_was);
    RUN(a_probe_that_gains_goes_on_until_it_shows);
    RUN(a_change_that_costs_much_is_made_late);
    RUN(a_change_costs_what_threads_spin);
    RUN(short_runs_take_turns_in_probing);
    RUN(short_runs_lose_little);
    RUN(a_stop_among_the_first_calls_makes_no_gain);
    RUN(calls_that_are_often_held_up_count);
    RUN(long_calls_are_not_risked_early);
    RUN(few_long_calls_are_routed_where_that_is_faster);
    RUN(gaps_count);
    RUN(a_slow_kind_stays_while_others_are_routed);
    RUN(a_side_that_becomes_slower_is_left);
    RUN(the_side_changes_seldom);
    RUN(without_a_router_nothing_changes);
    RUN(a_program_begins_where_it_gained_before);
    RUN(memory_is_checked);
    RUN(memory_is_checked_soon);
    RUN(a_program_with_a_pace_begins_routed_at_once);
    RUN(a_pace_is_checked_soon);
    RUN(a_doubt_in_the_pace_costs_one_long_call);
    RUN(a_program_that_lost_before_is_left_alone);
    RUN(a_gpu_is_used_when_it_is_ready);
    RUN(opening_a_gpu_makes_no_gain);
    return tap_done();
}
