/* SPDX-License-Identifier: MIT */
/*
 * inside.h - what takt_tune() is made of.
 *
 *     tune.c      options, experts, the loop over cells, the result
 *     plan.c      what to measure, in which order, and how much of it
 *     cell.c      one cell: experts in turns, in every situation
 *     resident.c  one cell on GPUs that hold its operands, and transfers
 *     workset.c   the operands of a cell, in memory and in buffers
 *     batch.c     samples wait until it is known that the machine was idle;
 *                 time, progress, and the request to stop
 *
 * family.h and operands.h stand alone: `takt map`, `takt bench` and others use
 * them, too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "takt/takt.h"
#include "tune/family.h"

enum {
    TAKT_TUNE_EXPERTS = 128,
    TAKT_TUNE_GPUS = 8,
    TAKT_TUNE_COPIES = 24,
    TAKT_TUNE_LEAST_OF_GPU = 2 /* samples: one that is far off the prior is not
                                * believed, and a GPU's often is */
};

/* What an effort means. */
struct takt_tune_limits {
    double budget_s, gpu_budget_s; /* the latter for each GPU */
    double idle_s;                 /* to wait at most for an idle machine */
    unsigned last_phase;           /* of the plan */
    unsigned rounds;               /* of experts taking turns at a cell */
    double enough;                 /* samples per expert and situation */
    double longest_s;              /* of a call that is still run */
    double most_bytes;             /* of operands */
    bool times_repeated_asleep;
};

/* ---- the plan ---- */

/* One op, dtype and family: sizes along which experts are compared. */
struct takt_tune_series {
    const takt_op *op;
    takt_dtype dtype;
    const struct takt_family *family;
    unsigned stride; /* of the coarse pass, in steps */
    /* Seconds over those of the best, where known; 0 elsewhere. By step, then
     * by expert; owned. */
    float (*ratio)[TAKT_TUNE_EXPERTS];
    bool is_known[TAKT_FAMILY_STEPS]; /* an expert was measured at this step */
};

/* One size of a series. */
struct takt_tune_cell {
    struct takt_tune_series *series;
    takt_shape shape;
    unsigned step;
    unsigned phase;      /* lower ones first */
    unsigned round;      /* the first one of this visit ... */
    unsigned rounds;     /* ... and how many there are */
    double calls_s;      /* of all experts worth it, one call each */
    double expected_s;   /* that measuring takes */
    bool needs_crossing; /* measured only if the best expert changes nearby */
};

struct takt_tune_plan {
    struct takt_tune_series *series; /* owned */
    size_t series_count;
    struct takt_tune_cell *cell; /* owned */
    size_t count;
    double expected_s; /* of all cells that are certain */
};

/* ---- operands ---- */

/* Operands of the current cell: see workset.c. */
struct takt_workset {
    unsigned char *arena; /* owned */
    size_t capacity;
    takt_call call[TAKT_TUNE_COPIES];
    takt_call small; /* wakes threads, touches nothing of call[] */
    size_t copies;
    size_t in_bytes[4];
};

/* The same in buffers. */
struct takt_gpu_workset {
    takt_call call;
    takt_buffer *buffer[5]; /* of in[] and out; NULL: there is none */
    bool is_async;          /* the result stays on the GPU */
    double result[8];       /* else it is here */
};

/* ---- samples ---- */

struct takt_tune_sample {
    takt_request request;
    const char *expert;
    double seconds;
};

/* Samples that are not recorded yet; owned. */
struct takt_batch {
    struct takt_tune_sample *sample;
    size_t count, capacity;
    double start_s, start_busy_s, start_own_s; /* processor time */
};

struct takt_tuned_gpu {
    size_t expert;
    double memory_bytes;
};

/* A call of takt_tune(). */
struct takt_tuning {
    takt_ctx *ctx;
    const takt_machine *machine;
    takt_tune_options options;
    struct takt_tune_limits limits;
    double start_s, deadline_s;

    const char *expert[TAKT_TUNE_EXPERTS]; /* NULL: not to be measured */
    unsigned threads[TAKT_TUNE_EXPERTS], most_threads;
    size_t expert_count;
    struct takt_tuned_gpu gpu[TAKT_TUNE_GPUS];
    size_t gpu_count;

