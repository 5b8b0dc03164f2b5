/* SPDX-License-Identifier: MIT */
/*
 * test_effect.c - programs whose steps take made-up times with Takt on and off,
 * on a made-up clock: is the effect found, at what cost?
 *
 * A process has one effect, so each program runs in a child.
 */
#include "effect.h"

#include <fenv.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stats_write.h"
#include "support/random.h"
#include "support/tap.h"
#include "switchback.h"
#include "usage.h"

enum { most_kinds = 40 };

/* In nanoseconds. */
struct made_up {
    double off_ns, on_ns, off_gap_ns, on_gap_ns;
};

struct program {
    struct made_up kind[most_kinds]; /* take turns */
    unsigned kinds;
    double seconds; /* until it ends, on the made-up clock */
    double noise;
    double busy;     /* slices of 20 ms vary by that */
    double reads_ns; /* every 50th gap is that much longer */
    double fault_ns; /* off, every tenth step fetches memory for so long */
    bool faults_in_gaps;
    double held_up_ns; /* by others, every 40th call */
    bool is_idle;      /* Takt does nothing beside calls */
    bool has_no_stats;
    bool is_routed;    /* calls are routed all the time */
    double probe_s;    /* routing is compared: for so long each half second */
    unsigned forks_at; /* goes on in a child after so many steps; 0: never */
};

struct outcome {
    double gain, error; /* shares of what it takes off */
    double truth, cost; /* the cost: against Takt always on */
    uint64_t slices;
    bool was_off, is_off_in_child;
    int flags;
};

static struct shared {
    struct takt_stats_effect stats;
    struct outcome outcome;
} * shared;

static const struct program *running;

/* In place of those of a file. */
struct takt_stats_effect *takt__stats_effect(void)
{
    return running->has_no_stats ? NULL : &shared->stats;
}

/* In place of switchback.c. */
_Atomic unsigned takt__side_now = TAKT_SIDE_BASELINE;
static bool wants_off;

bool takt__side_wants_off(void)
{
    return wants_off;
}

/* In place of the kernel's. */
static struct takt_usage used;

struct takt_usage takt__usage(void)
{
    return used;
}

static double fetch_memory(const struct program *program, unsigned number)
{
    enum { fault_ns = 1400 };

    if (number % 10 != 0)
        return 0;
    used.faults += (long)(program->fault_ns / fault_ns);
    return program->fault_ns;
}

static double hold_up(const struct program *program, unsigned number)
{
    if (number % 40 != 7 || !(program->held_up_ns > 0))
        return 0;
    used.switches++;
    return program->held_up_ns;
}

static double vary(const struct program *program, uint64_t *random)
{
    return 1 + program->noise * (random_unit(random) + random_unit(random) - 1);
}

/* What others leave of the processor, for 20 ms at a time. */
static double busy(const struct program *program, uint64_t clock_ns)
{
    uint64_t slice = clock_ns / 20000000 * 7919 + 1;

    random_unit(&slice);
    return 1 + program->busy * (2 * random_unit(&slice) - 1);
}

/* One step; returns what it takes when Takt is always on, and always off. */
static struct made_up step(const struct program *program, unsigned number,
                           uint64_t *clock_ns, uint64_t *random)
{
    static const char kinds[most_kinds];
    const unsigned which = number % program->kinds;
    const struct made_up *of = &program->kind[which];
    const double noise = vary(program, random) * busy(program, *clock_ns);
    const double reads_ns = number % 50 == 0 ? program->reads_ns : 0;
    const bool is_off = takt__effect_is_off();
    const double fault_ns = is_off ? fetch_memory(program, number) : 0;
    const double gap_ns = (is_off ? of->off_gap_ns : of->on_gap_ns) + reads_ns +
                          (program->faults_in_gaps ? fault_ns : 0);
    const double held_up_ns = hold_up(program, number);
    const double ns = (is_off ? of->off_ns : of->on_ns) * noise + held_up_ns +
                      (program->faults_in_gaps ? 0 : fault_ns);
    const uint64_t start_ns = *clock_ns + (uint64_t)gap_ns;

    *clock_ns = start_ns + (uint64_t)ns;
    if (!program->is_idle)
        takt__effect_note();
    feclearexcept(FE_ALL_EXCEPT);
    takt__effect_add(&kinds[which], 1000, start_ns, *clock_ns);
    shared->outcome.flags |=
        fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    shared->outcome.was_off |= is_off;
    const double both_ns = reads_ns + held_up_ns;
    const double off_ns = number % 10 == 0 ? program->fault_ns : 0;
    return (struct made_up){
        .on_ns = of->on_ns * noise + of->on_gap_ns + both_ns,
        .off_ns = of->off_ns * noise + off_ns + of->off_gap_ns + both_ns};
}

