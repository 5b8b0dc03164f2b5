/* SPDX-License-Identifier: MIT */
/*
 * bench_fleet.c - what a fleet is worth to a new machine, and what it takes.
 *
 *     bench_fleet [MACHINES [ORIGINS [FIRST]]]
 *
 * Kinds of machines are drawn: vendor, family and kind each add how far the
 * truth is from the rates that Takt assumes. Machines of one kind differ a
 * little. Of each kind some origins have measured; what they send is pooled as
 * `takt fleet roll-up` does, and a new machine (MACHINES of them, 300) takes
 * what `takt fleet pull` would choose. It then runs a mixed workload from cold,
 * by Takt's model, against an oracle: without a fleet, with one, with one in
 * which 2% or 5% of the origins lie by any factor, and with one that does not
 * know its kind. All follows from seeds; FIRST is the number of the first new
 * machine, for others than those that settings were tried on.
 *
 * The second part is about 10^5 machines (ORIGINS) for a quarter of a year: the
 * load on the database, what its priors are worth, and how long it takes until
 * a change is known (fleet_life.c).
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "decide/decide.h"
#include "fleet/choose.h"
#include "fleet/pool.h"
#include "fleet_life.h"
#include "model/simulate.h"
#include "op/key.h"

enum {
    isas = 4,
    teams = 5,
    arms = isas * teams,
    kinds_of_calls = 32,
    calls_each = 40,
    vendors = 2,
    families = 3,
    models = 4, /* kinds of machines in a family */
    classes = vendors * families * models,
    origins_each = 20
};

static const takt_isa isa_of[isas] = {TAKT_ISA_SCALAR, TAKT_ISA_SSE2,
                                      TAKT_ISA_AVX2, TAKT_ISA_AVX512};

/* ---- the truth ------------------------------------------------------------
 */

/* How far a machine is from the rates: exponents of what is assumed. */
struct nature {
    double clock, memory[3], waking, slowed, isa[isas];
};

/* A number that follows from what it is about. */
static double drawn(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t state = a * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xbf58476d1ce4e5b9u ^
                     (c + 1) * 0x94d049bb133111ebu;

    random_next(&state);
    return sim_normal(&state);
}

static void shift(struct nature *nature, uint64_t of, double much)
{
    nature->clock += much * 0.2 * drawn(of, 1, 0);
    for (unsigned i = 0; i < 3; i++)
        nature->memory[i] += much * 0.3 * drawn(of, 2, i);
    nature->waking += much * 0.4 * drawn(of, 3, 0);
    for (unsigned i = 0; i < isas; i++)
        nature->isa[i] += much * 0.15 * drawn(of, 4, i);
}

/* Vendor, family and kind have equal shares; a machine a tenth of one. */
static struct nature nature_of(unsigned class, uint64_t machine)
{
    struct nature out = {.slowed = 0.04};
    static const double share = 0.577;

    shift(&out, 1000 + class / (families * models), share);
    shift(&out, 2000 + class / models, share);
    shift(&out, 3000 + class, share);
    shift(&out, machine, 0.1);
    return out;
}

/* The truth about a series on an expert: of the kernel, of the kind of machine,
 * of the machine. */
static double series_factor(unsigned series, unsigned arm, unsigned class,
                            uint64_t machine)
{
    return exp(0.2 * drawn(5, series, arm / teams) +
               0.08 * drawn(6000 + class, series, arm) +
               0.02 * drawn(machine, series, arm));
}

static const takt_machine hardware = {
    .l2_bytes = 1 << 20, .l3_bytes = 32 << 20, .logical_cpus = 16, .isas = 15};

static void add_team(struct sim *sim, unsigned isa, unsigned threads,
                     const struct nature *nature)
{
    const struct takt_expert expert = {.isa = isa_of[isa], .threads = threads};
    const struct takt_rates rates = takt__prior_rates(&expert, &hardware);
    const struct takt_arm arm = {.kin = isa,
                                 .device = threads > 1 ? TAKT_DEVICE_CORES
                                                       : TAKT_DEVICE_CORE,
                                 .uses_pool = threads > 1,
                                 .rates = rates};
    const double together = 1 + nature->slowed * (threads - 1);
    struct takt_rates truth = rates;

    truth.s_per_flop *= exp(nature->clock + nature->isa[isa]) * together;
    for (int level = 0; level < 3; level++)
        truth.s_per_byte[level] *=
            exp(nature->memory[level]) * (level < 2 ? together : 1);
    truth.awake_s *= exp(nature->waking);
    truth.asleep_s *= exp(nature->waking);
    sim_add(sim, &arm, &truth);
}

/* A machine of a class; what calls it gets is drawn from `seed`. */
static struct sim make_machine(unsigned class, uint64_t machine, uint64_t seed)
{
    struct sim sim = sim_create(seed, 0.02);
    const struct nature nature = nature_of(class, machine);

