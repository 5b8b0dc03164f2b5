/* SPDX-License-Identifier: MIT */
/* sleef_loops.h - the transcendental ops by SLEEF, where it is found. */
#pragma once

#include <takt/machine.h>

#include "kernels/table.h"

/* The loop of an op with the widest instructions of the machine; NULL: SLEEF
 * is not there, or has no such function. */
takt_map_kernel *sleef_loop(const char *op, enum takt_kernel_dtype dtype,
                            takt_isa isa);
