/* SPDX-License-Identifier: MIT */
/*
 * test_many_cores.c - routing on a simulated machine with 16 threads.
 *
 *     model_test_many_cores [SETTINGS]
 *
 * Four instruction sets on teams of 1 to 16 threads run the vectors of the
 * catalogue. What an operation takes is what kernels were measured to take; how
 * the machine differs from the rates is drawn: clock, memory, threads that slow
 * each other down, instruction sets, single experts. A workload of many kinds
 * of calls in random order, as in bench_learn, is compared with an oracle, from
 * a cold start and after a tuning, without the noise that both would meet.
 */
#include <string.h>

#include "decide/decide.h"
#include "model/simulate.h"
#include "op/key.h"

enum { isas = 4, teams = 5, kinds = 32, calls_each = 40 };

static const takt_isa isa_of[isas] = {TAKT_ISA_SCALAR, TAKT_ISA_SSE2,
                                      TAKT_ISA_AVX2, TAKT_ISA_AVX512};

/* Times what so many multiply-adds take, by instruction set: measured on an AMD
 * EPYC with vectors of 2,048 elements. Others take 1, doubles 2. */
static const struct kernel {
    const char *op;
    double f32[isas], f64[isas];
} kernels[] = {
    {"div", {5, 4.9, 8.1, 16}, {6.6, 13, 26, 53}},
    {"sqrt", {5, 4.9, 9.8, 20}, {10, 20, 40, 80}},
    {"exp", {2, 2.8, 2.3, 1.5}, {2, 7.8, 5.6, 4}},
    {"exp2", {1.5, 2.7, 2.4, 1.6}, {1.4, 7.5, 5.9, 4.4}},
    {"expm1", {2.7, 2.3, 1.9, 1.7}, {2.6, 6.5, 4.9, 4.3}},
    {"log", {1.7, 3, 2.3, 1.4}, {1.8, 8.5, 6.6, 3.6}},
    {"log2", {1.2, 2.9, 2.1, 1.3}, {1.3, 8, 5.9, 3.4}},
    {"log1p", {1.9, 3.7, 3.2, 1.8}, {2, 9.7, 8.6, 3.6}},
    {"sin", {1.6, 3.7, 1, 1.1}, {1.5, 6.2, 2.7, 3.1}},
    {"cos", {1.5, 3.5, 1, 1.1}, {1.4, 5.9, 2.7, 3}},
    {"sigmoid", {17, 4.1, 2.3, 1.9}, {16, 8.3, 5.4, 5.2}},
    {"tanh", {4.3, 3.5, 1.8, 1.8}, {17, 8.4, 5.6, 6.5}},
    {"gelu", {1.2, 4.7, 2.9, 3.8}, {3.7, 17, 8.1, 8}},
};

static double normal(struct sim *sim, double sigma)
{
    return exp(sigma * sim_normal(&sim->random));
}

/* ---- the machine ----------------------------------------------------------
 */

static void add_team(struct sim *sim, unsigned isa, unsigned threads,
                     const struct takt_rates *off, double slowed)
{
    static const takt_machine machine = {.l2_bytes = 1 << 20,
                                         .l3_bytes = 32 << 20};
    const struct takt_expert expert = {.isa = isa_of[isa], .threads = threads};
    const struct takt_rates rates = takt__prior_rates(&expert, &machine);
    const struct takt_arm arm = {.kin = isa,
                                 .device = threads > 1 ? TAKT_DEVICE_CORES
                                                       : TAKT_DEVICE_CORE,
                                 .uses_pool = threads > 1,
                                 .rates = rates};
    const double together = 1 + slowed * (threads - 1);
    struct takt_rates truth = rates;

    truth.s_per_flop *= off->s_per_flop * together;
    for (int level = 0; level < 2; level++)
        truth.s_per_byte[level] *= off->s_per_byte[level] * together;
    truth.s_per_byte[2] *= off->s_per_byte[2];
    truth.awake_s *= off->awake_s;
    truth.asleep_s *= off->asleep_s;
    sim_add(sim, &arm, &truth);
}

static struct sim make_machine(uint64_t seed)
{
    struct sim sim = sim_create(seed, 0.02);
    struct takt_rates off = {
        .s_per_byte = {normal(&sim, 0.3), normal(&sim, 0.3), normal(&sim, 0.3)},
        .awake_s = normal(&sim, 0.4),
        .asleep_s = normal(&sim, 0.4)};
    const double clock = normal(&sim, 0.2);
    const double slowed = 0.08 * random_unit(&sim.random);

    sim.sigma = 0.06;
    sim.has_heavy_tail = true;
    sim.spike_rate = 0.01;
    for (unsigned isa = 0; isa < isas; isa++) {
        off.s_per_flop = clock * normal(&sim, 0.15);
        for (unsigned t = 0; t < teams; t++)
            add_team(&sim, isa, 1u << t, &off, slowed);
    }
    return sim;
}

static double measured(const takt_op *op, takt_dtype dtype, unsigned isa)
{
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].op, op->name) == 0)
            return dtype == TAKT_F32 ? kernels[i].f32[isa]
                                     : kernels[i].f64[isa];
    return dtype == TAKT_F32 ? 1 : 2;
}

/* ---- the workload ---------------------------------------------------------
 */

struct kind {
    const takt_op *op;
    takt_dtype dtype;
    unsigned series;
    takt_work work;
};

static struct kind kind_of(const takt_op *op, takt_dtype dtype, double elements)
{
    const takt_shape shape = {.rank = 1, .dim = {(size_t)elements}};
    struct kind out = {.op = op, .dtype = dtype};