    sim.sigma = 0.06;
    sim.has_heavy_tail = true;
    sim.spike_rate = 0.01;
    for (unsigned isa = 0; isa < isas; isa++)
        for (unsigned t = 0; t < teams; t++)
            add_team(&sim, isa, 1u << t, &nature);
    return sim;
}

static void know_series(struct sim *sim, unsigned series, unsigned class,
                        uint64_t machine)
{
    struct sim_series *of = sim_series_at(sim, series);

    for (unsigned arm = 0; arm < arms; arm++)
        of->factor[arm] = series_factor(series, arm, class, machine);
}

/* ---- calls ----------------------------------------------------------------
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

static struct kind draw_kind(uint64_t *random)
{
    const takt_op *op;

    do
        op = takt_op_at(random_next(random) % takt_op_count());
    while (strcmp(op->shape, "N") != 0);
    const takt_dtype dtype = random_next(random) % 2 == 0 ? TAKT_F32 : TAKT_F64;
    return kind_of(op, dtype, exp2(4 + 18 * random_unit(random)));
}

/* ---- the fleet ------------------------------------------------------------
 */

struct fleet {
    unsigned origins;  /* of each class */
    double liars;      /* share of them */
    unsigned left_out; /* a class that has none; `classes`: all have */
    double noise;      /* of an origin's mean */
};

static void facts_of(unsigned class, struct takt_fleet_facts *out)
{
    static const unsigned l2_kib[] = {512, 1024, 1024, 2048};

    *out = (struct takt_fleet_facts){
        .isa = "avx512",
        .family = 1 + class / models % families,
        /* a family differs by its caches, and cores make a kind */
        .cores = 16 + class % models,
        .l2_kib = l2_kib[class % models],
        .l3_kib = 32768};
    snprintf(out->machine, sizeof out->machine, "%016x", class);
    snprintf(out->vendor, sizeof out->vendor, "Vendor%u",
             class / (families * models));
}

static void expert_name(unsigned arm, char *out, size_t size)
{
    const unsigned threads = 1u << arm % teams;
    const char *isa = takt_isa_name(isa_of[arm / teams]);
    const char *prefix = arm / teams == 0 ? "" : "simd.";

    if (threads == 1)
        snprintf(out, size, "%s%s", prefix, isa);
    else
        snprintf(out, size, "%s%sx%u", prefix, isa, threads);
}

/* What one origin says: the truth of its machine with noise, or a lie. */
static double said(const struct fleet *fleet, struct sim *sim, uint64_t origin,
                   unsigned number, const struct kind *kind, unsigned arm,
                   unsigned situation)
{
    const bool lies = number + 0.5 < fleet->liars * fleet->origins;
    const double seconds =
        sim_seconds(sim, kind->series, arm, &kind->work, situation);
    const uint64_t what = kind->series * 64u + arm;

    if (lies) /* each about each expert by another factor, up to e^9 */
        return log(seconds * 1e9) + 3 * drawn(origin, what, 77);
    return log(seconds * 1e9) +
           fleet->noise *
               drawn(origin, what,
                     takt__bucket_of(kind->work.bytes) * 8u + situation);
}

struct origin_machines {
    struct sim sim[origins_each];
    uint64_t id[origins_each];
};

/* The prior of one line of one class. */
static void add_line(const struct fleet *fleet, struct origin_machines *of,
                     unsigned class, const struct kind *about, unsigned arm,
                     unsigned situation, struct takt_fleet_priors *out)
{
    struct takt_fleet_cell made[TAKT_BUCKETS];
    unsigned char bytes[TAKT_FLEET_MOST_BYTES];
    char expert[32], line[TAKT_FLEET_LINE], name[TAKT_FLEET_CLASS];
    struct takt_fleet_facts facts;
    size_t count = 0;

    for (double octave = 4; octave < 22.5; octave += 1) {
        const struct kind kind =
            kind_of(about->op, about->dtype, exp2(octave) * 1.2);
        struct takt_fleet_cell cell[origins_each] = {{0}};
        for (unsigned i = 0; i < fleet->origins; i++)
            cell[i] = (struct takt_fleet_cell){
                .bin = takt__bucket_of(kind.work.bytes),
                .n = 8,
                .mean = (float)said(fleet, &of->sim[i], of->id[i], i, &kind,
                                    arm, situation),
                .bytes = (float)kind.work.bytes,
                .flops = (float)kind.work.flops};
        if (count == 0 || made[count - 1].bin < cell[0].bin)
            takt__fleet_pool(cell, fleet->origins, &made[count++]);
    }
    expert_name(arm, expert, sizeof expert);
    snprintf(line, sizeof line, "%s||%u|%u|%s|", about->op->name,
             (unsigned)about->dtype, situation, expert);
    facts_of(class, &facts);
    takt__fleet_class(&facts, TAKT_FLEET_KIND, "", name);
    const size_t length = takt__fleet_encode(made, count, bytes);
    REQUIRE(takt__fleet_priors_add(out, name, line, bytes, length));
}

