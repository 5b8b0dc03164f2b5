/* SPDX-License-Identifier: MIT */
/*
 * question.h - the question that a request asks, and where its operands would
 * be.
 */
#pragma once

#include "base/sized.h"
#include "call/ctx.h"
#include "takt/call.h"

/* A decision has grown: its first version ended before `transfer_s`. */
static inline bool takt__decision_fits(const takt_decision *out)
{
    return takt__sized_size(out, offsetof(takt_decision, transfer_s)) > 0;
}

static inline void takt__decision_fill(takt_decision *out,
                                       const takt_decision *from)
{
    takt__sized_fill_as(out, offsetof(takt_decision, transfer_s), sizeof *from,
                        from);
}

/* So has a request, whose first version ended before `objective`. */
static inline bool takt__request_read(const takt_request *given,
                                      takt_request *copy)
{
    return takt__sized_read_as(given, offsetof(takt_request, objective),
                               sizeof *copy, copy);
}

/* The objective that a request names, and whether it names one or callers.
 * TAKT_EINVAL: it is none, or fewer than one caller. */
takt_status takt__question_objective(const takt_request *request,
                                     struct takt_objective *out,
                                     bool *has_objective);

/* Whether work can be learned about: neither unknown nor beyond any machine. */
static inline bool takt__work_is_sane(const takt_work *work)
{
    return work->bytes >= 0 && work->bytes < 1e30 && work->flops >= 0 &&
           work->flops < 1e30;
}

/* The question that a request asks.
 * TAKT_EINVAL, TAKT_ESHAPE: as takt_select(). */
takt_status takt__request_question(const takt_request *request,
                                   struct takt_question *out);

/* The beginning of a question about what was learned: the context (NULL stands
 * for the default one), its libraries, and the question, which has a key. */
takt_status takt__question_begin(takt_ctx **ctx, const takt_request *request,
                                 struct takt_question *out);

/* A call of the shape of a request, with default values and no operands; false:
 * there is none. */
bool takt__question_call(const takt_request *request, takt_call *out);

/* Whether an expert on the CPU would run such a call. Code of the user's is not
 * asked: it may look at operands. */
static inline bool takt__question_can(const struct takt_expert *expert,
                                      const takt_call *call)
{
    return expert->class == &takt__user_class || takt__expert_can(expert, call);
}

struct takt_question_location {
    int home; /* the GPU that has the operands; -1: the host has them */
    struct takt_move_costs moves; /* without those that a time on host operands
                                   * has in it */
};

/* The GPUs that can run a request now; and with TAKT_SITUATION_ON_GPU the
 * first of them, if there is one, as the location of the operands. */
void takt__question_where(takt_ctx *ctx, const takt_request *request,
                          const struct takt_question *question,
                          struct takt_question_location *out);

/* The decision when a GPU has the operands. Tries nothing. */
void takt__question_locate(takt_ctx *ctx, const takt_request *request,
                           const struct takt_question *question,
                           const struct takt_question_location *where,
                           struct takt_choice *out);
