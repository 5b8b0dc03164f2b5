/* SPDX-License-Identifier: MIT */
/*
 * takt/history.h - what was learned: told, asked, explained, forgotten.
 *
 * Threads: every function may be called on one context from any thread.
 * Since: 0.2.
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

/* ---- telling ---------------------------------------------------------------
 */

/* What somebody measured who ran the op himself. */
typedef struct takt_measurement {
    size_t size; /* sizeof(takt_measurement): see takt/takt.h */
    /* The op, dtype, shape or work, flags and situation. */
    const takt_request *request;
    const char *expert; /* who ran it: an expert of the context or of the op;
                         * a new name becomes an expert of a user's op */
    double seconds;     /* what one call took */
    double calls;       /* that it stands for; 0: one */
    int is_trial;       /* measured on purpose and with care, as takt tune
                         * does: not a call of a program, so none is counted,
                         * and what looks like an outlier is none */
} takt_measurement;

/* Tells the context. It learns at once: the next answer knows it.
 * TAKT_EINVAL: no op or one of another context, no expert, a name that
 *   experts cannot have, or a time, a number of calls or a work that makes no
 *   sense.
 * TAKT_ENODEV: no such expert can run that op.
 * TAKT_ESHAPE: the work does not follow from the shape, and was not given.
 * TAKT_EFULL: a user's op has as many experts as it can have. */
TAKT_API takt_status takt_record(takt_ctx *ctx,
                                 const takt_measurement *measurement);

/* ---- explaining ------------------------------------------------------------
 */

/* What is expected of one expert for one call. */
typedef struct takt_estimate {
    size_t size; /* sizeof(takt_estimate): see takt/takt.h */
    char expert[TAKT_EXPERT_NAME_MAX];
    takt_backend backend;
    double predicted_s;   /* on a GPU, of a call whose operands are on the
                           * host, bringing them there is a part of it */
    double low_s, high_s; /* 95% of calls are expected between these */
    /* On top of it: to fetch operands that are on (another) GPU, until it is
     * free, of moving there. */
    double transfer_s, queue_s, switch_s;
    double samples; /* at this size, in this situation */
    double first_s; /* its first run in a process; 0: not known */
    int is_suspect; /* it refused or failed, and is left alone for a while */
    int is_chosen;
    int is_asleep; /* a GPU that is not open now, so it is not chosen */
} takt_estimate;

/* All experts that could run the request: the one that is chosen, the others by
 * what they take altogether, then those that sleep. At most `capacity` of them
 * in out[], their number in *count.
 * TAKT_EINVAL, TAKT_ESHAPE: as takt_select(). */
TAKT_API takt_status takt_explain(takt_ctx *ctx, const takt_request *request,
                                  takt_estimate *out, size_t capacity,
                                  size_t *count);

/* What a context learned from and whether all is well with it. */
typedef struct takt_learning {
    size_t size;        /* sizeof(takt_learning): see takt/takt.h */
    char store[1024];   /* the file; empty: memory only */
    takt_diag diag;     /* what is wrong with the store, or was done about it */
    double own_records; /* of this machine, read from the store */
    double other_records; /* of other machines or versions: hints only */
    uint64_t samples, dropped, explored, refused, alarms, device_alarms;
    double explored_s; /* time spent on exploration beyond the best */
    double load[2];    /* one core, all cores: 1 is as learned */
    int is_exploring;  /* 0: switched off */
    int is_stored;     /* 0: what is learned now stays in memory */
    /* What came of reading the store. TAKT_OK: all that is in it is known, or
     * there is none. Otherwise nothing is known of what is in it, and `diag`
     * says why: TAKT_ENOMEM and TAKT_EIO may pass, and it is tried again. */
    takt_status store_status;
} takt_learning;

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
    double work_low, work_high; /* the bin: operations for products and layers,
                                 * else bytes */
    takt_work work;             /* of a typical call of this bin */
    double samples;
    double mean_s;  /* geometric: of a typical call */
    double spread;  /* of single calls: 0.05 is 5% */
    double first_s; /* 0: not known */
    double calls;   /* of this program, timed or not, and its predecessors */
    double seconds; /* that these took */
} takt_history_row;

/* Visits everything known; the row is borrowed for the visit. Ends early when
 * a visit returns other than 0.
 * TAKT_ENOMEM: there is no room for a copy of it; nothing was visited. */
typedef int takt_history_visit(void *self, const takt_history_row *row);
TAKT_API takt_status takt_history_read(takt_ctx *ctx, takt_history_visit *visit,
                                       void *self);

/* The best measured expert for a request, in its situation: expert, samples,
 * mean and spread. With operands on a GPU only GPUs are measured.
 * TAKT_ENOENT: nothing was measured at that size. */
TAKT_API takt_status takt_history_best(takt_ctx *ctx,
                                       const takt_request *request,
                                       takt_history_row *out);

/* Forgets an op, or (NULL) everything, in memory and in the store. */
TAKT_API takt_status takt_history_reset(takt_ctx *ctx, const takt_op *op);

/* Learns from all calls that have returned and stores it, and sends what is to
 * be told of them (takt/telemetry.h): for programs that are about to end
 * abruptly, and for tests. Otherwise it happens by itself. TAKT_EIO: learned,
 * but the store could not be written. */
TAKT_API takt_status takt_ctx_flush(takt_ctx *ctx);

/* Writes the decisions of now for policy pinned (docs/formats/pin.md). A file
 * that is there is replaced as a whole, and keeps its owner and permissions; a
 * symbolic link stays, and the file that it leads to is replaced.
 * TAKT_EIO: the file could not be written; an old one is as it was. */
TAKT_API takt_status takt_ctx_write_pin(takt_ctx *ctx, const char *path,
                                        takt_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
