/* SPDX-License-Identifier: MIT */
/*
 * effect.h - what Takt changes in the program as a whole, by slices of time in
 * which all of it is off.
 *
 * What single calls gain is not what the program gains: threads of two pools
 * disturb each other, memory that is kept saves time between calls. In an off
 * slice calls run in the baseline library, loops run whole and no memory is
 * kept, so the program runs as without Takt. A step is a large call or a loop
 * that is not short, and the gap before it, in which the rest of the program
 * runs. The steps of off slices against all others, kind by kind, are the
 * effect; it goes into the shared statistics.
 *
 * While calls are routed, the probes of the baseline library (switchback.h) are
 * off slices. At other times there are some if there are statistics and Takt
 * does something.
 *
 * Threads: any. Of two that add a step at once, one is not counted.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic bool takt__is_off, takt__is_active;

/* Whether this is an off slice. */
static inline bool takt__effect_is_off(void)
{
    return atomic_load_explicit(&takt__is_off, memory_order_relaxed);
}

/* Takt did something beside calls of BLAS: it split a loop, or reused memory.
 */
static inline void takt__effect_note(void)
{
    if (!atomic_load_explicit(&takt__is_active, memory_order_relaxed))
        atomic_store_explicit(&takt__is_active, true, memory_order_relaxed);
}

/* From now on there may be off slices. Call it once. */
void takt__effect_open(void);

/* Work of calls that are steps: all of these are timed, on both sides. */
static const double takt__least_step_work = 1e6;

/* A step: a call or loop of a kind, by an address that stands for it. */
void takt__effect_add(const void *kind, double work, uint64_t start_ns,
                      uint64_t end_ns);
