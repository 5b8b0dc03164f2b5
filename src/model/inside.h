/* SPDX-License-Identifier: MIT */
/* inside.h - what a model is made of, for the files of this folder only. */
#pragma once

#include <math.h>

#include "model/model.h"

enum { TAKT_NO_ARM = 0xff };

/* In ln(seconds): costs nearer than this are as good. Measured in simulation:
 * docs/decisions/0005. */
static const float takt_band = 0.03f;

struct takt_observation;

/* What one arm was seen to do on one series. */
struct takt_track {
    struct takt_curve *curve[TAKT_SITUATIONS]; /* NULL: no samples */
    struct takt_curve *hint[TAKT_SITUATIONS];  /* from other machines */
    double samples[TAKT_SITUATIONS];
    float *closed_s;     /* predicted while it is closed, by bucket; or NULL */
    unsigned asked;      /* how often that was asked for */
    bool has_run;        /* in this process */
    uint8_t refusals;    /* in a row */
    uint64_t suspect_ns; /* not used until then */
};

/* One bandit problem: the calls of a bucket in one column, which is a
 * situation, or a GPU that has the operands. Made with its first call. */
struct takt_bandit {
    double calls, seconds;
    double explored_s;
    double judged;         /* calls when it was last judged */
    double best_s;         /* expected of the best when it was last judged */
    double wanted_s;       /* price of trials beyond the budget; 0: none */
    double due_s;          /* time of the bucket at which an arm is to be tried
                            * again; 0: none */
    double price_s;        /* of each trial that is offered */
    uint64_t offer_end_ns; /* until when the results of trials are awaited */
    uint8_t offered;       /* arm to try; TAKT_NO_ARM: none */
    uint8_t tries;         /* of it, without a result yet */
    uint8_t incumbent;     /* TAKT_NO_ARM: none */
    uint8_t setbacks;      /* how often a larger team soon lost its place */
    uint8_t fades;         /* how often larger teams were due to fade: every
                            * 2^setbacks-th time they do (quantile.c) */
    double placed;         /* calls when the incumbent got its place */
};

/* What the calls and trials of one op took, in all its series, columns and
 * buckets. */
struct takt_budget {
    double calls, seconds;
    double best_s;         /* that the best arms were expected to take */
    double explored_s;     /* that trials took beyond the best */
    double reserved_s;     /* for trials that have no result yet, ... */
    uint64_t offer_end_ns; /* ... until then */
    uint64_t expired_ns;   /* offers until then were withdrawn */
};

/* Situations (bit 1 << situation) and buckets of a series. No situation: none.
 */
struct takt_marks {
    uint8_t situations, first, last;
};

struct takt_series {
    takt_work typical[TAKT_BUCKETS]; /* call of each bucket: as it was seen, or
                                      * scaled from the nearest one */
    bool is_typical_known[TAKT_BUCKETS];
    bool counts_flops;
    bool is_wanted;       /* called or asked about: only then it is published */
    bool has_gpu_columns; /* published for its GPUs */
    uint8_t objectives;   /* that calls were decided under: those below it */
    int8_t link;          /* TAKT_LINK_...; -1: of an op */
    double cost;          /* of a flop on a processor: takt__series_cost() */
    double serial;        /* takt__series_serial() */
    int8_t limit; /* its index in takt_model.limit; -1: of a user's op, link */
    struct takt_budget *budget; /* of its op */
    /* By objective and column, TAKT_BUCKETS each, or NULL. */
    struct takt_bandit *bandit[TAKT_OBJECTIVES * TAKT_COLUMNS];
    struct takt_track *track[TAKT_MAX_ARMS];
    uint8_t arm[TAKT_MAX_ARMS]; /* those with a track */
    unsigned arm_count;
    uint64_t retry_ns;         /* when the next suspension ends; 0: none */
    struct takt_marks changed; /* what has to be judged anew: takt_change */
    struct takt_marks moved;   /* and what has to be when there were more */
    uint64_t moved_ns;         /* when such marks were last taken over */
    bool is_stale; /* far from these buckets, too: when there is time */
};

/* How far an arm is off its rates on this machine, by what bounds a call. */
struct takt_calibration {
    double series, mean, m2; /* of the average on each series */
};

/* The least that calls take, as a share of what the rates say, by what bounds
 * them: limit.c. */
