/* SPDX-License-Identifier: MIT */
/*
 * context.h - the context that a command asks.
 *
 * Commands learn from the same store and obey the same environment variables
 * as programs do, so that they answer what a program would be told.
 */
#ifndef TAKT_CLI_CONTEXT_H
#define TAKT_CLI_CONTEXT_H

#include <stdbool.h>

#include <takt/takt.h>

#include "command.h"

/* In the order of the bits: TAKT_SITUATION_REPEAT, TAKT_SITUATION_ALONE. */
#define situation_choice "fresh|repeat|alone|repeat-alone"
enum { situation_count = 4 };

#define SITUATION_OPTION                                \
    {                                                   \
        "situation", "WORD", situation_choice,          \
            "what came before the call (default fresh)" \
    }
#define DB_OPTION                                                             \
    {                                                                         \
        "db", "FILE", NULL, "the store to use; empty: none (default TAKT_DB)" \
    }

/* What a command wants of its context; zeros: the usual. */
struct context_wish {
    const char *recording; /* --machine, or NULL */
    const char *store;     /* --db, or NULL */
    unsigned threads;
    const takt_cost_model *cost;
    bool obeys_pin; /* TAKT_PIN decides, if it is set */
};

/* On failure says what is wrong in one line and returns false. Nothing is
 * explored: asking must not change what programs do. */
bool open_context(const struct command *command,
                  const struct context_wish *wish, takt_ctx **out);

/* Whether TAKT_PIN is set. */
bool is_pinned(void);

/* The situation that --situation names; 0 when it was not given. */
unsigned read_situation(const struct invocation *invocation);
const char *situation_name(unsigned situation);

/* Threads in an expert's name: 2 for "simd.avx512x2". */
unsigned expert_threads(const char *name);

/* The catalogue op of that name; says what is wrong and returns NULL when
 * there is none. */
const takt_op *find_named_op(const struct command *command, const char *name);

#endif
