/* SPDX-License-Identifier: MIT */
/*
 * takt/tune.h - measures the experts of this machine before programs need them.
 *
 * A context learns from every call. Tuning does it beforehand: it runs each
 * expert over ops and sizes, in every situation, and records the times, so that
 * the first call of a program already goes to the right expert.
 *
 * Samples during which the thread was preempted are rejected, and nothing is
 * learned that was measured while other processes used the machine. Sizes with
 * enough samples are not measured again, so tuning may be stopped at any time
 * and continued later.
 *
 *     const takt_op *ops[] = {takt_op_find("sum")};
 *     const takt_tune_options options = {.size = sizeof options,
 *                                        .budget_s = 0.1,
 *                                        .ops = ops,
 *                                        .op_count = 1,
 *                                        .ignores_load = 1};
 *     takt_tune_result result = {.size = sizeof result};
 *
 *     if (takt_tune(NULL, &options, &result) != TAKT_OK)
 *         return 1;
 *     printf("%zu samples in %.1f s\n", result.samples, result.seconds);
 *
 * Threads: takt_tune() may be called from any thread. Other threads of the
 *   process should be idle: their load cannot be told from that of tuning.
 *   Cancellation of the calling thread is off inside of it.
 */
#ifndef TAKT_TUNE_H
#define TAKT_TUNE_H

#include <stddef.h>

#include <takt/context.h>
#include <takt/export.h>
#include <takt/op.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How much is measured, and for how long at most by default. */
typedef enum takt_tune_effort {
    TAKT_TUNE_USUAL = 0, /* a minute, and 25 s for each GPU */
    TAKT_TUNE_QUICK = 1, /* 5 s, and 3 s for each GPU: a coarse picture */
    TAKT_TUNE_FULL = 2   /* an hour: every size and layout */
} takt_tune_effort;

/* What tuning is doing. */
typedef enum takt_tune_stage {
    TAKT_TUNE_STARTING = 0,  /* finds out whether the machine is idle */
    TAKT_TUNE_TRANSFERS = 1, /* moves operands to a GPU and back */
    TAKT_TUNE_MEASURING = 2, /* times experts */
    TAKT_TUNE_WAITING = 3    /* other processes use the machine */
} takt_tune_stage;

/* How far tuning is. */
typedef struct takt_tune_progress {
    takt_tune_stage stage;
    double done;        /* the share of the work, or of the time: 0 to 1 */
    double left_s;      /* estimated */
    const char *expert; /* TRANSFERS: the GPU */
    const takt_op *op;  /* MEASURING: the op, its element type and its size */
    takt_dtype dtype;
    takt_shape shape;
} takt_tune_progress;

/* Watches the progress of tuning. It is called often, on the thread that called
 * takt_tune(), between measurements; `progress` is borrowed for the call.
 * Returning other than 0 stops the tuning; what was measured is learned. */
typedef int takt_tune_watch(void *self, const takt_tune_progress *progress);

/* What is to be measured. Zero members mean the defaults. */
typedef struct takt_tune_options {
    size_t size; /* sizeof(takt_tune_options): see takt/takt.h */
    takt_tune_effort effort;
    double budget_s; /* the time limit, GPUs included; 0: that of the effort */
    /* Ops of the catalogue, the most important first. NULL: all of them. */
    const takt_op *const *ops;
    size_t op_count;
    unsigned dtypes; /* bit 1 << dtype for each element type; 0: all */
    /* Sizes; each is measured with the ops it fits. NULL: a range for each
     * op and layout, finer where the best expert changes. */
    const takt_shape *shapes;
    size_t shape_count;
    /* Names of experts, GPUs included. NULL: all of the context. GPUs take part
     * when they are open: see takt_ctx_open_gpus(). */
    const char *const *experts;
    size_t expert_count;
    int ignores_load; /* not 0: also while other processes use the machine */
    takt_tune_watch *watch; /* NULL: none */
    void *self;             /* passed to watch() */
} takt_tune_options;

/* Why tuning ended. */
typedef enum takt_tune_end {
    TAKT_TUNE_COMPLETE = 0, /* everything that was asked for is known */
    TAKT_TUNE_TIME_UP = 1,  /* the time limit */
    TAKT_TUNE_STOPPED = 2,  /* by watch() */
    TAKT_TUNE_BUSY = 3      /* other processes use the machine: nothing was
                             * measured */
} takt_tune_end;

/* What tuning has done. */
typedef struct takt_tune_result {
    size_t size; /* sizeof(takt_tune_result): see takt/takt.h */
    takt_tune_end end;
    /* A cell is one op, element type, layout and size. */
    size_t cells;        /* that were measured */
    size_t known_cells;  /* of which enough was known before */
    size_t samples;      /* learned */
    size_t gpu_samples;  /* of these, on operands that were on the GPU */
    size_t rejected;     /* the thread was interrupted */
    size_t discarded;    /* other processes used the machine */
    size_t gpus;         /* that took part */
    double seconds;      /* that it took */
    double others;       /* BUSY: processors that other processes used */
    takt_status learned; /* TAKT_OK, or why samples could not be learned */
    takt_status stored;  /* TAKT_OK, or why they could not be stored */
} takt_tune_result;

/* Measures experts, records the times and stores them. Blocks until it is
 * complete, the time is up or watch() stops it; all of these are TAKT_OK, and
 * `result`, which may be NULL, tells them apart. On failure nothing was
 * measured:
 * TAKT_EINVAL: no options, or one that makes no sense: a size of a struct, an
 *   effort, a time limit, an element type; a list that is NULL or empty but not
 *   both; an op that is not of the catalogue, or has no work (reshape), or none
 *   of the element types.
 * TAKT_ESHAPE: a shape that fits none of the ops, or has nothing to compute.
 * TAKT_ENODEV: the context has no expert of that name.
 * TAKT_ENOTSUP: the context answers for a recorded machine, or its policy is
 *   pinned: it learns nothing.
 * TAKT_ENOMEM: there is no memory for the plan. */
TAKT_API takt_status takt_tune(takt_ctx *ctx, const takt_tune_options *options,
                               takt_tune_result *result);

#ifdef __cplusplus
}
#endif

#endif