struct takt_limit {
    double factor[TAKT_BOUND_COMPUTING + 1];
};

/* What is expected of one arm along a series. */
struct takt_prediction {
    float log_rates[TAKT_BUCKETS];   /* ln(seconds) of typical calls by rates */
    uint8_t bound[TAKT_BUCKETS];     /* by what: rates.h */
    struct takt_residuals residuals; /* how far it is off them */
};

/* The arm with the most samples on a series, from which the other arms are
 * predicted. Found once for several arms. */
struct takt_reference {
    unsigned arm;                 /* TAKT_NO_ARM: the series has no samples */
    unsigned situation;           /* in which it is looked at */
    struct takt_residuals before; /* the samples of this series ... */
    struct takt_residuals hinted; /* ... and with what others measured */
    bool is_hinted;
    struct takt_prediction prediction; /* after them */
};

/* Teams by the logarithm of their threads, and GPUs; calls by what they take,
 * in decades from 20 microseconds on. */
enum { TAKT_TEAMS = 9, TAKT_TEAM_GPU = 8, TAKT_LENGTHS = 4 };

/* What is expected of calls of each length on so many threads, and their
 * quantile: ln(quantile / mean). */
struct takt_team_tail {
    unsigned team, threads;
    struct takt_tail_shares expected[TAKT_LENGTHS];
    float mean[TAKT_LENGTHS], variance[TAKT_LENGTHS];
};
enum { TAKT_TEAM_TAILS = TAKT_TEAMS + 1 }; /* and all threads */

struct takt_posterior {
    struct takt_model *model;
    struct takt_series *series;
    unsigned situation;
    unsigned arm[TAKT_MAX_ARMS];
    unsigned count;
    struct takt_reference reference;
    struct takt_prediction prediction[TAKT_MAX_ARMS]; /* of arm[i] */
    struct takt_residuals before[TAKT_MAX_ARMS]; /* its samples here, and ... */
    struct takt_residuals after[TAKT_MAX_ARMS];  /* ... with nothing else */
    const struct takt_objective *objective;
    unsigned number; /* of the objective; TAKT_OBJECTIVES: none of the model's
                      */
    /* ln(quantile / mean) of arm[i], of the goal and of what is limited, where
     * these are quantiles. */
    struct takt_residuals tail[2][TAKT_MAX_ARMS];
    struct takt_team_tail team[TAKT_TEAM_TAILS]; /* that were needed so far */
    unsigned team_count;
    bool has_path;
    uint8_t path[TAKT_BUCKETS]; /* arms: path.c */
};

struct takt_model {
    double exploration; /* share of the time that trials may take */
    struct takt_arm arm[TAKT_MAX_ARMS];
    struct takt_calibration calibration[TAKT_MAX_ARMS][TAKT_BOUNDS];
    struct takt_limit limit[2]; /* of floats, of doubles */
    bool is_calibrated;
    unsigned uncalibrated; /* samples since the calibration */
    double runs[TAKT_MAX_ARMS];
    unsigned arm_count;
    uint64_t allowed[TAKT_SERIES_COUNT][TAKT_MAX_ARMS / 64];
    uint64_t gpus[TAKT_MAX_ARMS / 64];   /* arms of GPUs */
    uint64_t closed[TAKT_MAX_ARMS / 64]; /* arms that are closed ... */
    double regret_s[TAKT_MAX_ARMS];      /* ... and what that cost, ... */
    double open_at_s[TAKT_MAX_ARMS];     /* ... reported from this much on; 0:
                                          * from what opening takes */
    struct takt_series *series[TAKT_SERIES_COUNT];
    uint16_t used[TAKT_SERIES_COUNT]; /* the numbers of those that there are */
    unsigned used_count;
    struct takt_budget budget[TAKT_OP_NUMBERS + 1]; /* by op; of links */
    struct takt_watts watts[TAKT_MAX_ARMS];
    struct takt_watts watts_of[TAKT_MAX_ARMS][TAKT_BOUNDS];
    double log_load[TAKT_MAX_DEVICES];
    double published_load[TAKT_MAX_DEVICES]; /* that verdicts are based on */
    struct takt_objective objective[TAKT_OBJECTIVES];
    unsigned objective_count; /* beside the first */
    bool uses_tails;          /* some objective does */
    double callers;           /* at work at the same time */
    struct takt_tail tail[TAKT_TEAMS][TAKT_LENGTHS]; /* of all series */
    struct takt_model_counters counters;
    unsigned next_used;              /* where the next change is looked for */
    struct takt_posterior posterior; /* the last one that was asked for */
};

