/* SPDX-License-Identifier: MIT */
/*
 * model.h - what samples taught, and what follows from it.
 *
 * An arm is an expert as the model sees it: a name, threads, rates. Lines,
 * buckets and situations are those of op/key.h. The model is told of runs
 * (learn), is asked what a call would cost on each arm (estimate), and which
 * arm to take or to try (judge). It knows no clock, no file and no expert's
 * code: tests drive it with a clock of their own.
 *
 * Threads: none of its own; whoever owns a model locks it.
 */
#ifndef TAKT_MODEL_MODEL_H
#define TAKT_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "model/curve.h"
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
    double opening_s; /* once per process, before its first call; 0: nothing */
    int like; /* the arm whose showing on other ops also counts for this one,
               * which is only ever run on one op; -1: none */
    bool is_usual; /* it is taken while neither it nor the one that is expected
                    * to be better was ever measured */
    struct takt_rates rates;
};

/* How much a call costs on an arm beyond its own time. */
struct takt_burden {
    double transfer_s; /* to bring operands there and results back */
    double queue_s;    /* until it is free */
    double switch_s;   /* of moving there from where the last call ran */
};

struct takt_model;

struct takt_model_options {
    double exploration; /* share of an op's time that may be spent: 0.02 */
};

takt_status takt__model_create(const struct takt_model_options *options,
                               struct takt_model **out);
void takt__model_destroy(struct takt_model *model);

/* Whether it is a GPU's, and then the place of that GPU (op/key.h). */
static inline bool takt__arm_is_gpu(const struct takt_arm *arm)
{
    return arm->device >= TAKT_DEVICE_GPU;
}
static inline unsigned takt__arm_place(const struct takt_arm *arm)
{
    return TAKT_PLACE_GPU + arm->device - TAKT_DEVICE_GPU;
}

/* The number of the new arm, or -1: no room, of GPUs there may be eight. Arms
 * are never taken away. */
int takt__model_add_arm(struct takt_model *model, const struct takt_arm *arm);
unsigned takt__model_arm_count(const struct takt_model *model);
const struct takt_arm *takt__model_arm(const struct takt_model *model,
                                       unsigned arm);

/* Says who an arm is that nothing was allowed or learned of yet. */
void takt__model_set_arm(struct takt_model *model, unsigned number,
                         const struct takt_arm *arm);

/* Lets an arm run calls of a series. */
void takt__model_allow(struct takt_model *model, unsigned series, unsigned arm);
bool takt__model_allows(const struct takt_model *model, unsigned series,
                        unsigned arm);

/* Replaces the rates of an arm, when more is known of it: a GPU's once it is
 * open. What was measured stays what it is. */
void takt__model_set_rates(struct takt_model *model, unsigned arm,
                           const struct takt_rates *rates);

/* ---- who is asleep ---------------------------------------------------------
 * A GPU takes long to open, so it is opened when that would have paid. Until
 * then its arm sleeps: it is in nobody's way, but what others took longer than
 * it would have, transfers included, adds up.
 */

/* Arms are awake unless told otherwise. Falling asleep starts a new sum. */
void takt__model_set_asleep(struct takt_model *model, unsigned arm,
                            bool is_asleep);
bool takt__model_is_asleep(const struct takt_model *model, unsigned arm);

/* What was missed since it fell asleep, in seconds. */
double takt__model_missed_s(const struct takt_model *model, unsigned arm);

/* The next arm that missed more than opening it takes: each once, and again
 * whenever twice as much was missed as the last time. False: none. */
bool takt__model_next_wake(struct takt_model *model, unsigned *arm);

/* Whether a GPU is awake that may run calls of a series. Where none is, samples
 * and decisions with TAKT_RESIDENT are like those without. */
bool takt__model_has_gpu(const struct takt_model *model, unsigned series);

/* ---- learning --------------------------------------------------------------
 */

/* Takes a sample in. Samples of unknown series or arms, or without a time that
 * makes sense, are ignored. */
void takt__model_learn(struct takt_model *model,
                       const struct takt_sample *sample);

/* Counters since the model was made. */
struct takt_model_counters {
    uint64_t samples, refused, explored, alarms, restored, device_alarms;
    double explored_s; /* spent beyond the best, on exploration */
};
struct takt_model_counters takt__model_counters(const struct takt_model *model);

/* The factor by which everything on a device is slower just now; 1: nothing. */
double takt__model_load(const struct takt_model *model, unsigned device);

/* ---- what follows ----------------------------------------------------------
 */

struct takt_estimate_of {
    double seconds;  /* expected: burdens not included */
    double log_mean; /* of ln(seconds) ... */
    double variance; /* ... and its doubt */
    double samples;  /* at this very bucket and situation */
    bool is_suspect; /* it refused lately and is left alone for a while */
    double first_s;  /* its first run in a process; 0: not known */
};