static void add_class(const struct fleet *fleet, unsigned class,
                      const struct kind *kind, struct takt_fleet_priors *out)
{
    static struct origin_machines machines;
    char facts_text[TAKT_FLEET_FACTS], name[TAKT_FLEET_CLASS];
    struct takt_fleet_facts facts;

    facts_of(class, &facts);
    takt__fleet_class(&facts, TAKT_FLEET_KIND, "", name);
    const size_t length = takt__fleet_facts_print(&facts, facts_text);
    REQUIRE(takt__fleet_priors_add(out, name, "", facts_text, length));
    for (unsigned i = 0; i < fleet->origins; i++) {
        machines.id[i] = 1000000u + class * 1000u + i;
        machines.sim[i] = make_machine(class, machines.id[i], i);
        for (unsigned k = 0; k < kinds_of_calls; k++)
            know_series(&machines.sim[i], kind[k].series, class,
                        machines.id[i]);
    }
    for (unsigned k = 0; k < kinds_of_calls; k++) {
        bool is_new = true;
        for (unsigned j = 0; j < k; j++)
            is_new = is_new && kind[j].series != kind[k].series;
        for (unsigned arm = 0; is_new && arm < arms; arm++)
            for (unsigned s = 0; s < 3; s++)
                add_line(fleet, &machines, class, &kind[k], arm, s, out);
    }
    for (unsigned i = 0; i < fleet->origins; i++)
        sim_destroy(&machines.sim[i]);
}

/* Gives the model what a pull would bring, as learn/hint.c does. */
static void take_in(const struct fleet *fleet, unsigned class,
                    const struct kind *kind, struct sim *sim)
{
    struct takt_fleet_priors priors = {0};
    struct takt_fleet_choice choice;
    struct takt_fleet_facts facts;
    takt_machine machine = hardware;

    facts_of(class, &facts);
    snprintf(machine.hw_fingerprint, sizeof machine.hw_fingerprint, "%016x",
             class);
    /* Only what is near can matter. */
    for (unsigned c = 0; c < classes; c++)
        if (c != fleet->left_out &&
            (c == class ||
             (fleet->left_out == class && c / models == class / models)))
            add_class(fleet, c, kind, &priors);
    REQUIRE(takt__fleet_choose(&priors, &machine, &facts, &choice) == TAKT_OK);
    for (size_t i = 0; i < choice.count; i++) {
        const struct takt_record *record = &choice.record[i];
        const takt_op *op = takt_op_find(record->op);
        unsigned arm = 0;
        char name[32];
        for (; arm < arms; arm++) {
            expert_name(arm, name, sizeof name);
            if (strcmp(name, record->expert) == 0)
                break;
        }
        const struct takt_summary hint = {
            .series = (unsigned)takt__series_find(op, (takt_dtype)record->dtype,
                                                  record->layout),
            .arm = arm,
            .situation = record->situation,
            .bucket = record->bin,
            .n = 1,
            .mean = record->mean,
            .bytes = record->bytes,
            .flops = record->flops,
            .calls = record->n};
        takt__model_hint(sim->model, &hint,
                         record->m2 / record->n + 0.02 * 0.02);
    }
    free(choice.record);
    takt__fleet_priors_free(&priors);
}

/* ---- new machines ---------------------------------------------------------
 */

static unsigned first_machine;

struct outcome {
    double total;   /* time over the oracle's, after all calls */
    double first;   /* the same if the first choices had stayed */
    double trials;  /* how many */
    double trial_s; /* what they took beyond the oracle, over its time */
};

/* What the first choices of all kinds of calls would cost. */
static double first_choices(struct sim *sim, const struct kind *kind)
{
    double chosen = 0, best = 0;

    for (unsigned i = 0; i < kinds_of_calls; i++)
        for (unsigned s = 0; s < 3; s++) {
            const struct kind *of = &kind[i];
            struct takt_verdict verdict;
            sim_series_at(sim, of->series);
            REQUIRE(takt__model_set_typical(sim->model, of->series,
                                            takt__bucket_of(of->work.bytes),
                                            &of->work) == TAKT_OK);
            struct takt_posterior *posterior =
                takt__model_posterior(sim->model, of->series, s);
            REQUIRE(takt__posterior_judge(posterior,
                                          takt__bucket_of(of->work.bytes),
                                          sim->now_ns, true, &verdict));
            const unsigned arm = sim_best(sim, of->series, &of->work, s);
            chosen += sim_seconds(sim, of->series, verdict.best, &of->work, s);
            best += sim_seconds(sim, of->series, arm, &of->work, s);
        }
    return chosen / best;
}