/* The situation as far as it matters to an arm. Whether threads sleep does not
 * matter to an arm with one thread, and neither threads nor caches matter to a
 * GPU; where a GPU has its operands matters to that GPU alone. A link is the
 * same in all situations. */
static inline unsigned takt__track_situation(const struct takt_series *series,
                                             const struct takt_arm *arm,
                                             unsigned situation)
{
    if (series->link >= 0)
        return 0;
    if (takt__arm_is_gpu(arm))
        return situation & TAKT_RESIDENT;
    return situation &
           (unsigned)(arm->rates.threads > 1 ? TAKT_REPEAT | TAKT_ASLEEP
                                             : TAKT_REPEAT);
}

/* What counts as flops of a call: a GPU has units of its own for what takes a
 * processor longer, and what one thread does alone keeps the others waiting. */
static inline double takt__series_flops(const struct takt_series *series,
                                        const struct takt_arm *arm,
                                        const takt_work *work)
{
    return takt__arm_is_gpu(arm) ? work->flops
                                 : work->flops * series->cost *
                                       takt__serial_factor(series->serial, work,
                                                           arm->rates.threads);
}

/* Seconds by the rates alone, and (if `bound` is not NULL) what bounds them. */
static inline double takt__series_expect(const struct takt_series *series,
                                         const struct takt_arm *arm,
                                         const takt_work *work,
                                         unsigned situation, uint8_t *bound)
{
    return series->link >= 0
               ? takt__rates_link(&arm->rates, (unsigned)series->link,
                                  work->bytes, bound)
               : takt__rates_expect(&arm->rates, work->bytes,
                                    takt__series_flops(series, arm, work),
                                    situation, bound);
}

/* ---- model.c: found, or made if need be; NULL: no memory ----------------- */

struct takt_series *takt__series_at(struct takt_model *model, unsigned series);
struct takt_track *takt__track_at(struct takt_series *series, unsigned arm);

/* Sets what a call of a bucket is like. */
void takt__series_set_typical(struct takt_series *series, unsigned bucket,
                              const takt_work *work);

/* Marks for judging anew: all of a series, what is near a bucket in some
 * situations (bit 1 << situation), or all series that an arm may run. */
void takt__series_change(struct takt_series *series);
void takt__series_change_at(struct takt_series *series, unsigned situations,
                            unsigned bucket);

/* What a sample among many moved, at that time: it is judged together with what
 * others move within 10 ms. */
void takt__series_move_at(struct takt_series *series, unsigned situations,
                          unsigned bucket, uint64_t now_ns);
void takt__model_change_arm(struct takt_model *model, unsigned arm);

/* Makes a device slower or faster, by `shift` in ln(seconds). */
void takt__model_move_load(struct takt_model *model, unsigned device,
                           double shift);

/* ---- limit.c ------------------------------------------------------------- */

void takt__limit_reset(struct takt_limit limit[2]);

/* A call that was measured, and what bounds it. */
void takt__limit_see(struct takt_model *model, const struct takt_series *series,
                     const struct takt_arm *arm, const takt_work *work,
                     unsigned bound, double seconds);

/* Raises what is expected to the least that the machine can take, where the
 * arm itself was not measured. */
void takt__limit_apply(const struct takt_model *model,
                       const struct takt_series *series, unsigned arm,
                       unsigned situation, struct takt_prediction *prediction);

/* ---- predict.c: from the prior to the posterior of one arm --------------- */

void takt__predict_reference(struct takt_model *model,
                             const struct takt_series *series,
                             unsigned situation, struct takt_reference *out);

/* What is expected before the samples of the arm itself are looked at, and
 * after; or both. */
void takt__predict_before(const struct takt_model *model,
                          const struct takt_series *series,
                          const struct takt_reference *reference, unsigned arm,
                          unsigned situation, struct takt_prediction *out);
void takt__predict_after(const struct takt_model *model,
                         const struct takt_series *series, unsigned arm,
                         unsigned situation, struct takt_prediction *out);
