/* SPDX-License-Identifier: MIT */
/*
 * fpenv.h - the floating-point environment of a thread.
 *
 * The control part (rounding, flushing of denormal numbers, traps) and the
 * exception flags, as the processor holds them: C's <fenv.h> takes ten times
 * as long, also saves the x87 unit, which no kernel uses, and does not know
 * of flushing.
 */
#pragma once

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>

struct takt_fpenv {
    uint32_t control;
    uint32_t flags; /* where <fenv.h> has one, it has the same bit */
};

#if defined(__x86_64__)

static inline struct takt_fpenv takt__fpenv_get(void)
{
    enum { flags = 0x3F };
    const uint32_t word = __builtin_ia32_stmxcsr();
    return (struct takt_fpenv){word & ~(uint32_t)flags, word & flags};
}

static inline void takt__fpenv_set(struct takt_fpenv env)
{
    __builtin_ia32_ldmxcsr(env.control | env.flags);
}

/* The same environment with every trap off. */
static inline struct takt_fpenv takt__fpenv_quiet(struct takt_fpenv env)
{
    env.control |= 0x1F80;
    return env;
}

#elif defined(__aarch64__)

static inline struct takt_fpenv takt__fpenv_get(void)
{
    enum { flags = 0x9F };
    uint64_t control, status;

    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(status));
    return (struct takt_fpenv){(uint32_t)control, (uint32_t)status & flags};
}

static inline void takt__fpenv_set(struct takt_fpenv env)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)env.control));
    __asm__ volatile("msr fpsr, %0" : : "r"((uint64_t)env.flags));
}

static inline struct takt_fpenv takt__fpenv_quiet(struct takt_fpenv env)
{
    env.control &= ~(uint32_t)0x9F00;
    return env;
}

#else /* what C has: the direction of rounding, and flags */

static inline struct takt_fpenv takt__fpenv_get(void)
{
    return (struct takt_fpenv){(uint32_t)fegetround(),
                               (uint32_t)fetestexcept(FE_ALL_EXCEPT)};
}

static inline void takt__fpenv_set(struct takt_fpenv env)
{
    fesetround((int)env.control);
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept((int)env.flags);
}

static inline struct takt_fpenv takt__fpenv_quiet(struct takt_fpenv env)
{
    return env;
}

#endif

/* Loading is slow, and mostly nothing differs. */
static inline void takt__fpenv_adopt(struct takt_fpenv env)
{
    const struct takt_fpenv now = takt__fpenv_get();

    if (now.control != env.control || now.flags != env.flags)
        takt__fpenv_set(env);
}

/* Goes back to `env` after work in takt__fpenv_quiet(env), with the flags that
 * this work raised here and the `raised` ones of other threads. Where `env`
 * has a trap for a new one, it fires here. */
static inline void takt__fpenv_resume(struct takt_fpenv env, uint32_t raised)
{
    const bool has_traps = takt__fpenv_quiet(env).control != env.control;

    if (!has_traps && raised == 0)
        return; /* reading the state takes as long as starting a job */
    const uint32_t here = takt__fpenv_get().flags;
    const struct takt_fpenv next = {env.control, env.flags | here | raised};
    if (has_traps) {
        takt__fpenv_set(env);
        feraiseexcept((int)(next.flags & ~env.flags) & FE_ALL_EXCEPT);
    }
    takt__fpenv_set(next);
}

/* Bookkeeping between the steps of a caller's arithmetic: traps are off, and
 * flags that it raises are dropped. Mostly that is two reads of the state, a
 * nanosecond. The compiler must not move loads and stores across them. */
static inline struct takt_fpenv takt__fpenv_save(void)
{
    __asm__ volatile("" : : : "memory");
    const struct takt_fpenv callers = takt__fpenv_get();
    const struct takt_fpenv quiet = takt__fpenv_quiet(callers);

    if (quiet.control != callers.control)
        takt__fpenv_set(quiet);
    return callers;
}

static inline void takt__fpenv_restore(struct takt_fpenv callers)
{
    __asm__ volatile("" : : : "memory");
    takt__fpenv_adopt(callers);
}

/* Longer work on the thread of a caller: in C's default environment,
 * and without a trace in the caller's. */
static inline void takt__fpenv_leave(fenv_t *callers)
{
    fegetenv(callers);
    fesetenv(FE_DFL_ENV);
}

static inline void takt__fpenv_return(const fenv_t *callers)
{
    fesetenv(callers);
}
