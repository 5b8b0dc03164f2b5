/* SPDX-License-Identifier: MIT */
/* inside.h - what the files of this folder share. */
#pragma once

#include "base/clock.h"
#include "decide/decide.h"

/* The team that the prior expects to finish first, and the next. */
struct takt_cell takt__decide_by_prior(const struct takt_decider *decider,
                                       const struct takt_question *question,
                                       unsigned situation);

/* Whether the last call that had a use for threads ended a moment ago: as long
 * as workers stay awake after a job. Then waking them is paid once and gains
 * on every call that follows; a lone call would pay it for itself. */
static inline unsigned takt__sleep_situation(const struct takt_decider *decider,
                                             const struct takt_thread *thread)
{
    return takt__ticks() - thread->threads_used < decider->moment ? 0
                                                                  : TAKT_ASLEEP;
}
