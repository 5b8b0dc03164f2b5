/* SPDX-License-Identifier: MIT */
/*
 * exec.h - a call on its way: admit, decide, run, observe.
 *
 * call.c goes through the steps. Those of calls on plain memory are in plain.c,
 * those of calls on buffers in resident.c; the observers are sample.c, shadow.c
 * and emit.c.
 */
#pragma once

#include "call/ctx.h"
#include "gpu/buffer.h"
#include "takt/call.h"

struct takt_timing;

/* The operands of a call on buffers. */
struct takt_resident {
    struct takt_operand_list operands;
    unsigned in_buffers;
    bool has_plain; /* an operand is not in a buffer */
    takt_residency residency;
};

struct takt_exec {
    takt_ctx *ctx;
    takt_call *call;         /* admission fills in defaults */
    takt_decision *decision; /* what the caller wants to know; NULL: nothing */
    struct takt_thread *thread;
    struct takt_tap *tap; /* telemetry of the context; NULL: none */
    uint16_t calls;       /* that this sample represents */
    bool may_be_direct;   /* it may be too small to ask about */

    /* admit */
    bool is_empty;    /* nothing is to be computed */
    bool has_buffers; /* an operand is in a buffer, of whichever context */
    bool is_resident; /* operands are in buffers: `resident` is set */
    struct takt_question question;

    /* decide */
    bool is_repeat;            /* operands lie where the last call left them */
    struct takt_choice choice; /* of the expert that runs it in the end */
    uint8_t chosen;            /* the one that was decided on */
    int shadow;                /* expert of a shadow run; -1: none */

    /* run */
    takt_status status;
    takt_status numeric_status; /* no factor, say: the call is done */
    bool is_asleep;             /* threads that it wanted had to be woken */
    bool is_refused;            /* an expert did not run it: */
    uint8_t refused;            /* the first one that did not, */
    takt_status refusal;        /* and why */
    uint64_t start, end;        /* ticks */

    /* observe */
    bool is_sampled; /* it is learned from */
    bool is_emitted; /* telemetry wants an event of it */
    bool is_shadow;  /* it is a shadow run */
    uint64_t came;   /* ticks: before it was decided; 0: not wanted */

    struct takt_resident resident;
};

/* By members: an initialiser would clear all of it, which takes longer than a
 * small call. */
static inline void takt__exec_begin(struct takt_exec *exec, takt_ctx *ctx,
                                    takt_call *call, takt_decision *decision)
{
    exec->ctx = ctx;
    exec->call = call;
    exec->decision = decision;
    exec->thread = &takt__thread;
    exec->tap = takt__ctx_tap(ctx);
    exec->calls = 1;
    exec->may_be_direct = decision == NULL;
    exec->is_resident = false;
    exec->is_repeat = false;
    exec->shadow = -1;
    exec->status = exec->numeric_status = TAKT_OK;
    exec->is_asleep = exec->is_refused = false;
    exec->start = exec->end = exec->came = 0;
    exec->is_sampled = true;
    exec->is_emitted = exec->is_shadow = false;
}

static inline const struct takt_expert *
takt__exec_expert(const struct takt_exec *exec)
{
    return takt__ctx_expert(exec->ctx, exec->choice.expert);
}

/* Whether another expert than the one that was decided on ran it, or none. */
static inline bool takt__exec_failed_over(const struct takt_exec *exec)
{
    return exec->chosen != exec->choice.expert || exec->status != TAKT_OK;
}

/* Notes the first expert that refused the call. */
static inline void takt__exec_refuse(struct takt_exec *exec, unsigned expert,
                                     takt_status status)
{
    if (exec->is_refused)
        return;
    exec->is_refused = true;
    exec->refused = (uint8_t)expert;
    exec->refusal = status;
}

/* Whether this run is timed for the model; if so, `calls` says for how many
 * calls it stands. */
static inline bool takt__exec_draw_timing(struct takt_exec *exec)
{
    const struct takt_choice *choice = &exec->choice;

    if (!exec->ctx->is_learning && exec->tap == NULL)
        return false;
    if (exec->calls > 1 || choice->reason == TAKT_REASON_EXPLORE ||
        choice->sample_shift == 0)
        return true;
    if (!takt__thread_draw(exec->thread, choice->sample_shift))
        return false;
    exec->calls = (uint16_t)(1u << choice->sample_shift);
    return true;
}

/* ---- call.c -------------------------------------------------------------- */

/* The question that an admitted call asks. */
void takt__call_question(const takt_call *call, struct takt_question *out);

/* ---- plain memory: plain.c ----------------------------------------------- */

takt_status takt__plain_decide(struct takt_exec *exec);
void takt__plain_run(struct takt_exec *exec);

/* The same with a look at the clock. */
void takt__plain_run_timed(struct takt_exec *exec);

/* ---- buffers: resident.c ------------------------------------------------- */

/* Whether an operand of a call is in a buffer. */
bool takt__resident_has_buffers(const takt_call *call);

/* Finds the buffers of an admitted call that has some, and sets is_resident.
 * Those of a user's op, whose sizes only its experts know, go to the host.
 * TAKT_EINVAL, TAKT_ELOST, ...: a buffer that cannot be used. */
takt_status takt__resident_find(struct takt_exec *exec);
takt_status takt__resident_decide(struct takt_exec *exec);
void takt__resident_run(struct takt_exec *exec);

/* Runs it on one expert, and learns nothing. */
takt_status takt__resident_run_on(struct takt_exec *exec, unsigned expert);

/* ---- observers ----------------------------------------------------------- */

/* sample.c: leaves a sample of the run; of the refusal, if the chosen expert
 * did not run it. */
void takt__sample(struct takt_exec *exec);
void takt__sample_push(takt_ctx *ctx, const struct takt_sample *sample);

/* shadow.c: how long a steady call may take for another expert to be tried in a
 * shadow run. */
double takt__shadow_budget_s(const takt_ctx *ctx);

/* A steady call on which another expert was to be tried gets the best one back;
 * the other one is tried in a shadow run after it. */
void takt__shadow_plan(struct takt_exec *exec);
void takt__shadow_run(struct takt_exec *exec);

/* emit.c: counts a decided call for telemetry, and says whether there is to be
 * an event of it. */
void takt__emit_count(struct takt_exec *exec);
void takt__emit(struct takt_exec *exec);

/* A choice as the caller sees it. */
void takt__describe(const takt_ctx *ctx, const struct takt_question *question,
                    const struct takt_choice *choice, takt_decision *out);

/* What an event is made of. */
void takt__emit_record(const struct takt_exec *exec,
                       struct takt_event_record *out);
