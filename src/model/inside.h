/* SPDX-License-Identifier: MIT */
/*
 * inside.h - what a model is made of, for the files of this folder only.
 */
#ifndef TAKT_MODEL_INSIDE_H
#define TAKT_MODEL_INSIDE_H

#include "model/model.h"

enum { TAKT_NO_ARM = 0xff };

/* What one expert was seen to do on one series. */
struct takt_track {
    struct takt_curve *curve[TAKT_SITUATIONS]; /* NULL: nothing seen */
    struct takt_curve *hint[TAKT_SITUATIONS];  /* of other machines */
    double samples[TAKT_SITUATIONS];
    float *asleep_s;     /* expected while it sleeps, by bucket; or NULL */
    unsigned asked;      /* how often that was asked for */
    bool has_run;        /* in this process */
    uint8_t refusals;    /* in a row */
    uint64_t suspect_ns; /* left alone until then */
};

/* The account of a bucket in a situation, or of all resident ones for a GPU:
 * made with its first call. */
struct takt_spot {
    double calls, seconds;
    double explored_s;
    double judged;        /* calls when it was last judged */
    double best_s;        /* expected of the best when it was last judged */
    double wanted_s;      /* price of a try that was too dear; 0: none */
    double next_beat;     /* calls at which losers are tried again ... */
    double beat_calls;    /* ... so many after the last time ... */
    uint64_t beat_ns;     /* ... which was then; 0: not yet */
    uint64_t patience_ns; /* until when an offered try is waited for */
    uint8_t offered;      /* arm to try; TAKT_NO_ARM: none */
    uint8_t incumbent;    /* TAKT_NO_ARM: none */
};

struct takt_series {
    struct takt_work_of typical[TAKT_BUCKETS]; /* call of each bucket: as it was
                                                * met, or by the nearest one */
    bool is_met[TAKT_BUCKETS];
    bool counts_flops;
    bool has_places;                     /* published for its GPUs */
    int8_t link;                         /* TAKT_LINK_...; -1: of an op */
    uint8_t first_bucket;                /* the least work that was run */
    struct takt_spot *spot[TAKT_PLACES]; /* TAKT_BUCKETS each, or NULL */
    struct takt_track *track[TAKT_MAX_ARMS];
    uint8_t arm[TAKT_MAX_ARMS]; /* those with a track */
    unsigned arm_count;
    uint64_t retry_ns; /* when the next suspect may come back; 0: none */
    /* What has to be judged anew: see takt_change. */
    uint8_t changed, changed_first, changed_last;
};

/* Says that all of a series has to be judged anew, or what is near a bucket in
 * some situations, bit 1 << situation. */
void takt__series_change(struct takt_series *series);
void takt__series_change_at(struct takt_series *series, unsigned situations,
                            unsigned bucket);

/* How far an arm is off its rates on this machine, by what bounds a call. */
struct takt_calibration {
    double series, mean, m2; /* of the average on each series */
};

struct takt_model {
    struct takt_model_options options;
    struct takt_arm arm[TAKT_MAX_ARMS];
    struct takt_calibration calibration[TAKT_MAX_ARMS][TAKT_BOUNDS];
    bool is_calibrated;
    unsigned uncalibrated; /* samples since it was last made */
    double runs[TAKT_MAX_ARMS];
    unsigned arm_count;
    uint64_t allowed[TAKT_SERIES_COUNT][TAKT_MAX_ARMS / 64];
    uint64_t gpus[TAKT_MAX_ARMS / 64];   /* arms of GPUs */
    uint64_t asleep[TAKT_MAX_ARMS / 64]; /* arms that sleep ... */
    double missed_s[TAKT_MAX_ARMS];      /* ... and what that cost, ... */
    double wake_s[TAKT_MAX_ARMS]; /* ... worth saying from so much on; 0: from
                                   * what opening takes */
    struct takt_series *series[TAKT_SERIES_COUNT];
    double log_load[TAKT_MAX_DEVICES];
    double published_load[TAKT_MAX_DEVICES]; /* that verdicts know of */
    struct takt_model_counters counters;
    unsigned next_changed;
};