static void go_on_in_child(void)
{
    int status = 1;

    shared->outcome.was_off = takt__effect_is_off();
    const pid_t child = fork();
    if (child == 0) {
        shared->outcome.is_off_in_child = takt__effect_is_off();
        return;
    }
    _exit(child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0
                                                                          : 1);
}

static void run_program(const struct program *program)
{
    struct outcome *out = &shared->outcome;
    uint64_t clock_ns = 1000000000, random = 7;
    const uint64_t start_ns = clock_ns;
    double on_ns = 0, off_ns = 0, now_s = 0;

    if (program->is_routed)
        atomic_store(&takt__side_now, TAKT_SIDE_ROUTED);
    takt__effect_open();
    for (unsigned i = 0; now_s < program->seconds; i++) {
        const struct made_up took = step(program, i, &clock_ns, &random);
        on_ns += took.on_ns;
        off_ns += took.off_ns;
        now_s = (double)(clock_ns - start_ns) * 1e-9;
        wants_off = fmod(now_s, 0.5) < program->probe_s;
        if (program->forks_at > 0 && i >= program->forks_at &&
            takt__effect_is_off()) {
            go_on_in_child();
            break;
        }
    }
    const double baseline_ns = (double)shared->stats.baseline_ns;
    out->slices = shared->stats.slices;
    out->cost = now_s * 1e9 / on_ns;
    out->truth = 1 - on_ns / off_ns;
    if (baseline_ns > 0) {
        const uint64_t gain_ns = shared->stats.gain_ns;
        out->gain = (double)(int64_t)gain_ns / off_ns;
        out->error = 2e3 * sqrt((double)shared->stats.variance_us2) / off_ns;
    }
}

static struct outcome try_program(const struct program *program)
{
    *shared = (struct shared){0};
    running = program;
    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        run_program(program);
        _exit(0);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    printf("# gain %.3f +- %.3f, truth %.3f, cost %.3f, %ju slices\n",
           shared->outcome.gain, shared->outcome.error, shared->outcome.truth,
           shared->outcome.cost, (uintmax_t)shared->outcome.slices);
    EXPECT_INT(shared->outcome.flags, 0);
    return shared->outcome;
}

/* ---- programs ------------------------------------------------------------ */

static void gains_of_calls_and_gaps_are_found(void)
{
    const struct program program = {
        .kind = {{300e3, 200e3, 50e3, 40e3}, {20e3, 20e3, 30e3, 20e3}},
        .kinds = 2,
        .seconds = 4,
        .noise = 0.2};
    const struct outcome got = try_program(&program);

    EXPECT(got.slices >= 3);
    EXPECT_NEAR(got.gain, got.truth, 0.03);
    EXPECT(got.error < 0.06);
    EXPECT(got.cost < 1.02);
}

static void losses_are_found(void)
{
    const struct program program = {.kind = {{100e3, 120e3, 50e3, 70e3}},
                                    .kinds = 1,
                                    .seconds = 4,
                                    .noise = 0.2};
    const struct outcome got = try_program(&program);

    EXPECT_NEAR(got.gain, got.truth, 0.03);
    EXPECT(got.gain < -0.2);
}

static void nothing_is_claimed_of_nothing(void)
{
    const struct program program = {.kind = {{100e3, 100e3, 50e3, 50e3}},
                                    .kinds = 1,
                                    .seconds = 4,
                                    .noise = 0.2};
    const struct outcome got = try_program(&program);

    EXPECT_NEAR(got.gain, 0, 0.01);
}

static void a_short_program_has_a_slice(void)
{
    const struct program program = {.kind = {{400e3, 200e3, 10e3, 10e3}},
                                    .kinds = 1,
                                    .seconds = 0.7,
                                    .noise = 0.2};
    const struct outcome got = try_program(&program);

    EXPECT_INT(got.slices, 2);
    EXPECT_NEAR(got.gain, got.truth, 0.05);
}

/* Memory that is not kept is fetched anew by some steps, and not by others. */
static void what_few_steps_gain_is_found(void)
{
    struct program program = {.kind = {{60e3, 60e3, 5e3, 5e3},
                                       {50e3, 50e3, 5e3, 5e3},
                                       {70e3, 70e3, 5e3, 5e3}},
                              .kinds = 3,
                              .seconds = 1,
                              .noise = 0.2,
                              .fault_ns = 450e3};
    const struct outcome in_calls = try_program(&program);

    EXPECT_NEAR(in_calls.gain, in_calls.truth, 0.04);
    program.faults_in_gaps = true;
    const struct outcome in_gaps = try_program(&program);
    EXPECT_NEAR(in_gaps.gain, in_gaps.truth, 0.04);
}

