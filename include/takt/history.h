/* SPDX-License-Identifier: MIT */
/*
 * takt/history.h - what was learned: record, explain, read, forget.
 *
 *     const takt_request request = {.size = sizeof request,
 *                                   .op = takt_op_find("matmul"),
 *                                   .shape = {.rank = 3, .dim = {64, 64, 64}}};
 *     takt_estimate estimate[8] = {{.size = sizeof estimate[0]}};
 *     size_t count;
 *
 *     if (takt_explain(NULL, &request, estimate, 8, &count) != TAKT_OK)
 *         return 1;
 *     for (size_t i = 0; i < count && i < 8; i++)
 *         printf("%-16s %.1f us, by %.0f samples\n", estimate[i].expert,
 *                estimate[i].predicted_s * 1e6, estimate[i].samples);
 *
 * Threads: every function may be called on one context from any thread.
 */
#ifndef TAKT_HISTORY_H
#define TAKT_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include <takt/context.h>
#include <takt/export.h>
#include <takt/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- recording -------------------------------------------------------------
 */

/* A time that the program measured itself. */
typedef struct takt_measurement {
    size_t size; /* sizeof(takt_measurement): see takt/takt.h */
    /* The op, dtype, shape or work, flags and situation. */
    const takt_request *request;
    /* The expert that ran it: one of the context or of the op. A new name
     * becomes an expert of a user's op. */
    const char *expert;
    double seconds; /* of one call */
    double calls;   /* that it stands for; 0: one */
    /* Not 0: a benchmark, as `takt tune` runs them. It is not counted as a call
     * of the program, and not rejected as an outlier. */
    int is_trial;
} takt_measurement;

/* Records a time that the program measured. It is learned at once: the next
 * answer uses it.
 * TAKT_EINVAL: no op or one of another context, no expert, a name that
 *   experts cannot have, or a time, a number of calls or work out of range.
 * TAKT_ENODEV: no such expert can run that op.
 * TAKT_ESHAPE: the work does not follow from the shape, and was not given.
 * TAKT_EFULL: a user's op has as many experts as it can have. */
TAKT_API takt_status takt_record(takt_ctx *ctx,
                                 const takt_measurement *measurement);

/* ---- explaining ------------------------------------------------------------
 */

/* The time that one expert is expected to take for one call. */
typedef struct takt_estimate {
    size_t size; /* sizeof(takt_estimate): see takt/takt.h */
    char expert[TAKT_EXPERT_NAME_MAX];
    takt_backend backend;
    double predicted_s;   /* of a GPU and operands on the host: transfers
                           * included */
    double low_s, high_s; /* 95% of calls are expected between these */
    /* On top of it: to fetch operands that are on (another) GPU, to wait until
     * the expert is free, to switch to it. */
    double transfer_s, queue_s, switch_s;
    double samples; /* at this size, in this situation */
    double first_s; /* its first run in a process; 0: not known */
    int is_suspect; /* it refused or failed, and is not used for a while */
    int is_chosen;
    int is_asleep; /* a GPU that is not open, so it is not chosen */

    /* Since 0.2: machines like this one, by `takt fleet`, whose measurements of
     * this size the estimate begins with; 0: none. */
    double machines;
    /* The times that 5%, 1% and 0.1% of calls are expected to exceed, without
     * transfer_s, between which bounds the p99 is (95%), and how many samples
     * at this size that is based on. */
    double p95_s, p99_s, p999_s, p99_low_s, p99_high_s, tail_samples;
    /* Of a call, and between which bounds (95%); negative: not known. */
    double joules, joules_low, joules_high;
    /* Another expert is at least as good in mean time, p99 and energy, and
     * better in one of them. */
    int is_dominated;
} takt_estimate;

/* Estimates what every expert would take for a request. First comes the chosen
 * one, then the others by total time, then GPUs that are not open. At most
 * `capacity` of them are in out[] (out[0].size is the size of each), and their
 * number is in *count.
 * TAKT_EINVAL, TAKT_ESHAPE: as takt_select().
 * TAKT_ENOMEM: no memory for the list. */
