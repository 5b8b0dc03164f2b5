/* SPDX-License-Identifier: MIT */
/*
 * hot_ops.h - how often each op was called in the last second, and which ops
 * are hot by that.
 *
 * The window slides: a snapshot of all sums is taken twenty times a second, and
 * the calls of the last second are the difference to the snapshot of that age.
 * An op becomes hot when they exceed the hot rate, and stops when they are
 * below four fifths of it: near the limit it must not alternate.
 */
#pragma once

#include "op/key.h"

enum { TAKT_HOT_SNAPSHOTS = 24, TAKT_HOT_STEP_NS = 50000000 };

struct takt_hot_ops {
    uint64_t at_ns[TAKT_HOT_SNAPSHOTS]; /* 0: none yet */
    uint64_t calls[TAKT_HOT_SNAPSHOTS][TAKT_OP_NUMBERS];
    unsigned next;
    double rate[TAKT_OP_NUMBERS]; /* calls per second */
    bool is_hot[TAKT_OP_NUMBERS];
    uint64_t times_hot[TAKT_OP_NUMBERS];
};

/* Takes the sums of that moment; zero-initialised is the beginning. Calls
 * changed(self, op, is_hot) for each op that became hot or cooled down. A hot
 * rate that is infinite makes nothing hot. */
void takt__hot_ops_update(struct takt_hot_ops *hot, uint64_t now_ns,
                          const uint64_t calls[TAKT_OP_NUMBERS],
                          double hot_rate,
                          void (*changed)(void *self, unsigned op, bool is_hot),
                          void *self);