/* Once in an off slice, say: nothing of it is Takt's. */
static void others_that_hold_it_up_are_no_part_of_it(void)
{
    const struct program program = {.kind = {{200e3, 160e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 2,
                                    .noise = 0.2,
                                    .held_up_ns = 4e6};
    const struct outcome got = try_program(&program);

    EXPECT_NEAR(got.gain, got.truth, 0.04);
    EXPECT(got.error < 0.08);
}

/* It gains by memory that is kept, which single loops do not show, and ends
 * after 0.3 s. */
static void a_very_short_program_has_a_short_slice(void)
{
    struct program program = {.kinds = 12, .seconds = 0.3, .noise = 0.2};

    for (unsigned i = 0; i < program.kinds; i++)
        program.kind[i] =
            (struct made_up){500e3, i % 2 == 0 ? 250e3 : 150e3, 10e3, 10e3};
    const struct outcome got = try_program(&program);

    EXPECT_INT(got.slices, 1);
    EXPECT_NEAR(got.gain, got.truth, 0.15);
    EXPECT(fabs(got.gain - got.truth) < got.error);
    EXPECT(got.gain > got.error);
    EXPECT(got.cost < 1.04);
}

/* A slice holds a few of them. */
static void steps_that_were_not_seen_count_as_the_others(void)
{
    struct program program = {.kinds = most_kinds, .seconds = 3, .noise = 0.1};

    for (unsigned i = 0; i < most_kinds; i++)
        program.kind[i] =
            (struct made_up){3e6, i % 2 == 0 ? 1e6 : 2e6, 1e5, 1e5};
    const struct outcome got = try_program(&program);

    EXPECT(got.slices >= 2);
    EXPECT_NEAR(got.gain, got.truth, 0.1);
    EXPECT(fabs(got.gain - got.truth) < got.error);
}

static void reading_a_file_is_no_part_of_it(void)
{
    const struct program program = {.kind = {{100e3, 80e3, 50e3, 40e3}},
                                    .kinds = 1,
                                    .seconds = 6,
                                    .noise = 0.2,
                                    .reads_ns = 3e6};
    const struct outcome got = try_program(&program);

    EXPECT_NEAR(got.gain, got.truth, 0.02);
}

static void there_is_no_slice_for_nothing(void)
{
    struct program program = {.kind = {{100e3, 100e3, 50e3, 50e3}},
                              .kinds = 1,
                              .seconds = 4,
                              .is_idle = true};

    EXPECT(!try_program(&program).was_off);
    program.is_idle = false;
    program.has_no_stats = true;
    EXPECT(!try_program(&program).was_off);
    program.has_no_stats = false;
    program.is_routed = true;
    EXPECT(!try_program(&program).was_off);
}

static void probes_of_the_library_are_off_slices(void)
{
    const struct program program = {.kind = {{300e3, 200e3, 50e3, 40e3}},
                                    .kinds = 1,
                                    .seconds = 4,
                                    .noise = 0.2,
                                    .is_idle = true,
                                    .probe_s = 0.03};
    const struct outcome got = try_program(&program);

    EXPECT(got.slices >= 7);
    EXPECT_NEAR(got.gain, got.truth, 0.03);
}

/* A busy machine shows in the interval. */
static void noise_is_in_the_interval(void)
{
    const struct program program = {.kind = {{100e3, 100e3, 5e3, 5e3}},
                                    .kinds = 1,
                                    .seconds = 3,
                                    .noise = 0.1,
                                    .busy = 0.5};
    const struct outcome got = try_program(&program);

    EXPECT(got.slices >= 3);
    EXPECT(got.error > 0.2);
    EXPECT(fabs(got.gain) < got.error);
}

/* A probe of switchback.c ends with a call, and there may be none any more. */
static void a_probe_that_does_not_end_is_left(void)
{
    const struct program program = {.kind = {{300e3, 200e3, 50e3, 40e3}},
                                    .kinds = 1,
                                    .seconds = 10,
                                    .is_idle = true,
                                    .probe_s = 1};
    const struct outcome got = try_program(&program);

    EXPECT_INT(got.slices, 1);
    EXPECT(got.cost < 1.03);
}

static void a_child_is_not_off_for_ever(void)
{
    const struct program program = {.kind = {{300e3, 200e3, 50e3, 40e3}},
                                    .kinds = 1,
                                    .seconds = 4,
                                    .forks_at = 100};
    const struct outcome got = try_program(&program);

    EXPECT(got.was_off);
    EXPECT(!got.is_off_in_child);
}

int main(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    RUN(gains_of_calls_and_gaps_are_found);
    RUN(losses_are_found);
    RUN(nothing_is_claimed_of_nothing);
    RUN(a_short_program_has_a_slice);
    RUN(what_few_steps_gain_is_found);
    RUN(others_that_hold_it_up_are_no_part_of_it);
    RUN(a_very_short_program_has_a_short_slice);
    RUN(steps_that_were_not_seen_count_as_the_others);
    RUN(reading_a_file_is_no_part_of_it);
    RUN(there_is_no_slice_for_nothing);
    RUN(probes_of_the_library_are_off_slices);
    RUN(noise_is_in_the_interval);
    RUN(a_probe_that_does_not_end_is_left);
    RUN(a_child_is_not_off_for_ever);
    return tap_done();
}