void takt__predict(const struct takt_model *model,
                   const struct takt_series *series,
                   const struct takt_reference *reference, unsigned arm,
                   unsigned situation, struct takt_prediction *out);

/* What teams say about another one of their kin at a bucket, in standard
 * deviations of what was expected of it: a walk over the teams on one side of
 * it, from the farthest to the nearest. It begins with nothing, sees what the
 * samples of a team changed, and fades with each step to the next. */
struct takt_team_belief {
    float mean, variance;
};
void takt__team_begin(struct takt_team_belief belief[TAKT_BUCKETS]);
void takt__team_see(struct takt_team_belief belief[TAKT_BUCKETS],
                    const struct takt_residuals *before,
                    const struct takt_residuals *after);
void takt__team_step(struct takt_team_belief belief[TAKT_BUCKETS],
                     const struct takt_arm *from, const struct takt_arm *to);
void takt__team_learn(const struct takt_team_belief smaller[TAKT_BUCKETS],
                      const struct takt_team_belief larger[TAKT_BUCKETS],
                      struct takt_residuals *residuals);

/* ---- posterior.c --------------------------------------------------------- */

/* Where an arm is in arm[]; `count`: it is not. */
unsigned takt__posterior_position(const struct takt_posterior *posterior,
                                  unsigned arm);

/* The statistics of an arm at a bucket; NULL: none. */
const struct takt_stat *
takt__posterior_stat(const struct takt_posterior *posterior, unsigned arm,
                     unsigned bucket);
double takt__posterior_samples(const struct takt_posterior *posterior,
                               unsigned arm, unsigned bucket);

/* Whether an arm was ever run on a series. */
bool takt__is_measured(const struct takt_series *series, unsigned arm);

/* ---- quantile.c ---------------------------------------------------------- */

/* Adds a sample to the tails, and watches them. */
void takt__tails_add(struct takt_model *model,
                     const struct takt_observation *seen);

/* Adds what was counted before to a bucket of that curve. */
struct takt_curve_at;
void takt__tails_restore(struct takt_model *model,
                         const struct takt_curve_at *at, struct takt_stat *stat,
                         const struct takt_tail *tail);

/* The same of another machine: it says what is expected of such teams. */
void takt__tails_hint(struct takt_model *model, const struct takt_curve_at *at,
                      unsigned bucket, const struct takt_tail *tail);

/* ln(quantile / mean) of each arm[i] at every bucket. */
void takt__tails_predict(struct takt_posterior *posterior, float beyond,
                         struct takt_residuals out[TAKT_MAX_ARMS]);
void takt__tails_predict_at(const struct takt_posterior *posterior, unsigned i,
                            unsigned bucket, float beyond,
                            struct takt_residuals *out); /* at one alone */

/* ---- choosing ------------------------------------------------------------ */

/* What a call is expected to cost on an arm that may run it. */
struct takt_arm_cost {
    unsigned arm;
    float log_cost; /* of the expected cost */
    float log_mean, variance;
    float log_time, time_variance; /* the same of seconds, whatever it costs */
};

/* Seconds, which are a number even where stored records are absurd. */
static inline double takt__seconds_of(float log_seconds)
{
    return (double)expf(fminf(log_seconds, 80));
}

/* Seconds that are expected, whatever the arm is judged by. */
static inline double takt__cost_seconds(const struct takt_arm_cost *cost)
{
    return takt__seconds_of(cost->log_time + cost->time_variance / 2);
}

struct takt_ranking {
    struct takt_arm_cost of[TAKT_MAX_ARMS];
    unsigned count;
    unsigned best, second; /* positions in of[] */
};

/* path.c: the cost of arm[i] at a bucket, and those of all arms that may run.
 */
struct takt_arm_cost takt__arm_cost(const struct takt_posterior *posterior,
                                    unsigned i, unsigned bucket);
void takt__rank_costs(const struct takt_posterior *posterior, unsigned bucket,
                      uint64_t now_ns, struct takt_ranking *out);
bool takt__arm_is_suspect(const struct takt_posterior *posterior, unsigned arm,
                          uint64_t now_ns);
unsigned takt__ranking_cheapest(const struct takt_ranking *ranking);

/* path.c: finds the path, unless that was done. */
void takt__path_find(struct takt_posterior *posterior, uint64_t now_ns);