    struct takt_tune_plan plan;
    struct takt_workset workset;
    struct takt_batch batch;
    uint64_t random;

    takt_tune_progress progress;
    double done_s;            /* of plan.expected_s */
    bool is_stopped, is_over; /* by the caller; for any reason */
    takt_tune_result result;
};

/* ---- batch.c: progress ---- */

static inline double takt__tune_now(void)
{
    return (double)takt__now_ns() * 1e-9;
}

/* Calls that are timed with a single sample or few: they differ less. */
static inline bool takt__tune_is_long(double call_s)
{
    return call_s >= 1e-2;
}

static inline bool takt__tune_is_short(double call_s)
{
    return call_s < 1e-3;
}

/* Reports progress; whether the caller ends it. */
bool takt__tune_is_stopped(struct takt_tuning *tuning);

/* The same, or the time is up. */
bool takt__tune_is_over(struct takt_tuning *tuning);

/* ---- plan.c ---- */

/* The ops are those of the options; there is one at least.
 * TAKT_ENOMEM. */
takt_status takt__tune_plan(struct takt_tuning *tuning);
void takt__tune_plan_free(struct takt_tune_plan *plan);

/* The limits of an effort on that machine. */
struct takt_tune_limits takt__tune_limits(takt_tune_effort effort,
                                          const takt_machine *machine);

/* Whether the best expert changes, or nearly does, between the neighbours. */
bool takt__tune_is_crossing(const struct takt_tune_series *series,
                            unsigned step);

/* Whether an expert is so far behind (`behind` times the best) at smaller
 * sizes, or on both sides, that it need not be run. */
bool takt__tune_is_beaten(const struct takt_tune_series *series, unsigned step,
                          size_t expert, double behind);

/* The request of a cell, in a situation. */
takt_request takt__tune_request(const struct takt_tune_cell *cell,
                                unsigned situation);

/* Samples needed of an expert whose calls take so long. */
double takt__tune_enough(const struct takt_tuning *tuning, double call_s,
                         bool is_gpu);

/* ---- workset.c ---- */

bool takt__workset_fill(struct takt_tuning *tuning,
                        const struct takt_tune_cell *cell);

/* Writes the inputs again, on this thread; returns the seconds it took. */
double takt__workset_rewrite(struct takt_workset *workset, size_t copy);

/* To be freed even if it fails. */
bool takt__gpu_workset_fill(struct takt_tuning *tuning,
                            const struct takt_tune_cell *cell,
                            struct takt_gpu_workset *out);
void takt__gpu_workset_free(struct takt_gpu_workset *workset);

/* ---- cell.c, resident.c ---- */

/* The number of the expert of that name; expert_count: it is not measured. */
size_t takt__tune_expert(const struct takt_tuning *tuning, const char *name);

/* Measures what is not known yet; false: everything was. */
bool takt__tune_host(struct takt_tuning *tuning,
                     const struct takt_tune_cell *cell);

/* The same, on GPUs that have the operands. */
bool takt__tune_resident(struct takt_tuning *tuning,
                         const struct takt_tune_cell *cell);

/* Moves buffers of several sizes, from which the context learns. */
void takt__tune_links(struct takt_tuning *tuning);

/* ---- batch.c: samples ---- */

/* Waits until other processes leave the machine idle; false: they did not in
 * that time. */
bool takt__tune_await_idle(struct takt_tuning *tuning, double limit_s);

void takt__batch_begin(struct takt_tuning *tuning);
void takt__batch_add(struct takt_tuning *tuning, const takt_request *request,
                     size_t expert, double seconds);

/* Records the samples and begins anew. If other processes used the machine
 * meanwhile, the samples are discarded: then false. */
bool takt__batch_end(struct takt_tuning *tuning);

/* Times something that takes about that long, with `timed`, which returns
 * seconds, or a negative number if it could not be run. Returns the same, or
 * INFINITY: this thread was interrupted at every try. If load is ignored, the
 * shortest of these counts. */
typedef double takt__tune_timed(void *self);
double takt__tune_sample(struct takt_tuning *tuning, double about_s,
                         takt__tune_timed *timed, void *self);