TAKT_API takt_status takt_explain(takt_ctx *ctx, const takt_request *request,
                                  takt_estimate *out, size_t capacity,
                                  size_t *count);

/* The state of learning in a context. */
typedef struct takt_learning {
    size_t size;          /* sizeof(takt_learning): see takt/takt.h */
    char store[1024];     /* the file; empty: memory only */
    takt_diag diag;       /* what is wrong with the store, or was repaired */
    double own_records;   /* of this machine, read from the store */
    double other_records; /* of other machines or versions: hints only */
    uint64_t samples, dropped, explored, refused, alarms, device_alarms;
    double explored_s; /* time spent on exploration beyond the best */
    double load[2];    /* one core, all cores: 1 is as learned */
    int is_exploring;  /* 0: switched off */
    int is_stored;     /* 0: what is learned now stays in memory */
    /* Of reading the store. TAKT_OK: it was read, or there is none. Otherwise
     * nothing was read from it, and `diag` says why; after TAKT_ENOMEM and
     * TAKT_EIO it is tried again. */
    takt_status store_status;
} takt_learning;

/* Tells how learning goes in a context, and what its store is.
 * TAKT_EINVAL: the size of the struct is wrong.
 * TAKT_ENOMEM: there is no default context. */
TAKT_API takt_status takt_ctx_learning(takt_ctx *ctx, takt_learning *out);

/* ---- reading ---------------------------------------------------------------
 */

/* What is known about one expert at one size. */
typedef struct takt_history_row {
    size_t size; /* sizeof(takt_history_row): see takt/takt.h */
    const takt_op *op;
    takt_dtype dtype;
    const char *layout; /* "", "nt.thin_m", ...: see docs/ops.md */
    unsigned situation; /* TAKT_SITUATION_...; ON_GPU: a GPU's, of calls whose
                         * operands it had */
    const char *expert;
    takt_backend backend;
    double work_low, work_high; /* the bucket: operations for products and
                                 * layers, else bytes */
    takt_work work;             /* of a typical call of this bucket */
    double samples;
    double mean_s;  /* geometric: of a typical call */
    double spread;  /* of single calls: 0.05 is 5% */
    double first_s; /* 0: not known */
    double calls;   /* of this and earlier processes, timed or not */
    double seconds; /* that these took */

    /* Since 0.2: the times that 5%, 1% and 0.1% of calls exceed, and how many
     * samples that is based on; 0: not known. Trials of `takt tune` tell
     * nothing about it. */
    double p95_s, p99_s, p999_s, tail_samples;
} takt_history_row;

/* Is shown a row, which is borrowed for the call. A value other than 0 ends the
 * reading. */
typedef int takt_history_visit(void *self, const takt_history_row *row);

/* Calls visit() for every row of what was learned.
 * TAKT_ENOMEM: no memory for a copy of the rows; nothing was visited. */
TAKT_API takt_status takt_history_read(takt_ctx *ctx, takt_history_visit *visit,
                                       void *self);

/* Finds the fastest expert that was measured for a request, in its situation.
 * With operands on a GPU only GPUs are measured.
 * TAKT_ENOENT: nothing was measured at that size. */
TAKT_API takt_status takt_history_best(takt_ctx *ctx,
                                       const takt_request *request,
                                       takt_history_row *out);

/* Forgets an op, or (NULL) everything, in memory and in the store.
 * TAKT_EIO: forgotten in memory, but the store could not be written. */
TAKT_API takt_status takt_history_reset(takt_ctx *ctx, const takt_op *op);

/* Learns from all calls that have returned, stores it, and sends telemetry. For
 * programs that are about to end abruptly, and for tests; otherwise Takt does
 * it in time.
 * TAKT_EIO: learned, but the store could not be written. */
TAKT_API takt_status takt_ctx_flush(takt_ctx *ctx);

/* Writes the current decisions to a file for policy pinned. Its format is in
 * docs/formats/pin.md. An existing file is replaced as a whole and keeps its
 * owner and permissions; a symbolic link stays, and its target is replaced.
 * TAKT_EIO: the file could not be written; an existing one is unchanged. */
TAKT_API takt_status takt_ctx_write_pin(takt_ctx *ctx, const char *path,
                                        takt_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
