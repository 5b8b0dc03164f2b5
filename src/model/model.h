/* SPDX-License-Identifier: MIT */
/*
 * model.h - statistics of measured runs, and the decisions that follow.
 *
 * The model is a contextual bandit. An arm is an expert as the model sees it:
 * a name, threads, rates. The context of a call is its series, its bucket and
 * its situation (op/key.h). The model learns from samples, estimates what a
 * call costs on each arm, and judges which arm to run and which to explore. It
 * has no clock, no files and no code of experts: tests drive it with a
 * simulated clock.
 *
 * Threads: none of its own; the owner of a model locks it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/curve.h"
#include "model/objective.h"
#include "model/rates.h"
#include "model/sample.h"
#include "takt/status.h"

enum { TAKT_MAX_ARMS = 256, TAKT_ARM_NAME = 32, TAKT_MAX_DEVICES = 16 };

/* What slows down together: one core, all cores, then each GPU, which has one
 * arm. */
enum { TAKT_DEVICE_CORE = 0, TAKT_DEVICE_CORES = 1, TAKT_DEVICE_GPU = 2 };

struct takt_arm {
    char name[TAKT_ARM_NAME];
    unsigned device;
    unsigned kin;     /* arms of one kin differ by their threads */
    bool uses_pool;   /* runs on threads that may be asleep */
    bool is_observed; /* is never chosen: the program runs it by itself */
    bool is_default;  /* runs calls until another arm is clearly better */
    bool is_unrated;  /* its rates are another arm's: nothing is known of it */
    struct takt_rates rates;
};

struct takt_model;

/* `exploration` is the share of an op's time that trials may take; 0: no
 * trials. NULL: no memory. */
struct takt_model *takt__model_create(double exploration);
void takt__model_destroy(struct takt_model *model); /* NULL is allowed */

/* Whether it is a GPU's, and then the column of that GPU (op/key.h). */
static inline bool takt__arm_is_gpu(const struct takt_arm *arm)
{
    return arm->device >= TAKT_DEVICE_GPU;
}
static inline unsigned takt__arm_column(const struct takt_arm *arm)
{
    return TAKT_COLUMN_GPU + arm->device - TAKT_DEVICE_GPU;
}

/* The number of the new arm; -1: too many, of GPUs more than eight. Arms are
 * never removed. */
int takt__model_add_arm(struct takt_model *model, const struct takt_arm *arm);
unsigned takt__model_arm_count(const struct takt_model *model);
const struct takt_arm *takt__model_arm(const struct takt_model *model,
                                       unsigned arm);

/* Replaces an arm that is allowed on no series and has no samples yet. */
void takt__model_set_arm(struct takt_model *model, unsigned number,
                         const struct takt_arm *arm);

/* Allows an arm to run calls of a series. */
void takt__model_allow(struct takt_model *model, unsigned series, unsigned arm);
bool takt__model_allows(const struct takt_model *model, unsigned series,
                        unsigned arm);

/* Replaces the rates of an arm, as when a GPU was opened and is known better.
 * Measured times stay what they are. */
void takt__model_set_rates(struct takt_model *model, unsigned arm,
                           const struct takt_rates *rates);

/* ---- objectives ---------------------------------------------------------- */

/* What the arms are judged by. Number 0 is there from the beginning, the mean
 * time, and may be replaced before anything was judged; others are added, and
 * never removed: each has bandits of its own. */
void takt__model_set_objective(struct takt_model *model,
                               const struct takt_objective *objective);
/* The number of the new one; -1: there are TAKT_OBJECTIVES. */
int takt__model_add_objective(struct takt_model *model,
                              const struct takt_objective *objective);
unsigned takt__model_objective_count(const struct takt_model *model);
const struct takt_objective *
takt__model_objective(const struct takt_model *model, unsigned number);

/* How many callers are inside of calls at the same time, on average. */
void takt__model_set_callers(struct takt_model *model, double callers);
double takt__model_callers(const struct takt_model *model);

/* The power that is drawn while an arm runs, beyond an idle machine: of all its
 * calls, as they were mixed lately. */
struct takt_watts {
    float mean, error; /* one standard error */
    bool is_known;     /* it was measured, and the error is small enough */
};
void takt__model_set_watts(struct takt_model *model, unsigned arm,
                           struct takt_watts watts);
struct takt_watts takt__model_watts(const struct takt_model *model,
                                    unsigned arm);

