/* SPDX-License-Identifier: MIT */
/*
 * gpus.h - what a context does with its GPUs beyond calling them: opening them
 * when it pays, and learning what they took from calls that are not waited for.
 */
#pragma once

#include "call/exec.h"

/* Seconds that the present thread's last call spent on moving buffers. */
extern _Thread_local double takt__moved_s;

/* A call on a GPU whose end will be known later. */
struct takt_timing {
    struct takt_mark from, to; /* timed */
    struct takt_sample sample;
    struct takt_event_record record;
    struct takt_tap *tap; /* that wants the record; NULL: none does */
    bool is_sampled;      /* the sample is learned from */
    uint16_t calls;       /* that it stands for */
    uint32_t life;        /* of the device */
    _Atomic int use;      /* 0: free, 1: being filled, 2: waited for */
};

enum { TAKT_TIMINGS = 64 };

struct takt_gpu_watch {
    struct takt_timing timing[TAKT_TIMINGS];
    _Atomic uint64_t busy_until_ns; /* expected end of what was begun */
    _Atomic uint64_t done;    /* ticks: the end of what was last known to end */
    _Atomic uint32_t untimed; /* calls for which there was no timing */
};

/* How long a GPU will be busy with what was begun. */
double takt__gpu_queue_s(takt_ctx *ctx, unsigned gpu);

/* Sees to it that a GPU which a rule or the user names is open; otherwise
 * another expert is chosen. */
takt_status takt__gpu_open_chosen(takt_ctx *ctx,
                                  const struct takt_question *question,
                                  takt_policy policy,
                                  struct takt_choice *choice);

/* Marks for the time of a call that is about to run; NULL: not this time. */
struct takt_timing *takt__gpu_timing(const struct takt_exec *exec,
                                     struct takt_device *device);
void takt__gpu_forget_timing(struct takt_timing *timing); /* NULL allowed */

/* The call was begun, or is done. */
void takt__gpu_note_busy(takt_ctx *ctx, const struct takt_device *device,
                         const struct takt_choice *choice, bool is_async);

/* Leaves the sample of a timed call, now or when it is done; then the event,
 * too, of a call that was not waited for. */
void takt__gpu_keep_timing(const struct takt_exec *exec,
                           struct takt_timing *timing, bool is_async);

/* Leaves the samples of calls that are done by now, on a device that was
 * entered. */
void takt__gpu_push_finished(takt_ctx *ctx, unsigned gpu);

/* The same on all devices, by a thread that is on none; `is_last`: those that
 * are not done are given up, and counted. */
void takt__ctx_collect(takt_ctx *ctx, bool is_last);

/* Sets in the model which GPUs are open; the others are asleep. */
void takt__ctx_add_gpus(takt_ctx *ctx, struct takt_model *model);

/* Is notified of devices that are opened and of buffers that are moved; and no
 * longer, before a context ends. */
void takt__ctx_watch_gpus(takt_ctx *ctx);
void takt__ctx_leave_gpus(takt_ctx *ctx);

/* For the learner (learner.h). */
const char *takt__ctx_device_of(void *self, unsigned expert);
const char *takt__ctx_address_of(void *self, unsigned expert);
void takt__ctx_wake(void *self, unsigned expert);
