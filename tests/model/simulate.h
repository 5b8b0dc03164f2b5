/* SPDX-License-Identifier: MIT */
/*
 * simulate.h - a machine that exists only here: experts with known costs, noise
 * and faults on a clock of its own, and a caller that follows the verdicts.
 *
 * The caller does what the library does around the model: it takes the
 * published verdict of its cell, makes the trials it offers, runs, reports, and
 * has changed series judged anew. Only cells that are called are judged, since
 * the others change nothing. Everything follows from the seed.
 */
#pragma once

#include <stdlib.h>

#include "model/model.h"
#include "support/random.h"
#include "support/tap.h"
#include "support/tolerance.h"

/* How many of so many simulations are made. All builds would get the same
 * numbers, so a sanitizer has a part of them to see the code at work. */
static inline unsigned sim_share(unsigned count)
{
    return is_sanitized ? (count + 4) / 5 : count;
}

enum { SIM_ARMS = 64, SIM_SERIES = TAKT_SERIES_COUNT };

struct sim_cell {
    bool is_called;
    bool is_published;
    struct takt_verdict verdict;
    int explore;    /* -1: none, or all of its trials were made */
    unsigned tries; /* that are left */
};

struct sim_series {
    double factor[SIM_ARMS]; /* truth on this series; 0 counts as 1 */
    double flops[SIM_ARMS];  /* the same, of each operation alone */
    bool has_run[SIM_ARMS];
    struct sim_cell cell[TAKT_SITUATIONS][TAKT_BUCKETS];
};

struct sim {
    struct takt_model *model;
    struct takt_posterior *posterior;
    uint64_t random;
    uint64_t now_ns;
    unsigned publications;

    /* The truth, which a test may change at any time. */
    struct takt_rates truth[SIM_ARMS];
    double slowness[SIM_ARMS]; /* 1: as always */
    double first_factor[SIM_ARMS];
    bool refuses[SIM_ARMS];
    struct sim_series *series[SIM_SERIES];

    /* One run, counted per arm from 1, that takes so long; 0: none. */
    unsigned runs[SIM_ARMS], bad_run[SIM_ARMS];
    double bad_run_s;

    double sigma;        /* of ln(seconds) */
    bool has_heavy_tail; /* Student's t with three degrees, not normal */
    double spike_rate, spike_least, spike_most;
};

/* What became of a call. */
struct sim_run {
    unsigned arm;
    bool is_explored, is_spike;
    double seconds;  /* that it took */
    double plain_s;  /* without noise and spikes */
    double oracle_s; /* plain seconds of the best arm */
    double routed_s; /* plain seconds of the arm that the verdict named */
    double shaken;   /* what noise and spikes made of it, as a factor */
};

static inline struct sim sim_create(uint64_t seed, double exploration)
{
    struct sim sim = {.random = seed,
                      .now_ns = 1000000000,
                      .sigma = 0.02,
                      .spike_least = 3,
                      .spike_most = 13};

    sim.model = takt__model_create(exploration);
    REQUIRE(sim.model != NULL);
    return sim;
}

static inline void sim_destroy(struct sim *sim)
{
    for (unsigned i = 0; i < SIM_SERIES; i++)
        free(sim->series[i]);
    takt__model_destroy(sim->model);
}

static inline double sim_normal(uint64_t *state)
{
    const double u = 1 - random_unit(state), v = random_unit(state);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static inline double sim_noise(struct sim *sim)
{
    const double normal = sim_normal(&sim->random);
    double square = 0;

    if (!sim->has_heavy_tail)
        return sim->sigma * normal;
    for (int i = 0; i < 3; i++) {
        const double x = sim_normal(&sim->random);
        square += x * x;
    }
    return sim->sigma * normal / sqrt(square / 3);
}

/* An expert with rates that it has, and rates that it is registered with. */
static inline unsigned sim_add(struct sim *sim, const struct takt_arm *arm,
                               const struct takt_rates *truth)
{
    const int number = takt__model_add_arm(sim->model, arm);

    REQUIRE(number >= 0 && number < SIM_ARMS);
    sim->truth[number] = *truth;
    sim->slowness[number] = 1;
    sim->first_factor[number] = 1;
    return (unsigned)number;
}

/* Rates of an arm that takes the same time for all work. */
static inline struct takt_rates sim_flat(double seconds)
{
    return (struct takt_rates){.threads = 1, .call_s = seconds};
}

static inline unsigned sim_add_flat(struct sim *sim, unsigned kin,
                                    double seconds, double expected_s)
{
    const struct takt_rates truth = sim_flat(seconds);
    const struct takt_arm arm = {.kin = kin, .rates = sim_flat(expected_s)};
    return sim_add(sim, &arm, &truth);
}

static inline struct sim_series *sim_series_at(struct sim *sim, unsigned series)
{
    if (sim->series[series] == NULL) {
        sim->series[series] = calloc(1, sizeof *sim->series[series]);
        REQUIRE(sim->series[series] != NULL);
        for (unsigned a = 0; a < takt__model_arm_count(sim->model); a++)
            takt__model_allow(sim->model, series, a);
    }
    return sim->series[series];
}

static inline double sim_seconds(struct sim *sim, unsigned series, unsigned arm,
                                 const takt_work *work, unsigned situation)
{
    const double factor = sim_series_at(sim, series)->factor[arm];
    const double flops = sim_series_at(sim, series)->flops[arm];

    return takt__rates_seconds(&sim->truth[arm], work->bytes,
                               work->flops * (flops > 0 ? flops : 1),
                               situation) *
           sim->slowness[arm] * (factor > 0 ? factor : 1);
}

/* The arm that is best in truth. */
static inline unsigned sim_best(struct sim *sim, unsigned series,
                                const takt_work *work, unsigned situation)
{
    unsigned best = 0;

    for (unsigned a = 1; a < takt__model_arm_count(sim->model); a++)
        if (sim_seconds(sim, series, a, work, situation) <
            sim_seconds(sim, series, best, work, situation))
            best = a;
    return best;
}

static inline void sim_publish_change(struct sim *sim,
                                      const struct takt_change *change)
{
    struct sim_series *at = sim_series_at(sim, change->series);

    sim->publications++;
    for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
        bool is_filled = false;
        for (unsigned b = change->first; b <= change->last; b++) {
            struct sim_cell *cell = &at->cell[s][b];
            if (!cell->is_called || (change->situations >> s & 1) == 0)
                continue;
            if (!is_filled)
                sim->posterior =
                    takt__model_posterior(sim->model, change->series, s);
            is_filled = true;
            REQUIRE(takt__posterior_judge(sim->posterior, b, sim->now_ns, false,
                                          &cell->verdict));
            cell->is_published = true;
            if (cell->verdict.is_offered)
                continue;
            cell->explore = cell->verdict.explore;
            cell->tries = cell->verdict.tries;
        }
    }
}