/* Whether the watts of any arm are known. */
bool takt__model_knows_watts(const struct takt_model *model);

/* ---- GPUs that are not open ---------------------------------------------- */
/*
 * A GPU takes long to open, so it is opened when that would have paid. Until
 * then its arm is closed: it takes no calls, but its regret adds up, the time
 * that calls took longer than they would have there, transfers included.
 */

/* Arms are open at first. Closing one starts a new sum. */
void takt__model_set_closed(struct takt_model *model, unsigned arm,
                            bool is_closed);
bool takt__model_is_closed(const struct takt_model *model, unsigned arm);

/* The next closed arm whose regret exceeds what opening takes: each once, and
 * again when its regret has doubled since. False: none. */
bool takt__model_next_to_open(struct takt_model *model, unsigned *arm);

/* Whether an open GPU may run calls of a series. Where none may, samples and
 * decisions with TAKT_RESIDENT are like those without. */
bool takt__model_has_gpu(const struct takt_model *model, unsigned series);

/* ---- learning ------------------------------------------------------------ */

/* Adds a sample. One of an unknown series or arm, or with an impossible time,
 * is ignored. */
void takt__model_learn(struct takt_model *model,
                       const struct takt_sample *sample);

/* Counters since the model was made. */
struct takt_model_counters {
    uint64_t samples, refused, explored, alarms, restored, device_alarms;
    uint64_t tail_alarms; /* of tails alone */
    double explored_s;    /* that exploration took beyond the best arm */
    /* Of calls that programs made, without those that they timed themselves. */
    double calls, called_s;
    double budget_s; /* the share of that time that exploration may take */
};
struct takt_model_counters takt__model_counters(const struct takt_model *model);

/* The factor by which everything on a device is slower now; 1: no change. */
double takt__model_load(const struct takt_model *model, unsigned device);

/* ---- energy -------------------------------------------------------------- */

/* Of calls that are bound by the same (rates.h): a GPU that waits for its
 * memory draws half of what it does in a product. */
void takt__model_set_watts_of(struct takt_model *model, unsigned arm,
                              unsigned bound, struct takt_watts watts);
struct takt_watts takt__model_watts_of(const struct takt_model *model,
                                       unsigned arm, unsigned bound);

/* What bounds the call of a sample. */
unsigned takt__model_bound(const struct takt_model *model,
                           const struct takt_sample *sample);

/* ---- decisions ----------------------------------------------------------- */

struct takt_arm_estimate {
    double seconds;  /* expected */
    double log_mean; /* of ln(seconds) ... */
    double variance; /* ... and its variance */
    double samples;  /* at this bucket and situation */
    bool is_suspect; /* it refused lately and is not used for a while */
    double first_s;  /* its first run in a process; 0: not known */
    double machines; /* of the fleet that a hint is of; 0: there is none */
};

/* The decision for one bucket. */
struct takt_verdict {
    uint8_t best, runner_up; /* arms; the same: there is no other */
    int explore;             /* arm to try instead; -1: none */
    unsigned tries;          /* of it in a row; 0: none */
    bool is_offered;         /* this trial was offered before and may be under
                              * way: it must not be offered twice */
    double confidence;       /* that the best is the best */
    double seconds;          /* expected of the best */
    double samples;          /* of the best */
    bool is_measured;        /* the best was: not a prior alone */
};

/* The posterior of the costs of one series in one situation: all arms, all
 * buckets. */
struct takt_posterior;

/* Owned by the model; valid until the model learns or is asked again. */
struct takt_posterior *takt__model_posterior(struct takt_model *model,
                                             unsigned series,
                                             unsigned situation);

/* The same posterior under another objective than number 0: another one of the
 * model, or (`number` TAKT_OBJECTIVES) one that is only asked about. The
 * objective is borrowed. */
void takt__posterior_pursue(struct takt_posterior *posterior,
                            const struct takt_objective *objective,
                            unsigned number);

/* What an arm is expected to have of one measure at a bucket, with the standard
 * deviation of its logarithm; false: it is not known. */
struct takt_arm_measure {
    double value; /* seconds, joules, or joules times seconds */
    double deviation;
};
bool takt__posterior_measure(struct takt_posterior *posterior, unsigned arm,
                             unsigned bucket, const takt_work *work,
                             enum takt_measure measure,
                             struct takt_arm_measure *out);

/* How many samples the tail of an arm has at a bucket. */
double takt__posterior_tail_samples(const struct takt_posterior *posterior,
                                    unsigned arm, unsigned bucket);

