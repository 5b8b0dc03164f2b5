/* SPDX-License-Identifier: MIT */
/* loop_count.c - loops in the shared statistics. */
#include "loop_count.h"

#include "clock.h"
#include "mode.h"
#include "stats_write.h"

static struct takt_stats_loop *counted_of(struct takt_loop *loop)
{
    struct takt_stats_loop *counted =
        atomic_load_explicit(&loop->counted, memory_order_acquire);

    if (counted == NULL) {
        counted = takt__stats_loop(loop->name);
        atomic_store_explicit(&loop->counted, counted, memory_order_release);
    }
    return counted;
}

/* What the loop took, but for a process that was stopped. Threads that share
 * their processor with others are a part of what splitting takes. */
static uint64_t typical(uint64_t ns, double whole_ns, double split_ns)
{
    enum { far = 24 };
    const double most = far * (whole_ns > split_ns ? whole_ns : split_ns);

    return (double)ns < most ? ns : (uint64_t)most;
}

void takt__loop_count(struct takt_loop *loop, enum takt_loop_side side,
                      ptrdiff_t n, uint64_t ns)
{
    if (!takt__mode_has(TAKT_MODE_STATS))
        return;
    struct takt_stats_loop_cell *cell =
        takt__stats_loop_cell(counted_of(loop), (uint64_t)n);
    takt__stats_add(&cell->calls[side], 1);
    if (ns == 0)
        return;
    takt__stats_add(&cell->timed[side], 1);
    takt__stats_add(&cell->ns[side], ns);
    const uint64_t end_ns = takt__now_ns();
    takt__stats_time(TAKT_TRACK_LOOPS, end_ns - ns, end_ns, 1);
}

void takt__loop_compare(struct takt_loop *loop,
                        const struct takt_loop_kind *kind, ptrdiff_t n,
                        uint64_t ns)
{
    const struct takt_mean_estimate whole =
        takt__loop_expect(kind, TAKT_LOOP_WHOLE, (size_t)n);
    const struct takt_mean_estimate split =
        takt__loop_expect(kind, TAKT_LOOP_SPLIT, (size_t)n);

    if (!takt__mode_has(TAKT_MODE_STATS) || !(whole.ns > 0))
        return;
    struct takt_stats_loop_cell *cell =
        takt__stats_loop_cell(counted_of(loop), (uint64_t)n);
    takt__stats_add(&cell->compared, 1);
    takt__stats_add(&cell->baseline_ns, (uint64_t)whole.ns);
    takt__stats_add(&cell->error_ns, (uint64_t)whole.error_ns);
    takt__stats_add(&cell->instead_ns, typical(ns, whole.ns, split.ns));
}