static inline void sim_publish(struct sim *sim)
{
    struct takt_change change;

    while (takt__model_next_change(sim->model, &change))
        sim_publish_change(sim, &change);
}

static inline struct sim_cell *sim_cell_at(struct sim *sim, unsigned series,
                                           unsigned bucket, unsigned situation)
{
    return &sim_series_at(sim, series)->cell[situation][bucket];
}

static inline struct takt_sample sim_sample(unsigned series, unsigned arm,
                                            const takt_work *work,
                                            unsigned situation, double seconds)
{
    return (struct takt_sample){
        .series = (uint16_t)series,
        .bucket = takt__bucket_of(work->bytes),
        .situation = (uint8_t)situation,
        .arm = (uint8_t)arm,
        .calls = 1,
        .bytes = (float)work->bytes,
        .flops = (float)work->flops,
        .seconds = seconds,
    };
}

/* Reports a run to the model, without looking at any verdict. */
static inline void sim_report(struct sim *sim, unsigned series, unsigned arm,
                              const takt_work *work, unsigned situation,
                              double seconds, unsigned flags)
{
    struct takt_sample sample =
        sim_sample(series, arm, work, situation, seconds);

    sim_series_at(sim, series);
    sample.flags = (uint8_t)flags;
    if ((flags & TAKT_SAMPLE_TUNING) != 0)
        sample.calls = 0; /* a measurement is no call of a program */
    sample.start_ns = sim->now_ns;
    sim->now_ns += 1 + (uint64_t)(seconds * 1e9);
    takt__model_learn(sim->model, &sample);
}

static inline double sim_shake(struct sim *sim, bool *is_spike)
{
    double factor = exp(sim_noise(sim));

    *is_spike = random_unit(&sim->random) < sim->spike_rate;
    if (*is_spike)
        factor *= random_real(&sim->random, log10(sim->spike_least),
                              log10(sim->spike_most));
    return factor;
}

/* One call: follows the verdict, and reports. */
static inline struct sim_run sim_call(struct sim *sim, unsigned series,
                                      const takt_work *work, unsigned situation)
{
    static const unsigned every = (1u << TAKT_SITUATIONS) - 1;
    const unsigned bucket = takt__bucket_of(work->bytes);
    struct sim_series *at = sim_series_at(sim, series);
    struct sim_cell *cell = sim_cell_at(sim, series, bucket, situation);
    struct sim_run run = {0};

    if (!cell->is_published) {
        cell->is_called = true;
        cell->explore = -1;
        REQUIRE(takt__model_set_typical(sim->model, series, bucket, work) ==
                TAKT_OK);
        sim_publish_change(
            sim, &(struct takt_change){series, every, 0, TAKT_BUCKETS - 1});
    }
    run.arm = cell->verdict.best;
    if (cell->explore >= 0) {
        run.arm = (unsigned)cell->explore;
        run.is_explored = true;
        if (--cell->tries == 0)
            cell->explore = -1;
    }
    const unsigned flags = run.is_explored ? TAKT_SAMPLE_EXPLORED : 0;
    if (sim->refuses[run.arm]) {
        sim_report(sim, series, run.arm, work, situation, 0,
                   flags | TAKT_SAMPLE_REFUSED);
        run.arm = run.arm == cell->verdict.best ? cell->verdict.runner_up
                                                : cell->verdict.best;
        run.is_explored = false;
    }
    run.plain_s = sim_seconds(sim, series, run.arm, work, situation);
    run.routed_s =
        sim_seconds(sim, series, cell->verdict.best, work, situation);
    run.oracle_s = sim_seconds(
        sim, series, sim_best(sim, series, work, situation), work, situation);
    run.shaken = sim_shake(sim, &run.is_spike);
    run.seconds = run.plain_s * run.shaken;
    if (!at->has_run[run.arm])
        run.seconds *= sim->first_factor[run.arm];
    at->has_run[run.arm] = true;
    if (++sim->runs[run.arm] == sim->bad_run[run.arm])
        run.seconds = sim->bad_run_s;
    sim_report(sim, series, run.arm, work, situation, run.seconds,
               run.is_explored ? TAKT_SAMPLE_EXPLORED : 0);
    sim_publish(sim);
    return run;
}

/* What the model expects, for a question. */
static inline struct takt_arm_estimate
sim_estimate(struct sim *sim, unsigned series, unsigned arm,
             const takt_work *work, unsigned situation)
{
    sim_series_at(sim, series);
    sim->posterior = takt__model_posterior(sim->model, series, situation);
    return takt__posterior_estimate(sim->posterior, arm,
                                    takt__bucket_of(work->bytes), work);
}