/* `work`: of the call in question; NULL: of a typical call of that bucket. */
struct takt_arm_estimate
takt__posterior_estimate(const struct takt_posterior *posterior, unsigned arm,
                         unsigned bucket, const takt_work *work);

/* Which arm should run calls of a bucket. Closed arms take no part, and in a
 * situation with TAKT_RESIDENT no GPU does, since the operands may be on
 * another one. At `now_ns` the suspension of arms that refused may be over. A
 * question changes nothing and explores nothing. False: no arm. */
bool takt__posterior_judge(struct takt_posterior *posterior, unsigned bucket,
                           uint64_t now_ns, bool is_question,
                           struct takt_verdict *out);

/* What a GPU's arm takes if the GPU has all operands; the posterior is one of
 * situation TAKT_RESIDENT. Best and runner-up are that arm. So is explore while
 * it may be better than the best arm of the processor and is not measured well;
 * confidence is the factor by which it may be faster; seconds is FLT_MAX if it
 * is suspect. False: it is closed, or not allowed. */
bool takt__posterior_judge_gpu(struct takt_posterior *posterior, unsigned arm,
                               unsigned bucket, uint64_t now_ns,
                               struct takt_verdict *out);

/* Whether there was a sample of a series or a question about it. */
bool takt__model_has_series(const struct takt_model *model, unsigned series);

/* Sets what a typical call of a bucket is, if no call of it was seen yet. */
takt_status takt__model_set_typical(struct takt_model *model, unsigned series,
                                    unsigned bucket, const takt_work *work);

/* What has to be judged anew: some situations and buckets of a series, and with
 * situation TAKT_RESIDENT the columns of its GPUs. */
struct takt_change {
    unsigned series;
    unsigned situations;  /* bit 1 << situation */
    unsigned first, last; /* buckets */
};

/* Has the changes of a series taken from now on: a caller needs it. Those
 * of a series that was only restored wait until then; a sample needs it, too.
 */
takt_status takt__model_want(struct takt_model *model, unsigned series);

/* Takes the change of a series in these situations, and leaves the others; or
 * the next of all. False: there is none. */
bool takt__model_take_change(struct takt_model *model, unsigned series,
                             unsigned situations, struct takt_change *out);
bool takt__model_next_change(struct takt_model *model, struct takt_change *out);

/* ---- summaries, for the store and for reports ---------------------------- */

/* The statistics of one arm at one bucket. */
struct takt_summary {
    unsigned series, arm, situation, bucket;
    double n, mean, m2; /* mean: of ln(ns) at bytes and flops */
    double first_s, bytes, flops, calls, seconds;
    struct takt_tail tail;
    double origin; /* from which it counts, as the mean */
};

/* Visits all summaries; or those of this writer's own samples, where they
 * changed since the last such visit. */
typedef void takt_summary_visit(void *self, const struct takt_summary *summary);
void takt__model_visit(struct takt_model *model, bool only_changed,
                       takt_summary_visit *visit, void *self);

/* Adds what this machine measured before (`is_own`: this very writer), or sets
 * a hint from other machines, whose mean has that variance. Impossible values
 * are ignored. The calls of a hint are the machines of the fleet that it is of,
 * or 0. TAKT_ENOMEM: nothing was added; a hint is then left out. */
takt_status takt__model_restore(struct takt_model *model,
                                const struct takt_summary *summary,
                                bool is_own);
void takt__model_hint(struct takt_model *model,
                      const struct takt_summary *summary, double variance);

/* Adds a tail to a size that the model has samples of: to all of them, to this
 * writer's own, or (neither) of another machine, as what is expected of such
 * teams. */
void takt__model_add_tail(struct takt_model *model,
                          const struct takt_summary *summary, bool to_all,
                          bool to_own);

/* Marks samples that the model has already as this writer's own, as when the
 * writer gets the name of another one. */
takt_status takt__model_adopt(struct takt_model *model,
                              const struct takt_summary *summary);

/* Keeps all samples, but none as this writer's own: after a fork(). */
void takt__model_disown(struct takt_model *model);

/* Deletes a series. */
void takt__model_forget(struct takt_model *model, unsigned series);

/* What calls of a bucket took in all so far, for budgets and reports. */
struct takt_account {
    double calls, seconds, explored_s;
};
struct takt_account takt__model_account(const struct takt_model *model,
                                        unsigned series, unsigned situation,
                                        unsigned bucket);
