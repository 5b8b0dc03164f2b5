/* SPDX-License-Identifier: MIT */
/* hot_ops.c - calls of the last second, by op. */
#include "telemetry/hot_ops.h"

#include <string.h>

static const uint64_t second_ns = 1000000000;
static const double cooler = 0.8; /* of the hot rate: no longer hot below it */

/* The oldest snapshot of the last second, or else the last one before it: calls
 * of less than a second that exceed the rate of a whole one are too many in any
 * case. -1: none. */
static int find_edge(const struct takt_hot_ops *hot, uint64_t now_ns)
{
    int edge = -1;

    for (unsigned i = 0; i < TAKT_HOT_SNAPSHOTS; i++) {
        const unsigned at = (hot->next + i) % TAKT_HOT_SNAPSHOTS;
        const uint64_t at_ns = hot->at_ns[at];
        if (at_ns == 0 || at_ns >= now_ns)
            continue;
        edge = (int)at;
        if (now_ns - at_ns <= second_ns)
            break;
    }
    return edge;
}

/* Calls per second; of less than a second as if it were a whole one. */
static double rate_of(uint64_t calls, uint64_t elapsed_ns)
{
    const double seconds = (double)elapsed_ns * 1e-9;
    return (double)calls / (seconds > 1 ? seconds : 1);
}

static void take_snapshot(struct takt_hot_ops *hot, uint64_t now_ns,
                          const uint64_t *calls)
{
    hot->at_ns[hot->next] = now_ns;
    memcpy(hot->calls[hot->next], calls, sizeof hot->calls[0]);
    hot->next = (hot->next + 1) % TAKT_HOT_SNAPSHOTS;
}

void takt__hot_ops_update(struct takt_hot_ops *hot, uint64_t now_ns,
                          const uint64_t calls[TAKT_OP_NUMBERS],
                          double hot_rate,
                          void (*changed)(void *self, unsigned op, bool is_hot),
                          void *self)
{
    const int edge = find_edge(hot, now_ns);

    for (unsigned op = 0; op < TAKT_OP_NUMBERS && edge >= 0; op++) {
        const double rate = rate_of(calls[op] - hot->calls[edge][op],
                                    now_ns - hot->at_ns[edge]);
        const bool is_hot =
            hot->is_hot[op] ? rate >= cooler * hot_rate : rate > hot_rate;
        hot->rate[op] = rate;
        if (is_hot == hot->is_hot[op])
            continue;
        hot->is_hot[op] = is_hot;
        hot->times_hot[op] += is_hot;
        changed(self, op, is_hot);
    }
    take_snapshot(hot, now_ns, calls);
}
