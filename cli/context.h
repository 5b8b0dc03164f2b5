/* SPDX-License-Identifier: MIT */
/*
 * context.h - the context that a command uses.
 *
 * Commands learn from the same store and obey the same environment variables
 * as programs do, so that they answer as in a program.
 */
#pragma once

#include <takt/takt.h>

#include "command.h"

/* In the order of the bits: TAKT_SITUATION_REPEAT, TAKT_SITUATION_ASLEEP. What
 * came before does not matter to TAKT_SITUATION_ON_GPU. */
#define situation_choice "fresh|repeat|asleep|repeat-asleep"
enum { situation_count = 4 };

#define SITUATION_OPTION                                \
    {                                                   \
        "situation", "WORD", situation_choice,          \
            "what came before the call (default fresh)" \
    }
#define OBJECTIVE_OPTION                                                   \
    {                                                                      \
        "objective", "TEXT", NULL,                                         \
            "what the best is best at: time, p95, p99, p999, throughput, " \
            "energy or edp, or with a limit: 'time, p99 < 2 ms' (default " \
            "TAKT_OBJECTIVE, or time)"                                     \
    }
#define DB_OPTION                                                             \
    {                                                                         \
        "db", "FILE", NULL, "the store to use; empty: none (default TAKT_DB)" \
    }

/* What a command needs of its context; zeros: the defaults. */
struct context_wish {
    const char *recording; /* --machine, or NULL */
    const char *store;     /* --db, or NULL */
    bool writes_store;     /* it is the user's own, whatever its name; else a
                            * file that --db names is read as foreign */
    unsigned threads;
    const takt_cost_model *cost;
    const char *objective; /* --objective, or NULL */
    bool obeys_pin;        /* TAKT_PIN decides, if it is set */
    bool opens_gpus;       /* those that a program would open sooner or later */
    bool asks_drivers; /* for every GPU there is, unless TAKT_GPU is empty */
};

/* On failure says what is wrong in one line and returns false; what is wrong
 * with the store is said, and a context made all the same. Nothing is
 * explored: asking must not change what programs do. */
bool open_context(const struct command *command,
                  const struct context_wish *wish, takt_ctx **out);

/* What keeps a store from growing: NULL: nothing that is known. */
const char *store_room_problem(const char *store);

/* The store that --db names (NULL: it was not given), or that of this machine.
 * On failure, also where there is none, says what is wrong in one line and
 * returns false. */
bool choose_store(const struct command *command, const char *db, char *out,
                  size_t size);

/* Whether two names are those of one file. */
bool is_same_file(const char *a, const char *b);

/* Whether a store that --db names is not the one of this machine. NULL and "":
 * it is. */
bool is_foreign_store(const char *path);

/* Whether that is an objective (NULL is); if not, says why. */
bool check_objective(const struct command *command, const char *text);

/* The first GPU that calls may be routed to now; false: there is none. */
bool find_usable_gpu(takt_ctx *ctx, takt_gpu_device *out);

/* Whether an expert is a GPU that calls may be routed to, now or when it was
 * opened. */
bool is_worthy_gpu(takt_ctx *ctx, const char *expert);

/* "all", or "" where TAKT_GPU is set and empty: for a command that asks the
 * drivers. */
const char *all_gpus(void);

/* Whether TAKT_PIN is set. */
bool is_pinned(void);

/* Reads a number option, if it was given: *out above 0 (a rate) or from 1 on (a
 * count), and at most `most`; else what is wrong is `range`, which is NULL if
 * any number will do. False: that was said. */
bool read_rate_option(const struct invocation *invocation, const char *name,
                      double most, const char *range, double *out);
bool read_count_option(const struct invocation *invocation, const char *name,
                       size_t most, const char *range, size_t *out);

/* The situation that --situation names; 0 when it was not given. */
unsigned read_situation(const struct invocation *invocation);
const char *situation_name(unsigned situation);

/* Threads in an expert's name: 2 for "simd.avx512x2". */
unsigned expert_threads(const char *name);

/* Says which sizes the op takes. Returns false. */
bool shape_error(const struct command *command, const takt_op *op,
                 const char *shape);

/* Whether the op has that element type; if not, says so. */
bool has_dtype(const struct command *command, const takt_op *op,
               takt_dtype dtype);

/* The catalogue op of that name; says what is wrong and returns NULL when
 * there is none. */
const takt_op *find_named_op(const struct command *command, const char *name);
