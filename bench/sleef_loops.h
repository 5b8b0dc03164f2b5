/* SPDX-License-Identifier: MIT */
/* sleef_loops.h - exp, log, tanh and sigmoid by SLEEF, where it is found. */
#ifndef TAKT_BENCH_SLEEF_LOOPS_H
#define TAKT_BENCH_SLEEF_LOOPS_H

#include <takt/machine.h>

#include "kernels/kernel.h"

/* The loop of an op with the widest instructions of the machine; NULL: SLEEF
 * is not there, or has no such function. */
takt_map_kernel *sleef_loop(const char *op, takt_isa isa);

#endif
