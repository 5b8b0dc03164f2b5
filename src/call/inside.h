/* SPDX-License-Identifier: MIT */
/* inside.h - the steps of a call that plain calls and those on buffers share.
 */
#ifndef TAKT_CALL_INSIDE_H
#define TAKT_CALL_INSIDE_H

#include "call/call.h"

/* What a call needs to leave a sample. */
struct takt_watch {
    struct takt_thread *thread;
    bool is_repeat;
    bool is_asleep;   /* threads that it wanted had to be woken */
    bool is_resident; /* it was decided where its operands are */
    bool is_sampled;  /* it is learned from */
    bool is_aside;    /* it was run beside a call, to learn */
    bool is_refused;  /* somebody did not run it: */
    uint8_t refused;  /* an arm, the first one, */
    uint8_t refusal;  /* and what that one said */
    uint8_t chosen;   /* before anybody refused */
    uint16_t calls;   /* that it stands for */
    takt_status status;
    takt_residency residency;
    uint64_t came;       /* when it was to be decided; 0: nobody listens */
    uint64_t start, end; /* of the run */
};

static inline void takt__watch_refusal(struct takt_watch *watch, unsigned arm,
                                       takt_status status)
{
    if (watch->is_refused)
        return;
    watch->is_refused = true;
    watch->refused = (uint8_t)arm;
    watch->refusal = (uint8_t)status;
}

/* The sizes by which an admitted call is decided. */
void takt__call_sizes(const takt_call *call, struct takt_sizes *out);

/* Whether the call is timed, and for how many it then stands. */
bool takt__call_is_timed(const takt_ctx *ctx, const struct takt_choice *choice,
                         struct takt_watch *watch);

/* Runs a call on the host's memory, on the chosen arm or whoever steps in. */
takt_status takt__call_run(takt_ctx *ctx, const takt_call *call,
                           const struct takt_sizes *sizes,
                           struct takt_choice *choice,
                           struct takt_watch *watch);

/* The same with a look at the clock, and a sample if it is learned from. */
void takt__call_run_watched(takt_ctx *ctx, const takt_call *call,
                            const struct takt_sizes *sizes,
                            struct takt_choice *choice,
                            struct takt_watch *watch);

/* Leaves a sample of the run between watch->start and ->end. */
void takt__call_leave_sample(takt_ctx *ctx, const struct takt_sizes *sizes,
                             const struct takt_choice *choice,
                             const struct takt_watch *watch);

/* What the thread remembers of this call when the next one comes. */
void takt__call_remember(const takt_ctx *ctx, const takt_call *call,
                         const struct takt_choice *choice,
                         const struct takt_watch *watch);

/* Sees to it that a GPU whom a rule or the user names is open, and otherwise
 * lets somebody else be chosen. */
takt_status takt__call_open_gpu(takt_ctx *ctx, const struct takt_sizes *sizes,
                                takt_policy policy, struct takt_choice *choice);

/* ---- beside it: aside.c ----------------------------------------------------
 */

/* How long a call may be for something to be tried in its place; of a steady
 * one, beside it. */
double takt__call_patience(const takt_ctx *ctx, const takt_call *call);

/* A steady call in whose place another arm was to be tried gets the best one
 * back. Returns the arm to be tried beside it; -1: none. */
int takt__call_put_aside(const takt_call *call, struct takt_choice *choice);

/* Keeps account of a steady call that was run, and tries that arm on memory of
 * its own, if it is not -1. */
void takt__call_try_aside(takt_ctx *ctx, const takt_call *call,
                          const struct takt_sizes *sizes,
                          const struct takt_watch *watch, int arm);

/* Runs a call on an arm, whatever else can be done. */
takt_status takt__call_run_arm(takt_ctx *ctx, const takt_call *call,
                               unsigned arm);

/* ---- telling of it: tell.c -------------------------------------------------
 */

/* Leaves a note of a call that was run, if it is worth it. */
void takt__call_tell(const takt_ctx *ctx, struct takt_tap *tap,
                     const takt_call *call, const struct takt_sizes *sizes,
                     const struct takt_choice *choice,
                     const struct takt_watch *watch);

/* What such a note holds. */
void takt__call_note(const takt_ctx *ctx, const takt_call *call,
                     const struct takt_sizes *sizes,
                     const struct takt_choice *choice,
                     const struct takt_watch *watch,
                     struct takt_event_record *out);

/* ---- calls on buffers: resident.c ------------------------------------------
 */

/* Whether an operand of a call is in a buffer. */
bool takt__call_has_buffers(const takt_call *call);

/* An admitted call with such operands: decide, run, observe. */
takt_status takt__call_on_buffers(takt_ctx *ctx, const takt_call *call,
                                  takt_decision *decision);

/* Brings the buffers of a call whose operands nobody knows the sizes of. */
takt_status takt__call_to_host(takt_ctx *ctx, const takt_call *call);

/* Runs it on one arm of the fleet, and learns nothing. */
takt_status takt__call_on_buffers_on(takt_ctx *ctx, const takt_call *call,
                                     unsigned arm);

#endif