    REQUIRE(takt_op_work(op, dtype, &shape, &out.work) == TAKT_OK);
    out.series = takt__key_of(op, dtype, &shape, 0, &out.work).series;
    return out;
}

/* The truth about a series is drawn with its first kind. */
static struct kind draw_kind(struct sim *sim)
{
    const takt_op *op;

    do
        op = takt_op_at(random_next(&sim->random) % takt_op_count());
    while (strcmp(op->shape, "N") != 0);
    const takt_dtype dtype =
        random_next(&sim->random) % 2 == 0 ? TAKT_F32 : TAKT_F64;
    const struct kind kind =
        kind_of(op, dtype, exp2(4 + 18 * random_unit(&sim->random)));
    struct sim_series *series = sim_series_at(sim, kind.series);
    for (unsigned isa = 0; isa < isas && series->flops[isa * teams] == 0; isa++)
        for (unsigned t = 0; t < teams; t++) {
            const unsigned arm = isa * teams + t;
            series->flops[arm] =
                t == 0 ? measured(op, dtype, isa) * normal(sim, 0.2)
                       : series->flops[arm - 1];
            series->factor[arm] = normal(sim, 0.08);
        }
    return kind;
}

/* One sample of everything that is not far behind. */
static void sample_all(struct sim *sim, const struct kind *kind,
                       unsigned situation, unsigned left_out)
{
    const unsigned best = sim_best(sim, kind->series, &kind->work, situation);
    const double best_s =
        sim_seconds(sim, kind->series, best, &kind->work, situation);

    for (unsigned arm = 0; arm < isas * teams; arm++) {
        const unsigned team = arm % teams;
        const double seconds =
            sim_seconds(sim, kind->series, arm, &kind->work, situation);
        const double moment = normal(sim, 0.2);
        bool is_spike;
        if (seconds < 4 * best_s && (team == 0 || team % 2 != left_out))
            sim_report(sim, kind->series, arm, &kind->work, situation,
                       seconds * moment * sim_shake(sim, &is_spike),
                       TAKT_SAMPLE_TUNING | TAKT_SAMPLE_REPORTED);
    }
}

/* What `takt tune` would have measured: a sample at every other octave in each
 * round; in the first one, of every other team, and of the others at the next
 * size. */
static void tune(struct sim *sim, const struct kind *of, unsigned rounds)
{
    enum { none = 2 };

    for (unsigned round = 0; round < rounds; round++)
        for (unsigned octave = 5; octave <= 22; octave += 2) {
            const struct kind kind = kind_of(of->op, of->dtype, exp2(octave));
            for (unsigned situation = 0; situation < 4; situation++)
                sample_all(sim, &kind, situation,
                           round == 0 ? octave / 2 % 2 : none);
        }
}

/* Time over that of the oracle: all calls, and the geometric mean over kinds.
 */
struct ratio {
    double total, geometric;
};

static struct ratio run(uint64_t seed, unsigned rounds)
{
    struct sim sim = make_machine(seed);
    struct kind kind[kinds];
    double spent_s[kinds] = {0}, best_s[kinds] = {0}, spent = 0, best = 0;
    double logs = 0;

    for (unsigned i = 0; i < kinds; i++) {
        kind[i] = draw_kind(&sim);
        tune(&sim, &kind[i], rounds);
    }
    for (unsigned i = 0; i < kinds * calls_each; i++) {
        const unsigned at = (unsigned)(random_next(&sim.random) % kinds);
        const unsigned situation = (unsigned)(random_next(&sim.random) % 3);
        const struct sim_run made =
            sim_call(&sim, kind[at].series, &kind[at].work, situation);
        spent_s[at] += made.plain_s;
        best_s[at] += made.oracle_s;
    }
    for (unsigned i = 0; i < kinds; i++) {
        spent += spent_s[i];
        best += best_s[i];
        logs += best_s[i] > 0 ? log(spent_s[i] / best_s[i]) : 0;
    }
    sim_destroy(&sim);
    return (struct ratio){spent / best, exp(logs / kinds)};
}

static unsigned settings = 3;

static struct ratio run_all(unsigned rounds)
{
    double total = 0, geometric = 0, worst = 0;

    for (uint64_t seed = 0; seed < settings; seed++) {
        const struct ratio one = run(seed, rounds);
        total += log(one.total) / settings;
        geometric += log(one.geometric) / settings;
        worst = fmax(worst, one.total);
    }
    const struct ratio out = {exp(total), exp(geometric)};
    printf("# %u rounds of tuning, %u settings: %.3f of the oracle by totals "
           "(%.3f at worst), %.3f geometric\n",
           rounds, settings, out.total, worst, out.geometric);
    return out;
}

/* Measured with 200 settings: docs/decisions/0046, 0071. */
static void many_teams_are_routed_well(void)
{
    const struct ratio cold = run_all(0), once = run_all(1), tuned = run_all(2);

    EXPECT(cold.total < 1.12);
    EXPECT(cold.geometric < (is_sanitized ? 1.1 : 1.08)); /* one setting */
    EXPECT(tuned.total < 1.08);
    EXPECT(tuned.geometric < 1.05);
    EXPECT(once.geometric < cold.geometric - 0.01);
    EXPECT(tuned.total < cold.total);
}

int main(int argc, char **argv)
{
    settings = argc > 1 ? (unsigned)atoi(argv[1]) : sim_share(settings);
    RUN(many_teams_are_routed_well);
    return tap_done();
}
