/* SPDX-License-Identifier: MIT */
/* map_f64.c - the cheap element-wise kernels on double; see map_f32.c. */
#include "kernels/vector/isa.h"

#include "kernels/vector/f64.h"
#include "kernels/vector/map_loop.h"

#include "kernels/vector/map.def"
