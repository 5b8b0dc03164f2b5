/* SPDX-License-Identifier: MIT */
/*
 * flags.h - the floating-point exceptions of routed calls.
 *
 * Takt's kernels fill their vectors up and compensate their sums, so an
 * infinity in an operand may raise "invalid" although no result is NaN. NumPy
 * would warn of it, and programs with traps would end, as they do not without
 * Takt. So a call runs without traps, and afterwards raises what its result
 * shows: invalid operations leave a NaN that no operand had, and overflows an
 * infinity at least.
 */
#pragma once

#include "base/fpenv.h"
#include "takt/call.h"

struct takt_flags {
    struct takt_fpenv before;
};

/* Corrects the flags, and lets traps fire. */
void takt__flags_correct(const struct takt_flags *flags, struct takt_fpenv now,
                         const takt_call *call);

static inline struct takt_flags takt__flags_begin(void)
{
    const struct takt_flags flags = {takt__fpenv_get()};
    const struct takt_fpenv quiet = takt__fpenv_quiet(flags.before);

    if (quiet.control != flags.before.control)
        takt__fpenv_set(quiet);
    return flags;
}

/* After a call that has computed its output. */
static inline void takt__flags_end(const struct takt_flags *flags,
                                   const takt_call *call)
{
    const struct takt_fpenv now = takt__fpenv_get();
    const uint32_t raised = now.flags & ~flags->before.flags;

    if ((raised & (FE_INVALID | FE_OVERFLOW)) != 0)
        takt__flags_correct(flags, now, call);
    else if (now.control != flags->before.control)
        takt__fpenv_set((struct takt_fpenv){flags->before.control, now.flags});
}