/* default_expert.c: puts the default arm first, unless another one is worth
 * the change after so many calls. `bandit` may be NULL. */
void takt__prefer_default(const struct takt_model *model,
                          const struct takt_series *series,
                          const struct takt_bandit *bandit, double calls,
                          struct takt_ranking *ranking);

/* explore.c: offers a trial of an arm other than the best, if one is worth its
 * price and within the budget. */
void takt__explore(struct takt_posterior *posterior,
                   const struct takt_ranking *ranking,
                   struct takt_bandit *bandit, unsigned bucket, uint64_t now_ns,
                   struct takt_verdict *out);

/* ---- learning ------------------------------------------------------------ */

/* A sample and what it is about. */
struct takt_observation {
    const struct takt_sample *sample;
    struct takt_series *series;
    struct takt_track *track;
    struct takt_curve *curve;
    struct takt_stat *stat;
    unsigned situation; /* as it matters to the arm */
    unsigned called_in; /* the situation of the call, ... */
    unsigned column;    /* ... and the column of its decision */
    unsigned objective; /* under which it was decided */
    double log_rates;   /* ln(seconds) by the rates and the load */
    double residual;
};

typedef void takt_arm_visit(struct takt_model *model,
                            const struct takt_observation *seen, unsigned arm);

/* model.c: visits the arms of a set that may run the series. */
void takt__model_each_arm(struct takt_model *model,
                          const struct takt_observation *seen,
                          const uint64_t set[], takt_arm_visit *visit);

/* model.c: visits every curve of samples. */
struct takt_curve_at {
    struct takt_curve *curve;
    unsigned series, arm, situation;
};
typedef void takt_curve_visit(void *self, const struct takt_curve_at *at);
void takt__model_each_curve(const struct takt_model *model,
                            takt_curve_visit *visit, void *self);

/* ---- budget.c: the accounts of bandits and of ops ------------------------ */

struct takt_bandit *takt__bandit_at(struct takt_series *series,
                                    unsigned objective, unsigned column,
                                    unsigned bucket); /* NULL: no memory */

/* What all calls of a bucket took, in whatever situation. */
double takt__bucket_seconds(const struct takt_series *series, unsigned bucket);

/* Whether trials at that price are within the budget of the op. Those without a
 * result count as if they had taken their price. */
bool takt__budget_affords(const struct takt_model *model,
                          const struct takt_series *series,
                          const struct takt_bandit *bandit, double price_s);

/* Sets aside what `tries` trials of an arm may take; and gives back what is
 * left of it. */
void takt__offer_begin(struct takt_series *series, struct takt_bandit *bandit,
                       unsigned arm, unsigned tries, double price_s);
void takt__offer_end(struct takt_series *series, struct takt_bandit *bandit);

/* Withdraws the offers of an op when no call took them in time. */
void takt__offers_expire(struct takt_model *model, struct takt_budget *budget,
                         uint64_t now_ns);

/* Adds a call to the accounts that it counts for. */
void takt__bandits_charge(struct takt_model *model,
                          const struct takt_observation *seen);

/* What a sample took beyond what another arm takes. */
double takt__observed_excess(const struct takt_observation *seen,
                             double other_s);

/* ---- recovery.c: when an arm that refused gets another chance ------------ */

/* Suspends an arm that refused a call; false: it was suspended already. */
bool takt__suspend(struct takt_model *model,
                   const struct takt_observation *seen);

/* Has a series judged anew when suspensions are over. */
void takt__end_suspensions(struct takt_series *series, uint64_t now_ns);

/* ---- opening.c ----------------------------------------------------------- */

/* Adds to the regret of a closed arm. */
void takt__regret_add(struct takt_model *model,
                      const struct takt_observation *seen, unsigned arm);

/* ---- drift.c ------------------------------------------------------------- */

/* Watches for a change of speed, before a residual is added. */
void takt__drift_watch(struct takt_model *model,
                       const struct takt_observation *seen);

/* Whether a sample follows the last one so soon that it says the same. */
bool takt__drift_is_dense(const struct takt_model *model,
                          const struct takt_observation *seen);

/* The speed of a bucket and its neighbours has changed by `shift`. */
void takt__drift_alarm(struct takt_model *model,
                       const struct takt_observation *seen, double shift);
