/* SPDX-License-Identifier: MIT */
/*
 * mode.h - what the environment sets for this process, read at its first call.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

enum {
    TAKT_MODE_STATS = 1,  /* calls are counted in shared statistics (stats.h) */
    TAKT_MODE_EAGER = 2,  /* TAKT_RUN_EAGER=1 or last, for tests: every call is
                           * routed, however small, from the first on */
    TAKT_MODE_STEADY = 4, /* TAKT_RUN_SAME_BITS: results must not vary within
                           * a run */
    TAKT_MODE_NUMPY = 32, /* NumPy's loops are routed: unless TAKT_RUN_NUMPY is
                           * "off" */
    TAKT_MODE_LAPACK = 64, /* the threads of LAPACK's calls are chosen: unless
                            * TAKT_RUN_LAPACK is "off", or results must not
                            * vary */
    TAKT_MODE_SMALL = 16,  /* calls that are too small to be routed are counted,
                            * too */
    TAKT_MODE_EARLY = 8,   /* until the first call: the router opens with it,
                            * since there is a GPU that may have to be opened */
    TAKT_MODE_ALIKE = 128  /* TAKT_RUN_EAGER=last: and equal calls run the same
                            * way, whatever was measured */
};
extern _Atomic unsigned takt__mode;

/* Reads it once, and maps the statistics. */
void takt__mode_read(void);

/* The value of a variable, in programs without rights of their own; NULL: it is
 * not set. */
const char *takt__mode_value(const char *variable);

/* What a variable that is yes or no says; `is_on`: it is not set, or says
 * neither. */
bool takt__mode_switch(const char *variable, bool is_on);

/* Whether there may be a GPU of NVIDIA's, and it may be used. */
bool takt__mode_may_have_nvidia(void);

/* True in the first call only. */
bool takt__mode_take_early(void);

/* Whether nothing but a measured comparison decides where calls run: no policy
 * or pin file, no wish for the same bits, and no GPU to be opened in time. */
bool takt__is_patient(void);

/* For how many cycles, as a power of two, idle threads of OpenBLAS spin: as its
 * variable says (`takt run` sets it), else as Debian builds it. */
unsigned takt__spin_power(void);

/* Nothing has to be done for small calls. */
static inline bool takt__is_default_mode(void)
{
    const unsigned mode =
        atomic_load_explicit(&takt__mode, memory_order_relaxed);

    return __builtin_expect(
        (mode & ~(unsigned)(TAKT_MODE_STATS | TAKT_MODE_NUMPY |
                            TAKT_MODE_LAPACK)) == 0,
        1);
}

static inline bool takt__mode_has(unsigned mode)
{
    return (atomic_load_explicit(&takt__mode, memory_order_relaxed) & mode) !=
           0;
}