static struct outcome run_machine(unsigned number, const struct fleet *fleet)
{
    uint64_t random = 99 + number;
    const unsigned class = (unsigned)(random_next(&random) % classes);
    const uint64_t machine = 50000000u + number;
    struct sim sim = make_machine(class, machine, number);
    struct kind kind[kinds_of_calls];
    double spent = 0, best = 0, trial_s = 0;
    struct outcome out = {0};

    for (unsigned i = 0; i < kinds_of_calls; i++) {
        kind[i] = draw_kind(&random);
        know_series(&sim, kind[i].series, class, machine);
    }
    if (fleet != NULL) {
        struct fleet its = *fleet;
        if (its.left_out != classes)
            its.left_out = class;
        take_in(&its, class, kind, &sim);
    }
    out.first = first_choices(&sim, kind);
    for (unsigned i = 0; i < kinds_of_calls * calls_each; i++) {
        const unsigned at = (unsigned)(random_next(&random) % kinds_of_calls);
        const unsigned situation = (unsigned)(random_next(&random) % 3);
        const struct sim_run made =
            sim_call(&sim, kind[at].series, &kind[at].work, situation);
        spent += made.plain_s;
        best += made.oracle_s;
        out.trials += made.is_explored;
        trial_s += made.is_explored ? made.plain_s - made.oracle_s : 0;
    }
    out.total = spent / best;
    out.trial_s = trial_s / best;
    sim_destroy(&sim);
    return out;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The first choices of each machine go to `first`. */
static void run_machines(const char *name, unsigned count,
                         const struct fleet *fleet, double *first)
{
    double *total = calloc(count, sizeof *total);
    double logs = 0, firsts = 0, trials = 0, trial_s = 0;

    REQUIRE(total != NULL);
    for (unsigned i = 0; i < count; i++) {
        const struct outcome one = run_machine(first_machine + i, fleet);
        total[i] = one.total;
        first[i] = one.first;
        logs += log(one.total);
        firsts += log(one.first);
        trials += one.trials;
        trial_s += one.trial_s;
    }
    qsort(total, count, sizeof *total, by_value);
    printf("%-32s %7.3f %7.3f %7.3f %9.3f %8.1f %9.2f%%\n", name,
           exp(logs / count), total[count / 2], total[count * 95 / 100],
           exp(firsts / count), trials / count, 100 * trial_s / count);
    fflush(stdout);
    free(total);
}

/* How much more the first choices cost than those of an honest fleet. */
static void compare(const char *name, unsigned count, const double *honest,
                    const double *first)
{
    double logs = 0, worst = 0;

    for (unsigned i = 0; i < count; i++) {
        logs += log(first[i] / honest[i]);
        worst = fmax(worst, first[i] / honest[i]);
    }
    printf("first choices, %s, over those of an honest fleet: %.4f on average, "
           "%.3f at worst\n",
           name, exp(logs / count), worst);
}

static void run_first_part(unsigned count)
{
    const struct fleet honest = {
        .origins = origins_each, .left_out = classes, .noise = 0.05};
    struct fleet few = honest, five = honest, twenty = honest, alike = honest;
    double *of[3];

    for (int i = 0; i < 3; i++)
        REQUIRE((of[i] = calloc(count, sizeof(double))) != NULL);
    few.origins = 5;
    five.liars = 0.05;
    twenty.liars = 0.2;
    alike.left_out = 0;
    printf("%u new machines, %d kinds of calls, %d calls each on average, from "
           "cold; time over the oracle's\n",
           count, kinds_of_calls, calls_each);
    printf("%-32s %7s %7s %7s %9s %8s %10s\n", "", "geomean", "median", "95%",
           "if stayed", "trials", "their cost");
    run_machines("no fleet", count, NULL, of[0]);
    run_machines("20 machines of its kind", count, &honest, of[0]);
    run_machines("20 of its kind, 5% of them lie", count, &five, of[1]);
    run_machines("20 of its kind, 20% of them lie", count, &twenty, of[2]);
    compare("5% lie", count, of[0], of[1]);
    compare("20% lie", count, of[0], of[2]);
    run_machines("5 machines of its kind", count, &few, of[1]);
    run_machines("its kind is unknown: 3 like it", count, &alike, of[1]);
    for (int i = 0; i < 3; i++)
        free(of[i]);
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "[RECORDS [MACHINES]]");
    const unsigned count =
        argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 300;
    const unsigned machines =
        argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100000;

    first_machine = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    if (count > 0)
        run_first_part(count);
    if (machines > 0)
        fleet_life(machines);
    return 0;
}