/* A thread more or less awake does not matter to who has only one, and neither
 * threads nor caches do to a GPU; to nobody else does it matter where a GPU
 * has its operands. A link is the same in all situations. */
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

/* What the rates alone say of an arm on a series, and what bounds it. */
static inline double takt__series_expect(const struct takt_series *series,
                                         const struct takt_arm *arm,
                                         const struct takt_work_of *work,
                                         unsigned situation, uint8_t *bound)
{
    return series->link >= 0
               ? takt__rates_link(&arm->rates, (unsigned)series->link,
                                  work->bytes, bound)
               : takt__rates_expect(&arm->rates, work->bytes, work->flops,
                                    situation, bound);
}

static inline double takt__series_seconds(const struct takt_series *series,
                                          const struct takt_arm *arm,
                                          const struct takt_work_of *work,
                                          unsigned situation)
{
    uint8_t bound;
    return takt__series_expect(series, arm, work, situation, &bound);
}

struct takt_series *takt__series_at(struct takt_model *model, unsigned series);
struct takt_track *takt__track_at(struct takt_series *series, unsigned arm);
struct takt_spot *takt__spot_at(struct takt_series *series, unsigned place,
                                unsigned bucket);
const struct takt_spot *takt__spot_find(const struct takt_series *series,
                                        unsigned place, unsigned bucket);

/* Says what a call of a bucket is like. */
void takt__series_meet(struct takt_series *series, unsigned bucket,
                       const struct takt_work_of *work);

/* Whether a try at that price is within the budget. */
bool takt__spot_affords(const struct takt_model *model,
                        const struct takt_spot *spot, double price_s);

/* What is expected of one arm along a series. */
struct takt_prospect {
    float
        log_rates[TAKT_BUCKETS]; /* ln(seconds) of typical calls by the rates */
    uint8_t bound[TAKT_BUCKETS]; /* by what: rates.h */
    struct takt_belief belief;   /* how far it is off them */
};

/* Who knows a series best: the starting point for everyone else. Made once for
 * several arms. */
struct takt_reference {
    unsigned arm;       /* TAKT_NO_ARM: nobody knows the series */
    unsigned situation; /* in which it is looked at */
    struct takt_belief
        before; /* the series was seen; the prospect is after it */
    struct takt_prospect prospect;
};
void takt__reference_find(struct takt_model *model,
                          const struct takt_series *series, unsigned situation,
                          struct takt_reference *out);

/* What is believed of an arm on a series. */
void takt__believe(const struct takt_model *model,
                   const struct takt_series *series,
                   const struct takt_reference *reference, unsigned arm,
                   unsigned situation, struct takt_prospect *out);

/* What a call is expected to cost on each arm that may run it. */
struct takt_candidate {
    unsigned arm;
    float log_cost; /* of the expected cost */
    float log_mean, variance;
};

struct takt_field {
    struct takt_candidate of[TAKT_MAX_ARMS];
    unsigned count;
    unsigned best, second; /* positions */
};

/* Whether an arm was ever run on a series. */
bool takt__is_measured(const struct takt_series *series, unsigned arm);

/* Puts who is usual before the best, unless it is worth leaving him, by the
 * calls there were. `spot` may be NULL. */
void takt__usual_prefer(const struct takt_model *model,
                        const struct takt_series *series,
                        const struct takt_spot *spot, double calls,
                        struct takt_field *field);

/* What one who sleeps would take for a call of a bucket, transfers included: as
 * of some time ago. Negative: no memory. */
double takt__expected_asleep(struct takt_model *model,
                             struct takt_series *series, unsigned arm,
                             unsigned bucket);

/* Makes a device slower or faster than it was, by that in ln(seconds). */
void takt__model_move_load(struct takt_model *model, unsigned device,
                           double shift);

/* Watches for a change of speed, before the residual is taken in. */
void takt__drift_watch(struct takt_model *model, struct takt_series *series,
                       unsigned arm, struct takt_curve *curve,
                       const struct takt_stat *stat, double residual,
                       uint64_t now_ns);

/* The speed of a bucket and its neighbours has changed. */
void takt__drift_alarm(struct takt_model *model, struct takt_series *series,
                       unsigned arm, struct takt_curve *curve, unsigned bucket,
                       double shift, uint64_t now_ns);

#endif