struct takt_verdict {
    uint8_t best, runner_up; /* arms; the same: there is no other */
    int explore;             /* arm to try instead; -1: none */
    bool is_offered;         /* it was offered before: whoever took that offer
                              * is still at it, so do not offer it twice */
    double confidence;       /* that the best is the best */
    double seconds;          /* expected of the best */
    double samples;          /* of the best */
    bool is_measured;        /* the best was: not a prior alone */
};

/* What is believed about one series in one situation, all arms and buckets. */
struct takt_outlook;

/* Makes outlooks for several questions about one series; NULL: no memory. */
struct takt_outlook *takt__outlook_create(void);
void takt__outlook_destroy(struct takt_outlook *outlook);
void takt__outlook_fill(struct takt_outlook *outlook, struct takt_model *model,
                        unsigned series, unsigned situation);

/* `work`: of the call in question; NULL: of a typical call of that bucket. */
struct takt_work_of {
    double bytes, flops;
};
struct takt_estimate_of
takt__outlook_estimate(const struct takt_outlook *outlook, unsigned arm,
                       unsigned bucket, const struct takt_work_of *work);

/* Which arm should run calls of that bucket: who is awake, and in a situation
 * with TAKT_RESIDENT no GPU, since a GPU may be elsewhere. `burden`, if not
 * NULL, is by arm. `now_ns` ends the time for which suspects are left alone. A
 * question changes nothing and explores nothing. False: no arm. */
bool takt__outlook_judge(struct takt_outlook *outlook, unsigned bucket,
                         const struct takt_burden *burden, uint64_t now_ns,
                         bool is_question, struct takt_verdict *out);

/* What a GPU's arm takes if the GPU has all operands; the outlook is one in
 * situation TAKT_RESIDENT. Best and runner-up are that arm, as is explore
 * while it may be better than the best way on the processor and has not shown;
 * confidence is the factor by which it may be faster, and seconds of a suspect
 * is FLT_MAX. False: it is asleep, or not allowed. */
bool takt__outlook_place(struct takt_outlook *outlook, unsigned arm,
                         unsigned bucket, uint64_t now_ns,
                         struct takt_verdict *out);

/* Whether anything was ever asked or told about a series. */
bool takt__model_has_series(const struct takt_model *model, unsigned series);

/* Says what a typical call of a bucket is, where nothing was run yet. */
takt_status takt__model_meet(struct takt_model *model, unsigned series,
                             unsigned bucket, const struct takt_work_of *work);

/* What has to be judged anew: some situations and buckets of a series, and with
 * situation TAKT_RESIDENT the places of its GPUs. */
struct takt_change {
    unsigned series;
    unsigned situations;  /* bit 1 << situation */
    unsigned first, last; /* buckets */
};

/* The next change since changes were last taken; false: none. */
bool takt__model_next_change(struct takt_model *model, struct takt_change *out);

/* ---- memory, for the store and for people -----------------------------------
 */

struct takt_memory {
    unsigned series, arm, situation, bucket;
    double n, mean, m2; /* mean: of ln(ns) at bytes and flops */
    double first_s, bytes, flops, calls, seconds;
};

/* Visits everything known; or what this writer knows and changed since the
 * last such visit. */
typedef void takt_memory_visit(void *self, const struct takt_memory *memory);
void takt__model_visit(struct takt_model *model, takt_memory_visit *visit,
                       void *self);
void takt__model_visit_changed(struct takt_model *model,
                               takt_memory_visit *visit, void *self);

/* Takes in what was known before: of this machine (added to what is there;
 * `is_own`: by this very writer), or as a hint, worth `variance` of doubt
 * (hints of one key replace another). What makes no sense is ignored.
 * TAKT_ENOMEM: nothing was taken in; a hint is then left out. */
takt_status takt__model_recall(struct takt_model *model,
                               const struct takt_memory *memory, bool is_own);
void takt__model_hint(struct takt_model *model,
                      const struct takt_memory *memory, double variance);

/* Takes what is known already as this writer's own: what it does when it is
 * given the name of another one. */
takt_status takt__model_adopt(struct takt_model *model,
                              const struct takt_memory *memory);

/* Keeps what is known, but as somebody else's: what a child does after fork().
 */
void takt__model_disown(struct takt_model *model);

/* Forgets a series. */
void takt__model_forget(struct takt_model *model, unsigned series);

/* What a call of a bucket costs in all so far, for budgets and reports. */
struct takt_account {
    double calls, seconds, explored_s;
};
struct takt_account takt__model_account(const struct takt_model *model,
                                        unsigned series, unsigned situation,
                                        unsigned bucket);

#endif
